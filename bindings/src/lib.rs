//! The extension module `partita._core`: conversions between Python and the core, without logic of its own.

mod answer;
mod borrowed;
mod chain;
mod conformance;
mod details;
mod engine;
mod expr;
mod float;
mod hook;
mod intern;
mod layer;
mod memory;
mod model;
mod options;
mod program;
mod refute;
mod script;
mod search;
mod solver;
mod store;
mod term;
mod term_map;
mod value;
mod view;
mod worker;

use partita_core::cost;
use partita_core::exec::{CHECKS, Class, DEFAULT_LAYERS, SEARCHES, models};
use partita_core::expr::{Builtin, Op};
use partita_core::solve::LAYERS;
use partita_core::tuning;
use pyo3::prelude::*;

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // For bug reports. `make` sets the commit.
    let profile = if cfg!(debug_assertions) { "development (with assertions)" } else { "release" };
    m.add("BUILD_PROFILE", profile)?;
    m.add("BUILD_COMMIT", option_env!("PARTITA_COMMIT"))?;
    // For journals and clusters: a hash of the sources, by `build.rs`.
    m.add("BUILD_SOURCES", env!("PARTITA_SOURCES"))?;
    m.add_function(wrap_pyfunction!(program::dump_program, m)?)?;
    m.add_function(wrap_pyfunction!(program::unknown_names, m)?)?;
    m.add_function(wrap_pyfunction!(program::undefined_names, m)?)?;
    m.add_function(wrap_pyfunction!(program::linked_names, m)?)?;
    m.add_function(wrap_pyfunction!(program::defined_names, m)?)?;
    // Tables of the core that Python reads: names with a one-line description, operators in the order of their numbers.
    let operator = |op: &Op| {
        let (bits, bools) = (op.smtlib(), op.smtlib_on_bools());
        (format!("{op:?}"), op.family().name(), op.arity(), bits, bools, op.has_parameter())
    };
    let ops: Vec<_> = Op::ALL.iter().map(operator).collect();
    m.add("OPERATORS", ops)?;
    m.add("FUNCTIONS", Builtin::ALL.iter().map(|f| f.name()).collect::<Vec<_>>())?;
    m.add("CHECKS", CHECKS.iter().map(|row| (row.name, row.about)).collect::<Vec<_>>())?;
    m.add("MODELS", models().map(|(name, treatment)| (name, treatment.name())).collect::<Vec<_>>())?;
    m.add("SEARCHES", SEARCHES.iter().map(|row| (row.name, row.about)).collect::<Vec<_>>())?;
    m.add("BUG_CLASSES", Class::ALL.iter().map(|c| (c.name(), c.about())).collect::<Vec<_>>())?;
    m.add("LAYERS", LAYERS.iter().map(|row| (row.name, row.about)).collect::<Vec<_>>())?;
    m.add("OPTIONS", options::rows(m.py())?)?;
    m.add("DEFAULT_LAYERS", DEFAULT_LAYERS)?;
    m.add_function(wrap_pyfunction!(options::parse_option, m)?)?;
    m.add_class::<options::RunOptions>()?;
    let options = tuning::rows().into_iter();
    let options: Vec<(&str, String, String, &str)> =
        options.map(|row| (row.layer, row.usage(), row.default, row.about)).collect();
    m.add("LAYER_OPTIONS", options)?;
    m.add("COSTS", cost::ROWS.iter().map(|row| (row.name, row.ns, row.about)).collect::<Vec<_>>())?;
    m.add_class::<engine::Engine>()?;
    m.add_class::<hook::State>()?;
    m.add_class::<search::OpenState>()?;
    m.add("PathEnd", m.py().get_type::<hook::PathEnd>())?;
    m.add_function(wrap_pyfunction!(float::float_operator, m)?)?;
    m.add_class::<expr::Expr>()?;
    m.add_class::<model::Model>()?;
    m.add_class::<script::Script>()?;
    m.add_class::<solver::Solver>()?;
    m.add_class::<answer::Sat>()?;
    m.add_class::<answer::Unsat>()?;
    m.add_class::<answer::Unknown>()?;
    m.add_class::<view::QueryView>()?;
    m.add_class::<view::RestView>()?;
    m.add_function(wrap_pyfunction!(conformance::conformance, m)?)?;
    m.add_function(wrap_pyfunction!(store::store_contents, m)?)?;
    m.add_function(wrap_pyfunction!(store::store_clear, m)?)?;
    m.add_function(wrap_pyfunction!(store::store_export, m)?)?;
    m.add_function(wrap_pyfunction!(store::store_row, m)?)?;
    m.add_class::<store::StoreExchange>()?;
    m.add_function(wrap_pyfunction!(refute::refute_clauses, m)?)?;
    m.add_function(wrap_pyfunction!(expr::apply, m)?)?;
    m.add_function(wrap_pyfunction!(expr::bv, m)?)?;
    m.add_function(wrap_pyfunction!(expr::boolean, m)?)?;
    m.add_function(wrap_pyfunction!(expr::array, m)?)?;
    m.add_function(wrap_pyfunction!(expr::const_array, m)?)?;
    m.add_function(wrap_pyfunction!(expr::table, m)?)?;
    Ok(())
}
