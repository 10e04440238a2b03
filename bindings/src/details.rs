//! Details of a run for reports: the tree of forks, the decisions that lead into bugs, the slowest queries.

use partita_core::exec::{Bug, Continues, Engine, ForkNode, Owner, Place, Row, Snapshot};
use partita_core::solve::Slow;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// File, line and function of the user's code; and the library function in which it happened.
type PlaceRow = (String, u32, String, Option<String>);

/// The decisions of a path, each with its place; and the number of decisions left out in the middle.
pub(crate) type Trail = (Vec<(PlaceRow, Option<String>)>, usize);

fn place_row(place: Place, inside: Option<String>) -> PlaceRow {
    (place.file, place.line, place.function, inside)
}

/// The tree of forks as columns with one entry per node, and the tables that the columns index.
pub(crate) fn tree<'py>(py: Python<'py>, engine: &Engine) -> PyResult<Bound<'py, PyDict>> {
    fn column<T>(nodes: &[ForkNode], value: impl Fn(&ForkNode) -> T) -> Vec<T> {
        nodes.iter().map(value).collect()
    }
    let tree = engine.fork_tree();
    let dict = PyDict::new(py);
    dict.set_item("parent", column(&tree.nodes, |node| node.parent))?;
    dict.set_item("place", column(&tree.nodes, |node| node.place))?;
    dict.set_item("side", column(&tree.nodes, |node| node.side))?;
    dict.set_item("ending", column(&tree.nodes, |node| node.ending))?;
    dict.set_item("test", column(&tree.nodes, |node| node.test))?;
    dict.set_item("left_out", column(&tree.nodes, |node| node.left_out))?;
    let places: Vec<PlaceRow> =
        tree.places.into_iter().map(|(place, inside)| place_row(place, inside)).collect();
    dict.set_item("places", places)?;
    dict.set_item("sides", tree.sides)?;
    dict.set_item("endings", tree.endings)?;
    Ok(dict)
}

/// Bytes of an input that a bug shows. Its test has all of them.
const MAX_SHOWN: u64 = 1 << 20;

/// Name and first bytes of each symbolic object, for an input that leads into a bug.
pub(crate) fn inputs<'py>(py: Python<'py>, bug: &Bug) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, bug.inputs.iter().map(|(name, value)| (name, PyBytes::new(py, &value.prefix(MAX_SHOWN)))))
}

/// The decisions of the path into a bug.
pub(crate) fn trail(engine: &Engine, bug: &Bug) -> Trail {
    let rows = engine.decisions(&bug.trail).map(|(place, inside, way)| (place_row(place, inside), way));
    (rows.collect(), bug.trail.left_out)
}

/// Memory at a bug.
pub(crate) fn snapshot<'py>(py: Python<'py>, found: &Snapshot) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some((class, place, message)) = &found.bug {
        dict.set_item("class", class.name())?;
        dict.set_item("file", &place.file)?;
        dict.set_item("line", place.line)?;
        dict.set_item("message", message)?;
    }
    dict.set_item("frames", &found.frames)?;
    let objects = PyList::empty(py);
    for each in &found.objects {
        let (kind, frame, number, name) = match &each.owner {
            Owner::Local(frame, number) => ("local", *frame, *number, ""),
            Owner::Global(name) => ("global", 0, 0, name.as_str()),
            Owner::Input(name) => ("input", 0, 0, name.as_str()),
            Owner::Heap => ("heap", 0, 0, ""),
        };
        let bytes: Vec<u8> = each.bytes.iter().map(|byte| byte.unwrap_or(0)).collect();
        let known: Vec<u8> = each.bytes.iter().map(|byte| u8::from(byte.is_some())).collect();
        let (bytes, known) = (PyBytes::new(py, &bytes), PyBytes::new(py, &known));
        objects.append((each.address, each.size, kind, frame, number, name, bytes, known))?;
    }
    dict.set_item("objects", objects)?;
    Ok(dict)
}

pub(crate) fn slow<'py>(py: Python<'py>, row: &Slow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time_s", row.time.as_secs_f64())?;
    dict.set_item("answer", row.verdict)?;
    dict.set_item("layer", &row.layer)?;
    dict.set_item("layer_s", row.own.as_secs_f64())?;
    dict.set_item("place", &row.place)?;
    dict.set_item("constraints", row.constraints)?;
    dict.set_item("bytes", row.size)?;
    dict.set_item("text", row.text.as_deref())?;
    Ok(dict)
}

/// A side: value, `taken`, `forked` or `closed`, its number or those of its core, its condition.
type SideRow<'a> = (u64, &'static str, Vec<u32>, Option<&'a str>);

fn side_row(row: &Row) -> SideRow<'_> {
    let (how, sides) = match &row.continues {
        Continues::Taken(side) => ("taken", vec![*side]),
        Continues::Forked(side) => ("forked", vec![*side]),
        Continues::Closed(core) => ("closed", core.clone()),
    };
    (row.value, how, sides, row.condition.as_deref())
}

/// The recorded decisions of a run.
pub(crate) fn decisions<'py>(py: Python<'py>, core: &Engine) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (points, leaves) = (PyList::empty(py), PyList::empty(py));
    if let Some(decisions) = core.recorded_decisions() {
        for point in &decisions.points {
            let rows: Vec<SideRow<'_>> = point.rows.iter().map(side_row).collect();
            let place = (point.parent, point.func.0, point.pc, point.step);
            let (kind, purpose) = (point.kind.name(), &*point.purpose);
            points.append((place, kind, purpose, point.number, point.condition.as_deref(), rows))?;
        }
        for leaf in &decisions.leaves {
            let inputs = PyList::empty(py);
            for (name, variable, bytes) in &leaf.inputs {
                inputs.append((name, variable, PyBytes::new(py, bytes)))?;
            }
            leaves.append((leaf.side, leaf.step, &leaf.ending, inputs))?;
        }
    }
    dict.set_item("points", points)?;
    dict.set_item("leaves", leaves)?;
    dict.set_item("functions", core.origins().functions.clone())?;
    dict.set_item("globals", core.origins().globals.clone())?;
    Ok(dict)
}
