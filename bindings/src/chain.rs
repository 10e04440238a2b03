//! Builds a chain of layers from a spec. A Python function makes the layers that the core does not have.

use crate::layer::{Objects, PythonLayer};
use crate::store::StoreExchange;
use partita_core::solve::{Item, Layer, Spec, SpecError, build_chain_with};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// The place of the answers of the layer `store`.
#[derive(FromPyObject)]
pub(crate) enum StorePlace {
    Shared(Py<StoreExchange>),
    File(PathBuf),
}

/// Returns the layers of `spec` (which may edit `default`), and those of them that are Python objects. `backend` is
/// called with a name, a variant or None, and a dict of options; it returns a layer, or None for an unknown name.
/// `store` is the place of the layer `store`; without one the layer is left out.
pub(crate) fn build(
    spec: &str,
    default: &str,
    backend: &Bound<'_, PyAny>,
    store: Option<StorePlace>,
) -> PyResult<(Vec<Box<dyn Layer>>, Objects)> {
    let usage = |error: SpecError| PyValueError::new_err(format!("layers: {error}"));
    let default = Spec::parse(default, &Spec(Vec::new())).map_err(usage)?;
    let mut spec = Spec::parse(spec, &default).map_err(usage)?;
    let exchange = match &store {
        Some(StorePlace::Shared(exchange)) => Some(exchange.get().exchange.clone()),
        Some(StorePlace::File(_)) | None => None,
    };
    place_store(&mut spec, store)?;
    let mut objects = Vec::new();
    let mut raised = None;
    let mut outside = |item: &Item| -> Result<Option<Box<dyn Layer>>, SpecError> {
        let mut make = || -> PyResult<Option<Box<dyn Layer>>> {
            let options = PyDict::new(backend.py());
            for (key, value) in &item.options {
                options.set_item(key, value)?;
            }
            let object = backend.call1((&item.name, &item.variant, options))?;
            if object.is_none() {
                return Ok(None);
            }
            let layer = PythonLayer::new(&object)?;
            objects.push(object.unbind());
            Ok(Some(Box::new(layer)))
        };
        make().map_err(|error| {
            let message = error.to_string();
            raised = Some(error);
            SpecError(message)
        })
    };
    match build_chain_with(&spec, &mut outside, exchange) {
        Ok(layers) => Ok((layers, Arc::new(objects))),
        Err(error) => Err(raised.unwrap_or_else(|| usage(error))),
    }
}

/// Sets the file of the layer `store`, or removes the layer if there is no store.
fn place_store(spec: &mut Spec, store: Option<StorePlace>) -> PyResult<()> {
    let is_open = |item: &Item| item.name == "store" && item.option("path").is_none();
    let Some(store) = store else {
        spec.0.retain(|item| !is_open(item));
        return Ok(());
    };
    let text = spec.to_string();
    let item = spec.0.iter_mut().find(|item| is_open(item)).ok_or_else(|| {
        PyValueError::new_err(format!(
            "layers: expected the layer `store` in a chain with a store, found `{text}`"
        ))
    })?;
    if let StorePlace::File(path) = store {
        let path = path.to_str().ok_or_else(|| {
            PyValueError::new_err(format!("expected the path of a store in UTF-8, found {}", path.display()))
        })?;
        item.options.push(("path".to_string(), path.to_string()));
    }
    Ok(())
}
