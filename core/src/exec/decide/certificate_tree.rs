//! The tree of a certificate: what each path chose at each place where more than one continuation was possible, and why other
//! sides are infeasible. (Decisions by which a path is executed again are in `strings.rs`.)
//!
//! A decision is a kind and a value: a side of a branch, an arm of a switch, an object, a bound value. The
//! decisions of a path are a list that is shared by prefix: every state holds its newest `SideId`. A `Point` is a
//! place where a path decided; its sides were taken by this state, taken by a forked state, or closed by a core.
//! Recorded only on request (`Engine::record_decisions`); certificates are written from it.
//!
//! Constraints are named by the side that added them. The expressions of a side are valid as long as a live
//! path contains it, and they are only compared with those of a live path.
use crate::expr::Expr;
use crate::program::FuncId;
use smallvec::SmallVec;

/// Number of a side; 0 is the beginning of every path.
pub type SideId = u32;

/// Kind of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Side of a conditional branch.
    Branch,
    /// Edge of a switch or of a computed goto.
    Switch,
    /// Does an operation succeed (1), or is it an error (0)?
    Check,
    /// Truth of a condition inside of an instruction or a model.
    Condition,
    /// Is a value equal to the number of the point?
    Value,
    /// Object that a pointer points into, or function that it points to.
    Target,
    /// Condition that the program assumes.
    Assume,
    /// Thread that runs next.
    Schedule,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Branch => "branch",
            Kind::Switch => "switch",
            Kind::Check => "check",
            Kind::Condition => "condition",
            Kind::Value => "value",
            Kind::Target => "target",
            Kind::Assume => "assume",
            Kind::Schedule => "schedule",
        }
    }
}

/// Subject of a decision: the kind, the purpose in words, and the number that belongs to the point (the value of
/// `Kind::Value`, the address of the object of an access that must stay inside of it; else 0).
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub kind: Kind,
    pub purpose: &'a str,
    pub number: u64,
}

impl<'a> Subject<'a> {
    pub const fn new(kind: Kind, purpose: &'a str) -> Subject<'a> {
        Subject { kind, purpose, number: 0 }
    }
}

/// How a side continues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Continues {
    /// The state that decided continues here.
    Taken(SideId),
    /// A forked state continues here.
    Forked(SideId),
    /// Infeasible, because of the constraints that these sides added.
    Closed(Vec<SideId>),
}

/// A side of a point.
#[derive(Clone, Debug)]
pub struct Row {
    /// Truth of the condition, edge, or address of the target.
    pub value: u64,
    pub continues: Continues,
    /// Condition in SMT-LIB, for targets that are errors.
    pub condition: Option<String>,
}

/// A place where a path decided.
#[derive(Clone, Debug)]
pub struct Point {
    pub parent: SideId,
    pub func: FuncId,
    pub pc: u32,
    /// Number of instructions that the path executed before this one.
    pub step: u64,
    pub kind: Kind,
    pub purpose: Box<str>,
    pub number: u64,
    /// Condition in SMT-LIB, where a model of a function decided.
    pub condition: Option<String>,
    pub rows: Vec<Row>,
}

/// An input of a path: its name, its variable, its bytes in the path's test.
pub type InputRow = (String, String, Vec<u8>);

/// End of a path.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub side: SideId,
    /// Number of instructions that the path executed before the last one.
    pub step: u64,
    pub ending: String,
    pub inputs: Vec<InputRow>,
}

struct Side {
    parent: SideId,
    /// Expressions were simplified by what the path implies: a core alone does not explain them.
    is_narrowed: bool,
    constraints: SmallVec<[Expr; 1]>,
}

pub struct CertificateTree {
    sides: Vec<Side>,
    pub points: Vec<Point>,
    pub leaves: Vec<Leaf>,
}

impl Default for CertificateTree {
    fn default() -> CertificateTree {
        let root = Side { parent: 0, is_narrowed: false, constraints: SmallVec::new() };
        CertificateTree { sides: vec![root], points: Vec::new(), leaves: Vec::new() }
    }
}

impl CertificateTree {
    /// Adds a side after `parent`.
    pub fn add_side(&mut self, parent: SideId) -> SideId {
        self.sides.push(Side { parent, is_narrowed: false, constraints: SmallVec::new() });
        u32::try_from(self.sides.len() - 1).expect("fewer than 2^32 sides")
    }

    /// The path whose newest side this is has one more constraint.
    pub fn add_constraint(&mut self, side: SideId, constraint: Expr) {
        self.sides[side as usize].constraints.push(constraint);
    }

    /// The path that ends in this side uses a set of values that its constraints imply.
    pub fn set_narrowed(&mut self, side: SideId) {
        self.sides[side as usize].is_narrowed = true;
    }

    fn is_narrowed(&self, path: SideId) -> bool {
        let mut at = path;
        while at != 0 && !self.sides[at as usize].is_narrowed {
            at = self.sides[at as usize].parent;
        }
        self.sides[at as usize].is_narrowed
    }

    /// Sides of the path that added these constraints, in order; all that added any if the path is narrowed.
    pub fn sides_of(&self, path: SideId, core: &[Expr]) -> Vec<SideId> {
        let all = self.is_narrowed(path);
        let mut found = Vec::new();
        let mut at = path;
        while at != 0 {
            let side = &self.sides[at as usize];
            if side.constraints.iter().any(|constraint| all || core.contains(constraint)) {
                found.push(at);
            }
            at = side.parent;
        }
        found.reverse();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Graph, Sort};

    #[test]
    fn a_core_names_the_sides_of_its_own_path() {
        let mut graph = Graph::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| graph.var(name, Sort::Bool).expect("a new name"));
        let mut decisions = CertificateTree::default();
        let first = decisions.add_side(0);
        decisions.add_constraint(first, a);
        let (left, right) = (decisions.add_side(first), decisions.add_side(first));
        decisions.add_constraint(left, b);
        decisions.add_constraint(right, b);
        decisions.add_constraint(right, c);
        assert_eq!(decisions.sides_of(right, &[b, c]), [right]);
        assert_eq!(decisions.sides_of(left, &[a, b, c]), [first, left]);
        assert_eq!(decisions.sides_of(left, &[]), [0u32; 0]);
        decisions.set_narrowed(first);
        assert_eq!(decisions.sides_of(left, &[]), [first, left]);
    }
}
