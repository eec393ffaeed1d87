//! Unique names in objects: the tokens and texts that they exclude.
//!
//! Configurations do not know the names read so far. Names are tracked separately ([`KeyState`]), from the first name
//! on that the grammar does not list. A mask then excludes the tokens that complete a name already read. Within a name,
//! such tokens are found among the tokens with a quote, along the names with the same prefix. In two cases each token
//! with a quote must be checked: if the names are finitely many, as a prefix may leave no unused name; and if the
//! vocabulary has tokens that contain two names.

use super::path::{self, Path, Way};
use super::state::{Locked, Matcher};
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::{KeyState, KeyTracker};
use crate::error::Result;
use crate::json::string::JsonStringDecoder;
use crate::mask::{CompiledGrammar, NameEnds, TokenMask};
use crate::token_index::quote_tokens::QuoteTokens;
use crate::vocabulary::TokenId;
use crate::work::Budget;
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::sync::Arc;

/// The key tracker is rebuilt, to drop names that were only examined, if it takes more than this many bytes plus
/// [`ROOM_PER_BYTE`] bytes per byte of the text.
const ROOM: usize = 1 << 20;
const ROOM_PER_BYTE: usize = 1 << 10;

/// The number of bytes of a text that one step of work reads back, to the beginning of a name.
const READ_PER_STEP: usize = 16;

/// The number of bytes of a text that are read back without the engine's budget of work.
const READ_WITHOUT_WORK: usize = 1 << 10;

/// Whether a single token may repeat a name in an object, so that masks are checked even before the first name.
pub(super) fn holds_two_names(compiled: &CompiledGrammar) -> bool {
    compiled.automaton().has_names() && compiled.index().quote_tokens().has_two_key_tokens
}

/// Whether each token with a quote must be checked: some token may contain two names, or the names are not known to be
/// endless.
fn is_thorough(compiled: &CompiledGrammar) -> bool {
    compiled.index().quote_tokens().has_two_key_tokens || !compiled.keys_are_unbounded()
}

/// Whether finding the tokens that repeat a name needs the engine.
pub(super) fn needs_engine(compiled: &CompiledGrammar) -> bool {
    is_thorough(compiled) || compiled.automaton().has_terminals()
}

/// A configuration with the state of the key tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cursor {
    pub(super) configuration: ConfigurationId,
    pub(super) key_state: KeyState,
}

impl Locked<'_> {
    /// The cursor at the end of the path, given its configuration.
    pub(super) fn cursor(&self, configuration: ConfigurationId) -> Cursor {
        Cursor { configuration, key_state: self.path.key_state() }
    }

    /// The cursor after one more byte, which follows the path and the bytes `since`; `None` if the byte is not allowed,
    /// or if an object then repeats a name or every completion would.
    pub(super) fn step(&mut self, at: Cursor, since: &[u8], byte: u8) -> Result<Option<Cursor>> {
        let automaton = self.compiled.automaton();
        match self.cache.lazy(automaton).step(at.configuration, byte)? {
            ConfigurationId::DEAD => Ok(None),
            next => self.come_to(next, at, since, byte),
        }
    }

    /// The cursor after a byte that leads to a configuration; `None` if an object then repeats a name, or every
    /// completion would.
    fn come_to(
        &mut self,
        configuration: ConfigurationId,
        at: Cursor,
        since: &[u8],
        byte: u8,
    ) -> Result<Option<Cursor>> {
        let named = self.cache.tables.transitions().is_named(configuration);
        if at.key_state.is_outside() && !named {
            return Ok(Some(Cursor { configuration, ..at }));
        }
        let quoted = self.compiled.index().quote_tokens();
        let read = Cell::new(0);
        let before = counted(since.iter().rev().copied().chain(self.path.backwards()), &read);
        let key_state = next_place(self.names, quoted, at.key_state, (before, byte, named));
        self.cache.tables.work.spend(read.get() / READ_PER_STEP)?;
        let Some(key_state) = key_state else { return Ok(None) };
        let next = Cursor { configuration, key_state };
        Ok(if self.is_open(next)? { Some(next) } else { None })
    }

    /// Whether the name that is being read can still become an unused one. True outside names.
    fn is_open(&mut self, at: Cursor) -> Result<bool> {
        let name = at.key_state.in_name().filter(|&name| self.names.is_left(name));
        let Some(name) = name.filter(|_| !self.compiled.keys_are_unbounded()) else { return Ok(true) };
        self.names.has_another(&mut self.cache.lazy(self.compiled.automaton()), at.configuration, name)
    }

    /// Accepts bytes as one step if some completion begins with them and repeats no name in an object. Returns whether
    /// the bytes were accepted.
    pub(super) fn accept(&mut self, configuration: ConfigurationId, bytes: &[u8]) -> Result<bool> {
        let Some(Cursor { configuration, key_state }) = self.read(configuration, bytes)? else {
            return Ok(false);
        };
        let at = self.reached(self.cache.located(configuration));
        self.path.push(bytes, at, key_state);
        Ok(true)
    }

    /// Accepts a token as one step: by its bytes, if it has any, and along token edges. Returns whether it was
    /// accepted. No object that is open after a token edge has names to remember, so names are tracked along the bytes.
    pub(super) fn accept_token(&mut self, configuration: ConfigurationId, token: TokenId) -> Result<bool> {
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let bytes = vocabulary.bytes(token);
        let by_bytes = bytes.map_or(Ok(None), |bytes| self.read(configuration, bytes))?;
        let at = self.cache.located(configuration);
        let after_bytes = by_bytes.map(|to| self.cache.located(to.configuration));
        let taken = self.cache.step_token(self.compiled.automaton(), at, after_bytes, token)?;
        let bytes = bytes.unwrap_or_default();
        match (taken, by_bytes, after_bytes) {
            (None, Some(to), Some(at)) => {
                let at = self.reached(at);
                self.path.push(bytes, at, to.key_state);
            }
            (None, ..) => return Ok(false),
            (Some(at), by_bytes, _) => {
                let key_state = by_bytes.map_or(KeyState::OUTSIDE, |to| to.key_state);
                let way = if by_bytes.is_some() { Way::Both(token) } else { Way::Token(token) };
                let is_end = self.compiled.is_end(token) && at.is_accepting();
                let at = self.reached(at);
                self.path.push_token(bytes, at, key_state, way, is_end);
            }
        }
        Ok(true)
    }

    /// The cursor after bytes that follow the path; `None` if the bytes are not allowed, or if an object repeats a name
    /// or every completion would.
    fn read(&mut self, mut configuration: ConfigurationId, bytes: &[u8]) -> Result<Option<Cursor>> {
        let automaton = self.compiled.automaton();
        let mut key_state = self.path.key_state();
        for (read, &byte) in bytes.iter().enumerate() {
            configuration = self.cache.lazy(automaton).step(configuration, byte)?;
            if configuration == ConfigurationId::DEAD {
                return Ok(None);
            }
            let named = self.cache.tables.transitions().is_named(configuration);
            if key_state.is_outside() && !named {
                continue;
            }
            let quoted = self.compiled.index().quote_tokens();
            let back = Cell::new(0);
            let before = counted(bytes[..read].iter().rev().copied().chain(self.path.backwards()), &back);
            let next = next_place(self.names, quoted, key_state, (before, byte, named));
            self.cache.tables.work.spend(back.get() / READ_PER_STEP)?;
            match next {
                Some(next) => key_state = next,
                None => return Ok(None),
            }
        }
        let to = Cursor { configuration, key_state };
        Ok(if self.is_open(to)? { Some(to) } else { None })
    }

    /// Rebuilds the sets of names, without the names that were only examined.
    fn rebuild_key_tracker(&mut self) -> Result<()> {
        let work = Budget::of_steps(self.compiled.automaton().limits(), self.path.step_count());
        let work = std::mem::replace(&mut self.cache.tables.work, work);
        let rebuilt = self.rebuilt_key_tracker();
        self.cache.tables.work = work;
        rebuilt
    }

    fn rebuilt_key_tracker(&mut self) -> Result<()> {
        let automaton = self.compiled.automaton();
        let quoted = self.compiled.index().quote_tokens();
        let cache = &mut *self.cache;
        let start = cache.start(automaton)?;
        let (mut at, mut key_state) = (start, KeyState::OUTSIDE);
        let (text, mut read) = (self.path.bytes(), 0);
        let mut names = KeyTracker::default();
        let mut path = self.path.rewritten(start, |_, bytes, way| {
            let begun = at;
            let mut by_bytes = None;
            for &byte in bytes.iter().filter(|_| way.is_text()) {
                at = cache.step(automaton, at, byte)?;
                let named = cache.tables.transitions().is_named(cache.id(at)?);
                let back = Cell::new(0);
                let before = counted(text[..read].iter().rev().copied(), &back);
                key_state =
                    next_place(&mut names, quoted, key_state, (before, byte, named)).unwrap_or(key_state);
                cache.tables.work.spend(back.get() / READ_PER_STEP)?;
                read += 1;
            }
            if way.is_text() {
                by_bytes = Some(at);
            } else {
                read += bytes.len();
                key_state = KeyState::OUTSIDE;
            }
            let step = |at, token| cache.step_token(automaton, at, by_bytes, token);
            at = path::along(way, begun, by_bytes, step)?;
            Ok((at, key_state))
        })?;
        path.set_names(names);
        *self.path = path;
        Ok(())
    }

    /// Tokens that complete a name already read, or after which no unused name is possible. The grammar itself may
    /// forbid some of them.
    fn tokens_repeating_a_key(&mut self, at: Cursor) -> Result<FxHashSet<u32>> {
        let mut repeated = self.without_another(at)?;
        let quoted = self.compiled.index().quote_tokens();
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
                self.cache.tables.work.spend(1)?;
                let may_begin = quoted.may_begin_name(child.node);
                let name = at
                    .key_state
                    .in_name()
                    .filter(|name| child.byte == b'"' && name.0 == JsonStringDecoder::Plain);
                if let Some(name) = name.filter(|_| !may_begin) {
                    // what the token has after the name does not matter
                    if self.names.left_after(name, child.byte).is_none() {
                        add(child.node);
                    }
                    continue;
                }
                let automaton = self.compiled.automaton();
                let next = self.cache.lazy(automaton).step(at.configuration, child.byte)?;
                if next == ConfigurationId::DEAD {
                    continue;
                }
                match self.come_to(next, at, &read, child.byte)? {
                    None => add(child.node),
                    Some(next) => {
                        let name = next.key_state.in_name();
                        if may_begin || name.is_some_and(|name| self.names.is_left(name)) {
                            open.push((child.node, next, depth + 1));
                        }
                    }
                }
            }
            read.push(0);
        }
        Ok(repeated)
    }

    /// The tokens that continue a name so that it can only become one already read.
    fn without_another(&mut self, at: Cursor) -> Result<FxHashSet<u32>> {
        let mut without = FxHashSet::default();
        if self.compiled.keys_are_unbounded() {
            return Ok(without);
        }
        let automaton = self.compiled.automaton();
        let trie = self.compiled.vocabulary().trie();
        let mut open: Vec<_> =
            at.key_state.in_name().map(|name| (trie.root(), at.configuration, name)).into_iter().collect();
        while let Some((node, at, name)) = open.pop() {
            for child in trie.steps(node).iter().filter(|child| child.byte != b'"') {
                self.cache.tables.work.spend(1)?;
                let Some(name) = self.names.left_after(name, child.byte) else { continue };
                let next = self.cache.lazy(automaton).step(at, child.byte)?;
                if next == ConfigurationId::DEAD || !self.names.is_left(name) {
                    continue;
                }
                if !self.names.has_another(&mut self.cache.lazy(automaton), next, name)? {
                    without.extend(trie.tokens(child.node).iter().map(|token| token.get()));
                }
                open.push((child.node, next, name));
            }
        }
        Ok(without)
    }
}

/// The bytes of a text, counted as they are read.
fn counted<'c>(bytes: impl Iterator<Item = u8> + 'c, read: &'c Cell<usize>) -> impl Iterator<Item = u8> + 'c {
    bytes.inspect(|_| read.set(read.get() + 1))
}

/// The state of the key tracker after a byte; `None` if an object then repeats a name. `before` has the bytes before
/// it, last first; `named` says whether the byte ends a name.
fn next_place(
    names: &mut KeyTracker,
    quoted: &QuoteTokens,
    key_state: KeyState,
    (before, byte, named): (impl Iterator<Item = u8>, u8, bool),
) -> Option<KeyState> {
    let is_common = |name: &[u8]| quoted.may_hold(name);
    match key_state.is_outside() && named {
        true => Some(names.enter(before, is_common)),
        false => names.advance(key_state, byte, named, is_common),
    }
}

/// The state of the key tracker after bytes that follow the path; `ends` are the indices of the bytes that end names.
/// `None` if a name repeats, or if only the engine can tell whether an unfinished name can become an unused one.
pub(super) fn place_after(
    compiled: &CompiledGrammar,
    path: &Path,
    bytes: &[u8],
    ends: &NameEnds,
) -> Option<KeyState> {
    let quoted = compiled.index().quote_tokens();
    let names = path.names();
    let mut names = path::lock(&names);
    let mut key_state = path.key_state();
    let back = Cell::new(0);
    for (read, &byte) in bytes.iter().enumerate() {
        let before = bytes[..read].iter().rev().copied().chain(path.backwards()).take(READ_WITHOUT_WORK);
        let before = counted(before, &back);
        key_state = next_place(&mut names, quoted, key_state, (before, byte, ends.contains(&read)))?;
        if back.get() >= READ_WITHOUT_WORK {
            return None;
        }
    }
    let is_left = key_state.in_name().is_some_and(|name| names.is_left(name));
    (!is_left || compiled.keys_are_unbounded()).then_some(key_state)
}

/// Removes from a mask the tokens that would repeat a name in an object.
pub(super) fn without_repeated_keys(m: &mut Matcher, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
    if m.path.key_state().is_outside() && !holds_two_names(&m.compiled) {
        return Ok(mask);
    }
    let size = path::lock(&m.path.names()).memory_usage();
    if size > ROOM + ROOM_PER_BYTE * m.path.byte_count() {
        m.with_lock(|locked, _| locked.rebuild_key_tracker())?;
    }
    m.compiled.explore_key_supply();
    let key_state = m.path.key_state();
    let mut repeated = match is_thorough(&m.compiled) {
        true => {
            m.with_lock(|locked, configuration| locked.tokens_repeating_a_key(locked.cursor(configuration)))?
        }
        false => tokens_repeating_a_key(m, key_state),
    };
    if m.compiled.automaton().has_terminals() && !repeated.is_empty() {
        // a token taken by its id is not part of a name
        m.with_lock(|locked, configuration| {
            let terminals = locked.cache.lazy(locked.compiled.automaton()).terminals(configuration);
            let has = |&token: &u32| {
                let token = TokenId::new(token);
                terminals.iter().any(|&terminal| locked.compiled.terminals().has(terminal, token))
            };
            repeated.retain(|token| !has(token));
            Ok(())
        })?;
    }
    Ok(if repeated.is_empty() { mask } else { Arc::new(mask.without(repeated)) })
}

/// Tokens that complete a name already read in the same object, found without the engine: names are endless, and no
/// token contains two names.
fn tokens_repeating_a_key(m: &Matcher, key_state: KeyState) -> FxHashSet<u32> {
    let names = m.path.names();
    let mut names = path::lock(&names);
    let vocabulary = m.compiled.vocabulary();
    let quoted = m.compiled.index().quote_tokens();
    let mut repeated = FxHashSet::default();
    let name = key_state.in_name().filter(|&name| names.is_left(name));
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
    if names.has_common(key_state) {
        for token in quoted.tokens.iter().filter(|token| token.is_whole).map(|token| token.token) {
            let mut at = Some(key_state);
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
