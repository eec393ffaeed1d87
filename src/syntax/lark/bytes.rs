//! Computes supersets of the bytes with which the words of a part begin and end, and which they contain.

use super::tree::{Body, Definition, Item, Name, Parsed, Part};
use super::worklist::{size, until_nothing_changes, users};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::syntax::regex::Dialect;
use crate::work::Budget;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use rustc_hash::FxHashMap;

/// Supersets of the bytes of the words of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes {
    /// Whether the empty text may be a word.
    pub(super) is_empty: bool,
    /// The bytes with which a word may begin.
    pub(super) first: ByteSet,
    /// The bytes with which a word may end.
    pub(super) last: ByteSet,
    /// The bytes that a word may contain.
    pub(super) all: ByteSet,
}

impl Bytes {
    /// The bytes of the empty text.
    const EMPTY: Bytes = Bytes { is_empty: true, ..Bytes::of(ByteSet::from_words([0; 4])) };

    /// The bytes of the words that consist of one byte of a set.
    const fn of(all: ByteSet) -> Bytes {
        Bytes { is_empty: false, first: all, last: all, all }
    }

    fn text(text: &[u8]) -> Bytes {
        text.iter().fold(Bytes::EMPTY, |before, &byte| before.then(&Bytes::of(ByteSet::range(byte, byte))))
    }

    /// The bytes of single characters in ranges of code points, both ends included. A character outside ASCII counts as
    /// any byte from 0x80.
    fn characters(ranges: impl IntoIterator<Item = (u32, u32)>) -> Bytes {
        let mut all = ByteSet::default();
        for (low, high) in ranges {
            if low < 0x80 {
                all.insert_range(low as u8, high.min(0x7F) as u8);
            }
            if high >= 0x80 {
                all.insert_range(0x80, 0xFF);
            }
        }
        Bytes::of(all)
    }

    fn then(&self, next: &Bytes) -> Bytes {
        Bytes {
            is_empty: self.is_empty && next.is_empty,
            first: if self.is_empty { self.first.union(&next.first) } else { self.first },
            last: if next.is_empty { next.last.union(&self.last) } else { next.last },
            all: self.all.union(&next.all),
        }
    }

    pub(super) fn or(&self, other: &Bytes) -> Bytes {
        Bytes {
            is_empty: self.is_empty || other.is_empty,
            first: self.first.union(&other.first),
            last: self.last.union(&other.last),
            all: self.all.union(&other.all),
        }
    }

    /// The bytes of the texts that both describe.
    fn and(&self, other: &Bytes) -> Bytes {
        Bytes {
            is_empty: self.is_empty && other.is_empty,
            first: self.first.intersection(&other.first),
            last: self.last.intersection(&other.last),
            all: self.all.intersection(&other.all),
        }
    }

    /// The bytes of at least `min` and at most `max` repetitions; `None` means no bound.
    fn repeated(self, min: u32, max: Option<u32>) -> Bytes {
        if max == Some(0) { Bytes::EMPTY } else { Bytes { is_empty: self.is_empty || min == 0, ..self } }
    }

    fn hir(hir: &Hir) -> Bytes {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Bytes::EMPTY,
            HirKind::Literal(literal) => Bytes::text(&literal.0),
            HirKind::Class(Class::Unicode(class)) => Bytes::characters(
                class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))),
            ),
            HirKind::Class(Class::Bytes(class)) => {
                let mut all = ByteSet::default();
                class.iter().for_each(|range| all.insert_range(range.start(), range.end()));
                Bytes::of(all)
            }
            HirKind::Repetition(repetition) => {
                Bytes::hir(&repetition.sub).repeated(repetition.min, repetition.max)
            }
            HirKind::Capture(capture) => Bytes::hir(&capture.sub),
            HirKind::Concat(parts) => {
                parts.iter().fold(Bytes::EMPTY, |before, part| before.then(&Bytes::hir(part)))
            }
            HirKind::Alternation(ways) => {
                ways.iter().fold(Bytes::default(), |all, way| all.or(&Bytes::hir(way)))
            }
        }
    }

    /// The bytes of a pattern. A pattern that is invalid in Rust's dialect, or that could mean something else in the
    /// given dialect, counts as any bytes.
    fn pattern(pattern: &str, flags: &str, dialect: Dialect) -> Bytes {
        // escapes, groups with flags or names, nested classes, operations on classes, and bounds without a minimum
        let differs = ["\\", "(?", "[[", "&&", "--", "~~", "{,"].iter().any(|text| pattern.contains(text))
            || pattern.split('[').skip(2).any(|class| !class.contains(']'));
        if dialect != Dialect::Rust && differs {
            return Bytes { is_empty: true, ..Bytes::of(ByteSet::FULL) };
        }
        let hir = ParserBuilder::new()
            .utf8(false)
            .case_insensitive(flags.contains('i'))
            .dot_matches_new_line(flags.contains('s'))
            .ignore_whitespace(flags.contains('x'))
            .build()
            .parse(pattern);
        hir.map_or(Bytes { is_empty: true, ..Bytes::of(ByteSet::FULL) }, |hir| Bytes::hir(&hir))
    }
}

/// The bytes of all names, patterns and nested grammars of a grammar.
#[derive(Default)]
pub(super) struct Facts<'s, 'p> {
    /// The bytes of definitions, by name.
    names: FxHashMap<Name<'s>, Bytes>,
    /// The bytes of patterns, by their text and flags.
    patterns: FxHashMap<(&'p str, &'s str), Bytes>,
    /// The bytes of nested grammars, by their addresses in memory.
    grammars: FxHashMap<*const Parsed<'s>, Bytes>,
    dialect: Dialect,
}

impl<'s, 'p> Facts<'s, 'p> {
    pub(super) fn new(parsed: &'p Parsed<'s>, dialect: Dialect, work: &Budget) -> Result<Facts<'s, 'p>> {
        let mut facts = Facts { dialect, ..Facts::default() };
        let ends =
            parsed.definitions.iter().filter_map(|it| it.attributes.end.as_ref()).map(|(_, item)| item);
        for item in ends {
            facts.find(item, work)?;
        }
        let bodies = parsed.definitions.iter().map(|it| &it.body).chain(&parsed.ignored);
        for part in bodies.flatten().flatten() {
            facts.find(&part.item, work)?;
        }
        let definitions: Vec<&Definition<'s>> = parsed.definitions.iter().collect();
        let sizes: Vec<usize> = definitions.iter().map(|it| size(&it.body)).collect();
        until_nothing_changes(
            &users(&definitions),
            work,
            |place| sizes[place],
            |place| {
                let Definition { name, body, attributes, .. } = definitions[place];
                let mut bytes = facts.body(body);
                if let Some((_, end)) = &attributes.end {
                    bytes = bytes.then(&facts.item(end));
                }
                facts.names.insert(*name, bytes) != Some(bytes)
            },
        )?;
        Ok(facts)
    }

    /// Computes the bytes of the patterns and nested grammars in an item. Recurses into groups and nested grammars.
    fn find(&mut self, item: &'p Item<'s>, work: &Budget) -> Result<()> {
        match item {
            Item::Pattern { pattern, flags } => {
                let dialect = self.dialect;
                let found = || Bytes::pattern(pattern, flags, dialect);
                self.patterns.entry((pattern, flags)).or_insert_with(found);
            }
            Item::Not(inner) => self.find(inner, work)?,
            Item::Group(body) | Item::And(body) => {
                for part in body.iter().flatten() {
                    self.find(&part.item, work)?;
                }
            }
            Item::Lark(parsed) => {
                let facts = Facts::new(parsed, self.dialect, work)?;
                let bytes = parsed.start.map(|start| facts.name(start)).unwrap_or_default();
                self.grammars.insert(&raw const **parsed, bytes);
            }
            _ => {}
        }
        Ok(())
    }

    /// The bytes of a name; no words for an unknown name.
    pub(super) fn name(&self, name: Name<'s>) -> Bytes {
        self.names.get(&name).copied().unwrap_or_default()
    }

    pub(super) fn body(&self, body: &Body<'s>) -> Bytes {
        body.iter().fold(Bytes::default(), |all, parts| all.or(&self.sequence(parts)))
    }

    fn sequence(&self, parts: &[Part<'s>]) -> Bytes {
        parts.iter().fold(Bytes::EMPTY, |before, part| before.then(&self.part(part)))
    }

    fn part(&self, part: &Part<'s>) -> Bytes {
        self.item(&part.item).repeated(part.min, part.max)
    }

    pub(super) fn item(&self, item: &Item<'s>) -> Bytes {
        match item {
            Item::Name(name) => self.name(*name),
            Item::Text { text, ignores_case: false } => Bytes::text(text.as_bytes()),
            Item::Text { text, ignores_case: true } => {
                Bytes::pattern(&regex_syntax::escape(text), "i", Dialect::Rust)
            }
            Item::Pattern { pattern, flags } => {
                self.patterns.get(&(pattern.as_str(), *flags)).copied().unwrap_or_default()
            }
            Item::Common(pattern) => Bytes::pattern(pattern, "", Dialect::Rust),
            Item::Range(low, high) => Bytes::characters([(u32::from(*low), u32::from(*high))]),
            Item::Json(_) => Bytes::of(ByteSet::FULL),
            // a token terminal contains no bytes of text, and is not empty
            Item::Special(_) | Item::Ids(_) => Bytes::of(ByteSet::default()),
            Item::Lark(parsed) => self.grammars.get(&(&raw const **parsed)).copied().unwrap_or_default(),
            Item::Chunks(chunks) => {
                let any = chunks.iter().map(|chunk| Bytes::text(chunk.as_bytes()));
                any.fold(Bytes::EMPTY, |all, chunk| all.or(&chunk))
            }
            Item::Group(body) => self.body(body),
            Item::And(body) => {
                let operands = body.iter().map(|parts| self.sequence(parts));
                operands.reduce(|one, other| one.and(&other)).unwrap_or_default()
            }
            Item::Not(_) => Bytes { is_empty: true, ..Bytes::of(ByteSet::FULL) },
            Item::Beside(_) | Item::Template(..) | Item::Parameter(_) => Bytes::default(),
        }
    }
}
