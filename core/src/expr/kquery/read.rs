//! Parser of KQuery: bytes to graph nodes in one pass. Declarations and queries are here, expressions in
//! `expressions`.

use super::expressions::Frame;
use super::lexer::{Lexer, Token};
use super::operators::{self, Operand};
use super::{Array, ELEMENT_WIDTH, INDEX_WIDTH, ParsedQuery};
use crate::expr::smtlib::SyntaxError;
use crate::expr::{Expr, Graph, Sort};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Most bytes of an array whose contents may be requested.
const MAX_CONTENTS: u64 = 1 << 24;

/// Parses the queries of a text one after the other.
pub struct KQueryParser<'a> {
    pub(super) lexer: Lexer<'a>,
    arrays: FxHashMap<&'a str, Array>,
    pub(super) labels: FxHashMap<&'a str, Expr>,
    pub(super) versions: FxHashMap<&'a str, Expr>,
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) operands: Vec<Operand<'a>>,
    pub(super) updates: Vec<(Expr, Expr)>,
}

impl<'a> KQueryParser<'a> {
    pub fn new(text: &'a [u8]) -> KQueryParser<'a> {
        KQueryParser {
            lexer: Lexer::new(text),
            arrays: FxHashMap::default(),
            labels: FxHashMap::default(),
            versions: FxHashMap::default(),
            frames: Vec::new(),
            operands: Vec::new(),
            updates: Vec::new(),
        }
    }

    /// Returns the next query, or `None` at the end of the text.
    pub fn next(&mut self, graph: &mut Graph) -> Result<Option<ParsedQuery>, SyntaxError> {
        loop {
            match self.lexer.token()? {
                Token::Word("array") => self.declaration(graph)?,
                Token::Open => return self.query(graph).map(Some),
                Token::End => return Ok(None),
                found => return self.lexer.unexpected("`array` or `(query`", found),
            }
        }
    }

    /// Returns the arrays declared so far; they must survive a collection between queries.
    pub fn roots(&self) -> impl Iterator<Item = Expr> + '_ {
        self.arrays.values().map(|array| array.expr)
    }

    /// Reads `NAME [SIZE] : w32 -> w8 = symbolic`, after `array`.
    fn declaration(&mut self, graph: &mut Graph) -> Result<(), SyntaxError> {
        let name = match self.lexer.token()? {
            Token::Word(name) => name,
            found => return self.lexer.unexpected("an array name", found),
        };
        self.lexer.expect(Token::ListOpen, "`[` after the array name")?;
        let size = match self.lexer.token()? {
            Token::ListClose => None,
            Token::Number(text) => {
                let Some(size) = text.parse::<u64>().ok().filter(|&n| n <= 1 << INDEX_WIDTH) else {
                    return self.lexer.unexpected("a size of at most 2^32", Token::Number(text));
                };
                self.lexer.expect(Token::ListClose, "`]`")?;
                Some(size)
            }
            found => return self.lexer.unexpected("a size or `]`", found),
        };
        self.lexer.expect(Token::Colon, "`:`")?;
        self.lexer.expect(Token::Type(INDEX_WIDTH.into()), "the index type `w32`")?;
        self.lexer.expect(Token::Arrow, "`->`")?;
        self.lexer.expect(Token::Type(ELEMENT_WIDTH.into()), "the element type `w8`")?;
        self.lexer.expect(Token::Equals, "`=`")?;
        let sort = Sort::Array { index: INDEX_WIDTH, element: ELEMENT_WIDTH };
        let variable = match graph.var(name, sort) {
            Ok(variable) => variable,
            // A variable of another sort has this name.
            Err(_) => graph.fresh_var(name, sort),
        };
        let (expr, size) = match self.lexer.token()? {
            Token::Word("symbolic") => (variable, size.unwrap_or(0)),
            Token::ListOpen => {
                let elements = self.elements(graph)?;
                let found = elements.len() as u64;
                if size.is_some_and(|size| size != found) {
                    let size = size.expect("checked");
                    return self.lexer.error(format!("expected {size} elements of `{name}`, found {found}"));
                }
                (graph.table_over(variable, elements), found)
            }
            found => return self.lexer.unexpected("`symbolic` or `[`", found),
        };
        self.arrays.insert(name, Array { name: name.into(), size, expr });
        Ok(())
    }

    fn elements(&mut self, graph: &mut Graph) -> Result<Arc<[u64]>, SyntaxError> {
        let mut elements = Vec::new();
        loop {
            match self.lexer.token()? {
                Token::Number(text) => {
                    let e = match operators::number(graph, text, ELEMENT_WIDTH) {
                        Ok(e) => e,
                        Err(message) => return self.lexer.error(message),
                    };
                    elements.push(graph.const_word(e).expect("a constant of 8 bits"));
                }
                Token::ListClose => return Ok(elements.into()),
                found => return self.lexer.unexpected("an element or `]`", found),
            }
        }
    }

    fn query(&mut self, graph: &mut Graph) -> Result<ParsedQuery, SyntaxError> {
        self.labels.clear();
        self.versions.clear();
        self.lexer.expect(Token::Word("query"), "`query`")?;
        self.lexer.expect(Token::ListOpen, "`[` before the constraints")?;
        let mut constraints = Vec::new();
        while !self.at_list_end()? {
            constraints.push(self.condition(graph)?);
        }
        let expr = self.condition(graph)?;
        let (mut values, mut arrays) = (Vec::new(), Vec::new());
        let mut token = self.lexer.token()?;
        if token == Token::ListOpen {
            while !self.at_list_end()? {
                match self.operand(graph)? {
                    Operand::Expr(e) => values.push(e),
                    Operand::Number(text) => {
                        return self.lexer.unexpected("a value with a width", Token::Number(text));
                    }
                }
            }
            token = self.lexer.token()?;
        }
        if token == Token::ListOpen {
            while !self.at_list_end()? {
                match self.lexer.token()? {
                    Token::Word(name) => {
                        let array = self.array(name)?.clone();
                        if array.size > MAX_CONTENTS {
                            let size = array.size;
                            return self.lexer.error(format!(
                                "expected an array of at most {MAX_CONTENTS} bytes to ask for, found one of {size}"
                            ));
                        }
                        arrays.push(array);
                    }
                    found => return self.lexer.unexpected("an array name or `]`", found),
                }
            }
            token = self.lexer.token()?;
        }
        match token {
            Token::Close => Ok(ParsedQuery { constraints, expr, values, arrays }),
            found => self.lexer.unexpected("`)` after the query", found),
        }
    }

    pub(super) fn at_list_end(&mut self) -> Result<bool, SyntaxError> {
        let end = self.lexer.token()? == Token::ListClose;
        if !end {
            self.lexer.back();
        }
        Ok(end)
    }

    pub(super) fn array(&self, name: &str) -> Result<&Array, SyntaxError> {
        match self.arrays.get(name) {
            Some(array) => Ok(array),
            None => self.lexer.unexpected("a declared array", Token::Word(name)),
        }
    }

    /// Reads an expression of one bit as a boolean.
    fn condition(&mut self, graph: &mut Graph) -> Result<Expr, SyntaxError> {
        let operand = self.operand(graph)?;
        match operators::typed(graph, "condition", operand, 1) {
            Ok(e) => Ok(operators::to_boolean(graph, e)),
            Err(message) => self.lexer.error(message),
        }
    }
}
