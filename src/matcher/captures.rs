//! Captures: where the texts of chosen rules begin and end.
//!
//! A second grammar, the *marked* one, has a token terminal before and one after the body of each chosen rule; its
//! vocabulary has the single bytes and these markers. A *reading* of a text is a text of the marked grammar that has the
//! bytes of the text, with markers between them. After each byte the tracker keeps the readings that can be completed,
//! each as a matcher of the marked grammar with a log of its markers. Readings that continue in the same way are merged:
//! that of the preferred log stays. A marker is certain once it is in the logs of all readings. The grammar whose masks
//! are used has no markers, so masks do not pay for captures.

use super::state::Matcher;
use super::{errors, forced, steps};
use crate::error::Result;
use crate::grammar::{Expression, GrammarBuilder, RuleId, TokenTerminal};
use crate::mask::{CompiledGrammar, Compiler};
use crate::vocabulary::{TokenId, VocabularyBuilder};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Maximum number of readings of a text.
const READINGS: usize = 256;

/// Maximum number of readings that are kept for all steps of a text, to return to: some hundred megabytes.
const KEPT: usize = 1 << 16;

/// The first token after the single bytes.
const FIRST: u32 = 256;

/// The marked grammar, and the names of its captures.
#[derive(Debug)]
pub(super) struct Marked {
    compiled: CompiledGrammar,
    names: Vec<Box<str>>,
}

/// A marker of a reading: the beginning or the end of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) capture: u32,
    pub(super) is_end: bool,
    /// The number of bytes before the marker.
    pub(super) at: usize,
}

/// The markers of a reading, the last one first.
#[derive(Debug)]
struct Node {
    marker: Marker,
    before: Log,
    /// The number of markers up to this one.
    length: usize,
}

type Log = Option<Arc<Node>>;

/// Nodes are dropped in a loop: recursion could overflow the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.before.take();
        }
    }
}

#[derive(Clone)]
struct Reading {
    matcher: Matcher,
    log: Log,
}

/// The readings of a text, and the markers that all of them have.
#[derive(Clone)]
pub(super) struct Tracker {
    marked: Arc<Marked>,
    readings: Arc<[Reading]>,
    bytes: usize,
    certain: Log,
    /// The number of readings after each of the steps so far, added up.
    kept: usize,
}

impl Marked {
    /// Marks the rules of these names.
    ///
    /// # Errors
    /// `events/unknown-rule`; `events/token-terminals` if the grammar has token terminals; those of compiling the
    /// marked grammar.
    pub(super) fn new(compiled: &CompiledGrammar, rules: &[&str]) -> Result<Marked> {
        let grammar = compiled.grammar();
        if grammar.expressions().iter().any(|expression| matches!(expression, Expression::Token(_))) {
            return Err(errors::tokens_beside_rules());
        }
        let limits = compiled.automaton().limits().clone();
        let mut builder = GrammarBuilder::new();
        let mut names: Vec<Box<str>> = Vec::new();
        let mut marks: FxHashMap<RuleId, _> = FxHashMap::default();
        for (rule, of) in grammar.rules().iter().enumerate() {
            let Some(id) = RuleId::new(rule).filter(|_| rules.contains(&&*of.name)) else { continue };
            let capture = match names.iter().position(|name| *name == of.name) {
                Some(known) => known as u32,
                None => {
                    names.push(of.name.clone());
                    names.len() as u32 - 1
                }
            };
            let [begin, end] =
                [0, 1].map(|side| builder.token(TokenTerminal::id(FIRST + 2 * capture + side)));
            marks.insert(id, (begin, end));
        }
        if let Some(unknown) = rules.iter().find(|rule| !names.iter().any(|name| **name == ***rule)) {
            return Err(errors::unknown_rule(unknown));
        }
        let root = builder.declare("captures");
        let body = builder.import_marked(grammar, &marks);
        builder.define(root, body);
        let marked = builder.build(root)?;
        let end = FIRST + 2 * names.len() as u32;
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let markers = (FIRST..=end).map(|_| Vec::new());
        let mut vocabulary = VocabularyBuilder::from_tokens(bytes.chain(markers)).eos([TokenId::new(end)]);
        for marker in FIRST..end {
            vocabulary = vocabulary.special(TokenId::new(marker), format!("<{marker}>"));
        }
        let compiler = Compiler::new(Arc::new(vocabulary.build()?)).limits(limits).without_token_bounds();
        Ok(Marked { compiled: compiler.compile(&marked)?, names })
    }

    pub(super) fn name(&self, capture: u32) -> &str {
        &self.names[capture as usize]
    }
}

impl Tracker {
    pub(super) fn new(marked: Arc<Marked>) -> Result<Tracker> {
        let start = Reading { matcher: marked.compiled.matcher(), log: None };
        let mut tracker = Tracker { marked, readings: Arc::from([]), bytes: 0, certain: None, kept: 0 };
        tracker.take(vec![start])?;
        Ok(tracker)
    }

    /// The certain markers after the first `count`, in the order of the text.
    pub(super) fn certain_from(&self, count: usize) -> Vec<Marker> {
        let nodes = std::iter::successors(self.certain.as_deref(), |node| node.before.as_deref());
        let mut markers: Vec<Marker> =
            nodes.take_while(|node| node.length > count).map(|node| node.marker).collect();
        markers.reverse();
        markers
    }

    /// Reads more bytes of the text.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<()> {
        self.kept += self.readings.len();
        if self.kept > KEPT {
            return Err(errors::too_many_kept(KEPT, self.bytes));
        }
        for byte in bytes {
            let mut next = Vec::with_capacity(self.readings.len());
            for reading in self.readings.iter() {
                let mut reading = reading.clone();
                if reading.matcher.try_accept_bytes(std::slice::from_ref(byte))? {
                    next.push(reading);
                }
            }
            self.bytes += 1;
            self.take(next)?;
        }
        Ok(())
    }

    /// Ends the text: of the readings that are words the preferred one remains.
    pub(super) fn end(&mut self) {
        let words = self.readings.iter().filter(|reading| reading.matcher.is_accepting());
        let best = words.reduce(|best, reading| match is_preferred(&reading.log, &best.log, self.bytes) {
            true => reading,
            false => best,
        });
        self.readings = best.into_iter().cloned().collect();
        self.certain = self.common();
    }

    /// Adds markers to readings that begin with markers in all ways, merges readings, and keeps those that a byte or the
    /// end of the text can follow.
    fn take(&mut self, mut readings: Vec<Reading>) -> Result<()> {
        let mut at = 0;
        while let Some(reading) = readings.get(at) {
            at += 1;
            let mut from = reading.clone();
            if !steps::has_token_edges(&mut from.matcher)? {
                continue;
            }
            for marker in 0..2 * self.marked.names.len() as u32 {
                let mut next = from.clone();
                if !next.matcher.try_accept(TokenId::new(FIRST + marker))? {
                    continue;
                }
                let marker = Marker { capture: marker / 2, is_end: marker % 2 == 1, at: self.bytes };
                let length = 1 + next.log.as_ref().map_or(0, |node| node.length);
                next.log = Some(Arc::new(Node { marker, before: next.log.take(), length }));
                let known = readings.iter().position(|known| continues_as(&known.matcher, &next.matcher));
                match known {
                    Some(known) if is_preferred(&next.log, &readings[known].log, self.bytes) => {
                        // its markers must be followed again
                        readings.remove(known);
                        at -= usize::from(known < at);
                        readings.push(next);
                    }
                    Some(_) => {}
                    None => readings.push(next),
                }
                if readings.len() > READINGS {
                    return Err(errors::too_many_readings(READINGS, self.bytes));
                }
            }
        }
        let mut resting = Vec::with_capacity(readings.len());
        for mut reading in readings {
            let may_rest = !steps::has_token_edges(&mut reading.matcher)?
                || reading.matcher.is_accepting()
                || !forced::allowed_bytes(&mut reading.matcher)?.is_empty();
            if may_rest {
                resting.push(reading);
            }
        }
        self.readings = resting.into();
        self.certain = self.common();
        Ok(())
    }

    /// The longest common beginning of all logs.
    fn common(&self) -> Log {
        let mut logs = self.readings.iter().map(|reading| reading.log.clone());
        let first = logs.next().flatten();
        logs.fold(first, |common, log| split(common, log).0)
    }
}

/// Whether two matchers of one grammar certainly have the same continuations.
fn continues_as(one: &Matcher, other: &Matcher) -> bool {
    let (a, b) = (&one.path, &other.path);
    let same_names = || a.key_state().is_outside() || Arc::ptr_eq(&a.names(), &b.names());
    a.at() == b.at() && a.key_state() == b.key_state() && same_names()
}

/// The longest common beginning of two logs, and the first marker of each after it.
fn split(one: Log, other: Log) -> (Log, [Option<Marker>; 2]) {
    let (mut logs, mut after) = ([one, other], [None, None]);
    let length = |log: &Log| log.as_ref().map_or(0, |node| node.length);
    // the common beginning so far, if the logs do not differ before it
    let mut common: Option<(Log, [Option<Marker>; 2])> = None;
    loop {
        let lengths = [length(&logs[0]), length(&logs[1])];
        if lengths[0] == lengths[1] {
            let is_same = match (&logs[0], &logs[1]) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                _ => true,
            };
            let is_equal = match (&logs[0], &logs[1]) {
                (Some(one), Some(other)) => one.marker == other.marker,
                _ => true,
            };
            match is_equal {
                true if common.is_none() => common = Some((logs[0].clone(), after)),
                true => {}
                false => common = None,
            }
            if is_same {
                return common.unwrap_or((logs[0].take(), after));
            }
        }
        for side in 0..2 {
            if lengths[side] >= lengths[1 - side] {
                let Some(node) = logs[side].take() else { continue };
                after[side] = Some(node.marker);
                logs[side] = node.before.clone();
            }
        }
    }
}

/// Whether a log is preferred to that of a reading that continues in the same way. The first difference decides: a
/// capture that begins earlier comes first, then no more markers, then a capture that ends later; of equal positions,
/// the capture of the rule that the grammar lists first. Markers that only add empty captures at the end of the text
/// are not preferred.
fn is_preferred(one: &Log, known: &Log, end: usize) -> bool {
    let key = |marker: Option<Marker>| match marker {
        Some(Marker { is_end: false, at, capture }) => (0, at, capture),
        None => (1, 0, 0),
        Some(Marker { is_end: true, at, capture }) => (2, usize::MAX - at, capture),
    };
    let [one, known] = split(one.clone(), known.clone()).1;
    match (one, known) {
        (Some(Marker { at, .. }), None) if at == end => false,
        _ => key(one) < key(known),
    }
}
