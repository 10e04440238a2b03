//! Functions on serialised programs.

use partita_core::program::{Function, Linkage, Program};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Names that a program or its libraries use and that neither they nor a model define.
#[pyfunction]
pub fn unknown_names(programs: Vec<Vec<u8>>) -> PyResult<Vec<String>> {
    let parts: Vec<&[u8]> = programs.iter().map(Vec::as_slice).collect();
    let program = Program::load(&parts, &["main"]).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(partita_core::exec::unknown(&program).into_iter().map(str::to_string).collect())
}

/// Names that the programs use and do not define, those of models of functions too.
#[pyfunction]
pub fn undefined_names(programs: Vec<Vec<u8>>) -> PyResult<Vec<String>> {
    let parts: Vec<&[u8]> = programs.iter().map(Vec::as_slice).collect();
    let program = Program::load(&parts, &["main"]).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(partita_core::exec::undefined(&program).into_iter().map(str::to_string).collect())
}

/// Names of the library functions that are linked, and of globals without a definition that they refer to, if libraries
/// do not define the names in `absent`.
#[pyfunction]
pub fn linked_names(programs: Vec<Vec<u8>>, absent: Vec<String>) -> PyResult<(Vec<String>, Vec<String>)> {
    let parts: Vec<&[u8]> = programs.iter().map(Vec::as_slice).collect();
    let mut program = Program::load_without(&parts, &["main"], &absent)
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(program.library_names())
}

/// Names of the functions that a library defines for others, sorted.
#[pyfunction]
pub fn defined_names(library: &[u8]) -> PyResult<Vec<String>> {
    let program = Program::load(&[library], &[]).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let is_public = |f: &&Function| f.is_defined() && f.linkage != Linkage::Internal;
    let mut names: Vec<String> =
        program.functions.iter().filter(is_public).map(|f| program.string(f.name).to_string()).collect();
    names.sort();
    Ok(names)
}

/// Reads, checks and links serialised programs (the user's and its libraries) and returns the result as text.
#[pyfunction]
#[pyo3(signature = (program, *, libraries = Vec::new(), roots = Vec::new()))]
pub fn dump_program(program: &[u8], libraries: Vec<Vec<u8>>, roots: Vec<String>) -> PyResult<String> {
    let parts: Vec<&[u8]> = std::iter::once(program).chain(libraries.iter().map(Vec::as_slice)).collect();
    let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
    let program = Program::load(&parts, &roots).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(program.dump())
}
