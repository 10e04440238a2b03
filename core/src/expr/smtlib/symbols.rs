//! Meanings of names (functions, values and sorts) in scopes.
//!
//! Every name gets a number once. Its current meaning is in a table indexed by that number, and a trail holds
//! previous meanings. So `let`, push and pop cost time proportional to what they bind, and nothing is copied.
//! A symbol is not the variable of the same name: the graph has one sort per name, but a script may declare
//! `x` again with another sort, or after a pop. Each declaration gets a variable that no other live
//! declaration has.

use super::declared::Declared;
use super::float::{FloatFunction, ROUNDING_MODES};
use super::nested::NestedSorts;
use super::sorts::{NAMED_SORTS, SortFunction, Template};
use super::term_sort::{ScriptSort, Term, WordSort};
use crate::expr::builtin::Builtin;
use crate::expr::float::{Format, Rounding};
use crate::expr::{Expr, Graph, Sort};
use hashbrown::HashTable;
use rustc_hash::{FxHashSet, FxHasher};
use std::collections::BTreeMap;
use std::hash::Hasher;

/// The number of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symbol(u32);

/// Words with a special role in the grammar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reserved {
    Let,
    Annotate,
    Indexed,
    As,
    /// A binder or construct outside the supported logics.
    Foreign,
}

const RESERVED: [(&str, Reserved); 9] = [
    ("let", Reserved::Let),
    ("!", Reserved::Annotate),
    ("_", Reserved::Indexed),
    ("as", Reserved::As),
    ("forall", Reserved::Foreign),
    ("exists", Reserved::Foreign),
    ("lambda", Reserved::Foreign),
    ("match", Reserved::Foreign),
    ("par", Reserved::Foreign),
];

pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|&(word, _)| word == name)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Nothing,
    Reserved(Reserved),
    Builtin(Builtin),
    /// A function of the theory of floating point. A script may give its name another meaning.
    Float(FloatFunction),
    /// A rounding mode. A script may give its name another meaning.
    Rounding(Rounding),
    Value(Term),
    /// An index into `functions`.
    Function(u32),
    /// A position in the table of declared functions.
    Declared(u32),
}

/// A defined function with parameters: its body over placeholder variables.
pub(super) struct DefinedFunction {
    pub(super) parameters: Vec<Term>,
    pub(super) body: Term,
    /// Number of nodes below `body`: the cost of one use.
    pub(super) size: u64,
    /// Nested arrays that were made while it was read.
    pub(super) nested: std::ops::Range<usize>,
    /// Number of terms of declared sorts in it.
    pub(super) terms: u64,
    /// Conditions on the witnesses in its body (`array_equality.rs`); each use has witnesses of its own.
    pub(super) conditions: Vec<WitnessCondition>,
}

/// A condition on a fresh variable that every model can satisfy, and that every check assumes.
#[derive(Clone, Copy, Debug)]
pub struct WitnessCondition {
    pub witness: Expr,
    pub condition: Expr,
}

struct Entry {
    name: Box<str>,
    meaning: Meaning,
    sort: Option<SortFunction>,
    /// The number of the `let` that bound it last, to detect a name bound twice by one `let`.
    bound_by: u32,
}

enum Undo {
    Meaning(Symbol, Meaning),
    Sort(Symbol, Option<SortFunction>),
    /// Releases the variable of a declaration.
    Release(Expr),
}

/// Numbers of nested arrays and of terms of declared sorts at some point of a script.
#[derive(Clone, Copy)]
pub struct Counts {
    nested: usize,
    terms: u64,
}

/// A position of the trail to undo to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark(usize);

pub struct Symbols {
    numbers: HashTable<u32>,
    entries: Vec<Entry>,
    trail: Vec<Undo>,
    functions: Vec<DefinedFunction>,
    pub(super) declared: Declared,
    pub(super) nested: NestedSorts,
    /// Variables used by a declaration or a placeholder.
    taken: FxHashSet<Expr>,
    /// Formats of the declared floating-point constants.
    floats: BTreeMap<Expr, Format>,
    /// Variables for what the theory of floating point leaves open, in order of their names.
    unspecified: BTreeMap<String, Expr>,
    /// Conditions on witnesses in terms that were read; they stay when scopes are popped, since they restrict nothing.
    pub(super) conditions: Vec<WitnessCondition>,
    /// Comparisons of arrays that have a condition.
    pub(super) witnessed: FxHashSet<Expr>,
    let_count: u32,
    /// Whether declarations and definitions survive a pop.
    pub global: bool,
}

fn hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

impl Symbols {
    pub fn new(graph: &Graph) -> Symbols {
        let mut symbols = Symbols {
            numbers: HashTable::new(),
            entries: Vec::new(),
            trail: Vec::new(),
            functions: Vec::new(),
            declared: Declared::default(),
            nested: NestedSorts::default(),
            taken: FxHashSet::default(),
            floats: BTreeMap::new(),
            unspecified: BTreeMap::new(),
            conditions: Vec::new(),
            witnessed: FxHashSet::default(),
            let_count: 0,
            global: false,
        };
        for (name, word) in RESERVED {
            let symbol = symbols.number(name);
            symbols.entries[symbol.0 as usize].meaning = Meaning::Reserved(word);
        }
        for &f in Builtin::ALL {
            let symbol = symbols.number(f.name());
            symbols.entries[symbol.0 as usize].meaning = Meaning::Builtin(f);
        }
        for &f in FloatFunction::ALL {
            let symbol = symbols.number(f.name());
            symbols.entries[symbol.0 as usize].meaning = Meaning::Float(f);
        }
        for (name, mode) in ROUNDING_MODES {
            let symbol = symbols.number(name);
            symbols.entries[symbol.0 as usize].meaning = Meaning::Rounding(mode);
        }
        for value in [false, true] {
            let symbol = symbols.number(if value { "true" } else { "false" });
            let term = Term { expr: graph.boolean(value), sort: ScriptSort::Bool };
            symbols.entries[symbol.0 as usize].meaning = Meaning::Value(term);
        }
        for (name, sort) in NAMED_SORTS {
            let symbol = symbols.number(name);
            let body = std::sync::Arc::new(Template::Known(sort));
            symbols.entries[symbol.0 as usize].sort = Some(SortFunction::Defined { parameters: 0, body });
        }
        let symbol = symbols.number("Array");
        symbols.entries[symbol.0 as usize].sort = Some(SortFunction::Array);
        symbols
    }

    /// Returns the number of a name; adds the name if it is new.
    #[inline]
    pub fn number(&mut self, name: &str) -> Symbol {
        let hash = hash(name);
        let entries = &self.entries;
        if let Some(&n) = self.numbers.find(hash, |&n| *entries[n as usize].name == *name) {
            return Symbol(n);
        }
        let n = u32::try_from(self.entries.len()).expect("fewer than 2^32 names");
        self.entries.push(Entry { name: name.into(), meaning: Meaning::Nothing, sort: None, bound_by: 0 });
        let entries = &self.entries;
        self.numbers.insert_unique(hash, n, |&n| self::hash(&entries[n as usize].name));
        Symbol(n)
    }

    pub fn name(&self, symbol: Symbol) -> &str {
        &self.entries[symbol.0 as usize].name
    }

    #[inline]
    pub(super) fn meaning(&self, symbol: Symbol) -> Meaning {
        self.entries[symbol.0 as usize].meaning
    }

    pub(super) fn sort(&self, symbol: Symbol) -> Option<SortFunction> {
        self.entries[symbol.0 as usize].sort.clone()
    }

    pub(super) fn function(&self, place: u32) -> &DefinedFunction {
        &self.functions[place as usize]
    }

    // Scopes.

    pub fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Restores the meanings that names had at `mark`.
    pub fn undo(&mut self, mark: Mark) {
        while self.trail.len() > mark.0 {
            match self.trail.pop().expect("longer than the mark") {
                Undo::Meaning(symbol, before) => self.entries[symbol.0 as usize].meaning = before,
                Undo::Sort(symbol, before) => self.entries[symbol.0 as usize].sort = before,
                Undo::Release(variable) => {
                    self.taken.remove(&variable);
                    self.floats.remove(&variable);
                }
            }
        }
    }

    /// Starts the bindings of a new `let`; returns its number.
    pub(super) fn new_let(&mut self) -> u32 {
        self.let_count += 1;
        self.let_count
    }

    /// Binds a name in the `let` with number `by`; returns false if that `let` has bound the name already.
    #[inline]
    pub(super) fn bind(&mut self, symbol: Symbol, value: Term, by: u32) -> bool {
        let entry = &mut self.entries[symbol.0 as usize];
        let first = entry.bound_by != by;
        entry.bound_by = by;
        self.trail.push(Undo::Meaning(symbol, entry.meaning));
        entry.meaning = Meaning::Value(value);
        first
    }

    /// Binds a parameter of a function that is being defined.
    pub fn bind_parameter(&mut self, graph: &mut Graph, symbol: Symbol, sort: ScriptSort) -> Term {
        let variable = graph.fresh_var(&format!("{}!parameter", self.name(symbol)), sort.sort());
        self.taken.insert(variable);
        self.trail.push(Undo::Meaning(symbol, self.meaning(symbol)));
        let term = Term { expr: variable, sort };
        self.entries[symbol.0 as usize].meaning = Meaning::Value(term);
        term
    }

    /// Returns the variable of this name for what a theory leaves open, which every use shares.
    pub(super) fn unspecified(&mut self, graph: &mut Graph, name: String, sort: Sort) -> Expr {
        if let Some(&known) = self.unspecified.get(&name) {
            return known;
        }
        let variable = graph.fresh_var(&name, sort);
        self.taken.insert(variable);
        self.unspecified.insert(name, variable);
        variable
    }

    /// The variables for what theories leave open, with their names.
    pub fn unspecified_variables(&self) -> impl Iterator<Item = (&str, Expr)> {
        self.unspecified.iter().map(|(name, variable)| (name.as_str(), *variable))
    }

    /// The conditions that every check assumes.
    pub fn conditions(&self) -> impl Iterator<Item = Expr> {
        self.conditions.iter().map(|known| known.condition)
    }

    /// Returns the number of conditions, for `take_conditions`.
    pub fn condition_count(&self) -> usize {
        self.conditions.len()
    }

    /// Removes the conditions from a number on: those of the body of a function with parameters.
    pub fn take_conditions(&mut self, from: usize) -> Vec<WitnessCondition> {
        let taken = self.conditions.split_off(from);
        // A comparison without parameters may occur elsewhere too, where it needs its condition again.
        self.witnessed.clear();
        taken
    }

    /// Returns a variable that no declaration can name.
    pub(super) fn witness(&mut self, graph: &mut Graph, sort: Sort) -> Expr {
        let variable = graph.fresh_var("difference!witness", sort);
        self.taken.insert(variable);
        variable
    }

    // Declarations and definitions; each rejects a name that has a meaning.

    /// Fails if the name has a meaning.
    pub fn check_new(&self, symbol: Symbol) -> Result<(), String> {
        let name = self.name(symbol);
        match self.meaning(symbol) {
            Meaning::Nothing | Meaning::Float(_) | Meaning::Rounding(_) => Ok(()),
            Meaning::Builtin(f) if f.is_extension() => Ok(()),
            Meaning::Reserved(_) => Err(format!("expected a symbol, found the reserved word `{name}`")),
            Meaning::Builtin(_) => {
                Err(format!("expected a new symbol, found the built-in function `{name}`"))
            }
            Meaning::Value(_) | Meaning::Function(_) | Meaning::Declared(_) => {
                Err(format!("expected a new symbol, found `{name}`, which is declared already"))
            }
        }
    }

    pub(super) fn set(&mut self, symbol: Symbol, meaning: Meaning) {
        let before = std::mem::replace(&mut self.entries[symbol.0 as usize].meaning, meaning);
        if !self.global {
            self.trail.push(Undo::Meaning(symbol, before));
        }
    }

    /// Declares a constant and returns its variable.
    pub fn declare(&mut self, graph: &mut Graph, symbol: Symbol, sort: ScriptSort) -> Result<Expr, String> {
        self.check_new(symbol)?;
        let word = self.word_sort(sort).ok();
        if word.is_some_and(|word| self.mentions_declared(word)) {
            self.count_terms(1)?;
        }
        let variable = self.new_variable(graph, symbol, sort.sort());
        if let Some(WordSort::Float(format)) = word {
            self.floats.insert(variable, format);
        }
        self.set(symbol, Meaning::Value(Term { expr: variable, sort }));
        Ok(variable)
    }

    /// Variables of the declared floating-point constants: no term depends on which NaN they are.
    pub fn floats(&self) -> impl Iterator<Item = (Expr, Format)> {
        self.floats.iter().map(|(&variable, &format)| (variable, format))
    }

    /// A variable for a declaration, of the same name if possible.
    pub(super) fn new_variable(&mut self, graph: &mut Graph, symbol: Symbol, sort: Sort) -> Expr {
        let name = self.name(symbol);
        let usable = match graph.lookup(name) {
            Some(known) => graph.sort(known) == sort && !self.taken.contains(&known),
            None => true,
        };
        let variable = match graph.var(name, sort) {
            Ok(variable) if usable => variable,
            Ok(_) | Err(_) => graph.fresh_var(name, sort),
        };
        self.taken.insert(variable);
        if !self.global {
            self.trail.push(Undo::Release(variable));
        }
        variable
    }

    /// Defines a value: `define-const`, `define-fun` without parameters, `:named`.
    pub fn define(&mut self, symbol: Symbol, value: Term) -> Result<(), String> {
        self.check_new(symbol)?;
        self.set(symbol, Meaning::Value(value));
        Ok(())
    }

    /// Returns how many nested arrays and terms of declared sorts there are.
    pub fn counts(&self) -> Counts {
        Counts { nested: self.nested.len(), terms: self.term_count() }
    }

    /// Defines a function of parameters created by `bind_parameter`; `before` are the counts from before its body.
    pub fn define_function(
        &mut self,
        graph: &Graph,
        symbol: Symbol,
        parameters: Vec<Term>,
        body: Term,
        before: Counts,
        conditions: Vec<WitnessCondition>,
    ) -> Result<(), String> {
        self.check_new(symbol)?;
        let mut size = 0;
        graph.post_order(&[body.expr], |_| size += 1);
        let place = u32::try_from(self.functions.len()).expect("fewer than 2^32 definitions");
        let nested = before.nested..self.nested.len();
        let terms = self.term_count() - before.terms;
        self.functions.push(DefinedFunction { parameters, body, size, nested, terms, conditions });
        self.set(symbol, Meaning::Function(place));
        Ok(())
    }

    pub(super) fn define_sort(&mut self, symbol: Symbol, sort: SortFunction) -> Result<(), String> {
        let entry = &mut self.entries[symbol.0 as usize];
        if entry.sort.is_some() || matches!(&*entry.name, "BitVec" | "FloatingPoint" | "_" | "!" | "as") {
            return Err(format!(
                "expected a new sort symbol, found `{}`, which is a sort already",
                entry.name
            ));
        }
        entry.sort = Some(sort);
        if !self.global {
            self.trail.push(Undo::Sort(symbol, None));
        }
        Ok(())
    }

    /// Returns every expression that a name can refer to; they must survive a collection.
    pub fn roots(&self) -> impl Iterator<Item = Expr> + '_ {
        let value = |meaning: &Meaning| match meaning {
            Meaning::Value(term) => Some(term.expr),
            Meaning::Nothing | Meaning::Reserved(_) | Meaning::Builtin(_) | Meaning::Function(_) => None,
            Meaning::Float(_) | Meaning::Rounding(_) | Meaning::Declared(_) => None,
        };
        let current = self.entries.iter().filter_map(move |entry| value(&entry.meaning));
        let covered = self.trail.iter().filter_map(move |undo| match undo {
            Undo::Meaning(_, meaning) => value(meaning),
            Undo::Sort(..) | Undo::Release(_) => None,
        });
        let functions =
            self.functions.iter().flat_map(|f| f.parameters.iter().chain([&f.body]).map(|term| term.expr));
        let of_functions =
            self.functions.iter().flat_map(|f| f.conditions.iter().map(|known| known.condition));
        let conditions = self.conditions().chain(of_functions).chain(self.witnessed.iter().copied());
        let roots = current.chain(covered).chain(functions).chain(conditions);
        roots.chain(self.taken.iter().copied()).chain(self.nested.roots())
    }
}
