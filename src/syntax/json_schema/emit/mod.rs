//! Builds grammar expressions from shapes.
//!
//! A conjunction that is used more than once becomes a rule, so that nothing is copied and recursion has a rule to
//! call. Small ones, and those that are used once, are written in place. Each is labelled with its JSON Pointer.

mod array;
mod bare;
mod completing;
mod contained;
mod elements;
mod endless;
mod excluded;
mod object;
mod percent;
mod python;
mod quoted;
mod text;
mod value;

use super::model::assertion::TypeSet;
use super::model::numbers;
use super::model::numbers::{NumberRange, digits};
use super::normal::conjunction::ConjunctionId;
use super::normal::conjunctions::Conjunctions;
use super::normal::satisfiable::Satisfiable;
use super::normal::shape::{Shape, Test, Typed};
use super::options::{Options, Spelling, Whitespace};
use super::strings::formats::Side;
use super::strings::string_test::{self, StringTest};
use super::values::decimal::Decimal;
use super::values::pointer::shown_parts;
use super::{errors, strings};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::{ByteSet, ExprId, Grammar, GrammarBuilder, RuleId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Greatest length of a list of values that is written in place even if it is used several times.
const SMALL_LIST: usize = 8;

/// Builds the grammar of all conjunctions, with a warning if it allows more than they do. The root must be satisfiable.
pub(super) fn emit(
    all: &Conjunctions<'_>,
    satisfiable: &Satisfiable,
    options: &Options,
) -> Result<(Grammar, Option<Diagnostic>)> {
    let mut g = GrammarBuilder::with_limits(options.limits.clone());
    let layout = Layout::new(&mut g, options)?;
    let (root, rules) = declare(&mut g, all, satisfiable);
    let mut emitter = Emitter {
        all,
        satisfiable,
        options,
        layout,
        character: None,
        plain_string: None,
        numbers: FxHashMap::default(),
        made: vec![None; all.len()],
        tests: FxHashMap::default(),
        varieties: FxHashMap::default(),
        elements: elements::Made::default(),
        without_excluded: [None; 2],
        has_both_quotes: quoted::has_both_quotes(all, options),
        g,
    };
    for (id, rule) in all.ids().filter_map(|id| Some((id, rules[id.index()]?))) {
        let reference = emitter.g.rule(rule);
        emitter.made[id.index()] = Some(reference);
    }
    // if elements contain elements, nothing is JSON
    let is_json = options.spelling.style().is_none_or(|style| style.item.is_none());
    for (id, rule) in all.ids().filter_map(|id| Some((id, rules[id.index()]?))) {
        let body = if is_json { emitter.with_inner(id)? } else { emitter.g.never() };
        emitter.g.define(rule, body);
    }
    let root = match options.spelling {
        Spelling::Json => root,
        Spelling::Python if emitter.has_both_quotes => root,
        spelling => {
            let text = emitter.g.declare(all.name(all.root()));
            let body = match (spelling, spelling.style()) {
                (Spelling::Python, _) => {
                    let ways = [emitter.g.rule(root), emitter.single_quoted(all.root())?];
                    emitter.g.choice(ways)
                }
                (Spelling::Gemma | Spelling::Keywords, _) => emitter.bare_objects()?,
                (_, Some(style)) => emitter.elements(style)?,
                (_, None) => emitter.text()?,
            };
            emitter.g.define(text, body);
            text
        }
    };
    let warning = emitter.elements.has_free_ends().then(|| errors::free_ends(all.pointer(all.root())));
    Ok((emitter.g.build(root)?, warning))
}

/// Declares the rules: the root, and what is used more than once and is not small.
fn declare(
    g: &mut GrammarBuilder,
    all: &Conjunctions<'_>,
    satisfiable: &Satisfiable,
) -> (RuleId, Vec<Option<RuleId>>) {
    let mut uses = vec![0usize; all.len()];
    for id in all.ids() {
        all.shape_of(id).children().for_each(|child| uses[child.index()] += 1);
    }
    let root = g.declare(all.name(all.root()));
    let rules = all
        .ids()
        .map(|id| {
            let small = match all.shape_of(id) {
                Shape::Values(list) => list.len() <= SMALL_LIST,
                Shape::Union(_) => false,
                Shape::Typed(typed) => {
                    // the others take few expressions
                    let Typed { types: _, number: _, length: _, tests, excluded: _, array, object } = typed;
                    array.is_none() && object.is_none() && tests.is_empty()
                }
            };
            let shared = uses[id.index()] > 1 && !small && satisfiable.contains(id);
            if id == all.root() { Some(root) } else { shared.then(|| g.declare(all.name(id))) }
        })
        .collect();
    (root, rules)
}

/// Punctuation with the whitespace after it. Whitespace follows tokens and never precedes them, so every text has one
/// parse.
struct Layout {
    /// Whether texts are JSON, with the whitespace of JSON only.
    is_json: bool,
    space: ExprId,
    comma: ExprId,
    colon: ExprId,
    /// The text after a mark that is a part of a name.
    after_name: ExprId,
    open_object: ExprId,
    close_object: ExprId,
    open_array: ExprId,
    close_array: ExprId,
}

/// Greatest number of blanks at the beginning of a line for [`Whitespace::Short`]: eight levels of four.
const INDENTATION: u32 = 32;

impl Layout {
    fn new(g: &mut GrammarBuilder, options: &Options) -> Result<Layout> {
        let one = g.byte_set(ByteSet::from_iter(*b" \t\n\r"));
        let space = match &options.whitespace {
            Whitespace::Free => g.star(one),
            Whitespace::Compact | Whitespace::Spaced => g.empty(),
            Whitespace::Short => {
                let (space, line_feed) = (g.text(" "), g.text("\n"));
                let blank = g.byte_set(ByteSet::from_iter(*b" \t"));
                let indentation = g.repeat(blank, 0, Some(INDENTATION));
                let line = g.sequence([line_feed, indentation]);
                let gap = g.choice([space, line]);
                g.optional(gap)
            }
            &Whitespace::AtMost(max) => g.repeat(one, 0, Some(max)),
            Whitespace::Pattern(pattern) => string_test::whitespace(g, pattern, &options.limits)?,
        };
        // arrays of elements have neither brackets nor commas
        let has_marks = options.spelling.style().is_none_or(|style| style.item.is_none());
        let empty = g.empty();
        let after_mark = g.text(if options.whitespace == Whitespace::Spaced { " " } else { "" });
        let after_name = g.sequence([after_mark, space]);
        let mut spaced = |token: &str| match token {
            "" => empty,
            token => {
                let gap = if matches!(token, "," | ":") { after_mark } else { empty };
                let token = g.text(token);
                g.sequence([token, gap, space])
            }
        };
        Ok(Layout {
            is_json: options.spelling.style().is_none()
                && options.spelling != Spelling::Gemma
                && !matches!(options.whitespace, Whitespace::Pattern(_)),
            space,
            comma: spaced(if has_marks { "," } else { "" }),
            colon: spaced(":"),
            after_name: if options.spelling == Spelling::Gemma { after_name } else { empty },
            open_object: spaced("{"),
            open_array: spaced(if has_marks { "[" } else { "" }),
            close_object: g.text("}"),
            close_array: g.text(if has_marks { "]" } else { "" }),
        })
    }
}

struct Emitter<'e, 'a> {
    all: &'e Conjunctions<'a>,
    satisfiable: &'e Satisfiable,
    options: &'e Options,
    g: GrammarBuilder,
    layout: Layout,
    character: Option<ExprId>,
    /// A string that its schema does not restrict.
    plain_string: Option<ExprId>,
    /// For each normal range and the numbers excluded from it, its expression.
    numbers: FxHashMap<(NumberRange, Vec<Decimal>), ExprId>,
    /// For each conjunction, the reference to its rule, or its expression once it is built.
    made: Vec<Option<ExprId>>,
    /// Contents of strings that pass a test (`true`), or fail it.
    tests: FxHashMap<(StringTest<'a>, bool), ExprId>,
    /// Lower bounds on the number of strings of conjunctions with tests.
    varieties: FxHashMap<ConjunctionId, u64>,
    elements: elements::Made,
    /// Texts without the excluded ones, without quotes and with them.
    without_excluded: [Option<ExprId>; 2],
    /// Whether strings are written in single and in double quotes, as Python writes them.
    has_both_quotes: bool,
}

impl<'a> Emitter<'_, 'a> {
    /// Returns the body of a rule, after building everything inside it. Uses an explicit stack, since the schema
    /// determines the nesting depth of conjunctions.
    fn with_inner(&mut self, root: ConjunctionId) -> Result<ExprId> {
        let mut stack = vec![(root, false)];
        while let Some((id, inner_made)) = stack.pop() {
            if let Some(error) = self.g.error() {
                return Err(errors::placed(error.clone(), self.all.pointer(id)));
            }
            if inner_made {
                let made = self.expression(id)?;
                if id == root {
                    return Ok(made);
                }
                self.made[id.index()] = Some(made);
            } else if id == root || self.made[id.index()].is_none() {
                stack.push((id, true));
                let children = self.all.shape_of(id).children();
                let missing =
                    |c: &ConjunctionId| self.made[c.index()].is_none() && self.satisfiable.contains(*c);
                stack.extend(children.into_iter().filter(missing).map(|child| (child, false)));
            }
        }
        Ok(self.g.never())
    }

    /// Returns the expression of a conjunction; the empty language if nothing satisfies it.
    fn inner(&mut self, id: ConjunctionId) -> ExprId {
        match self.made[id.index()] {
            Some(made) if self.satisfiable.contains(id) => made,
            _ => self.g.never(),
        }
    }

    fn expression(&mut self, id: ConjunctionId) -> Result<ExprId> {
        let all = self.all;
        let body = match all.shape_of(id) {
            Shape::Values(list) => {
                self.spend(list.len(), all.pointer(id))?;
                let value = |value| (!self.is_excluded(value, None)).then(|| self.value(value));
                let values: SmallVec<[ExprId; 16]> = list.iter().copied().filter_map(value).collect();
                self.g.choice(values)
            }
            Shape::Union(list) => {
                let alternatives: Vec<ExprId> = list.iter().map(|&id| self.inner(id)).collect();
                self.g.choice(alternatives)
            }
            Shape::Typed(typed) => self.typed(typed, all.pointer(id))?,
        };
        Ok(match all.schemas_of(id).next() {
            Some(_) => self.g.label_of(&shown_parts(all.pointer(id)), body),
            None => body,
        })
    }

    fn typed(&mut self, typed: &Typed<'a>, pointer: &str) -> Result<ExprId> {
        // `string` and `number` handle the others
        let Typed { types, number: _, length, tests: _, excluded: _, array, object } = typed;
        let has = |one| types.contains(one);
        let mut alternatives: SmallVec<[ExprId; 8]> = SmallVec::new();
        if has(TypeSet::OBJECT)
            && let Some(object) = object
        {
            alternatives.push(self.object(object, pointer)?);
        }
        if has(TypeSet::ARRAY)
            && let Some(array) = array
        {
            alternatives.push(self.array(array, pointer)?);
        }
        if has(TypeSet::STRING) && !length.is_crossed() {
            alternatives.push(match self.has_both_quotes {
                true => self.python_strings(typed)?,
                false => self.string(typed)?,
            });
        }
        if has(TypeSet::NUMBER) {
            alternatives.push(self.number(typed, pointer)?);
        }
        let [yes, no, null] = self.words();
        for (one, word) in [(TypeSet::TRUE, yes), (TypeSet::FALSE, no), (TypeSet::NULL, null)] {
            if has(one) {
                alternatives.push(self.g.text(word));
            }
        }
        Ok(self.g.choice(alternatives))
    }

    fn number(&mut self, typed: &Typed<'a>, pointer: &str) -> Result<ExprId> {
        let Typed { types: _, number, length: _, tests: _, excluded, array: _, object: _ } = typed;
        let excluded = excluded.iter().filter(|value| value.is_number());
        let excluded: Vec<Decimal> = excluded.map(|value| Decimal::parse(&value.to_string())).collect();
        self.spend(number.divisors(), pointer)?;
        let key = (number.normal(), excluded);
        if let Some(&known) = self.numbers.get(&key) {
            return Ok(known);
        }
        let excluded = &key.1;
        let numbers = self.options.numbers;
        let asker = numbers::Asker { pointer, work: &self.all.schemas.work };
        let mut all = numbers::expression_excluding(&mut self.g, number, excluded, numbers, asker)?;
        if let Some(most) = self.options.max_digits {
            all = digits::bounded(&mut self.g, all, most);
        }
        self.numbers.insert(key, all);
        Ok(all)
    }

    /// Spends work of the compilation.
    fn spend(&self, steps: usize, pointer: &str) -> Result<()> {
        self.all.schemas.work.spend(steps).map_err(|error| errors::placed(error, pointer))
    }

    /// Returns the literals for true, false and null.
    fn words(&self) -> [&'static str; 3] {
        match self.options.spelling {
            Spelling::Python | Spelling::Keywords => ["True", "False", "None"],
            _ => ["true", "false", "null"],
        }
    }

    /// Returns one character of an unrestricted string: in canonical spelling for Python, otherwise in any spelling.
    fn character(&mut self) -> ExprId {
        let spelling = self.options.spelling;
        *self.character.get_or_insert_with(|| match spelling {
            Spelling::Python | Spelling::Keywords => strings::canonical_character(&mut self.g),
            _ => strings::character(&mut self.g),
        })
    }

    fn string(&mut self, typed: &Typed<'a>) -> Result<ExprId> {
        if self.is_marked() {
            return self.marked_string(typed);
        }
        let Typed { types: _, number: _, length, tests, excluded, array: _, object: _ } = typed;
        let excluded: Vec<&str> = excluded.iter().filter_map(|value| value.as_str()).collect();
        let mut all: SmallVec<[ExprId; 2]> = SmallVec::new();
        if !tests.is_empty() || !excluded.is_empty() && !length.is_free() {
            all.push(self.tested(tests, length)?);
        } else if excluded.is_empty() {
            if let Some(plain) = self.plain_string.filter(|_| length.is_free()) {
                return Ok(plain);
            }
            let character = self.character();
            let mut string = strings::of_length(&mut self.g, length, character);
            if let Some(without) = self.without_excluded_string() {
                string = self.g.intersection([string, without]);
            }
            self.plain_string = self.plain_string.or(length.is_free().then_some(string));
            return Ok(string);
        }
        if !excluded.is_empty() {
            let character = self.character();
            all.push(strings::other_than(&mut self.g, excluded, character));
        }
        all.extend(self.without_excluded_string());
        Ok(self.g.intersection(all))
    }

    /// Returns a string that passes tests, in canonical spelling, with its quotes.
    fn tested(&mut self, tests: &[Test<'a>], length: &super::values::counts::Counts) -> Result<ExprId> {
        let mut contents = Vec::with_capacity(tests.len());
        if let Some(first) = tests.first() {
            self.spend(tests.len(), self.all.schemas.get(first.schema).pointer)?;
        }
        for &Test { schema, test, holds } in tests {
            let content = match self.tests.get(&(test, holds)) {
                Some(&content) => content,
                None => {
                    let pointer = self.all.schemas.get(schema).pointer;
                    let side = if holds { Side::Within } else { Side::Around };
                    let content = string_test::content(&mut self.g, test, side, pointer)?;
                    if holds { content } else { self.g.complement(content) }
                }
            };
            self.tests.insert((test, holds), content);
            contents.push(content);
        }
        let bounded = tests.iter().any(|test| test.holds) || !length.is_free();
        Ok(strings::constrained(&mut self.g, &contents, length, bounded))
    }
}
