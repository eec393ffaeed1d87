//! Documents that a grammar suggests: each member once, lists of zero, one and two items, the first alternatives.
//!
//! The documents need not be words: a walk along them stops where they leave the language.

use crate::grammar::{ByteSet, CharClass, ExprId, Expression, Grammar, Members, WordGraph, WordTarget};
use std::collections::BTreeSet;

/// No further expression is appended to a document with more bytes than this.
const BYTES: usize = 1 << 14;
/// Maximum number of expressions visited to make one document; edges of word graphs that are followed count, too.
const STEPS: usize = 1 << 15;
/// Maximum depth to which rules and operands are followed.
const DEPTH: usize = 96;
/// How many alternatives of each choice are tried, from the first on: each in a document of its own.
const ALTERNATIVES: usize = 16;
/// Maximum number of repetitions of a part, even if the grammar requires more.
const ROUNDS: u32 = 64;

/// The choices that determine a document.
#[derive(Clone, Copy, Debug)]
struct Style {
    /// The index of the alternative tried first of each choice, modulo their number.
    alternative: usize,
    /// The number of repetitions, clamped to the bounds of the repeated part.
    rounds: u32,
    /// Whether optional members are included.
    optional: bool,
}

/// The documents that a grammar suggests, without duplicates: with all members or only the required ones, with lists of
/// zero, one and two items (if the items must differ, at most one), and with each of the first 16 alternatives of every
/// choice. The documents need not be words: a walk along them stops where they leave the language.
pub fn documents(grammar: &Grammar) -> Vec<Vec<u8>> {
    let mut styles = Vec::new();
    for optional in [true, false] {
        styles.extend([1, 0, 2].map(|rounds| Style { alternative: 0, rounds, optional }));
    }
    styles.extend((1..ALTERNATIVES).map(|alternative| Style { alternative, rounds: 1, optional: true }));
    let mut seen = BTreeSet::new();
    let mut documents = Vec::new();
    for style in styles {
        let mut maker = Maker { grammar, style, text: Vec::new(), steps: 0 };
        // on failure the text is a prefix of a document
        maker.add(grammar.rule(grammar.root()).body, 0);
        if seen.insert(maker.text.clone()) {
            documents.push(maker.text);
        }
    }
    documents
}

struct Maker<'g> {
    grammar: &'g Grammar,
    style: Style,
    text: Vec<u8>,
    steps: usize,
}

impl Maker<'_> {
    /// Appends a word of an expression, or a text like a word: for an intersection a word of one operand, and for a
    /// part that is repeated more than [`ROUNDS`] times fewer repetitions. On failure it returns false, and has
    /// appended a prefix of such a text.
    fn add(&mut self, id: ExprId, depth: usize) -> bool {
        self.steps += 1;
        if depth > DEPTH || self.steps > STEPS || self.text.len() > BYTES {
            return false;
        }
        let depth = depth + 1;
        match self.grammar.expression(id) {
            Expression::Empty => true,
            // a token terminal has no text
            Expression::Never | Expression::Token(_) | Expression::Complement(_) => false,
            Expression::Bytes(bytes) => {
                self.text.extend_from_slice(bytes);
                true
            }
            Expression::ByteSet(set) => self.add_byte(set),
            Expression::Class(class) => self.add_char(class),
            Expression::Sequence(list) => list.iter().all(|&part| self.add(part, depth)),
            Expression::Choice(list) | Expression::Intersection(list) => {
                let first = self.style.alternative % list.len().max(1);
                self.add_one_of(list[first..].iter().chain(&list[..first]).copied(), depth)
            }
            &Expression::Repeat { body, min, max } => {
                let rounds = self.style.rounds.clamp(min, max.unwrap_or(u32::MAX)).min(ROUNDS);
                (0..rounds).all(|_| self.add(body, depth))
            }
            Expression::Rule(rule) => self.add(self.grammar.rule(*rule).body, depth),
            Expression::Label(_, body) | Expression::Name(body, _) | Expression::MaxTokens { body, .. } => {
                self.add(*body, depth)
            }
            Expression::Distinct(list) => {
                let rounds = self.style.rounds.clamp(list.min, list.max.unwrap_or(u32::MAX)).min(1);
                rounds == 0 || list.items.first().is_some_and(|&item| self.add(item, depth))
            }
            Expression::Members(members) => self.add_members(members, depth),
            Expression::WordGraph(graph) => self.add_word(graph, depth),
        }
    }

    /// Appends a word of the first alternative for which a word is found, and returns true. Otherwise appends the
    /// prefix found for the first alternative, and returns false.
    fn add_one_of(&mut self, alternatives: impl Iterator<Item = ExprId>, depth: usize) -> bool {
        let begin = self.text.len();
        let mut failed: Option<Vec<u8>> = None;
        for alternative in alternatives {
            if self.add(alternative, depth) {
                return true;
            }
            let rest = self.text.split_off(begin);
            failed.get_or_insert(rest);
            if self.steps > STEPS {
                break;
            }
        }
        self.text.extend(failed.unwrap_or_default());
        false
    }

    fn add_byte(&mut self, set: &ByteSet) -> bool {
        let usual = b"a1 ".iter().copied().find(|&byte| set.contains(byte));
        let byte = usual.or_else(|| set.iter().next());
        self.text.extend(byte);
        byte.is_some()
    }

    fn add_char(&mut self, class: &CharClass) -> bool {
        let usual = ['a', '1', ' '].into_iter().find(|&c| class.contains(c));
        let Some(c) = usual.or_else(|| class.ranges().first().map(|range| range.0)) else { return false };
        self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        true
    }

    fn add_members(&mut self, list: &Members, depth: usize) -> bool {
        let mut came = 0u32;
        let most = list.max.unwrap_or(u32::MAX);
        let mut last: Option<&[u8]> = None;
        for member in &list.members {
            let is_same = last == Some(&member.key[..]);
            if is_same || came >= most || !(member.required || self.style.optional) {
                continue;
            }
            last = Some(&member.key);
            if came > 0 && !self.add(list.separator, depth) {
                return false;
            }
            self.text.extend_from_slice(&member.key);
            if !self.add(member.value, depth) {
                return false;
            }
            came += 1;
        }
        let further = list.rest.filter(|_| came < list.min || came == 0 && self.style.rounds > 0);
        let ones: &[ExprId] = if self.style.optional { &list.ones } else { &[] };
        for more in ones.iter().copied().chain(further) {
            if came > 0 && !self.add(list.separator, depth) || !self.add(more, depth) {
                return false;
            }
            came += 1;
        }
        true
    }

    fn add_word(&mut self, graph: &WordGraph, depth: usize) -> bool {
        let mut node = 0;
        loop {
            self.steps += 1;
            let edges = graph.edges(node);
            let Some(edge) = edges.get(self.style.alternative % edges.len().max(1)) else { return false };
            self.text.push(edge.low);
            match edge.to {
                WordTarget::Node(next) => node = next as usize,
                WordTarget::Exit(exit) => {
                    return graph.exits().get(exit as usize).is_some_and(|&exit| self.add(exit, depth));
                }
            }
        }
    }
}
