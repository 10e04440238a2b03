//! Reading KQuery: bytes to graph nodes in one pass, on a stack of our own.

use super::lexer::{Lexer, Token};
use super::operators::{self, Operand, Operator, Order};
use super::{Array, ELEMENT, INDEX, Query};
use crate::expr::smtlib::SyntaxError;
use crate::expr::{Expr, Graph, MAX_WIDTH, Sort};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Bytes of an array whose contents may be asked for.
const MAX_CONTENTS: u64 = 1 << 24;

type Label<'a> = Option<&'a str>;

/// What is being read.
enum Frame<'a> {
    Apply {
        operator: Operator,
        width: Option<u32>,
        first: usize,
        label: Label<'a>,
        at: usize,
    },
    /// The index comes first, then the array.
    Read {
        order: Order,
        width: u32,
        index: Option<Expr>,
        label: Label<'a>,
        at: usize,
    },
    /// `[lhs = rhs, ...] @ array`: pairs read so far, and the left side of the one being read.
    Updates {
        first: usize,
        left: Option<Expr>,
        complete: bool,
        label: Label<'a>,
    },
}

/// What comes next, or was just read.
#[derive(Clone, Copy)]
enum Item<'a> {
    Operand(Operand<'a>),
    Version(Expr),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Operand,
    Version,
}

/// Reads the queries of a text one after the other.
pub struct Reader<'a> {
    lexer: Lexer<'a>,
    arrays: FxHashMap<&'a str, Array>,
    labels: FxHashMap<&'a str, Expr>,
    versions: FxHashMap<&'a str, Expr>,
    frames: Vec<Frame<'a>>,
    operands: Vec<Operand<'a>>,
    updates: Vec<(Expr, Expr)>,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a [u8]) -> Reader<'a> {
        Reader {
            lexer: Lexer::new(text),
            arrays: FxHashMap::default(),
            labels: FxHashMap::default(),
            versions: FxHashMap::default(),
            frames: Vec::new(),
            operands: Vec::new(),
            updates: Vec::new(),
        }
    }

    /// The next query, or `None` at the end of the text.
    pub fn next(&mut self, graph: &mut Graph) -> Result<Option<Query>, SyntaxError> {
        loop {
            match self.lexer.next()? {
                Token::Word("array") => self.declaration(graph)?,
                Token::Open => return self.query(graph).map(Some),
                Token::End => return Ok(None),
                found => return self.lexer.unexpected("`array` or `(query`", found),
            }
        }
    }

    /// The arrays declared so far; they must survive a collection between queries.
    pub fn roots(&self) -> impl Iterator<Item = Expr> + '_ {
        self.arrays.values().map(|array| array.expr)
    }

    /// `NAME [SIZE] : w32 -> w8 = symbolic`, after `array`.
    fn declaration(&mut self, graph: &mut Graph) -> Result<(), SyntaxError> {
        let name = match self.lexer.next()? {
            Token::Word(name) => name,
            found => return self.lexer.unexpected("an array name", found),
        };
        self.lexer.expect(Token::ListOpen, "`[` after the array name")?;
        let size = match self.lexer.next()? {
            Token::ListClose => None,
            Token::Number(text) => {
                let Some(size) = text.parse::<u64>().ok().filter(|&n| n <= 1 << INDEX) else {
                    return self.lexer.unexpected("a size of at most 2^32", Token::Number(text));
                };
                self.lexer.expect(Token::ListClose, "`]`")?;
                Some(size)
            }
            found => return self.lexer.unexpected("a size or `]`", found),
        };
        self.lexer.expect(Token::Colon, "`:`")?;
        self.lexer.expect(Token::Type(INDEX.into()), "the index type `w32`")?;
        self.lexer.expect(Token::Arrow, "`->`")?;
        self.lexer.expect(Token::Type(ELEMENT.into()), "the element type `w8`")?;
        self.lexer.expect(Token::Equals, "`=`")?;
        let sort = Sort::Array { index: INDEX, element: ELEMENT };
        let variable = match graph.var(name, sort) {
            Ok(variable) => variable,
            // The name belongs to a variable of another kind.
            Err(_) => graph.fresh_var(name, sort),
        };
        let (expr, size) = match self.lexer.next()? {
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
            match self.lexer.next()? {
                Token::Number(text) => {
                    let e = match operators::number(graph, text, ELEMENT) {
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

    fn query(&mut self, graph: &mut Graph) -> Result<Query, SyntaxError> {
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
        let mut token = self.lexer.next()?;
        if token == Token::ListOpen {
            while !self.at_list_end()? {
                match self.operand(graph)? {
                    Operand::Expr(e) => values.push(e),
                    Operand::Number(text) => {
                        return self.lexer.unexpected("a value with a width", Token::Number(text));
                    }
                }
            }
            token = self.lexer.next()?;
        }
        if token == Token::ListOpen {
            while !self.at_list_end()? {
                match self.lexer.next()? {
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
            token = self.lexer.next()?;
        }
        match token {
            Token::Close => Ok(Query { constraints, expr, values, arrays }),
            found => self.lexer.unexpected("`)` after the query", found),
        }
    }

    fn at_list_end(&mut self) -> Result<bool, SyntaxError> {
        let end = self.lexer.next()? == Token::ListClose;
        if !end {
            self.lexer.back();
        }
        Ok(end)
    }

    fn array(&self, name: &str) -> Result<&Array, SyntaxError> {
        match self.arrays.get(name) {
            Some(array) => Ok(array),
            None => self.lexer.unexpected("a declared array", Token::Word(name)),
        }
    }

    /// An expression of one bit, as a boolean.
    fn condition(&mut self, graph: &mut Graph) -> Result<Expr, SyntaxError> {
        let operand = self.operand(graph)?;
        match operators::typed(graph, "condition", operand, 1) {
            Ok(e) => Ok(operators::condition(graph, e)),
            Err(message) => self.lexer.error(message),
        }
    }

    /// Reads one expression.
    fn operand(&mut self, graph: &mut Graph) -> Result<Operand<'a>, SyntaxError> {
        self.frames.clear();
        self.operands.clear();
        self.updates.clear();
        let mut goal = Goal::Operand;
        loop {
            let item = match goal {
                Goal::Operand => self.start_operand(graph)?,
                Goal::Version => self.start_version()?,
            };
            // Opening a frame gives nothing yet; what it starts with is an operand.
            let Some(mut item) = item else {
                goal = match self.frames.last() {
                    Some(Frame::Updates { complete: true, .. }) => Goal::Version,
                    Some(_) | None => Goal::Operand,
                };
                continue;
            };
            goal = loop {
                match self.deliver(graph, item)? {
                    Next::Goal(goal) => break goal,
                    Next::Complete(whole) => item = whole,
                    Next::Done(operand) => return Ok(operand),
                }
            };
        }
    }

    fn label(&mut self) -> Result<(Label<'a>, Token<'a>), SyntaxError> {
        let token = self.lexer.next()?;
        let Token::Word(word) = token else { return Ok((None, token)) };
        let at = self.lexer.start();
        if self.lexer.next()? == Token::Colon {
            return Ok((Some(word), self.lexer.next()?));
        }
        self.lexer.return_to(at, word.len());
        Ok((None, token))
    }

    fn start_operand(&mut self, graph: &mut Graph) -> Result<Option<Item<'a>>, SyntaxError> {
        let (label, token) = self.label()?;
        let operand = match token {
            Token::Number(text) => Operand::Number(text),
            Token::Word("true") => Operand::Expr(graph.boolean(true)),
            Token::Word("false") => Operand::Expr(graph.boolean(false)),
            Token::Word(word) => match self.labels.get(word) {
                Some(&e) => Operand::Expr(e),
                None => return self.lexer.unexpected("an expression or a label seen before", token),
            },
            Token::Open => match self.open(graph, label)? {
                Some(e) => return Ok(Some(self.labelled(label, e))),
                None => return Ok(None),
            },
            Token::Close if label.is_none() && matches!(self.frames.last(), Some(Frame::Apply { .. })) => {
                return self.close(graph).map(Some);
            }
            found => return self.lexer.unexpected("an expression", found),
        };
        match (label, operand) {
            (Some(_), Operand::Number(text)) => {
                self.lexer.unexpected("an expression with a width after a label", Token::Number(text))
            }
            (_, Operand::Expr(e)) => Ok(Some(self.labelled(label, e))),
            (None, operand) => Ok(Some(Item::Operand(operand))),
        }
    }

    fn labelled(&mut self, label: Label<'a>, e: Expr) -> Item<'a> {
        if let Some(label) = label {
            self.labels.insert(label, e);
        }
        Item::Operand(Operand::Expr(e))
    }

    /// After `(`: a typed constant, or a new frame.
    fn open(&mut self, graph: &mut Graph, label: Label<'a>) -> Result<Option<Expr>, SyntaxError> {
        let at = self.lexer.start();
        let token = self.lexer.next()?;
        match token {
            Token::Type(width) => {
                let width = self.width(width)?;
                let number = match self.lexer.next()? {
                    Token::Number(text) => operators::number(graph, text, width),
                    found => return self.lexer.unexpected("a number", found),
                };
                let e = match number {
                    Ok(e) => e,
                    Err(message) => return self.lexer.error(message),
                };
                self.lexer.expect(Token::Close, "`)`")?;
                Ok(Some(e))
            }
            Token::Word(word) => {
                if let Some(order) = Order::lookup(word) {
                    let width = match self.lexer.next()? {
                        Token::Type(width) => self.width(width)?,
                        found => return self.lexer.unexpected("a type such as `w8`", found),
                    };
                    self.frames.push(Frame::Read { order, width, index: None, label, at });
                    return Ok(None);
                }
                let Some(operator) = Operator::lookup(word) else {
                    return self.lexer.unexpected("an operator", token);
                };
                let width = match self.lexer.next()? {
                    Token::Type(width) => Some(self.width(width)?),
                    _ => {
                        self.lexer.back();
                        None
                    }
                };
                let first = self.operands.len();
                self.frames.push(Frame::Apply { operator, width, first, label, at });
                Ok(None)
            }
            found => self.lexer.unexpected("an operator or a type", found),
        }
    }

    fn width(&self, width: u64) -> Result<u32, SyntaxError> {
        match Sort::bits(width) {
            Ok(_) => Ok(width as u32),
            Err(_) => self.lexer.error(format!("expected a type from w1 to w{MAX_WIDTH}, found w{width}")),
        }
    }

    /// At the `)` of an operator.
    fn close(&mut self, graph: &mut Graph) -> Result<Item<'a>, SyntaxError> {
        let Some(Frame::Apply { operator, width, first, label, at }) = self.frames.pop() else {
            unreachable!("called for operators")
        };
        let built = operators::build(graph, operator, width, &self.operands[first..]);
        self.operands.truncate(first);
        match built {
            Ok(e) => Ok(self.labelled(label, e)),
            Err(message) => Err(SyntaxError::new(at, message)),
        }
    }

    fn start_version(&mut self) -> Result<Option<Item<'a>>, SyntaxError> {
        let (label, token) = self.label()?;
        match token {
            Token::ListOpen => {
                let complete = self.at_list_end()?;
                if complete {
                    self.lexer.expect(Token::At, "`@` after an update list")?;
                }
                self.frames.push(Frame::Updates { first: self.updates.len(), left: None, complete, label });
                Ok(None)
            }
            Token::Word(name) if label.is_none() => match self.versions.get(name) {
                Some(&version) => Ok(Some(Item::Version(version))),
                None => Ok(Some(Item::Version(self.array(name)?.expr))),
            },
            found => self.lexer.unexpected("an array or an update list", found),
        }
    }

    /// Hands what was read to the frame it belongs to.
    fn deliver(&mut self, graph: &mut Graph, item: Item<'a>) -> Result<Next<'a>, SyntaxError> {
        let at_error = self.lexer.start();
        let typed = |graph: &mut Graph, operand, width| {
            let e = operators::typed(graph, if width == INDEX { "index" } else { "element" }, operand, width);
            e.map_err(|message| SyntaxError::new(at_error, message))
        };
        match (self.frames.last_mut(), item) {
            (None, Item::Operand(operand)) => Ok(Next::Done(operand)),
            (Some(Frame::Apply { .. }), Item::Operand(operand)) => {
                self.operands.push(operand);
                Ok(Next::Goal(Goal::Operand))
            }
            (Some(Frame::Read { index, .. }), Item::Operand(operand)) => {
                *index = Some(typed(graph, operand, INDEX)?);
                Ok(Next::Goal(Goal::Version))
            }
            (Some(&mut Frame::Read { order, width, index, label, at }), Item::Version(array)) => {
                self.frames.pop();
                self.lexer.expect(Token::Close, "`)` after the array read")?;
                let index = index.expect("an index is read before the array");
                match operators::read(graph, order, width, index, array) {
                    Ok(e) => Ok(Next::Complete(self.labelled(label, e))),
                    Err(message) => Err(SyntaxError::new(at, message)),
                }
            }
            (Some(Frame::Updates { left: left @ None, .. }), Item::Operand(operand)) => {
                *left = Some(typed(graph, operand, INDEX)?);
                self.lexer.expect(Token::Equals, "`=` in an update")?;
                Ok(Next::Goal(Goal::Operand))
            }
            (Some(Frame::Updates { left, complete, .. }), Item::Operand(operand)) => {
                let index = left.take().expect("the other case has none");
                self.updates.push((index, typed(graph, operand, ELEMENT)?));
                match self.lexer.next()? {
                    Token::Comma => Ok(Next::Goal(Goal::Operand)),
                    Token::ListClose => {
                        *complete = true;
                        self.lexer.expect(Token::At, "`@` after an update list")?;
                        Ok(Next::Goal(Goal::Version))
                    }
                    found => self.lexer.unexpected("`,` or `]`", found),
                }
            }
            (Some(&mut Frame::Updates { first, label, .. }), Item::Version(base)) => {
                self.frames.pop();
                // The newest update comes first.
                let mut array = base;
                for (index, element) in self.updates.drain(first..).rev() {
                    array = graph.store(array, index, element);
                }
                if let Some(label) = label {
                    self.versions.insert(label, array);
                }
                Ok(Next::Complete(Item::Version(array)))
            }
            (None | Some(Frame::Apply { .. }), Item::Version(_)) => {
                unreachable!("arrays are read for reads and updates only")
            }
        }
    }
}

enum Next<'a> {
    Goal(Goal),
    Complete(Item<'a>),
    Done(Operand<'a>),
}
