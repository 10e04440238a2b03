//! Table of the core's layers. Layers written in Python come from `outside`.

use super::baselines::{grulia, klee_cache, parti, partial_solutions};
use super::spec::{Item, Spec, SpecError};
use super::{Layer, Throttled, differences, enumerate, intervals, record, reuse, sat, simplify, solutions};
use super::{split, store, verify};
use crate::tuning::{
    DifferencesOptions, EnumerateOptions, GruliaOptions, IntervalsOptions, PartiOptions,
    PartialSolutionsOptions, RecordOptions, ReuseOptions, SatOptions, SolutionsOptions, StoreOptions,
    ThrottleOptions,
};
use std::sync::Arc;

/// A layer that a spec can name.
pub struct LayerRow {
    pub name: &'static str,
    /// One line for the reference page.
    pub about: &'static str,
    build: Build,
}

type Build = fn(&Item, &mut Builder<'_>) -> Result<Box<dyn Layer>, SpecError>;

/// Services for building a layer from its item.
struct Builder<'a> {
    outside: &'a mut Outside<'a>,
    throttle: ThrottleOptions,
    /// For a layer `store` without a file.
    exchange: Option<Arc<store::Exchange>>,
}

impl Builder<'_> {
    /// The layer with a throttle around it, if it is switched on.
    fn throttled(&self, layer: impl Layer + 'static, is_on: bool) -> Box<dyn Layer> {
        if is_on { Box::new(Throttled::new(Box::new(layer), &self.throttle)) } else { Box::new(layer) }
    }

    fn layer(&mut self, item: &Item) -> Result<Box<dyn Layer>, SpecError> {
        if let Some(row) = LAYERS.iter().find(|row| row.name == item.name) {
            return (row.build)(item, self);
        }
        (self.outside)(item)?.ok_or_else(|| {
            let known: Vec<&str> = LAYERS.iter().map(|row| row.name).collect();
            SpecError(format!(
                "expected a layer ({}, or a back end), found `{}`",
                known.join(", "),
                item.name
            ))
        })
    }
}

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
            None => {
                let options = SolutionsOptions::parse(&item.options)?;
                Ok(Box::new(solutions::Solutions::new(options)))
            }
            Some("paper") => {
                let options = PartialSolutionsOptions::parse(&item.options)?;
                Ok(Box::new(partial_solutions::PartialSolutions::new(options)))
            }
            Some(_) => Err(SpecError(format!("expected `solutions` or `solutions:paper`, found `{item}`"))),
        },
    },
    LayerRow {
        name: "intervals",
        about: "sets of values of bytes, words and fields, learnt along the path: intervals[:paper]",
        build: |item, builder| match item.variant.as_deref() {
            None => {
                let options = IntervalsOptions::parse(&item.options)?;
                let is_throttled = options.throttle;
                Ok(builder.throttled(intervals::Intervals::new(options, &builder.throttle), is_throttled))
            }
            Some("paper") => Ok(Box::new(parti::Parti::new(PartiOptions::parse(&item.options)?))),
            Some(_) => Err(SpecError(format!("expected `intervals` or `intervals:paper`, found `{item}`"))),
        },
    },
    LayerRow {
        name: "enumerate",
        about: "tries all values of the inputs of a slice if they are few",
        build: |item, builder| {
            let options = EnumerateOptions::parse(without_variant(item)?)?;
            let is_throttled = options.throttle;
            Ok(builder.throttled(enumerate::Enumerate::new(options), is_throttled))
        },
    },
    LayerRow {
        name: "differences",
        about: "order and difference constraints between words that are proved not to wrap",
        build: |item, builder| {
            let options = DifferencesOptions::parse(without_variant(item)?)?;
            let is_throttled = options.throttle;
            Ok(builder.throttled(differences::DifferenceLayer::new(options), is_throttled))
        },
    },
    LayerRow {
        name: "reuse",
        about: "earlier answers: same query, unsat subset or sat superset of the constraints: reuse[:klee|:grulia]",
        build: |item, _| match (item.variant.as_deref(), item.options.is_empty()) {
            (None, _) => Ok(Box::new(reuse::Reuse::new(ReuseOptions::parse(&item.options)?))),
            (Some("klee"), true) => Ok(Box::new(klee_cache::KleeCache::new())),
            (Some("grulia"), _) => Ok(Box::new(grulia::Grulia::new(GruliaOptions::parse(&item.options)?))),
            _ => Err(SpecError(format!("expected `reuse`, `reuse:klee` or `reuse:grulia`, found `{item}`"))),
        },
    },
    LayerRow {
        name: "record",
        about: "writes every query into a file",
        build: |item, _| Ok(Box::new(record::Record::new(RecordOptions::parse(without_variant(item)?)?)?)),
    },
    LayerRow {
        name: "store",
        about: "answers of earlier runs, in a file or on a server",
        build: |item, builder| {
            let options = StoreOptions::parse(without_variant(item)?)?;
            Ok(Box::new(match (&options.path, builder.exchange.take()) {
                (Some(_), exchange) => {
                    builder.exchange = exchange;
                    store::Store::new(options, &builder.throttle)
                }
                (None, Some(exchange)) => store::Store::shared(exchange, options, &builder.throttle),
                (None, None) => {
                    return Err(SpecError(format!("expected `store(path=FILE)`, found `{item}`")));
                }
            }))
        },
    },
    LayerRow {
        name: "sat",
        about: "bit-blasting and incremental SAT, complete",
        build: |item, builder| {
            Ok(Box::new(sat::Sat::new(SatOptions::parse(without_variant(item)?)?, &builder.throttle)))
        },
    },
    LayerRow {
        name: "verify",
        about: "checks the answers of the layers below with a second solver: verify(NAME[,mismatch=continue])",
        build: |item, builder| {
            let name = item.option("arg").unwrap_or("z3");
            let goes_on = match item.option("mismatch") {
                None | Some("stop") => false,
                Some("continue") => true,
                Some(_) => {
                    return Err(SpecError(format!(
                        "expected `verify(NAME)` or `verify(NAME,mismatch=continue|stop)`, found `{item}`"
                    )));
                }
            };
            let reference = builder.layer(&Item::plain(name))?;
            Ok(Box::new(verify::Verify::new(reference, goes_on)))
        },
    },
];

/// The options of an item of a layer that has no variants.
fn without_variant(item: &Item) -> Result<&[(String, String)], SpecError> {
    match item.variant {
        None => Ok(&item.options),
        Some(_) => Err(SpecError(format!("expected `{}` without a variant, found `{item}`", item.name))),
    }
}

fn plain<L: Layer + 'static>(item: &Item, new: fn() -> L) -> Result<Box<dyn Layer>, SpecError> {
    if item.variant.is_some() || !item.options.is_empty() {
        return Err(SpecError(format!(
            "expected `{}` without variant or options, found `{item}`",
            item.name
        )));
    }
    Ok(Box::new(new()))
}

/// Builds the layers of a spec, in order. `throttle(...)` is no layer: it sets the numbers of the throttle.
pub fn build_chain(spec: &Spec, outside: &mut Outside<'_>) -> Result<Vec<Box<dyn Layer>>, SpecError> {
    build_chain_with(spec, outside, None)
}

/// Builds a chain whose first layer `store` without a file uses the exchange.
pub fn build_chain_with(
    spec: &Spec,
    outside: &mut Outside<'_>,
    exchange: Option<Arc<store::Exchange>>,
) -> Result<Vec<Box<dyn Layer>>, SpecError> {
    let (numbers, layers): (Vec<&Item>, Vec<&Item>) = spec.0.iter().partition(|item| item.name == "throttle");
    let throttle = match numbers[..] {
        [] => ThrottleOptions::default(),
        [item] => ThrottleOptions::parse(without_variant(item)?)?,
        [..] => return Err(SpecError("expected at most one `throttle(...)`, found several".into())),
    };
    let mut builder = Builder { outside, throttle, exchange };
    layers.into_iter().map(|item| builder.layer(item)).collect()
}
