//! Run options: the core's table for Python, and the conversion of Python values to typed options.

use partita_core::exec::{OPTIONS, OptionKind, OptionRow, OptionValue, Options, Surface, find_option};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyMapping, PyString, PyTuple};
use std::path::PathBuf;
use std::time::Duration;

/// Name, type, allowed values, placeholders, choices, default, group, where it can be given, description.
type Row<'py> = (
    &'static str,
    &'static str,
    String,
    Vec<String>,
    Vec<&'static str>,
    Option<Bound<'py, PyAny>>,
    &'static str,
    &'static str,
    &'static str,
);

/// The table of options.
pub(crate) fn rows(py: Python<'_>) -> PyResult<Vec<Row<'_>>> {
    let surface = |row: &OptionRow| match row.surface {
        Surface::Both => "both",
        Surface::Command => "command",
        Surface::Arguments => "arguments",
    };
    let row = |row: &'static OptionRow| {
        let default = row.default_value().map(|value| to_python(py, &value)).transpose()?;
        let (kind, group) = (&row.kind, row.group.name());
        let (expected, placeholders, choices) = (kind.expected(), kind.placeholders(), kind.choices());
        Ok((row.name, kind.name(), expected, placeholders, choices, default, group, surface(row), row.about))
    };
    OPTIONS.iter().map(row).collect()
}

/// The value of the words that follow an option on the command line. Messages name it `flag`.
#[pyfunction]
pub(crate) fn parse_option<'py>(
    py: Python<'py>,
    name: &str,
    flag: &str,
    words: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let row = find(name)?;
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    let wrong = || PyValueError::new_err(row.error(flag, &words.join(" ")));
    to_python(py, &row.kind.parse(&texts).ok_or_else(wrong)?)
}

/// The options of a run, checked. `given` has values by their Python names, None for those that are not set; `words` are
/// the program's name and its arguments.
#[pyclass(frozen, module = "partita._core")]
pub(crate) struct RunOptions {
    pub(crate) options: Options,
}

#[pymethods]
impl RunOptions {
    /// `memory` is that of the machine in bytes, `user` the user and group that the program sees.
    #[new]
    fn new(
        given: &Bound<'_, PyDict>,
        words: Vec<String>,
        memory: u64,
        user: (u32, u32),
    ) -> PyResult<RunOptions> {
        let mut values = Vec::new();
        for (keyword, value) in given {
            let keyword: String = keyword.extract()?;
            let row = find(&keyword.replace('_', "-"))?;
            if !value.is_none() {
                let found = from_python(&row.kind, &value).filter(|found| row.kind.check(found));
                let wrong = || {
                    let (expected, found) = (row.kind.expected_value(), shown(&value));
                    PyValueError::new_err(format!("expected {keyword} to be {expected}, found {found}"))
                };
                values.push((row, found.ok_or_else(wrong)?));
            }
        }
        let mut options = Options::new(values, &words).map_err(PyValueError::new_err)?;
        options.set_derived_limits(memory);
        (options.user, options.group) = user;
        options.release_memory = crate::memory::release_memory;
        Ok(RunOptions { options })
    }

    /// Does the program need the kernel model?
    #[getter]
    fn needs_kernel(&self) -> bool {
        self.options.needs_kernel
    }

    /// Limits of the run by their Python names, in seconds, bytes and counts; None: not set.
    #[getter]
    fn limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = &self.options;
        let dict = PyDict::new(py);
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        dict.set_item("max_time", seconds(options.max_time))?;
        dict.set_item("max_solver_time", seconds(options.max_solver_time))?;
        dict.set_item("max_memory", options.max_memory)?;
        dict.set_item("max_instructions", options.max_instructions)?;
        dict.set_item("max_tests", options.max_tests)?;
        dict.set_item("max_depth", options.max_depth)?;
        Ok(dict)
    }
}

fn find(name: &str) -> PyResult<&'static OptionRow> {
    find_option(name).ok_or_else(|| PyValueError::new_err(format!("there is no option `{name}`")))
}

/// A value in a message, as Python writes it.
fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "?".to_string(), |text| text.to_string())
}

/// The value as an option of this type; `None` for another type.
fn from_python(kind: &OptionKind, value: &Bound<'_, PyAny>) -> Option<OptionValue> {
    let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    let text = || value.extract::<String>().ok();
    match kind {
        OptionKind::Flag => Some(OptionValue::Flag(value.cast::<PyBool>().ok()?.is_true())),
        OptionKind::Bytes | OptionKind::Seconds if value.is_instance_of::<PyString>() => {
            kind.parse(&[&text()?])
        }
        OptionKind::Count { .. } | OptionKind::Bytes => {
            is_number.then(|| value.extract().ok()).flatten().map(OptionValue::Count)
        }
        OptionKind::Counts(_) => value.extract().ok().map(OptionValue::Counts),
        OptionKind::Seconds => OptionValue::seconds(value.extract().ok()?),
        OptionKind::Choice(_) | OptionKind::Text(_) | OptionKind::Search | OptionKind::Layers => {
            text().map(OptionValue::Text)
        }
        OptionKind::Path(_) => {
            let path: PathBuf = value.extract().ok()?;
            Some(OptionValue::Text(path.to_string_lossy().into_owned()))
        }
        OptionKind::Names(_) => match text() {
            Some(text) => kind.parse(&[&text]),
            None => value.extract().ok().map(OptionValue::Words),
        },
        // PyO3 does not take a text for a sequence.
        OptionKind::Words(_) => value.extract().ok().map(OptionValue::Words),
        OptionKind::Contents => Some(OptionValue::Contents(value.cast::<PyBytes>().ok()?.as_bytes().into())),
        // Given among the program's arguments only.
        OptionKind::SizedName { .. } => None,
        OptionKind::Variables => {
            let items = value.cast::<PyMapping>().ok()?.items().ok()?;
            items.extract().ok().map(OptionValue::Variables)
        }
    }
}

fn to_python<'py>(py: Python<'py>, value: &OptionValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        OptionValue::Flag(on) => PyBool::new(py, *on).to_owned().into_any(),
        OptionValue::Count(number) => number.into_pyobject(py)?.into_any(),
        OptionValue::Counts(numbers) => PyTuple::new(py, numbers)?.into_any(),
        OptionValue::Seconds(time) => time.as_secs_f64().into_pyobject(py)?.into_any(),
        OptionValue::Text(text) => PyString::new(py, text).into_any(),
        OptionValue::Words(words) => PyTuple::new(py, words)?.into_any(),
        OptionValue::Contents(bytes) => PyBytes::new(py, bytes).into_any(),
        OptionValue::Variables(variables) => {
            let dict = PyDict::new(py);
            for (name, value) in variables {
                dict.set_item(name, value)?;
            }
            dict.into_any()
        }
    })
}
