//! Declared sorts and functions.
//!
//! An element of a declared sort is a number. There are more numbers than terms, so no formula lacks elements; it is
//! an error to write more terms of such sorts than there are numbers. A constant array indexed by a declared sort is
//! rejected: `(= (store ((as const ...) 0) x 1) ((as const ...) 1))` needs a sort with one element.
//!
//! A declared function is an array variable whose index is the concatenation of the arguments: two applications
//! have equal results if their arguments are equal, and nothing else is required of either.

use super::Symbols;
use super::nested::NestedSorts;
use super::symbols::{Meaning, Symbol};
use super::term_sort::{IDENTITY_WIDTH, ScriptSort, Term, WordSort};
use crate::expr::{ArrayValue, Bits, Expr, Graph, MAX_WIDTH, Sort, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Largest number of terms of declared sorts in a script.
const MAX_TERMS: u64 = 1 << IDENTITY_WIDTH;

/// A declaration of a sort; two declarations of one name are different sorts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct SortDeclaration {
    number: u32,
    symbol: Symbol,
    pub(super) parameters: u32,
}

/// A declared function with parameters.
#[derive(Clone, Debug)]
pub struct DeclaredFunction {
    pub parameters: Vec<WordSort>,
    pub result: WordSort,
    /// The array variable that represents it.
    pub variable: Expr,
}

#[derive(Default)]
pub(super) struct Declared {
    declarations: u32,
    instances: FxHashMap<(SortDeclaration, Vec<ScriptSort>), u32>,
    /// Name of each sort.
    names: Vec<String>,
    pub(super) functions: Vec<DeclaredFunction>,
    terms: u64,
}

impl Symbols {
    // Sorts.

    pub fn declare_sort(&mut self, symbol: Symbol, parameters: u32) -> Result<(), String> {
        let number = self.declared.declarations;
        self.declared.declarations += 1;
        let declaration = SortDeclaration { number, symbol, parameters };
        self.define_sort(symbol, super::sorts::SortFunction::Declared(declaration))
    }

    pub(super) fn declared_instance(
        &mut self,
        declaration: SortDeclaration,
        args: &[ScriptSort],
    ) -> ScriptSort {
        let key = (declaration, args.to_vec());
        if let Some(&known) = self.declared.instances.get(&key) {
            return ScriptSort::Word(WordSort::Declared(known));
        }
        let name = self.name(declaration.symbol);
        let name = super::print_symbol(name).unwrap_or_else(|| format!("|{name}|"));
        let shown: Vec<String> = args.iter().map(|&arg| self.show(arg)).collect();
        let name = if args.is_empty() { name } else { format!("({name} {})", shown.join(" ")) };
        let place = self.declared.names.len() as u32;
        self.declared.names.push(name);
        self.declared.instances.insert(key, place);
        ScriptSort::Word(WordSort::Declared(place))
    }

    /// The sort of words that represent a sort.
    pub fn word_sort(&mut self, sort: ScriptSort) -> Result<WordSort, String> {
        match sort {
            ScriptSort::Bool => Ok(WordSort::Bool),
            ScriptSort::Word(word) => Ok(word),
            ScriptSort::Array { index, element } if !NestedSorts::supports(index, element) => {
                let sort = self.show(sort);
                Err(format!(
                    "arrays with floating-point numbers or rounding modes as index, and very small ones of them, are \
                     unsupported inside another sort: {sort}"
                ))
            }
            ScriptSort::Array { index, element } => Ok(self.nested.word(index, element)),
            ScriptSort::Real(_) => Err("expected a sort of the supported logics, found Real".into()),
        }
    }

    /// Prints a sort.
    pub fn show(&self, sort: ScriptSort) -> String {
        match sort {
            ScriptSort::Bool | ScriptSort::Real(_) => sort.describe(),
            ScriptSort::Word(word) => self.show_word(word),
            ScriptSort::Array { index, element } => {
                format!("(Array {} {})", self.show_word(index), self.show_word(element))
            }
        }
    }

    pub fn show_word(&self, sort: WordSort) -> String {
        match sort {
            WordSort::Bool | WordSort::Bits(_) | WordSort::Float(_) | WordSort::Rounding => sort.describe(),
            WordSort::Declared(place) => self.declared.names[place as usize].clone(),
            WordSort::Nested(nested) => {
                let (index, element) = self.nested.parts(nested);
                self.show(ScriptSort::Array { index, element })
            }
        }
    }

    /// Whether values of the sort contain elements of a declared sort.
    pub(super) fn mentions_declared(&self, sort: WordSort) -> bool {
        match sort {
            WordSort::Declared(_) => true,
            WordSort::Nested(nested) => {
                let (index, element) = self.nested.parts(nested);
                self.mentions_declared(index) || self.mentions_declared(element)
            }
            WordSort::Bool | WordSort::Bits(_) | WordSort::Float(_) | WordSort::Rounding => false,
        }
    }

    /// Number of terms of declared sorts and of arrays over them so far.
    pub(super) fn term_count(&self) -> u64 {
        self.declared.terms
    }

    /// Counts terms of declared sorts, each of which may need an element of its own.
    pub(super) fn count_terms(&mut self, count: u64) -> Result<(), String> {
        self.declared.terms += count;
        if self.declared.terms > MAX_TERMS {
            return Err(format!("expected at most {MAX_TERMS} terms of declared sorts, found more"));
        }
        Ok(())
    }

    // Words.

    /// The word that represents a term, one for all representations of its value.
    pub(super) fn word_of(&mut self, graph: &mut Graph, sort: WordSort, e: Expr) -> Expr {
        match sort {
            WordSort::Bool => {
                let (one, zero) = (graph.word(1, 1), graph.word(1, 0));
                graph.ite(e, one, zero)
            }
            WordSort::Nested(nested) => self.nested_word(graph, nested, e),
            WordSort::Bits(_) | WordSort::Float(_) | WordSort::Rounding | WordSort::Declared(_) => {
                graph.canonical_word(sort, e)
            }
        }
    }

    /// The term that a word represents.
    pub(super) fn term_of_word(
        &mut self,
        graph: &mut Graph,
        sort: WordSort,
        word: Expr,
    ) -> Result<Term, String> {
        Ok(match sort {
            WordSort::Bool => {
                let one = graph.word(1, 1);
                Term { expr: graph.eq(word, one), sort: ScriptSort::Bool }
            }
            WordSort::Nested(nested) => {
                let (index, element) = self.nested.parts(nested);
                self.count_terms(1)?;
                let expr = self.nested_array(graph, nested, word);
                Term { expr, sort: ScriptSort::Array { index, element } }
            }
            WordSort::Declared(_) => {
                self.count_terms(1)?;
                Term { expr: word, sort: ScriptSort::Word(sort) }
            }
            WordSort::Bits(_) | WordSort::Float(_) | WordSort::Rounding => {
                Term { expr: word, sort: ScriptSort::Word(sort) }
            }
        })
    }

    // Functions.

    /// Declares a function with parameters.
    pub fn declare_function(
        &mut self,
        graph: &mut Graph,
        symbol: Symbol,
        parameters: &[ScriptSort],
        result: ScriptSort,
    ) -> Result<DeclaredFunction, String> {
        self.check_new(symbol)?;
        let parameters: Result<Vec<WordSort>, String> =
            parameters.iter().map(|&sort| self.word_sort(sort)).collect();
        let (parameters, result) = (parameters?, self.word_sort(result)?);
        let width: u64 = parameters.iter().map(|sort| u64::from(sort.width())).sum();
        if width > u64::from(MAX_WIDTH) {
            return Err(format!("expected parameters of at most {MAX_WIDTH} bits together, found {width}"));
        }
        let variable =
            self.new_variable(graph, symbol, Sort::Array { index: width as u32, element: result.width() });
        let function = DeclaredFunction { parameters, result, variable };
        let place = u32::try_from(self.declared.functions.len()).expect("fewer than 2^32 functions");
        self.declared.functions.push(function.clone());
        self.set(symbol, Meaning::Declared(place));
        Ok(function)
    }

    /// Applies a declared function.
    pub(super) fn apply_declared(
        &mut self,
        graph: &mut Graph,
        place: u32,
        args: &[Term],
    ) -> Result<Term, String> {
        let f = self.declared.functions[place as usize].clone();
        if args.len() != f.parameters.len() {
            return Err(format!("expected {} arguments, found {}", f.parameters.len(), args.len()));
        }
        let mut index: Option<Expr> = None;
        for (i, (&sort, arg)) in f.parameters.iter().zip(args).enumerate() {
            if self.word_sort(arg.sort)? != sort {
                let (sort, found) = (self.show_word(sort), self.show(arg.sort));
                return Err(format!("expected {sort} as argument {}, found {found}", i + 1));
            }
            let word = self.word_of(graph, sort, arg.expr);
            index = Some(index.map_or(word, |before| graph.concat(before, word)));
        }
        let word = graph.select(f.variable, index.expect("a function has parameters"));
        self.term_of_word(graph, f.result, word)
    }

    // Values.

    /// Prints a value of a term. Adds the elements of declared sorts in it to `elements`.
    pub fn print_value(
        &mut self,
        sort: ScriptSort,
        value: &Value,
        elements: &mut BTreeSet<String>,
    ) -> String {
        match (sort, value) {
            (ScriptSort::Array { index, element }, Value::Array(array)) => {
                self.print_array(index, element, array, elements)
            }
            (ScriptSort::Word(word), Value::Bits(bits)) => self.print_word(word, bits, elements),
            (_, Value::Bits(bits)) => if bits.is_zero() { "false" } else { "true" }.into(),
            (_, Value::Array(_)) => unreachable!("an array has an array sort"),
        }
    }

    fn print_array(
        &mut self,
        index: WordSort,
        element: WordSort,
        array: &ArrayValue,
        elements: &mut BTreeSet<String>,
    ) -> String {
        let entries: Vec<_> =
            array.entries().into_iter().filter(|(at, _)| super::print::is_canonical(index, at)).collect();
        let mut text = "(store ".repeat(entries.len());
        let default = self.print_word(element, array.default_element(), elements);
        let sort = self.show(ScriptSort::Array { index, element });
        let _ = write!(text, "((as const {sort}) {default})");
        for (at, value) in entries {
            let (at, value) =
                (self.print_word(index, &at, elements), self.print_word(element, &value, elements));
            let _ = write!(text, " {at} {value})");
        }
        text
    }

    fn print_word(&mut self, sort: WordSort, bits: &Bits, elements: &mut BTreeSet<String>) -> String {
        match sort {
            WordSort::Bool => if bits.is_zero() { "false" } else { "true" }.into(),
            WordSort::Declared(_) => {
                let sort = self.show_word(sort);
                let name = match sort.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
                    Some(inner) => format!("|{inner}!val!{}|", bits.low()),
                    None if sort.starts_with('(') => {
                        format!("|{}!val!{}|", sort.replace('|', ""), bits.low())
                    }
                    None => format!("{sort}!val!{}", bits.low()),
                };
                elements.insert(format!("(declare-fun {name} () {sort})"));
                name
            }
            WordSort::Nested(nested) => {
                let (index, element) = self.nested.parts(nested);
                let array = self.nested_value(nested, bits);
                self.print_array(index, element, &array, elements)
            }
            WordSort::Bits(_) | WordSort::Float(_) | WordSort::Rounding => {
                super::print::print_word(sort, bits)
            }
        }
    }

    /// Prints the definition of a declared function in a model.
    pub fn print_function(
        &mut self,
        name: &str,
        f: &DeclaredFunction,
        value: &ArrayValue,
        elements: &mut BTreeSet<String>,
    ) -> String {
        let mut parameters = Vec::new();
        for (i, &sort) in f.parameters.iter().enumerate() {
            parameters.push(format!("(x!{i} {})", self.show_word(sort)));
        }
        let mut body = String::new();
        let entries = value.entries();
        let count = entries.len();
        for (index, element) in entries {
            let mut low = index.width();
            let mut equal = Vec::new();
            for (i, &sort) in f.parameters.iter().enumerate() {
                low -= sort.width();
                let argument = index.extract(low.into(), sort.width());
                equal.push(format!("(= x!{i} {})", self.print_word(sort, &argument, elements)));
            }
            let condition =
                if equal.len() == 1 { equal.remove(0) } else { format!("(and {})", equal.join(" ")) };
            let _ = write!(body, "(ite {condition} {} ", self.print_word(f.result, &element, elements));
        }
        body.push_str(&self.print_word(f.result, value.default_element(), elements));
        body.push_str(&")".repeat(count));
        format!("(define-fun {name} ({}) {} {body})", parameters.join(" "), self.show_word(f.result))
    }
}
