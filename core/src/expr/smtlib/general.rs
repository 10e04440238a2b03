//! Functions that take arguments of every sort: equality, `ite` and array accesses.

use super::term_sort::{ScriptSort, Term, WordSort};
use super::terms::Parser;
use crate::expr::Expr;
use crate::expr::builtin::Builtin;
use smallvec::SmallVec;

impl Parser<'_, '_> {
    /// Applies a built-in function to the arguments from `first` on.
    pub(super) fn apply_builtin(&mut self, f: Builtin, params: &[u64], first: usize) -> Result<Term, String> {
        let args = &self.args[first..];
        let exprs: SmallVec<[Expr; 4]> = args.iter().map(|arg| arg.expr).collect();
        if args.iter().all(|arg| arg.sort.is_core()) {
            let e = self.graph.apply(f, params, &exprs).map_err(|e| e.0)?;
            return Ok(self.core(e));
        }
        let args: SmallVec<[Term; 4]> = args.iter().copied().collect();
        match (f, &args[..]) {
            (Builtin::Equal | Builtin::Distinct, [_, _, ..]) => {
                let sort = self.same_sort(f, &args, "first")?;
                // The number and the sorts of the arguments are correct; this checks the limit of `distinct`.
                f.result(params, &vec![sort.sort(); args.len()]).map_err(|e| e.0)?;
                let pairs: Vec<(Expr, Expr)> = if f == Builtin::Equal {
                    exprs.windows(2).map(|pair| (pair[0], pair[1])).collect()
                } else {
                    let pairs = (0..exprs.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                    pairs.map(|(i, j)| (exprs[i], exprs[j])).collect()
                };
                let mut all = self.graph.boolean(true);
                for (a, b) in pairs {
                    let equal = self.equal(f, sort, a, b)?;
                    let holds = if f == Builtin::Equal { equal } else { self.graph.not(equal) };
                    all = self.graph.and(all, holds);
                }
                Ok(Term { expr: all, sort: ScriptSort::Bool })
            }
            (Builtin::Ite, [condition, then, _]) if condition.sort == ScriptSort::Bool => {
                let sort = self.same_sort(f, &args[1..], "second")?;
                if let ScriptSort::Real(_) = then.sort {
                    return Err(format!("{}: expected a term of the supported logics, found Real", f.name()));
                }
                Ok(Term { expr: self.graph.ite(exprs[0], exprs[1], exprs[2]), sort })
            }
            (Builtin::Select | Builtin::Store, [array, at, rest @ ..])
                if rest.len() == usize::from(f == Builtin::Store) =>
            {
                self.access(f, *array, *at, rest.first().copied())
            }
            _ => {
                let other = args.iter().find(|arg| !arg.sort.is_core()).expect("checked above");
                let found = self.symbols.show(other.sort);
                Err(format!("{}: expected booleans, bit-vectors or arrays of them, found {found}", f.name()))
            }
        }
    }

    fn same_sort(&self, f: Builtin, args: &[Term], ordinal: &str) -> Result<ScriptSort, String> {
        match args.iter().find(|arg| arg.sort != args[0].sort) {
            Some(other) => {
                let (expected, found) = (self.symbols.show(args[0].sort), self.symbols.show(other.sort));
                Err(format!("{}: expected {expected} like its {ordinal} argument, found {found}", f.name()))
            }
            None => Ok(args[0].sort),
        }
    }

    fn equal(&mut self, f: Builtin, sort: ScriptSort, a: Expr, b: Expr) -> Result<Expr, String> {
        match sort {
            ScriptSort::Word(word) => Ok(self.graph.equal_words(word, a, b)),
            ScriptSort::Array { index, element } if index.is_ambiguous() || element.is_ambiguous() => {
                if self.symbols.mentions_declared(index) {
                    self.symbols.count_terms(1)?;
                }
                self.equal_arrays(index, element, a, b).map_err(|message| format!("{}: {message}", f.name()))
            }
            ScriptSort::Array { index, .. } => {
                if self.symbols.mentions_declared(index) {
                    // The index where the arrays differ.
                    self.symbols.count_terms(1)?;
                }
                Ok(self.graph.eq(a, b))
            }
            ScriptSort::Bool => Ok(self.graph.eq(a, b)),
            ScriptSort::Real(_) => {
                Err(format!("{}: expected a term of the supported logics, found Real", f.name()))
            }
        }
    }

    /// Reads an element, or writes it if there is a value.
    fn access(&mut self, f: Builtin, array: Term, at: Term, value: Option<Term>) -> Result<Term, String> {
        let ScriptSort::Array { index, element } = array.sort else {
            return Err(format!("{}: expected an array, found {}", f.name(), self.symbols.show(array.sort)));
        };
        let place = self.word(f, index, at, "index", array.sort)?;
        let Some(value) = value else {
            let word = self.graph.select(array.expr, place);
            return self.symbols.term_of_word(self.graph, element, word);
        };
        let value = self.word(f, element, value, "element", array.sort)?;
        Ok(Term { expr: self.graph.store(array.expr, place, value), sort: array.sort })
    }

    /// The word of a term that must have the sort `sort`.
    fn word(
        &mut self,
        f: Builtin,
        sort: WordSort,
        term: Term,
        role: &str,
        array: ScriptSort,
    ) -> Result<Expr, String> {
        if self.symbols.word_sort(term.sort)? != sort {
            let (name, expected) = (f.name(), self.symbols.show_word(sort));
            let (array, found) = (self.symbols.show(array), self.symbols.show(term.sort));
            return Err(format!("{name}: expected {expected} as {role} of {array}, found {found}"));
        }
        Ok(self.symbols.word_of(self.graph, sort, term.expr))
    }
}
