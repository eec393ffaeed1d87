//! Statements and blocks.

use super::expression::{Condition, Expr, Expressions};
use super::lines::{self, Line};
use crate::procedures::language::declarations::normal;
use crate::procedures::language::errors;
use crate::procedures::language::value::Literal;
use grammata::diagnostic::Place;
use grammata::error::Result;
use grammata_base::work::Budget;

/// A statement, the head of a block or its end.
#[derive(Clone, Debug)]
pub(in crate::procedures) struct Statement {
    pub(in crate::procedures) place: Place,
    pub(in crate::procedures) kind: StatementKind,
    /// For the head of a block, the index of the statement that ends the block: for `If` and `Elif` the next `Elif`,
    /// `Else` or `EndIf`, for `Try` its `Except`. For other statements their own index.
    pub(in crate::procedures) end: usize,
}

/// The kind of a statement. Conditions are indices into [`Expressions::conditions`], calls into [`Expressions::calls`].
#[derive(Clone, Debug, PartialEq)]
pub(in crate::procedures) enum StatementKind {
    Prose,
    Call { call: usize, targets: Vec<String> },
    Set { targets: Vec<String>, value: Literal },
    If(usize),
    Elif(usize),
    Else,
    EndIf,
    While(usize),
    EndWhile,
    Try,
    Except,
    EndTry,
    Return,
    Break,
    Continue,
    Pass,
}

/// The text of a procedure.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Program {
    pub(in crate::procedures) statements: Vec<Statement>,
    pub(in crate::procedures) expressions: Expressions,
}

impl Program {
    /// Returns the nodes that the statements in `from..to` and their conditions call, one for each call of a known
    /// node.
    ///
    /// # Errors
    /// The limit `compile_work`.
    pub(in crate::procedures) fn nodes_called(
        &self,
        from: usize,
        to: usize,
        budget: &Budget,
    ) -> Result<Vec<usize>> {
        let node_of = |call: usize| self.expressions.calls[call].node;
        let mut nodes = Vec::new();
        for statement in &self.statements[from..to] {
            budget.spend(1)?;
            match statement.kind {
                StatementKind::Call { call, .. } => nodes.extend(node_of(call)),
                StatementKind::If(condition)
                | StatementKind::Elif(condition)
                | StatementKind::While(condition) => {
                    let Condition { first, root, .. } = self.expressions.conditions[condition];
                    budget.spend((root - first) as usize + 1)?;
                    nodes.extend((first..=root).filter_map(|id| match *self.expressions.get(id) {
                        Expr::Call { call, .. } => node_of(call),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        Ok(nodes)
    }
}

/// The kind of an open block; an arm of `elif` is an `If`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    If,
    Else,
    While,
    Try,
    Except,
}

struct Block {
    head: Head,
    indent: usize,
    /// The index of the statement that is its head.
    at: usize,
}

/// A line that needs a block below it.
struct Expected {
    head: Head,
    line: Line,
    at: usize,
}

/// Splits a line that ends with a colon into its first word and the text between that word and the colon; `None` for
/// other lines.
fn head(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_suffix(':')?;
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    Some((&text[..end], text[end..].trim()))
}

impl Program {
    /// Reads the text of a procedure. `file` is the whole file and `start` the place of the text in it.
    ///
    /// # Errors
    /// The first of these, with its line: `pdl/unclosed-bracket`, `pdl/indent`, `pdl/empty-block`, `pdl/stray-branch`,
    /// `pdl/try-without-except`.
    pub(in crate::procedures) fn read(file: &str, text: &str, start: &Place) -> Result<Program> {
        let lines = lines::split(file, text, start)?;
        let mut program = Program::default();
        let base = lines.first().map_or(0, |line| line.indent);
        let mut blocks: Vec<Block> = Vec::new();
        let mut expected: Option<Expected> = None;
        for line in lines {
            let inner = blocks.last().map_or(base, |block| block.indent);
            if let Some(Expected { head, line: before, at }) = expected.take() {
                if line.indent <= inner {
                    return Err(errors::fatal(errors::empty_block(before.place, &before.text)));
                }
                blocks.push(Block { head, indent: line.indent, at });
            } else if line.indent > inner {
                return Err(errors::fatal(errors::indent(line.place, &line.text)));
            }
            let closed = program.close(&mut blocks, &line, base)?;
            expected = program.add(line, closed)?;
        }
        if let Some(Expected { line, .. }) = expected {
            return Err(errors::fatal(errors::empty_block(line.place, &line.text)));
        }
        while let Some(block) = blocks.pop() {
            program.end(&block)?;
        }
        program.find_ends();
        Ok(program)
    }

    fn push(&mut self, place: Place, kind: StatementKind) -> usize {
        let end = self.statements.len();
        self.statements.push(Statement { place, kind, end });
        end
    }

    /// Ends a block that no further branch continues. A `try` without `except` is an error.
    fn end(&mut self, block: &Block) -> Result<()> {
        let place = self.statements[block.at].place.clone();
        let kind = match block.head {
            Head::If | Head::Else => StatementKind::EndIf,
            Head::While => StatementKind::EndWhile,
            Head::Try => return Err(errors::fatal(errors::try_without_except(place))),
            Head::Except => StatementKind::EndTry,
        };
        self.push(place, kind);
        Ok(())
    }

    /// Closes the blocks that are indented deeper than a line. Returns the outermost of them without its end, because
    /// the line may continue it.
    ///
    /// # Errors
    /// `pdl/indent` if the line is then indented unlike the innermost open block; `pdl/try-without-except` for another
    /// closed block.
    fn close(&mut self, blocks: &mut Vec<Block>, line: &Line, base: usize) -> Result<Option<Block>> {
        let mut closed: Option<Block> = None;
        while let Some(block) = blocks.pop_if(|block| block.indent > line.indent) {
            if let Some(inner) = closed.replace(block) {
                self.end(&inner)?;
            }
        }
        let outer = blocks.last().map_or(base, |block| block.indent);
        if outer != line.indent {
            return Err(errors::fatal(errors::indent(line.place.clone(), &line.text)));
        }
        Ok(closed)
    }

    /// Adds a line; `closed` is the block that ended before it. If the line is the head of a block, returns the block
    /// that must follow.
    fn add(&mut self, line: Line, closed: Option<Block>) -> Result<Option<Expected>> {
        let place = line.place.clone();
        let words = if line.text.starts_with('#') { None } else { head(&line.text) };
        let expect = |head, at| Ok(Some(Expected { head, line: line.clone(), at }));
        match (words, closed.as_ref().map(|block| block.head)) {
            (Some(("elif", rest)), Some(Head::If)) => {
                let condition = self.expressions.condition(rest, &place);
                let at = self.push(place, StatementKind::Elif(condition));
                return expect(Head::If, at);
            }
            (Some(("else", "")), Some(Head::If)) => {
                let at = self.push(place, StatementKind::Else);
                return expect(Head::Else, at);
            }
            (Some(("except", _)), Some(Head::Try)) => {
                let at = self.push(place, StatementKind::Except);
                return expect(Head::Except, at);
            }
            _ => {}
        }
        if let Some(block) = closed {
            self.end(&block)?;
        }
        match words {
            Some(("if", rest)) => {
                let condition = self.expressions.condition(rest, &place);
                let at = self.push(place, StatementKind::If(condition));
                expect(Head::If, at)
            }
            Some(("while", rest)) => {
                let condition = self.expressions.condition(rest, &place);
                let at = self.push(place, StatementKind::While(condition));
                expect(Head::While, at)
            }
            Some(("try", "")) => {
                let at = self.push(place, StatementKind::Try);
                expect(Head::Try, at)
            }
            Some(("elif" | "else" | "except", _)) => {
                Err(errors::fatal(errors::stray_branch(place, &line.text)))
            }
            _ => {
                let kind = self.simple(&line);
                self.push(place, kind);
                Ok(None)
            }
        }
    }

    /// Reads a line that is not the head of a block; a line that is not a statement is prose.
    fn simple(&mut self, line: &Line) -> StatementKind {
        match line.text.as_str() {
            "return" => return StatementKind::Return,
            "break" => return StatementKind::Break,
            "continue" => return StatementKind::Continue,
            "pass" | "..." => return StatementKind::Pass,
            text if text.starts_with('#') => return StatementKind::Prose,
            _ => {}
        }
        let (targets, right) = match assignment(&line.text) {
            Some((left, right)) => (targets(left), right),
            None => (Vec::new(), line.text.as_str()),
        };
        match self.expressions.statement(right, &line.place) {
            Some(Expr::Call { call, .. }) => StatementKind::Call { call, targets },
            Some(Expr::Literal(value)) if !targets.is_empty() => StatementKind::Set { targets, value },
            _ => StatementKind::Prose,
        }
    }

    fn find_ends(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.statements.len() {
            let (closes, opens) = match self.statements[at].kind {
                StatementKind::If(_) | StatementKind::While(_) | StatementKind::Try => (false, true),
                StatementKind::Elif(_) | StatementKind::Else | StatementKind::Except => (true, true),
                StatementKind::EndIf | StatementKind::EndWhile | StatementKind::EndTry => (true, false),
                _ => (false, false),
            };
            if closes && let Some(head) = open.pop() {
                self.statements[head].end = at;
            }
            if opens {
                open.push(at);
            }
        }
    }
}

/// Splits an assignment into its two sides; `None` if the line is not an assignment. The left side has names separated
/// by commas; square brackets around them are removed.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let (left, right) = text.split_once('=')?;
    let inner = left.trim().trim_start_matches('[').trim_end_matches(']');
    let is_target = |c: char| c.is_alphanumeric() || matches!(c, '_' | ',' | '.' | ' ');
    let right_side = right.trim();
    (!inner.is_empty() && inner.chars().all(is_target) && !right.starts_with('=') && !right_side.is_empty())
        .then_some((inner, right_side))
}

fn targets(left: &str) -> Vec<String> {
    left.split(',').map(normal).filter(|target| !target.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use StatementKind::*;

    fn read(text: &str) -> Result<Program, &'static str> {
        Program::read(text, text, &Place::LineColumn { line: 1, column: 1 }).map_err(|error| error.code())
    }

    #[test]
    fn blocks_end_where_the_indentation_does() {
        let text =
            "if a:\n  while b:\n    try:\n      f()\n    except error:\n      pass\nelse:\n  # nothing\ng()";
        let program = read(text).unwrap();
        let kinds: Vec<_> = program.statements.iter().map(|statement| statement.kind.clone()).collect();
        let call = |call| Call { call, targets: Vec::new() };
        let expected =
            vec![If(0), While(1), Try, call(0), Except, Pass, EndTry, EndWhile, Else, Prose, EndIf, call(1)];
        assert_eq!(kinds, expected);
        let ends: Vec<usize> = [0, 1, 2, 4, 8].map(|at| program.statements[at].end).to_vec();
        assert_eq!(ends, [8, 7, 4, 6, 10]);
    }

    #[test]
    fn what_fits_no_block_is_an_error() {
        for (text, code) in [
            ("a()\n  b()", "pdl/indent"),
            ("  a()\nb()", "pdl/indent"),
            ("if a:\n    b()\n  c()", "pdl/indent"),
            ("if a:", "pdl/empty-block"),
            ("if a:\nb()", "pdl/empty-block"),
            ("else:\n  b()", "pdl/stray-branch"),
            ("if a:\n  b()\nelse:\n  c()\nelif d:\n  e()", "pdl/stray-branch"),
            ("try:\n  a()", "pdl/try-without-except"),
            ("if a:\n  try:\n    b()\nc()", "pdl/try-without-except"),
            ("a(\n", "pdl/unclosed-bracket"),
        ] {
            assert_eq!(read(text).err(), Some(code), "{text}");
        }
        assert!(read("").unwrap().statements.is_empty());
    }

    #[test]
    fn nesting_is_no_matter() {
        let text: String = (0..500).map(|depth| format!("{}if a:\n", " ".repeat(depth))).collect();
        let text = format!("{text}{}b()", " ".repeat(500));
        assert_eq!(read(&text).unwrap().statements.len(), 1_001);
    }
}
