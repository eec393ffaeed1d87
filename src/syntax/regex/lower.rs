//! Lowers the syntax tree to expressions, depth first with an explicit stack.

use super::Options;
use super::context::Part;
use super::errors;
use super::leaf::{Flags, Hook, Leaves};
use super::program;
use super::source::Source;
use crate::error::Result;
use crate::grammar::{ExprId, GrammarBuilder};
use regex_syntax::ast::{Assertion, AssertionKind, Ast, GroupKind, RepetitionKind, RepetitionRange};

/// Lowers a pattern without assertions that need a program.
///
/// # Errors
/// `regex/word-boundary` and `regex/line-anchor` for other assertions than the ends of the text;
/// `regex/look-around-over-bytes` for look-around; the errors of leaves; the first error of the builder.
pub(super) fn lower(
    builder: &mut GrammarBuilder,
    source: &Source<'_>,
    ast: &Ast,
    options: &Options,
    hook: Option<&mut Hook<'_>>,
) -> Result<ExprId> {
    let leaves = Leaves::new(source, hook);
    let flags = Flags::new(options);
    let mut lowering = Lowering { builder, source, options, leaves, flags, frames: Vec::new() };
    let mut step = Step::Down(ast);
    let mut part = loop {
        step = match step {
            Step::Down(ast) => lowering.enter(ast)?,
            Step::Up(part) => match lowering.frames.pop() {
                Some(frame) => lowering.resume(frame, part),
                None => break part,
            },
        };
    };
    if options.search {
        let any = Part::plain(lowering.leaves.any_text(lowering.builder, options), true);
        part = any.then(&part, lowering.builder).then(&any, lowering.builder);
    }
    Ok(part.at(true, true).expression)
}

/// The next step of the traversal.
enum Step<'a> {
    /// Lower this node next.
    Down(&'a Ast),
    /// The last node is lowered; this is the result.
    Up(Part),
}

/// A node that waits for the result of its child.
enum Frame<'a> {
    Repeat { min: u32, max: Option<u32> },
    Group { outer: Flags },
    Concat { rest: std::slice::Iter<'a, Ast>, sequence: Sequence },
    Alternation { rest: std::slice::Iter<'a, Ast>, branches: Vec<Part> },
}

/// A concatenation in progress. Consecutive plain parts are collected in `run` and joined in one step, since only a
/// part with anchors must be combined in each context.
#[derive(Default)]
struct Sequence {
    done: Option<Part>,
    run: Vec<ExprId>,
    run_is_nullable: bool,
}

impl Sequence {
    fn push(&mut self, part: Part, builder: &mut GrammarBuilder) {
        let language = part.at(false, false);
        if part.is_plain() {
            self.run_is_nullable = language.nullable && (self.run.is_empty() || self.run_is_nullable);
            self.run.push(language.expression);
        } else {
            self.end_run(builder);
            self.append(part, builder);
        }
    }

    /// Appends the collected plain parts, if there are any.
    fn end_run(&mut self, builder: &mut GrammarBuilder) {
        if !self.run.is_empty() {
            let expression = builder.sequence(self.run.drain(..));
            self.append(Part::plain(expression, self.run_is_nullable), builder);
        }
    }

    fn append(&mut self, part: Part, builder: &mut GrammarBuilder) {
        self.done = Some(match self.done.take() {
            Some(done) => done.then(&part, builder),
            None => part,
        });
    }

    fn finish(mut self, builder: &mut GrammarBuilder) -> Part {
        self.end_run(builder);
        self.done.unwrap_or_else(|| Part::plain(builder.empty(), true))
    }
}

struct Lowering<'a, 'p, 'h, 'f> {
    options: &'a Options,
    builder: &'a mut GrammarBuilder,
    source: &'p Source<'p>,
    leaves: Leaves<'p, 'h, 'f>,
    flags: Flags,
    frames: Vec<Frame<'a>>,
}

impl<'a> Lowering<'a, '_, '_, '_> {
    /// Begins to lower a node.
    fn enter(&mut self, ast: &'a Ast) -> Result<Step<'a>> {
        if let Some(error) = self.builder.error() {
            return Err(error.clone());
        }
        Ok(match ast {
            Ast::Empty(_) => Step::Up(self.empty()),
            Ast::Flags(set) => {
                self.flags = self.flags.with(&set.flags);
                Step::Up(self.empty())
            }
            Ast::Assertion(assertion) => Step::Up(self.assertion(assertion)?),
            Ast::Literal(_)
            | Ast::Dot(_)
            | Ast::ClassUnicode(_)
            | Ast::ClassPerl(_)
            | Ast::ClassBracketed(_) => {
                Step::Up(Part::plain(self.leaves.lower(self.builder, ast, self.flags)?, false))
            }
            Ast::Repetition(repetition) => {
                let (min, max) = match &repetition.op.kind {
                    RepetitionKind::ZeroOrOne => (0, Some(1)),
                    RepetitionKind::ZeroOrMore => (0, None),
                    RepetitionKind::OneOrMore => (1, None),
                    RepetitionKind::Range(RepetitionRange::Exactly(n)) => (*n, Some(*n)),
                    RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (*n, None),
                    RepetitionKind::Range(RepetitionRange::Bounded(m, n)) => (*m, Some(*n)),
                };
                self.frames.push(Frame::Repeat { min, max });
                Step::Down(&repetition.ast)
            }
            // over characters, look-arounds are lowered by a program
            Ast::Group(group) if program::look_around(&group.kind, self.options).is_some() => {
                return Err(errors::look_over_bytes(self.source, &group.span));
            }
            Ast::Group(group) => {
                self.frames.push(Frame::Group { outer: self.flags });
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.flags = self.flags.with(flags);
                }
                Step::Down(&group.ast)
            }
            Ast::Concat(concat) => self.next_in_sequence(concat.asts.iter(), Sequence::default()),
            Ast::Alternation(alternation) => self.next_branch(alternation.asts.iter(), Vec::new()),
        })
    }

    /// Continues a node after its child was lowered to `part`.
    fn resume(&mut self, frame: Frame<'a>, part: Part) -> Step<'a> {
        match frame {
            Frame::Repeat { min, max } => Step::Up(part.repeat(min, max, self.builder)),
            Frame::Group { outer } => {
                self.flags = outer;
                Step::Up(part)
            }
            Frame::Concat { rest, mut sequence } => {
                sequence.push(part, self.builder);
                self.next_in_sequence(rest, sequence)
            }
            Frame::Alternation { rest, mut branches } => {
                branches.push(part);
                self.next_branch(rest, branches)
            }
        }
    }

    fn next_in_sequence(&mut self, mut rest: std::slice::Iter<'a, Ast>, sequence: Sequence) -> Step<'a> {
        match rest.next() {
            Some(ast) => {
                self.frames.push(Frame::Concat { rest, sequence });
                Step::Down(ast)
            }
            None => Step::Up(sequence.finish(self.builder)),
        }
    }

    fn next_branch(&mut self, mut rest: std::slice::Iter<'a, Ast>, branches: Vec<Part>) -> Step<'a> {
        match rest.next() {
            Some(ast) => {
                self.frames.push(Frame::Alternation { rest, branches });
                Step::Down(ast)
            }
            None => Step::Up(Part::any(&branches, self.builder)),
        }
    }

    fn empty(&mut self) -> Part {
        Part::plain(self.builder.empty(), true)
    }

    fn assertion(&mut self, assertion: &Assertion) -> Result<Part> {
        match assertion.kind {
            AssertionKind::StartText => Ok(Part::start(self.builder)),
            AssertionKind::EndText => Ok(Part::end(self.builder)),
            AssertionKind::StartLine if !self.flags.multi_line => Ok(Part::start(self.builder)),
            AssertionKind::EndLine if !self.flags.multi_line => Ok(Part::end(self.builder)),
            AssertionKind::StartLine | AssertionKind::EndLine => {
                Err(errors::line_anchor(self.source, &assertion.span))
            }
            AssertionKind::WordBoundary
            | AssertionKind::NotWordBoundary
            | AssertionKind::WordBoundaryStart
            | AssertionKind::WordBoundaryEnd
            | AssertionKind::WordBoundaryStartAngle
            | AssertionKind::WordBoundaryEndAngle
            | AssertionKind::WordBoundaryStartHalf
            | AssertionKind::WordBoundaryEndHalf => Err(errors::word_boundary(self.source, &assertion.span)),
        }
    }
}
