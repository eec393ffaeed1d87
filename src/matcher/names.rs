//! No object has a name twice: what that takes away from masks and texts.
//!
//! Configurations know nothing of the names that came; they are followed beside them ([`Place`]), and only from the first
//! name on that a grammar does not list. Of a mask, then, those tokens are taken away that end a name which came: within a
//! name they are found along the names that begin alike, of the tokens with a quote. Two things need a closer look, at each
//! token with a quote: names of which there are few, as a beginning may leave none that did not come; and vocabularies with
//! tokens that hold two names.

use super::{At, Matcher, Path};
use crate::automaton::ConfigurationId;
use crate::automaton::names::{NameTables, Place};
use crate::automaton::string_text::Decoder;
use crate::error::Result;
use crate::mask::{CompiledGrammar, NameEnds, TokenMask};
use crate::vocabulary::quoted::Quoted;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Tables of so many bytes, and so many more for each byte of the text, are made anew when steps are taken back.
const ROOM: usize = 1 << 20;
const ROOM_PER_BYTE: usize = 1 << 10;

/// Where the names are before the first byte of a text.
pub(super) fn start(compiled: &CompiledGrammar) -> Place {
    let from_the_start = compiled.automaton().has_names() && compiled.vocabulary().quoted().have_two_names;
    if from_the_start { Place::START } else { Place::OUTSIDE }
}

/// Whether each token with a quote needs a look.
fn is_thorough(compiled: &CompiledGrammar) -> bool {
    compiled.vocabulary().quoted().have_two_names || !compiled.names_are_endless()
}

/// A configuration, and which names came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub(super) configuration: ConfigurationId,
    pub(super) place: Place,
}

impl At<'_> {
    /// Where the path has come.
    pub(super) fn cursor(&self, configuration: ConfigurationId) -> Cursor {
        Cursor { configuration, place: self.path.place() }
    }

    /// The cursor after one more byte, which comes after the path and the bytes `since`, if a word goes on so.
    pub(super) fn step(&mut self, at: Cursor, since: &[u8], byte: u8) -> Result<Option<Cursor>> {
        let automaton = self.compiled.automaton();
        match self.engine.tables.step(automaton, at.configuration, byte)? {
            ConfigurationId::DEAD => Ok(None),
            next => self.come_to(next, at, since, byte),
        }
    }

    /// The cursor after a byte that leads to a configuration, unless that gives an object a name twice, or will have to.
    fn come_to(
        &mut self,
        configuration: ConfigurationId,
        at: Cursor,
        since: &[u8],
        byte: u8,
    ) -> Result<Option<Cursor>> {
        let named = self.engine.tables.successors().is_named(configuration);
        if at.place.is_outside() && !named {
            return Ok(Some(Cursor { configuration, ..at }));
        }
        let quoted = self.compiled.vocabulary().quoted();
        let Path { names, bytes, .. } = &mut *self.path;
        let before = since.iter().rev().chain(bytes.iter().rev()).copied();
        let Some(place) = next_place(names, quoted, at.place, (before, byte, named)) else {
            return Ok(None);
        };
        let next = Cursor { configuration, place };
        Ok(if self.is_open(next)? { Some(next) } else { None })
    }

    /// Whether a name that is being read, if one is, may become one that did not come.
    fn is_open(&mut self, at: Cursor) -> Result<bool> {
        let name = at.place.in_name().filter(|&name| self.path.names.is_left(name));
        let Some(name) = name.filter(|_| !self.compiled.names_are_endless()) else { return Ok(true) };
        self.path.names.has_another(
            self.compiled.automaton(),
            &mut self.engine.tables,
            at.configuration,
            name,
        )
    }

    /// Makes the tables of names anew, without what only was looked at.
    fn follow_again(&mut self) -> Result<()> {
        let automaton = self.compiled.automaton();
        let mut configuration = self.engine.start(automaton)?;
        let quoted = self.compiled.vocabulary().quoted();
        let Path { names, bytes, start, steps, .. } = &mut *self.path;
        *names = NameTables::default();
        let (mut place, mut from) = (*start, 0);
        for step in steps {
            for at in from..step.end {
                configuration = self.engine.tables.step(automaton, configuration, bytes[at])?;
                let named = self.engine.tables.successors().is_named(configuration);
                let before = bytes[..at].iter().rev().copied();
                place = next_place(names, quoted, place, (before, bytes[at], named)).unwrap_or(place);
            }
            from = step.end;
            step.place = place;
        }
        Ok(())
    }

    /// Tokens that end a name which came, or after which none is left that did not. Some may not be allowed anyway.
    fn repeated(&mut self, at: Cursor) -> Result<FxHashSet<u32>> {
        let mut repeated = self.without_another(at)?;
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let quoted = vocabulary.quoted();
        let trie = &quoted.trie;
        let mut add = |node| repeated.extend(trie.subtree_tokens(node).iter().map(|token| token.get()));
        let mut read = Vec::new();
        let mut open = vec![(trie.root(), at, 0)];
        while let Some((node, at, depth)) = open.pop() {
            read.truncate(depth);
            if let Some(last) = read.last_mut() {
                *last = trie.byte(node);
            }
            for child in trie.steps(node) {
                let may_begin = quoted.may_begin_name(child.node);
                let name = at.place.in_name().filter(|name| child.byte == b'"' && name.0 == Decoder::Plain);
                if let Some(name) = name.filter(|_| !may_begin) {
                    // what follows the name does not matter
                    if self.path.names.left_after(name, child.byte).is_none() {
                        add(child.node);
                    }
                    continue;
                }
                let automaton = self.compiled.automaton();
                let next = self.engine.tables.step(automaton, at.configuration, child.byte)?;
                if next == ConfigurationId::DEAD {
                    continue;
                }
                match self.come_to(next, at, &read, child.byte)? {
                    None => add(child.node),
                    Some(next) => {
                        let name = next.place.in_name();
                        if may_begin || name.is_some_and(|name| self.path.names.is_left(name)) {
                            open.push((child.node, next, depth + 1));
                        }
                    }
                }
            }
            read.push(0);
        }
        Ok(repeated)
    }

    /// The tokens that go on with a name so that it can only become one that came.
    fn without_another(&mut self, at: Cursor) -> Result<FxHashSet<u32>> {
        let mut without = FxHashSet::default();
        if self.compiled.names_are_endless() {
            return Ok(without);
        }
        let automaton = self.compiled.automaton();
        let trie = self.compiled.vocabulary().trie();
        let mut open: Vec<_> =
            at.place.in_name().map(|name| (trie.root(), at.configuration, name)).into_iter().collect();
        while let Some((node, at, name)) = open.pop() {
            for child in trie.steps(node).iter().filter(|child| child.byte != b'"') {
                let Some(name) = self.path.names.left_after(name, child.byte) else { continue };
                let next = self.engine.tables.step(automaton, at, child.byte)?;
                if next == ConfigurationId::DEAD || !self.path.names.is_left(name) {
                    continue;
                }
                if !self.path.names.has_another(automaton, &mut self.engine.tables, next, name)? {
                    without.extend(trie.tokens(child.node).iter().map(|token| token.get()));
                }
                open.push((child.node, next, name));
            }
        }
        Ok(without)
    }
}

/// The place after a byte; `before` has the bytes before it, last first.
fn next_place(
    names: &mut NameTables,
    quoted: &Quoted,
    place: Place,
    (before, byte, named): (impl Iterator<Item = u8>, u8, bool),
) -> Option<Place> {
    let is_common = |name: &[u8]| quoted.may_hold(name);
    match place.is_outside() && named {
        true => Some(names.enter(before, is_common)),
        false => names.advance(place, byte, named, is_common),
    }
}

impl Matcher {
    /// Which names came after more bytes, which end names at some places; nothing if one of those came before, or if what
    /// was begun can become no other.
    pub(super) fn place_after(&mut self, bytes: &[u8], ends: &NameEnds) -> Result<Option<Place>> {
        let mut place = self.path.place();
        if place.is_outside() && ends.is_empty() {
            return Ok(Some(place));
        }
        let quoted = self.compiled.vocabulary().quoted();
        for (at, &byte) in bytes.iter().enumerate() {
            let before = bytes[..at].iter().rev().chain(self.path.bytes.iter().rev()).copied();
            let named = ends.contains(&at);
            match next_place(&mut self.path.names, quoted, place, (before, byte, named)) {
                Some(next) => place = next,
                None => return Ok(None),
            }
        }
        let is_left = place.in_name().is_some_and(|name| self.path.names.is_left(name));
        if !is_left || self.compiled.names_are_endless() {
            return Ok(Some(place));
        }
        let is_open = self.with_engine(|with, mut configuration| {
            for &byte in bytes {
                configuration = with.engine.tables.step(with.compiled.automaton(), configuration, byte)?;
            }
            with.is_open(Cursor { configuration, place })
        });
        Ok(is_open?.then_some(place))
    }

    /// A mask without the tokens that would give an object a name twice.
    pub(super) fn without_repeated_names(&mut self, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
        if self.path.place().is_outside() {
            return Ok(mask);
        }
        if self.path.names.memory_usage() > ROOM + ROOM_PER_BYTE * self.path.bytes.len() {
            self.with_engine(|with, _| with.follow_again())?;
        }
        self.compiled.look_at_names();
        let place = self.path.place();
        let repeated = match is_thorough(&self.compiled) {
            true => self.with_engine(|with, configuration| with.repeated(with.cursor(configuration)))?,
            false => self.repeated(place),
        };
        Ok(if repeated.is_empty() { mask } else { Arc::new(mask.without(repeated)) })
    }

    /// Tokens that end a name which came.
    fn repeated(&mut self, place: Place) -> FxHashSet<u32> {
        let Matcher { compiled, path: Path { names, .. } } = self;
        let vocabulary = compiled.vocabulary();
        let quoted = vocabulary.quoted();
        let mut repeated = FxHashSet::default();
        let name = place.in_name().filter(|&name| names.is_left(name));
        let mut open: Vec<_> = name.map(|name| (quoted.trie.root(), name)).into_iter().collect();
        while let Some((node, name)) = open.pop() {
            for child in quoted.trie.steps(node) {
                match names.left_after(name, child.byte) {
                    None => repeated.extend(quoted.trie.subtree_tokens(child.node).iter().map(|t| t.get())),
                    Some(name) if names.is_left(name) => open.push((child.node, name)),
                    Some(_) => {}
                }
            }
        }
        if names.has_common(place) {
            for token in quoted.tokens.iter().filter(|token| token.is_whole).map(|token| token.token) {
                let mut at = Some(place);
                for &byte in vocabulary.bytes(token).unwrap_or_default() {
                    at = at.and_then(|at| names.advance(at, byte, false, |_| false));
                }
                if at.is_none() {
                    repeated.insert(token.get());
                }
            }
        }
        repeated
    }
}
