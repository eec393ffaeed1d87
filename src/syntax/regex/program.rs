//! Compiles patterns with look-around, word boundaries or line anchors to programs: instructions that read a character,
//! branch, or test the position between two characters.

use super::ecma::{AHEAD, BEHIND, NOT_AHEAD, NOT_BEHIND, WORD};
use super::errors;
use super::leaf::{Flags, Leaves};
use super::source::Source;
use super::{Dialect, Options};
use crate::error::{Error, Result};
use crate::grammar::{CharClass, Expression, GrammarBuilder};
use crate::work::Budget;
use regex_syntax::ast::{AssertionKind, Ast, GroupKind, RepetitionKind, RepetitionRange, Span};
use rustc_hash::FxHashMap;

/// Maximum number of instructions of one program, with repeats unrolled.
const MAX_INSTRUCTIONS: usize = 50_000;

/// The index of an instruction in its program.
pub(super) type Place = u32;

/// The instruction that accepts any following text.
pub(super) const YES: Place = 0;
/// The instruction that accepts only at the end of the text.
pub(super) const END: Place = 1;
/// The instruction that requires a word character next, and then accepts any text.
pub(super) const WORD_FOLLOWS: Place = 2;
/// The instruction that requires a line terminator next, and then accepts any text.
pub(super) const LINE_ENDS: Place = 3;

/// An instruction. A `Place` is that of the next instruction, unless described otherwise.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Accepts any following text.
    Yes,
    /// Accepts only at the end of the text.
    End,
    /// Reads a character of the class with this index.
    Char(u32, Place),
    /// Continues at each of these instructions: the alternatives.
    AnyOf(Vec<Place>),
    /// Requires that the following text begins with a match of the program at the first place, or, if the flag is set,
    /// that it does not. Then continues at the second place.
    Ahead(Place, bool, Place),
    /// Requires that the preceding text ends with a match of the look-behind with this index, or, if the flag is set,
    /// that it does not.
    Behind(usize, bool, Place),
    /// Requires the start of the text or, if `line` is set, of a line.
    Start { line: bool, next: Place },
    /// Requires the end of the text or, if `line` is set, of a line.
    Finish { line: bool, next: Place },
    /// Requires a word boundary (`true`) or its absence (`false`).
    Boundary(bool, Place),
}

/// A compiled pattern.
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// The classes of characters that instructions read, by index.
    pub(super) classes: Vec<CharClass>,
    /// The first instructions of the look-behinds, by index. The program of each ends in [`YES`]; a look-behind comes
    /// after those inside it.
    pub(super) behinds: Vec<Place>,
    /// The first instruction of the pattern.
    pub(super) start: Place,
    /// The byte offset of the first assertion in the original pattern.
    pub(super) first_assertion: usize,
    /// Whether the match stands in a longer text.
    pub(super) embedded: bool,
}

/// The byte offset, in the text that was parsed, of the first assertion that needs a program: a look-around, `\b` or
/// `\B`; or a line anchor, if some flag of the pattern turns multi-line mode on. `None` if there is none.
pub(super) fn first_assertion(ast: &Ast, options: &Options) -> Option<usize> {
    let mut todo = vec![ast];
    let mut line_flag = false;
    let (mut others, mut line_anchors) = (Vec::new(), Vec::new());
    while let Some(ast) = todo.pop() {
        let start = ast.span().start.offset;
        match ast {
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::WordBoundary | AssertionKind::NotWordBoundary => others.push(start),
                AssertionKind::StartLine | AssertionKind::EndLine => line_anchors.push(start),
                _ => {}
            },
            Ast::Group(group) => {
                others.extend(look_around(&group.kind, options).map(|_| start));
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    line_flag |= Flags::new(options).with(flags).multi_line;
                }
                todo.push(&group.ast);
            }
            Ast::Flags(set) => line_flag |= Flags::new(options).with(&set.flags).multi_line,
            Ast::Repetition(repetition) => todo.push(&repetition.ast),
            Ast::Concat(concat) => todo.extend(&concat.asts),
            Ast::Alternation(alternation) => todo.extend(&alternation.asts),
            _ => {}
        }
    }
    let line_anchors = line_anchors.into_iter().filter(|_| line_flag);
    others.into_iter().chain(line_anchors).min()
}

/// The kind of look-around of a group in a translated pattern: whether it looks behind, and whether it is
/// negated. `None` for other groups.
pub(super) fn look_around(kind: &GroupKind, options: &Options) -> Option<(bool, bool)> {
    let GroupKind::CaptureName { name, .. } = kind else { return None };
    if options.dialect != Dialect::Ecma262 && !options.embedded {
        return None;
    }
    let name = name.name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match name {
        AHEAD => (false, false),
        NOT_AHEAD => (false, true),
        BEHIND => (true, false),
        NOT_BEHIND => (true, true),
        _ => return None,
    })
}

/// Compiles a pattern. With `search`, any text may surround the match. `first` is the byte offset, in the text that was
/// parsed, of the first assertion.
///
/// # Errors
/// `limit/exceeded` for more than [`MAX_INSTRUCTIONS`] instructions, or more work than `work` has left;
/// `regex/word-boundary` and `regex/line-anchor` for unsupported assertions; the errors of leaves.
pub(super) fn compile(
    ast: &Ast,
    source: &Source<'_>,
    options: &Options,
    first: usize,
    work: &Budget,
) -> Result<Program> {
    let mut scratch = GrammarBuilder::with_limits(options.limits.clone());
    let mut keep = |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
    let ecma = options.dialect == Dialect::Ecma262 || options.ascii_classes;
    let mut compiler = Compiler {
        source,
        options,
        flags: FxHashMap::default(),
        leaves: Leaves::new(source, Some(&mut keep)),
        class_ids: FxHashMap::default(),
        program: Program {
            instructions: Vec::new(),
            classes: Vec::new(),
            behinds: Vec::new(),
            start: YES,
            first_assertion: source.original_offset(first),
            embedded: options.embedded,
        },
        work,
        results: Vec::new(),
        tasks: Vec::new(),
    };
    compiler.find_flags(ast);
    let terminators = CharClass::from_iter(['\n', '\r', '\u{2028}', '\u{2029}']);
    let (word, line) = (
        compiler.class(if ecma { ascii_word() } else { unicode_word() }),
        compiler.class(if options.dialect == Dialect::Ecma262 {
            terminators
        } else {
            CharClass::from_iter(['\n'])
        }),
    );
    for instruction in
        [Instruction::Yes, Instruction::End, Instruction::Char(word, YES), Instruction::Char(line, YES)]
    {
        compiler.program.instructions.push(instruction);
    }
    let after = if options.search { YES } else { END };
    compiler.tasks.push(Task::Build(ast, after));
    compiler.run(&mut scratch)?;
    // a builder that has exceeded a limit returns expressions without characters
    if let Some(error) = scratch.error() {
        return Err(error.clone());
    }
    let mut start = compiler.results.pop().unwrap_or(YES);
    if options.search {
        let any = compiler.class(CharClass::any());
        let around = compiler.push(Instruction::AnyOf(Vec::new()))?;
        let read = compiler.push(Instruction::Char(any, around))?;
        compiler.program.instructions[around as usize] = Instruction::AnyOf(vec![start, read]);
        start = around;
    }
    compiler.program.start = start;
    Ok(compiler.program)
}

/// The word characters of ECMA-262.
pub(super) fn ascii_word() -> CharClass {
    debug_assert_eq!(WORD, "0-9A-Za-z_");
    CharClass::new([('0', '9'), ('A', 'Z'), ('a', 'z'), ('_', '_')])
}

/// The word characters of Unicode, `\w` in Rust's dialect.
fn unicode_word() -> CharClass {
    match regex_syntax::parse(r"\w").map(regex_syntax::hir::Hir::into_kind) {
        Ok(regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class))) => {
            CharClass::new(class.ranges().iter().map(|range| (range.start(), range.end())))
        }
        _ => ascii_word(),
    }
}

/// A step of the compilation. Programs are built from their ends. Places of finished parts are on the stack `results`;
/// "the result" is the topmost one.
enum Task<'a> {
    /// Compiles a part that the instruction at this place follows, and pushes the place of the part.
    Build(&'a Ast, Place),
    /// Compiles this many of the first parts before the result, which is replaced.
    Chain(&'a [Ast], usize),
    /// Replaces this number of results by a choice of them.
    Join(usize),
    /// Compiles this many copies of a part before the result, which is replaced.
    Copies(&'a Ast, u32),
    /// Compiles up to this many optional copies of a part before the result, which is replaced. The place is the
    /// instruction after all copies.
    Optional(&'a Ast, u32, Place),
    /// Completes the branch of a loop at the first place: it continues at the result, the body of the loop, or at the
    /// second place, which follows the loop.
    Loop(Place, Place),
    /// Replaces the result, the content of a look-around, by an instruction that tests it: whether it looks behind,
    /// whether it is negated, and the place that follows.
    Look(bool, bool, Place),
}

struct Compiler<'a, 'p, 'h, 'f> {
    source: &'p Source<'p>,
    options: &'p Options,
    /// The flags that apply to each leaf and assertion.
    flags: FxHashMap<*const Ast, Flags>,
    leaves: Leaves<'p, 'h, 'f>,
    class_ids: FxHashMap<CharClass, u32>,
    program: Program,
    work: &'p Budget,
    results: Vec<Place>,
    tasks: Vec<Task<'a>>,
}

impl<'a> Compiler<'a, '_, '_, '_> {
    /// Records the flags of all leaves and assertions. A separate pass in the order of the source is needed, since
    /// programs are built from their ends.
    fn find_flags(&mut self, ast: &'a Ast) {
        enum Step<'a> {
            Into(&'a Ast),
            Back(Flags),
        }
        let mut flags = Flags::new(self.options);
        let mut steps = vec![Step::Into(ast)];
        while let Some(step) = steps.pop() {
            let ast = match step {
                Step::Back(outer) => {
                    flags = outer;
                    continue;
                }
                Step::Into(ast) => ast,
            };
            match ast {
                Ast::Flags(set) => flags = flags.with(&set.flags),
                Ast::Group(group) => {
                    steps.push(Step::Back(flags));
                    if let GroupKind::NonCapturing(changes) = &group.kind {
                        flags = flags.with(changes);
                    }
                    steps.push(Step::Into(&group.ast));
                }
                Ast::Repetition(repetition) => steps.push(Step::Into(&repetition.ast)),
                Ast::Concat(concat) => steps.extend(concat.asts.iter().rev().map(Step::Into)),
                Ast::Alternation(list) => steps.extend(list.asts.iter().rev().map(Step::Into)),
                _ => {
                    self.flags.insert(std::ptr::from_ref(ast), flags);
                }
            }
        }
    }

    fn push(&mut self, instruction: Instruction) -> Result<Place> {
        if self.program.instructions.len() >= MAX_INSTRUCTIONS {
            return Err(self.too_complex("instructions", MAX_INSTRUCTIONS));
        }
        self.program.instructions.push(instruction);
        Ok(self.program.instructions.len() as Place - 1)
    }

    fn too_complex(&self, what: &str, limit: usize) -> Error {
        errors::too_complex(self.source.original, self.program.first_assertion, what, limit)
    }

    /// The index of a class, which is added if it is new.
    fn class(&mut self, class: CharClass) -> u32 {
        *self.class_ids.entry(class).or_insert_with_key(|class| {
            self.program.classes.push(class.clone());
            self.program.classes.len() as u32 - 1
        })
    }

    fn run(&mut self, scratch: &mut GrammarBuilder) -> Result<()> {
        while let Some(task) = self.tasks.pop() {
            // an empty part can be repeated without any instruction, so each task counts as a step of work
            self.work.spend(1).map_err(|_| self.too_complex("steps of work", self.work.limit()))?;
            match task {
                Task::Build(ast, next) => self.build(ast, next, scratch)?,
                Task::Chain(_, 0) | Task::Copies(_, 0) => {}
                Task::Chain(list, count) => {
                    let next = self.results.pop().unwrap_or(YES);
                    self.tasks.push(Task::Chain(list, count - 1));
                    self.tasks.push(Task::Build(&list[count - 1], next));
                }
                Task::Join(count) => {
                    let ways = self.results.split_off(self.results.len().saturating_sub(count));
                    let place = self.push(Instruction::AnyOf(ways))?;
                    self.results.push(place);
                }
                Task::Copies(ast, count) => {
                    let next = self.results.pop().unwrap_or(YES);
                    self.tasks.push(Task::Copies(ast, count - 1));
                    self.tasks.push(Task::Build(ast, next));
                }
                Task::Optional(ast, left, end) => {
                    let made = self.results.pop().unwrap_or(YES);
                    let here =
                        if made == end { end } else { self.push(Instruction::AnyOf(vec![made, end]))? };
                    if left == 0 {
                        self.results.push(here);
                    } else {
                        self.tasks.push(Task::Optional(ast, left - 1, end));
                        self.tasks.push(Task::Build(ast, here));
                    }
                }
                Task::Loop(place, next) => {
                    let body = self.results.pop().unwrap_or(YES);
                    self.program.instructions[place as usize] = Instruction::AnyOf(vec![body, next]);
                    self.results.push(place);
                }
                Task::Look(behind, negated, next) => {
                    let body = self.results.pop().unwrap_or(YES);
                    let place = if behind {
                        self.program.behinds.push(body);
                        Instruction::Behind(self.program.behinds.len() - 1, negated, next)
                    } else {
                        Instruction::Ahead(body, negated, next)
                    };
                    let place = self.push(place)?;
                    self.results.push(place);
                }
            }
        }
        Ok(())
    }

    fn build(&mut self, ast: &'a Ast, next: Place, scratch: &mut GrammarBuilder) -> Result<()> {
        let place = match ast {
            Ast::Empty(_) | Ast::Flags(_) => next,
            Ast::Assertion(assertion) => {
                let flags = self.flags_of(ast);
                let instruction = self.assertion(&assertion.kind, &assertion.span, flags, next)?;
                self.push(instruction)?
            }
            Ast::Literal(_)
            | Ast::Dot(_)
            | Ast::ClassUnicode(_)
            | Ast::ClassPerl(_)
            | Ast::ClassBracketed(_) => {
                let flags = self.flags_of(ast);
                let expression = self.leaves.lower(scratch, ast, flags)?;
                let mut place = next;
                for class in characters(scratch.expression(expression)).into_iter().rev() {
                    let class = self.class(class);
                    place = self.push(Instruction::Char(class, place))?;
                }
                place
            }
            Ast::Group(group) => {
                match look_around(&group.kind, self.options) {
                    Some((behind, negated)) => {
                        self.tasks.push(Task::Look(behind, negated, next));
                        self.tasks.push(Task::Build(&group.ast, YES));
                    }
                    None => self.tasks.push(Task::Build(&group.ast, next)),
                }
                return Ok(());
            }
            Ast::Concat(concat) => {
                self.tasks.push(Task::Chain(&concat.asts, concat.asts.len()));
                next
            }
            Ast::Alternation(list) => {
                self.tasks.push(Task::Join(list.asts.len()));
                self.tasks.extend(list.asts.iter().map(|ast| Task::Build(ast, next)));
                return Ok(());
            }
            Ast::Repetition(repetition) => {
                let body = &*repetition.ast;
                let (min, max) = match &repetition.op.kind {
                    RepetitionKind::ZeroOrOne => (0, Some(1)),
                    RepetitionKind::ZeroOrMore => (0, None),
                    RepetitionKind::OneOrMore => (1, None),
                    RepetitionKind::Range(RepetitionRange::Exactly(n)) => (*n, Some(*n)),
                    RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (*n, None),
                    RepetitionKind::Range(RepetitionRange::Bounded(m, n)) => (*m, Some(*n)),
                };
                self.tasks.push(Task::Copies(body, min));
                match max {
                    Some(max) => {
                        self.tasks.push(Task::Optional(body, max.saturating_sub(min), next));
                        next
                    }
                    None => {
                        let place = self.push(Instruction::AnyOf(Vec::new()))?;
                        self.tasks.push(Task::Loop(place, next));
                        self.tasks.push(Task::Build(body, place));
                        return Ok(());
                    }
                }
            }
        };
        self.results.push(place);
        Ok(())
    }

    fn flags_of(&self, ast: &Ast) -> Flags {
        let known = self.flags.get(&std::ptr::from_ref(ast)).copied();
        known.unwrap_or_else(|| Flags::new(self.options))
    }

    /// The instruction of an assertion with these flags.
    ///
    /// # Errors
    /// `regex/word-boundary` for the start or end of a word, and for boundaries over bytes in Rust's dialect without
    /// `ascii_classes`; `regex/line-anchor` for multi-line anchors with the flag `R`.
    fn assertion(&self, kind: &AssertionKind, span: &Span, flags: Flags, next: Place) -> Result<Instruction> {
        let boundary = matches!(kind, AssertionKind::WordBoundary | AssertionKind::NotWordBoundary);
        if boundary && !flags.unicode && self.options.dialect == Dialect::Rust && !self.options.ascii_classes
        {
            return Err(errors::word_boundary(self.source, span));
        }
        let line = matches!(kind, AssertionKind::StartLine | AssertionKind::EndLine) && flags.multi_line;
        if line && flags.crlf {
            return Err(errors::line_anchor(self.source, span));
        }
        Ok(match kind {
            AssertionKind::StartText => Instruction::Start { line: false, next },
            AssertionKind::EndText => Instruction::Finish { line: false, next },
            AssertionKind::StartLine => Instruction::Start { line, next },
            AssertionKind::EndLine => Instruction::Finish { line, next },
            AssertionKind::WordBoundary => Instruction::Boundary(true, next),
            AssertionKind::NotWordBoundary => Instruction::Boundary(false, next),
            _ => return Err(errors::word_boundary(self.source, span)),
        })
    }
}

/// The classes of the characters that a leaf reads, one after the other.
fn characters(expression: &Expression) -> Vec<CharClass> {
    match expression {
        Expression::Class(class) => vec![class.clone()],
        Expression::Bytes(bytes) => {
            let text = str::from_utf8(bytes).unwrap_or_default();
            text.chars().map(|c| CharClass::new([(c, c)])).collect()
        }
        // no character matches
        _ => vec![CharClass::default()],
    }
}
