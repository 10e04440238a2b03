//! Symbolic addresses: which objects they can point into, and where.
//!
//! The sets that the path has learnt are asked once: they name the objects in question through the address map, and the
//! places within one. An address that is an object's plus something must stay in that object. Any other one forks: a
//! state for each object it can point into, up to `max_objects`, and one for each way of pointing into none, which ends
//! there. A state that is to execute the instruction again knows what it points to (`State::facts`).
use super::Engine;
use super::address::{self, NULL_PAGE, ObjectId};
use super::ask::Probe;
use super::outcome::{Access, Class, Outcome};
use super::state::{Fact, State};
use super::value::Value;
use crate::expr::{Expr, Op};
use crate::interval::Set;
use crate::program::FuncId;

/// Where in an object: bytes from its start.
#[derive(Clone, Debug)]
pub(super) enum Place {
    At(u64),
    /// An expression of 64 bits, and a set that has all its values; what is accessed there lies in the object.
    Among {
        offset: Expr,
        set: Set,
    },
}

/// A place inside a live object.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub id: ObjectId,
    pub place: Place,
}

/// One of the things an address can be, which exclude each other; without a fact it is an error.
struct Way {
    condition: Expr,
    fact: Option<Fact>,
}

impl Engine {
    /// The object that has `count` bytes at `address`; other possibilities go on as other states.
    pub(super) fn locate(
        &mut self,
        state: &mut State,
        address: Value,
        count: u64,
        access: Access,
    ) -> Result<Spot, Outcome> {
        let Some(e) = address.expr() else {
            let (id, offset) = self.at(state, address.word, count, access)?;
            return Ok(Spot { id, place: Place::At(offset) });
        };
        let set = self.solver.values(state.path, e);
        if let Some(word) = set.value() {
            let (id, offset) = self.at(state, word, count, access)?;
            return Ok(Spot { id, place: Place::At(offset) });
        }
        if let Some(Fact::Inside { id, count: known }) = state.fact(e)
            && known >= count
            && state.memory.get(id).is_some()
        {
            return self.spot(state, id, e, &set, count, access);
        }
        let id = match self.base_of(e) {
            Some((id, _)) if state.memory.get(id).is_some() => {
                self.stay_inside(state, id, e, &set, count, access)?;
                id
            }
            Some((id, base)) if state.memory.is_gone(id) => {
                return Err(self.fault(state, base, count, access));
            }
            Some(_) | None => {
                let ways = self.object_ways(state, e, &set, count);
                let fault = |engine: &Engine, state: &State, address: u64| {
                    engine.fault(state, address, count, access)
                };
                match self.take_one(state, e, ways, fault)? {
                    Fact::Inside { id, .. } => id,
                    Fact::Equal(_) => unreachable!("the ways of an access are objects"),
                }
            }
        };
        self.spot(state, id, e, &set, count, access)
    }

    /// The object from whose address this one is computed, and that address. Leaving the object is an error, wherever
    /// the address then leads.
    fn base_of(&self, e: Expr) -> Option<(ObjectId, u64)> {
        let graph = &self.solver.graph;
        if graph.op(e) != Op::Add {
            return None;
        }
        let base = [0, 1].into_iter().find_map(|i| graph.const_word(graph.kid(e, i)))?;
        ObjectId::of_address(base).map(|id| (id, base))
    }

    /// Ends the paths on which the address leaves the object.
    fn stay_inside(
        &mut self,
        state: &mut State,
        id: ObjectId,
        e: Expr,
        set: &Set,
        count: u64,
        access: Access,
    ) -> Result<(), Outcome> {
        let size = state.memory.get(id).expect("a live object").size;
        let fault = self.symbolic_fault(state, id, count, access);
        if size < count {
            return Err(fault);
        }
        if set.is_subset(&places(id, size, count)) {
            return Ok(());
        }
        let inside = self.inside(e, id, size, count);
        self.require(state, inside, fault)
    }

    /// Do `count` bytes at `address` lie in the object?
    fn inside(&mut self, address: Expr, id: ObjectId, size: u64, count: u64) -> Expr {
        let graph = &mut self.solver.graph;
        let base = graph.word(64, id.base());
        let offset = graph.sub(address, base);
        let last = graph.word(64, size - count);
        graph.ule(offset, last)
    }

    /// The objects of the set that have room for the access, and the errors that it allows: null, freed, nowhere.
    fn object_ways(&mut self, state: &State, e: Expr, set: &Set, count: u64) -> Vec<Way> {
        let mut ways = Vec::new();
        let mut freed = Vec::new();
        let mut covered = Vec::new();
        for (low, high) in set.spans() {
            for (first, last) in address::windows(low, high) {
                for (id, object) in state.memory.between(first, last) {
                    match object {
                        Some(object) if object.size >= count => {
                            let there = places(id, object.size, count);
                            if !there.is_disjoint(set) && !covered.contains(&(id, object.size)) {
                                covered.push((id, object.size));
                            }
                        }
                        None if freed.len() < self.options.max_objects as usize && !freed.contains(&id) => {
                            freed.push(id);
                        }
                        Some(_) | None => {}
                    }
                }
            }
        }
        let mut somewhere = self.solver.graph.boolean(false);
        for &(id, size) in &covered {
            let condition = self.inside(e, id, size, count);
            somewhere = self.solver.graph.or(somewhere, condition);
            ways.push(Way { condition, fact: Some(Fact::Inside { id, count }) });
        }
        let everything = covered.iter().flat_map(|&(id, size)| places(id, size, count).spans());
        let everything = Set::from_spans(64, everything);
        if everything.exact && set.is_subset(&everything.set) {
            return ways;
        }
        let graph = &mut self.solver.graph;
        let mut nowhere = graph.not(somewhere);
        let mut error = |graph: &mut crate::expr::Graph, condition: Expr| {
            if !graph.is_false(condition) {
                let alone = graph.and(condition, nowhere);
                ways.push(Way { condition: alone, fact: None });
                let not = graph.not(condition);
                nowhere = graph.and(nowhere, not);
            }
        };
        if set.min() < Some(NULL_PAGE) {
            let page = graph.word(64, NULL_PAGE);
            let null = graph.ult(e, page);
            error(graph, null);
        }
        let mut gone = graph.boolean(false);
        for id in freed {
            let (low, size) = id.window();
            let (low, size) = (graph.word(64, low), graph.word(64, size));
            let offset = graph.sub(e, low);
            let inside = graph.ult(offset, size);
            gone = graph.or(gone, inside);
        }
        error(graph, gone);
        ways.push(Way { condition: nowhere, fact: None });
        ways
    }

    /// Follows every feasible way: this state the one of its model, others as states that are born, or end in the error
    /// that `fault` makes of their address.
    fn take_one(
        &mut self,
        state: &mut State,
        e: Expr,
        ways: Vec<Way>,
        fault: impl Fn(&Engine, &State, u64) -> Outcome,
    ) -> Result<Fact, Outcome> {
        let model = self.model(state);
        let mut session = self.solver.evaluator.under(&self.solver.graph, &model);
        let own = ways.iter().position(|way| session.truth(way.condition)).expect("the ways are exhaustive");
        let mut alone = true;
        let mut born = 0;
        let mut skipped = false;
        for (i, way) in ways.iter().enumerate() {
            if i == own {
                self.ask_again(state, way.condition);
                continue;
            }
            if way.fact.is_some() && born + 1 >= self.options.max_objects {
                skipped = true;
                alone = false;
                continue;
            }
            match self.probe(state, way.condition) {
                Probe::Infeasible => {}
                Probe::Skipped => alone = false,
                Probe::Feasible(mut child) => {
                    alone = false;
                    match way.fact {
                        Some(fact) => {
                            born += 1;
                            child.learn(e, fact);
                            self.born.push(child);
                        }
                        None => {
                            let address = self.evaluate(&child, e).low();
                            let outcome = fault(self, &child, address);
                            self.finish(child, outcome);
                        }
                    }
                }
            }
        }
        if skipped {
            let limit = self.options.max_objects;
            self.incomplete(state, &format!("a symbolic pointer with more than {limit} targets"));
            self.stats.limits += 1;
        }
        if !alone {
            self.commit(state, ways[own].condition);
        }
        match ways[own].fact {
            Some(fact) => {
                state.learn(e, fact);
                Ok(fact)
            }
            None => {
                let address = self.evaluate(state, e).low();
                Err(fault(self, state, address))
            }
        }
    }

    /// The place of an address that lies in the object.
    fn spot(
        &mut self,
        state: &State,
        id: ObjectId,
        e: Expr,
        set: &Set,
        count: u64,
        access: Access,
    ) -> Result<Spot, Outcome> {
        self.usable(state, id, access)?;
        let size = state.memory.get(id).expect("a live object").size;
        let inside = places(id, size, count).intersect(set).set;
        let set = inside.plus(id.base().wrapping_neg());
        let place = match set.value() {
            Some(offset) => Place::At(offset),
            None => {
                let base = self.solver.graph.word(64, id.base());
                Place::Among { offset: self.solver.graph.sub(e, base), set }
            }
        };
        Ok(Spot { id, place })
    }

    /// The function that a pointer is; other functions it can be are called by other states.
    pub(super) fn callee(&mut self, state: &mut State, target: Value) -> Result<FuncId, Outcome> {
        let count = self.program.functions.len();
        let wrong = |address: u64| match address {
            0..NULL_PAGE => Outcome::bug(Class::Null, "call through a null pointer"),
            _ => Outcome::bug(Class::ModelError, format!("call of {address:#x}, where no function is")),
        };
        let find = |address: u64| address::function_at(address, count).ok_or_else(|| wrong(address));
        let Some(e) = target.expr() else { return find(target.word) };
        if let Some(Fact::Equal(address)) = state.fact(e) {
            return find(address);
        }
        let set = self.solver.values(state.path, e);
        if let Some(address) = set.value() {
            return find(address);
        }
        let mut ways = Vec::new();
        let graph = &mut self.solver.graph;
        let mut none = graph.boolean(true);
        for (low, high) in set.spans() {
            for func in address::functions_in(low, high, count) {
                let address = address::of_function(func);
                let here = graph.word(64, address);
                let condition = graph.eq(e, here);
                let not = graph.not(condition);
                none = graph.and(none, not);
                ways.push(Way { condition, fact: Some(Fact::Equal(address)) });
            }
        }
        if set.min() < Some(NULL_PAGE) {
            let page = graph.word(64, NULL_PAGE);
            let null = graph.ult(e, page);
            ways.push(Way { condition: null, fact: None });
            let not = graph.not(null);
            none = graph.and(none, not);
        }
        ways.push(Way { condition: none, fact: None });
        match self.take_one(state, e, ways, |_, _, address| wrong(address))? {
            Fact::Equal(address) => find(address),
            Fact::Inside { .. } => unreachable!("the ways of a call are functions"),
        }
    }
}

/// The addresses at which the object has `count` bytes.
fn places(id: ObjectId, size: u64, count: u64) -> Set {
    Set::span(64, id.base(), id.base() + (size - count))
}
