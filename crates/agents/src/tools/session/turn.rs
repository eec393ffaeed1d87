//! A matcher of one turn over a compiled set, assembled from parts.
//!
//! A turn alternates between *sections*, which are compiled grammars, and *names*, which are ranges of a sorted list
//! filtered by a set of ranks. A section before a name ends in a hole; the section of a tool follows its name. Near a
//! border the turn may have several readings (*threads*): a complete name may be a prefix of another name, and text may
//! continue where a call may begin.

use super::compiled::{CompiledTools, TurnOptions};
use super::lowering::Section;
use super::names::Spot;
use super::subset::Subset;
use super::walk::Walk;
use crate::tools::errors;
use crate::tools::format::{After, HOLE};
use grammata::error::Result;
use grammata::mask::TokenMask;
use grammata::matcher::Matcher;
use grammata::vocabulary::{TokenId, Vocabulary};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A matcher of one turn from its first token to its end. Its masks equal those of the grammar of the whole turn
/// ([`CallFormat::grammar`](crate::tools::CallFormat::grammar)) with the same tools.
#[derive(Clone, Debug)]
pub struct TurnMatcher {
    tools: CompiledTools,
    pub(super) engine: Engine,
}

#[derive(Clone, Debug)]
pub(super) enum Engine {
    Parts(Box<Parts>),
    /// A matcher of the whole turn, for formats that do not write names first.
    Whole(Matcher),
}

#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) rules: Rules,
    pub(super) threads: Threads,
    /// The length of the turn so far in bytes; special tokens count as their names.
    position: usize,
    /// For each step: the position before the step; the threads before the step, unless the step stayed in the section
    /// of the only thread; and the step.
    pub(super) history: Vec<(usize, Option<Threads>, Taken)>,
    /// The matcher of the grammar of the whole turn, once it was needed to enforce a budget.
    pub(super) whole: Option<Matcher>,
}

/// An accepted step.
#[derive(Clone, Debug)]
pub(super) enum Taken {
    Token(TokenId),
    Bytes(Box<[u8]>),
}

impl Taken {
    /// Repeats the step on another matcher. Returns whether that matcher accepts the step.
    pub(super) fn repeat(&self, matcher: &mut Matcher) -> Result<bool> {
        match self {
            Taken::Token(token) => matcher.try_accept(*token),
            Taken::Bytes(bytes) => matcher.try_accept_bytes(bytes),
        }
    }
}

/// The calls that have begun, in order.
pub(super) type Calls = SmallVec<[Begun; 1]>;

/// A call whose name is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun {
    /// The rank of the tool's name.
    pub(super) rank: u32,
    /// The byte offset in the turn at which the name ended.
    pub(super) end: usize,
}

pub(super) type Threads = SmallVec<[Thread; 2]>;

/// The part of a turn's state that does not change during the turn.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) tools: CompiledTools,
    pub(super) subset: Subset,
    pub(super) options: Arc<TurnOptions>,
}

/// One reading of the turn so far.
// most threads are sections, and there are few: boxing would cost an allocation each
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub(super) enum Thread {
    Section(At),
    Name {
        spot: Spot,
        /// The calls before the name.
        calls: Calls,
    },
}

/// A position in a section.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) inside: Matcher,
    /// A matcher of the section with any bytes in the hole; `None` if the section has no hole.
    pub(super) over: Option<Matcher>,
    /// The calls that have begun; the section follows the name of the last one. Empty before the first name.
    pub(super) calls: Calls,
}

impl At {
    fn of(section: &Section, calls: Calls) -> At {
        let over = section.over.as_ref().map(|over| over.matcher());
        At { inside: section.inside.matcher(), over, calls }
    }

    /// Returns whether a name may begin here.
    pub(super) fn is_at_hole(&mut self) -> Result<bool> {
        Ok(self.over.is_some() && self.inside.accepts_prefix(&[HOLE])?)
    }

    /// Returns whether only a name can follow in the section.
    fn is_over(&mut self) -> Result<bool> {
        Ok(self.is_at_hole()? && self.inside.forced_bytes()?.first() == Some(&HOLE))
    }

    fn step(&mut self, step: impl Fn(&mut Matcher) -> Result<bool>) -> Result<bool> {
        if !step(&mut self.inside)? {
            return Ok(false);
        }
        if let Some(over) = &mut self.over {
            step(over)?;
        }
        Ok(true)
    }

    fn rollback(&mut self) -> Result<()> {
        self.inside.rollback(1)?;
        self.over.as_mut().map_or(Ok(()), |over| over.rollback(1))
    }
}

impl Rules {
    /// Returns the start of the section after a tool's name, which ends at byte `end` of the turn, after `calls`.
    pub(super) fn after_name(&self, rank: u32, end: usize, calls: &Calls) -> Result<At> {
        let mut calls = calls.clone();
        calls.push(Begun { rank, end });
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let after = After {
            end: count >= self.options.min_calls,
            call: self.options.max_calls.is_none_or(|most| count < most),
        };
        let section = self.tools.section(rank, after, &self.options.limited)?;
        Ok(At::of(&section, calls))
    }

    /// Returns the rank of the allowed name that ends at a position in the names; `None` if none ends there.
    pub(super) fn complete(&self, spot: Spot) -> Option<u32> {
        self.tools.ranked().complete(spot, self.subset.bits())
    }

    pub(super) fn name(&self, calls: &Calls) -> Thread {
        Thread::Name { spot: self.tools.ranked().start(), calls: calls.clone() }
    }

    /// Returns the threads after more bytes, which begin at `position`; empty if no thread accepts the bytes.
    fn after(&self, threads: &Threads, bytes: &[u8], position: usize) -> Result<Threads> {
        let mut next = Threads::new();
        // the hole byte occurs in sections, but in no turn
        if bytes.contains(&HOLE) {
            return Ok(next);
        }
        // threads, each with the number of bytes that it has consumed
        let mut open: Vec<(Thread, usize)> = threads.iter().cloned().map(|thread| (thread, 0)).collect();
        while let Some((thread, from)) = open.pop() {
            match thread {
                Thread::Section(mut at) => {
                    self.holes_along(&at, &bytes[from..], |offset| {
                        open.push((self.name(&at.calls), from + offset));
                    })?;
                    if at.step(|matcher| matcher.try_accept_bytes(&bytes[from..]))? && !at.is_over()? {
                        next.push(Thread::Section(at));
                    }
                }
                Thread::Name { spot, calls } => {
                    if from == bytes.len() {
                        next.push(Thread::Name { spot, calls });
                        continue;
                    }
                    if let Some(rank) = self.complete(spot)
                        && self.tools.link()?.matcher().accepts_prefix(&bytes[from..=from])?
                    {
                        open.push((Thread::Section(self.after_name(rank, position + from, &calls)?), from));
                    }
                    let names = self.tools.ranked();
                    if let Some(spot) = names.step(spot, bytes[from], self.subset.bits()) {
                        open.push((Thread::Name { spot, calls }, from + 1));
                    }
                }
            }
        }
        Ok(next)
    }

    /// Calls `found` for each offset in `bytes`, except 0 but including the end, at which a name may begin.
    fn holes_along(&self, at: &At, bytes: &[u8], mut found: impl FnMut(usize)) -> Result<()> {
        if at.over.is_none() {
            return Ok(());
        }
        let mut ahead = at.clone();
        for (offset, byte) in bytes.iter().enumerate() {
            if !ahead.inside.try_accept_bytes(std::slice::from_ref(byte))? {
                break;
            }
            if ahead.is_at_hole()? {
                found(offset + 1);
            }
        }
        Ok(())
    }

    /// Returns the threads after a token, matched by its bytes and by its id; empty if no thread accepts the token.
    fn after_token(
        &self,
        threads: &Threads,
        token: TokenId,
        vocabulary: &Vocabulary,
        position: usize,
    ) -> Result<Threads> {
        let bytes = vocabulary.bytes(token).filter(|_| !vocabulary.is_eos(token));
        let mut next = Threads::new();
        if bytes.is_some_and(|bytes| bytes.contains(&HOLE)) {
            return Ok(next);
        }
        for thread in threads {
            let mut at = match thread {
                Thread::Section(at) => at.clone(),
                Thread::Name { spot, calls } => {
                    let Some(rank) = self.complete(*spot) else { continue };
                    // a token matched by its id, directly after the name
                    if bytes.is_some() || !self.tools.link()?.matcher().try_accept(token)? {
                        continue;
                    }
                    self.after_name(rank, position, calls)?
                }
            };
            if at.step(|matcher| matcher.try_accept(token))? {
                if bytes.is_none() && at.is_at_hole()? {
                    next.push(self.name(&at.calls));
                }
                if !at.is_over()? {
                    next.push(Thread::Section(at));
                }
            }
        }
        if let Some(bytes) = bytes {
            // sections have consumed the whole token, which includes matching it by its bytes
            let by_bytes = self.after(threads, bytes, position)?;
            let is_new = |thread: &Thread| match thread {
                Thread::Name { .. } => true,
                Thread::Section(at) => !next
                    .iter()
                    .any(|known| matches!(known, Thread::Section(known) if known.calls == at.calls)),
            };
            let more: Threads = by_bytes.into_iter().filter(is_new).collect();
            next.extend(more);
        }
        Ok(next)
    }
}

impl TurnMatcher {
    pub(super) fn in_parts(
        tools: CompiledTools,
        subset: Subset,
        options: TurnOptions,
    ) -> Result<TurnMatcher> {
        let start = tools.start(options.choice)?;
        let mut at = At::of(start, Calls::new());
        let rules = Rules { tools: tools.clone(), subset, options: Arc::new(options) };
        let mut threads: Threads = smallvec![];
        if at.is_at_hole()? {
            threads.push(rules.name(&at.calls));
        }
        if !at.is_over()? {
            threads.push(Thread::Section(at));
        }
        let parts = Parts { rules, threads, position: 0, history: Vec::new(), whole: None };
        Ok(TurnMatcher { tools, engine: Engine::Parts(Box::new(parts)) })
    }

    pub(super) fn whole(tools: CompiledTools, matcher: Matcher) -> TurnMatcher {
        TurnMatcher { tools, engine: Engine::Whole(matcher) }
    }

    /// Returns the compiled set.
    pub fn tools(&self) -> &CompiledTools {
        &self.tools
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.tools.compiler().compiler().vocabulary()
    }

    /// Writes the mask of the allowed tokens: bit `i % 32` of word `i / 32` is token `i`. Words beyond the vocabulary
    /// are cleared.
    ///
    /// # Errors
    /// `mask/buffer-too-short`; limits.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return matcher.fill_mask(words),
            Engine::Parts(parts) => parts,
        };
        if let [Thread::Section(at)] = &mut parts.threads[..]
            && at.over.is_none()
        {
            return at.inside.fill_mask(words);
        }
        parts.mask()?.write_to(words)
    }

    /// Returns whether computing the next mask takes work. Always false in a turn that is matched in parts.
    pub(super) fn mask_takes_work(&mut self) -> Result<bool> {
        match &mut self.engine {
            Engine::Whole(matcher) => matcher.mask_takes_work(),
            Engine::Parts(_) => Ok(false),
        }
    }

    /// Returns the mask of the tokens that may come next.
    ///
    /// # Errors
    /// Limits.
    pub fn mask(&mut self) -> Result<Arc<TokenMask>> {
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return matcher.mask(),
            Engine::Parts(parts) => parts,
        };
        match &mut parts.threads[..] {
            [Thread::Section(at)] if at.over.is_none() => at.inside.mask(),
            _ => parts.mask(),
        }
    }

    /// Accepts a token.
    ///
    /// # Errors
    /// `matcher/rejected`, `tools/rejected` if the token is not allowed (the matcher is unchanged); limits.
    pub fn accept_token(&mut self, token: TokenId) -> Result<()> {
        let vocabulary = Arc::clone(self.vocabulary());
        let spelled = spelled(&vocabulary, token);
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return matcher.accept_token(token),
            Engine::Parts(parts) => parts,
        };
        if let [Thread::Section(at)] = &mut parts.threads[..]
            && at.over.is_none()
        {
            at.inside.accept_token(token)?;
            parts.came(spelled.len(), Taken::Token(token));
            return Ok(());
        }
        let next = parts.rules.after_token(&parts.threads, token, &vocabulary, parts.position)?;
        parts.go_on(next, spelled, Taken::Token(token))
    }

    /// Accepts bytes as one step.
    ///
    /// # Errors
    /// `matcher/rejected`, `tools/rejected` if the bytes are not allowed (the matcher is unchanged); limits.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return matcher.accept_bytes(bytes),
            Engine::Parts(parts) => parts,
        };
        if let [Thread::Section(at)] = &mut parts.threads[..]
            && at.over.is_none()
        {
            at.inside.accept_bytes(bytes)?;
            parts.came(bytes.len(), Taken::Bytes(bytes.into()));
            return Ok(());
        }
        let next = parts.rules.after(&parts.threads, bytes, parts.position)?;
        parts.go_on(next, bytes, Taken::Bytes(bytes.into()))
    }

    /// Undoes the last `steps` steps.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if the turn has fewer steps.
    pub fn rollback(&mut self, steps: usize) -> Result<()> {
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return matcher.rollback(steps),
            Engine::Parts(parts) => parts,
        };
        if steps > parts.history.len() {
            return Err(grammata::matcher::rollback_too_far(steps, parts.history.len()));
        }
        for _ in 0..steps {
            let Some((position, before, _)) = parts.history.pop() else { break };
            parts.position = position;
            match (before, &mut parts.threads[..]) {
                (Some(before), _) => parts.threads = before,
                (None, [Thread::Section(at)]) => at.rollback()?,
                (None, _) => {}
            }
        }
        parts.go_back(steps);
        Ok(())
    }

    /// Returns the number of accepted steps that can be rolled back; a step is a token, or bytes accepted together.
    pub fn steps(&self) -> usize {
        match &self.engine {
            Engine::Whole(matcher) => matcher.steps(),
            Engine::Parts(parts) => parts.history.len(),
        }
    }

    /// Returns whether the turn may end after the tokens so far.
    ///
    /// # Errors
    /// None at present.
    pub fn is_accepting(&mut self) -> Result<bool> {
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return Ok(matcher.is_accepting()),
            Engine::Parts(parts) => parts,
        };
        for thread in &mut parts.threads {
            if let Thread::Section(at) = thread
                && at.inside.is_accepting()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the turn has ended, or nothing can be appended to it.
    ///
    /// # Errors
    /// None at present.
    pub fn is_finished(&mut self) -> Result<bool> {
        match &mut self.engine {
            Engine::Whole(matcher) => Ok(matcher.is_finished()),
            Engine::Parts(parts) => match &mut parts.threads[..] {
                [Thread::Section(at)] => Ok(at.inside.is_finished()),
                _ => Ok(false),
            },
        }
    }

    /// Returns the calls that have begun; `None` while the turn has several readings, and in formats that do not write
    /// names first.
    pub(super) fn calls(&self) -> Option<&[Begun]> {
        let Engine::Parts(parts) = &self.engine else { return None };
        match &parts.threads[..] {
            [Thread::Section(at)] => Some(&at.calls),
            [Thread::Name { calls, .. }] => Some(calls),
            _ => None,
        }
    }

    /// Begins a call without a model: accepts the text before the name of the first call, spelled as by `json.dumps`,
    /// and returns its bytes. Returns `None` if that text contains special tokens that are matched by id, or if the
    /// format does not write names first.
    ///
    /// # Errors
    /// `tools/rejected` or `matcher/rejected` if the text is not allowed here; limits.
    pub fn begin_call(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = self.tools.beginning().filter(|_| self.is_in_parts()) else { return Ok(None) };
        self.accept_bytes(&bytes)?;
        Ok(Some(bytes))
    }

    /// Returns whether a name may be the next or current part of the turn: a name may begin here, is being written, or
    /// is complete with nothing after it yet. False in formats that do not write names first.
    pub fn is_in_name(&self) -> bool {
        let Engine::Parts(parts) = &self.engine else { return false };
        parts.threads.iter().any(|thread| matches!(thread, Thread::Name { .. }))
    }

    /// Returns whether events are reported during the turn, instead of only at its end.
    pub(super) fn is_in_parts(&self) -> bool {
        matches!(self.engine, Engine::Parts(_))
    }

    /// Returns the bytes with which every completion continues, up to a position where the turn may end, where more
    /// than one byte may follow, or where a token matched by its id follows.
    ///
    /// # Errors
    /// Limits.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return matcher.forced_bytes(),
            Engine::Parts(parts) => parts,
        };
        let mut threads = parts.threads.clone();
        let mut all = Vec::new();
        loop {
            let forced = parts.rules.forced(&mut threads)?;
            if forced.is_empty() {
                return Ok(all);
            }
            threads = parts.rules.after(&threads, &forced, 0)?;
            all.extend(forced);
        }
    }

    /// Returns tokens that spell a prefix of the [forced bytes](TurnMatcher::forced_bytes), each the longest possible,
    /// as in [`Matcher::forced_tokens`]. The tokens are not accepted.
    ///
    /// # Errors
    /// Limits.
    pub fn forced_tokens(&mut self) -> Result<Vec<TokenId>> {
        if let Engine::Whole(matcher) = &mut self.engine {
            return matcher.forced_tokens();
        }
        let forced = self.forced_bytes()?;
        let trie = self.vocabulary().trie();
        let (mut tokens, mut rest) = (Vec::new(), &forced[..]);
        while !rest.is_empty() {
            let (mut node, mut longest, mut read) = (trie.root(), None, 0);
            while let Some(child) = rest.get(read).and_then(|&byte| trie.child(node, byte)) {
                (node, read) = (child, read + 1);
                longest = trie.tokens(node).first().map(|&token| (token, read)).or(longest);
            }
            // if a longer token could extend past the forced bytes, the model must choose
            let may_reach_past = read == rest.len() && trie.children(node).len() > 0;
            let Some((token, length)) = longest.filter(|_| !may_reach_past) else { break };
            tokens.push(token);
            rest = &rest[length..];
        }
        Ok(tokens)
    }
}

/// Returns the text of a token in a turn: the name of a special token, and nothing for an end-of-sequence token.
pub(super) fn spelled(vocabulary: &Vocabulary, token: TokenId) -> &[u8] {
    match vocabulary.bytes(token) {
        _ if vocabulary.is_eos(token) => &[],
        Some(bytes) => bytes,
        None => vocabulary.special(token).unwrap_or_default().as_bytes(),
    }
}

impl Parts {
    fn go_on(&mut self, next: Threads, found: &[u8], taken: Taken) -> Result<()> {
        if next.is_empty() {
            let names = self.threads.iter().find_map(|thread| match thread {
                Thread::Name { spot, .. } => Some(self.some_names(*spot)),
                Thread::Section(_) => None,
            });
            return Err(errors::rejected(self.position, &String::from_utf8_lossy(found), names));
        }
        let before = std::mem::replace(&mut self.threads, next);
        let is_within = matches!((&before[..], &self.threads[..]),
            ([Thread::Section(one)], [Thread::Section(other)]) if one.calls == other.calls);
        self.go_along(&taken);
        self.history.push((self.position, (!is_within).then_some(before), taken));
        self.position += found.len();
        Ok(())
    }

    /// Records a step inside a section.
    fn came(&mut self, bytes: usize, taken: Taken) {
        self.go_along(&taken);
        self.history.push((self.position, None, taken));
        self.position += bytes;
    }

    /// Returns at most eight of the names that may follow, separated by commas, for an error.
    fn some_names(&self, spot: Spot) -> String {
        let names = self.rules.tools.ranked();
        let some = names.within(spot, self.rules.subset.bits()).take(8);
        some.map(|rank| String::from_utf8_lossy(names.name(rank)).into_owned()).collect::<Vec<_>>().join(", ")
    }

    fn mask(&mut self) -> Result<Arc<TokenMask>> {
        let only = match &self.threads[..] {
            // the text after a name depends on earlier calls only in turns of several calls
            [Thread::Name { spot, .. }]
                if self.rules.options.max_calls == Some(1) && self.rules.options.limited.is_empty() =>
            {
                Some(*spot)
            }
            _ => None,
        };
        if let Some(known) = only.and_then(|spot| self.rules.subset.mask(spot)) {
            return Ok(known);
        }
        let mask = Arc::new(Walk::new(&self.rules).mask(&mut self.threads)?);
        if let Some(spot) = only {
            self.rules.subset.keep(spot, &mask);
        }
        Ok(mask)
    }
}
