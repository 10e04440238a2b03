//! Parser of KQuery expressions and update lists, with an explicit stack.

use super::lexer::Token;
use super::operators::{self, Operand, Operator, Order};
use super::read::KQueryParser;
use super::{ELEMENT_WIDTH, INDEX_WIDTH};
use crate::expr::smtlib::SyntaxError;
use crate::expr::{Expr, Graph, MAX_WIDTH, Sort};

pub(super) type Label<'a> = Option<&'a str>;

/// An open expression.
pub(super) enum Frame<'a> {
    Apply {
        operator: Operator,
        width: Option<u32>,
        first: usize,
        label: Label<'a>,
        at: usize,
    },
    /// A read: the index is followed by the array.
    Read {
        order: Order,
        width: u32,
        index: Option<Expr>,
        label: Label<'a>,
        at: usize,
    },
    /// `[lhs = rhs, ...] @ array`: the pairs read so far, and the left side of the current pair.
    Updates {
        first: usize,
        left: Option<Expr>,
        complete: bool,
        label: Label<'a>,
    },
}

/// A complete expression or array.
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

enum Next<'a> {
    Goal(Goal),
    Complete(Item<'a>),
    Done(Operand<'a>),
}

impl<'a> KQueryParser<'a> {
    /// Reads one expression.
    pub(super) fn operand(&mut self, graph: &mut Graph) -> Result<Operand<'a>, SyntaxError> {
        self.frames.clear();
        self.operands.clear();
        self.updates.clear();
        let mut goal = Goal::Operand;
        loop {
            let item = match goal {
                Goal::Operand => self.start_operand(graph)?,
                Goal::Version => self.start_version()?,
            };
            // A frame was opened; it starts with an operand.
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
        let token = self.lexer.token()?;
        let Token::Word(word) = token else { return Ok((None, token)) };
        let at = self.lexer.start();
        if self.lexer.token()? == Token::Colon {
            return Ok((Some(word), self.lexer.token()?));
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

    /// Reads what follows `(`: a typed constant, or the start of a frame.
    fn open(&mut self, graph: &mut Graph, label: Label<'a>) -> Result<Option<Expr>, SyntaxError> {
        let at = self.lexer.start();
        let token = self.lexer.token()?;
        match token {
            Token::Type(width) => {
                let width = self.width(width)?;
                let number = match self.lexer.token()? {
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
                    let width = match self.lexer.token()? {
                        Token::Type(width) => self.width(width)?,
                        found => return self.lexer.unexpected("a type such as `w8`", found),
                    };
                    self.frames.push(Frame::Read { order, width, index: None, label, at });
                    return Ok(None);
                }
                let Some(operator) = Operator::lookup(word) else {
                    return self.lexer.unexpected("an operator", token);
                };
                let width = if let Token::Type(width) = self.lexer.token()? {
                    Some(self.width(width)?)
                } else {
                    self.lexer.back();
                    None
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

    /// Builds the operator at its `)`.
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

    /// Passes a complete item to its frame.
    fn deliver(&mut self, graph: &mut Graph, item: Item<'a>) -> Result<Next<'a>, SyntaxError> {
        let at_error = self.lexer.start();
        let typed = |graph: &mut Graph, operand, width| {
            let e = operators::typed(
                graph,
                if width == INDEX_WIDTH { "index" } else { "element" },
                operand,
                width,
            );
            e.map_err(|message| SyntaxError::new(at_error, message))
        };
        match (self.frames.last_mut(), item) {
            (None, Item::Operand(operand)) => Ok(Next::Done(operand)),
            (Some(Frame::Apply { .. }), Item::Operand(operand)) => {
                self.operands.push(operand);
                Ok(Next::Goal(Goal::Operand))
            }
            (Some(Frame::Read { index, .. }), Item::Operand(operand)) => {
                *index = Some(typed(graph, operand, INDEX_WIDTH)?);
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
                *left = Some(typed(graph, operand, INDEX_WIDTH)?);
                self.lexer.expect(Token::Equals, "`=` in an update")?;
                Ok(Next::Goal(Goal::Operand))
            }
            (Some(Frame::Updates { left, complete, .. }), Item::Operand(operand)) => {
                let index = left.take().expect("the other case has none");
                self.updates.push((index, typed(graph, operand, ELEMENT_WIDTH)?));
                match self.lexer.token()? {
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
