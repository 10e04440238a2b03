//! Table of the core's layers. Layers written in Python come from `outside`.

use super::baselines::{grulia, klee_cache, parti, partial_solutions};
use super::spec::{Item, Spec, SpecError};
use super::tuning::{
    DifferencesOptions, EnumerateOptions, IntervalsOptions, ReuseOptions, SatOptions, SolutionsOptions,
};
use super::{Layer, differences, enumerate, intervals, record, reuse, sat, simplify, solutions};
use super::{split, store, verify};

/// A layer that a spec can name.
pub struct LayerRow {
    pub name: &'static str,
    /// One line for the reference page.
    pub about: &'static str,
    build: Build,
}

type Build = fn(&Item, &mut Outside<'_>) -> Result<Box<dyn Layer>, SpecError>;

/// Builds layers that are not in the table; `None` if the name is unknown.
pub type Outside<'a> = dyn FnMut(&Item) -> Result<Option<Box<dyn Layer>>, SpecError> + 'a;

pub const LAYERS: &[LayerRow] = &[
    LayerRow {
        name: "simplify",
        about: "rewrites the condition with constants and equalities of the path",
        build: |item, _| plain(item, simplify::Simplify::new),
    },
    LayerRow {
        name: "split",
        about: "partitions path and condition into components that share no input",
        build: |item, _| plain(item, split::Split::new),
    },
    LayerRow {
        name: "solutions",
        about: "a pool of assignments on the path tree, among them near misses of solves: solutions[:paper]",
        build: |item, _| match item.variant.as_deref() {
            None => Ok(Box::new(solutions::Solutions::new(SolutionsOptions::from_item(item)?))),
            Some("paper") => Ok(Box::new(partial_solutions::PartialSolutions::new(item)?)),
            Some(_) => Err(SpecError(format!("expected `solutions` or `solutions:paper`, found `{item}`"))),
        },
    },
    LayerRow {
        name: "intervals",
        about: "sets of values of bytes, words and fields, learnt along the path: intervals[:paper]",
        build: |item, _| match (item.variant.as_deref(), &item.options[..]) {
            (None, _) => Ok(Box::new(intervals::Intervals::new(IntervalsOptions::from_item(item)?))),
            (Some("paper"), []) => Ok(Box::new(parti::Parti::new())),
            _ => Err(SpecError(format!("expected `intervals` or `intervals:paper`, found `{item}`"))),
        },
    },
    LayerRow {
        name: "enumerate",
        about: "tries all values of the inputs of a slice if they are few",
        build: |item, _| Ok(Box::new(enumerate::Enumerate::new(EnumerateOptions::from_item(item)?))),
    },
    LayerRow {
        name: "differences",
        about: "order and difference constraints between words that are proved not to wrap",
        build: |item, _| {
            Ok(Box::new(differences::DifferenceLayer::new(DifferencesOptions::from_item(item)?)))
        },
    },
    LayerRow {
        name: "reuse",
        about: "earlier answers: same query, unsat subset or sat superset of the constraints: reuse[:klee|:grulia]",
        build: |item, _| match (item.variant.as_deref(), item.options.is_empty()) {
            (None, _) => Ok(Box::new(reuse::Reuse::new(ReuseOptions::from_item(item)?))),
            (Some("klee"), true) => Ok(Box::new(klee_cache::KleeCache::new())),
            (Some("grulia"), true) => Ok(Box::new(grulia::Grulia::new())),
            _ => Err(SpecError(format!("expected `reuse`, `reuse:klee` or `reuse:grulia`, found `{item}`"))),
        },
    },
    LayerRow {
        name: "record",
        about: "writes every query into a file: record(dir=PATH,format=smt2|kquery)",
        build: |item, _| Ok(Box::new(record::Record::from_item(item)?)),
    },
    LayerRow {
        name: "store",
        about: "answers of earlier runs, in a file: store(path=FILE,mb=N,sample=N,eager=on|off)",
        build: |item, _| Ok(Box::new(store::Store::from_item(item)?)),
    },
    LayerRow {
        name: "sat",
        about: "bit-blasting and incremental SAT, complete",
        build: |item, _| Ok(Box::new(sat::Sat::new(SatOptions::from_item(item)?))),
    },
    LayerRow {
        name: "verify",
        about: "checks the answers of the layers below with a second solver: verify(NAME)",
        build: |item, outside| {
            let name = item.option("arg").unwrap_or("z3");
            let reference = build_layer(&Item::plain(name), outside)?;
            Ok(Box::new(verify::Verify::new(reference)))
        },
    },
];

fn plain<L: Layer + 'static>(item: &Item, new: fn() -> L) -> Result<Box<dyn Layer>, SpecError> {
    if item.variant.is_some() || !item.options.is_empty() {
        return Err(SpecError(format!(
            "expected `{}` without variant or options, found `{item}`",
            item.name
        )));
    }
    Ok(Box::new(new()))
}

fn build_layer(item: &Item, outside: &mut Outside<'_>) -> Result<Box<dyn Layer>, SpecError> {
    if let Some(row) = LAYERS.iter().find(|row| row.name == item.name) {
        return (row.build)(item, outside);
    }
    outside(item)?.ok_or_else(|| {
        let known: Vec<&str> = LAYERS.iter().map(|row| row.name).collect();
        SpecError(format!("expected a layer ({}, or a back end), found `{}`", known.join(", "), item.name))
    })
}

/// Builds the layers of a spec, in order.
pub fn build_chain(spec: &Spec, outside: &mut Outside<'_>) -> Result<Vec<Box<dyn Layer>>, SpecError> {
    spec.0.iter().map(|item| build_layer(item, outside)).collect()
}
