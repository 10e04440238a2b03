//! The layers of the core by name. Layers written elsewhere (in Python) come in through `outside`.

use super::spec::{Item, Spec, SpecError};
use super::{Layer, verify};

/// A layer that can be named in a spec.
pub struct LayerRow {
    pub name: &'static str,
    /// What it decides, in a line.
    pub about: &'static str,
    build: fn(&Item, &mut Outside<'_>) -> Result<Box<dyn Layer>, SpecError>,
}

/// Where layers that are not in the table come from: `None` if the name is not known there either.
pub type Outside<'a> = dyn FnMut(&Item) -> Result<Option<Box<dyn Layer>>, SpecError> + 'a;

pub const LAYERS: &[LayerRow] = &[LayerRow {
    name: "verify",
    about: "checks what the layers below answer against a second solver: verify(NAME)",
    build: |item, outside| {
        let name = item.option("arg").unwrap_or("z3");
        let reference = build_layer(&Item::plain(name), outside)?;
        Ok(Box::new(verify::Verify::new(reference)))
    },
}];

fn build_layer(item: &Item, outside: &mut Outside<'_>) -> Result<Box<dyn Layer>, SpecError> {
    if let Some(row) = LAYERS.iter().find(|row| row.name == item.name) {
        return (row.build)(item, outside);
    }
    outside(item)?.ok_or_else(|| {
        let known: Vec<&str> = LAYERS.iter().map(|row| row.name).collect();
        SpecError(format!("expected a layer ({}, or a back end), found `{}`", known.join(", "), item.name))
    })
}

/// The layers of a spec, in order.
pub fn build_chain(spec: &Spec, outside: &mut Outside<'_>) -> Result<Vec<Box<dyn Layer>>, SpecError> {
    spec.0.iter().map(|item| build_layer(item, outside)).collect()
}
