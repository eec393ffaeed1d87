//! JSON strings.
//!
//! There are two spellings. *Any* spelling: every character may be escaped in every way of RFC 8259, and a pair of
//! surrogate escapes is one character (lone surrogates are not characters). *Canonical* spelling: only `"`, `\` and
//! control characters are escaped, by their short escape if they have one, otherwise as `\u00XX` in lower case. Strings
//! with restricted content (patterns, enumerated values, declared names) are canonical, so each has one spelling.

pub(super) mod formats;
pub(super) mod listed;
pub(super) mod respelled;
pub(super) mod span_match;
pub(super) mod string_test;
pub(super) mod test_outcomes;

use super::values::counts::Counts;
use super::values::quote::{content, escape, escaped};
use crate::grammar::{
    ByteSet, CharClass, ExprId, Expression, GrammarBuilder, WordEdge, WordGraph, WordTarget,
};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A state of an automaton of one character: ranges of bytes with their target states, which have greater numbers.
/// State 0 is both the start of a character and, as a target, [`WHOLE`]: the character is complete.
type State = &'static [(u8, u8, u32)];

/// The state after a character, which is the start of the next.
const WHOLE: u32 = 0;
/// The start state: characters without escapes, and state 8 after a backslash.
const FIRST: State = &[
    (0x20, 0x21, WHOLE),
    (0x23, 0x5B, WHOLE),
    (b'\\', b'\\', 8),
    (0x5D, 0x7F, WHOLE),
    (0xC2, 0xDF, 7),
    (0xE0, 0xE0, 4),
    (0xE1, 0xEC, 6),
    (0xED, 0xED, 5),
    (0xEE, 0xEF, 6),
    (0xF0, 0xF0, 1),
    (0xF1, 0xF3, 2),
    (0xF4, 0xF4, 3),
];
/// The states after F0, after F1 to F3, and after F4.
const FOUR_BYTES: [State; 3] = [&[(0x90, 0xBF, 6)], &[(0x80, 0xBF, 6)], &[(0x80, 0x8F, 6)]];
/// The states after E0, after ED, with two bytes left and with one byte left.
const THREE_BYTES: [State; 4] =
    [&[(0xA0, 0xBF, 7)], &[(0x80, 0x9F, 7)], &[(0x80, 0xBF, 7)], &[(0x80, 0xBF, WHOLE)]];

/// The canonical spellings of a character.
const CANONICAL: [State; 14] = [
    FIRST,
    FOUR_BYTES[0],
    FOUR_BYTES[1],
    FOUR_BYTES[2],
    THREE_BYTES[0],
    THREE_BYTES[1],
    THREE_BYTES[2],
    THREE_BYTES[3],
    // after a backslash
    &[
        (b'"', b'"', WHOLE),
        (b'\\', b'\\', WHOLE),
        (b'b', b'b', WHOLE),
        (b'f', b'f', WHOLE),
        (b'n', b'n', WHOLE),
        (b'r', b'r', WHOLE),
        (b't', b't', WHOLE),
        (b'u', b'u', 9),
    ],
    // after `u`, `u0`, `u00`; then after `u000` and `u001`
    &[(b'0', b'0', 10)],
    &[(b'0', b'0', 11)],
    &[(b'0', b'0', 12), (b'1', b'1', 13)],
    &[(b'0', b'7', WHOLE), (b'b', b'b', WHOLE), (b'e', b'f', WHOLE)],
    &[(b'0', b'9', WHOLE), (b'a', b'f', WHOLE)],
];

/// All spellings of a character. A `\u` escape is one character, or two of them are (D800 to DBFF, then DC00 to DFFF).
const ANY_SPELLING: [State; 20] = [
    FIRST,
    FOUR_BYTES[0],
    FOUR_BYTES[1],
    FOUR_BYTES[2],
    THREE_BYTES[0],
    THREE_BYTES[1],
    THREE_BYTES[2],
    THREE_BYTES[3],
    // after a backslash
    &[
        (b'"', b'"', WHOLE),
        (b'/', b'/', WHOLE),
        (b'\\', b'\\', WHOLE),
        (b'b', b'b', WHOLE),
        (b'f', b'f', WHOLE),
        (b'n', b'n', WHOLE),
        (b'r', b'r', WHOLE),
        (b't', b't', WHOLE),
        (b'u', b'u', 9),
    ],
    // after `u`; after `u` and `D`
    &[
        (b'0', b'9', 17),
        (b'A', b'C', 17),
        (b'D', b'D', 10),
        (b'E', b'F', 17),
        (b'a', b'c', 17),
        (b'd', b'd', 10),
        (b'e', b'f', 17),
    ],
    &[(b'0', b'7', 18), (b'8', b'9', 11), (b'A', b'B', 11), (b'a', b'b', 11)],
    // the last two digits of a high surrogate, then the low one up to its second digit
    &[(b'0', b'9', 12), (b'A', b'F', 12), (b'a', b'f', 12)],
    &[(b'0', b'9', 13), (b'A', b'F', 13), (b'a', b'f', 13)],
    &[(b'\\', b'\\', 14)],
    &[(b'u', b'u', 15)],
    &[(b'D', b'D', 16), (b'd', b'd', 16)],
    &[(b'C', b'F', 18), (b'c', b'f', 18)],
    // three, two and one digit left
    &[(b'0', b'9', 18), (b'A', b'F', 18), (b'a', b'f', 18)],
    &[(b'0', b'9', 19), (b'A', b'F', 19), (b'a', b'f', 19)],
    &[(b'0', b'9', WHOLE), (b'A', b'F', WHOLE), (b'a', b'f', WHOLE)],
];

/// Returns one character of a class in canonical spelling.
pub(in crate::syntax::json_schema) fn canonical(g: &mut GrammarBuilder, class: &CharClass) -> ExprId {
    if let &[(low, high)] = class.ranges()
        && low == high
    {
        return match escape(low) {
            Some(escape) => g.text(escape),
            None => g.text(low.encode_utf8(&mut [0; 4])),
        };
    }
    let plain = g.char_class(class.intersection(&escaped().complement()));
    let escapes = escapes(g, class);
    g.choice([plain, escapes])
}

/// Returns the canonical escapes of the characters of a class that have one, grouped by prefix.
fn escapes(g: &mut GrammarBuilder, class: &CharClass) -> ExprId {
    let (mut letters, mut low, mut high) = (ByteSet::EMPTY, ByteSet::EMPTY, ByteSet::EMPTY);
    for c in ('\0'..='\x1F').chain(['"', '\\']).filter(|&c| class.contains(c)) {
        match escape(c).unwrap_or_default().as_bytes() {
            [_, letter] => letters.insert(*letter),
            [.., b'0', digit] => low.insert(*digit),
            [.., digit] => high.insert(*digit),
            [] => {}
        }
    }
    let mut of = |prefix: &str, last: ByteSet| {
        let (prefix, last) = (g.text(prefix), g.byte_set(last));
        g.sequence([prefix, last])
    };
    let all = [of("\\", letters), of("\\u000", low), of("\\u001", high)];
    g.choice(all)
}

/// The automaton of one character in any spelling, without its exit.
static CHARACTER: LazyLock<WordGraph> = LazyLock::new(|| {
    let mut graph = WordGraph::new([]);
    push_states(&mut graph, &ANY_SPELLING, 0);
    graph
});

/// Returns one character in any spelling.
pub(in crate::syntax::json_schema) fn character(g: &mut GrammarBuilder) -> ExprId {
    let whole = g.empty();
    g.sound_word_graph(CHARACTER.with_exits([whole].into()))
}

/// Returns one character in canonical spelling.
pub(in crate::syntax::json_schema) fn canonical_character(g: &mut GrammarBuilder) -> ExprId {
    let whole = g.empty();
    let mut graph = WordGraph::new([whole]);
    push_states(&mut graph, &CANONICAL, 0);
    g.sound_word_graph(graph)
}

/// Adds the states of an automaton of one character to a graph. Completing the character leads to exit 0. State `n`
/// must get the index `before + n`.
fn push_states<'s>(graph: &mut WordGraph, states: impl IntoIterator<Item = &'s State>, before: u32) {
    for state in states {
        graph.push(state.iter().map(|&(low, high, to)| WordEdge { low, high, to: target(to, before) }), None);
    }
}

/// Returns the target of an edge to a state, in a graph whose states have the indices from `before` on.
fn target(state: u32, before: u32) -> WordTarget {
    if state == WHOLE { WordTarget::Exit(0) } else { WordTarget::Node(before + state) }
}

/// Returns a string with bounds on its number of characters, with its quotes.
pub(in crate::syntax::json_schema) fn of_length(
    g: &mut GrammarBuilder,
    length: &Counts,
    character: ExprId,
) -> ExprId {
    let quote = g.text("\"");
    let content = g.repeat(character, length.min, length.max);
    g.sequence([quote, content, quote])
}

/// Returns a string, with its quotes, whose content is in all of `contents` and whose number of characters is within
/// bounds. `bounded` says that the contents or the length admit canonical spelling only. Otherwise (complements only),
/// canonical spelling is added as a condition.
pub(in crate::syntax::json_schema) fn constrained(
    g: &mut GrammarBuilder,
    contents: &[ExprId],
    length: &Counts,
    bounded: bool,
) -> ExprId {
    let mut all = contents.to_vec();
    let characters = |g: &mut GrammarBuilder, min: u32, max: Option<u32>| {
        let character = canonical_character(g);
        g.repeat(character, min, max)
    };
    if !length.is_free() || !bounded {
        all.push(characters(g, length.min, length.max));
    }
    let quote = g.text("\"");
    // with the quote in each operand, the intersection itself sees whether a token may end the string
    let mut all: Vec<ExprId> = all.into_iter().map(|content| g.sequence([content, quote])).collect();
    if all.len() > 2 {
        // intersect each complement with texts first, so that an empty one is found without the other operands
        let text = characters(g, 0, None);
        let text = g.sequence([text, quote]);
        for (operand, &content) in all.iter_mut().zip(contents) {
            if matches!(g.expression(content), Expression::Complement(_)) {
                *operand = g.intersection([*operand, text]);
            }
        }
    }
    let content = g.intersection(all);
    g.sequence([quote, content])
}

/// A node of the trie of names.
#[derive(Default)]
struct Node {
    /// The state in [`CANONICAL`].
    state: u32,
    is_name: bool,
    /// The first child, and the next child of the parent, each with the byte that leads to it. Children are in
    /// increasing order of bytes.
    child: Option<(u8, u32)>,
    sibling: Option<(u8, u32)>,
}

/// Builds the trie of names in canonical spelling, parents before children.
fn trie(names: &mut [Cow<'_, str>]) -> Vec<Node> {
    names.sort_unstable();
    let mut nodes = Vec::with_capacity(1 + names.iter().map(|name| name.len()).sum::<usize>());
    nodes.push(Node::default());
    // the nodes on the path of the previous name
    let mut path = Vec::with_capacity(1 + names.iter().map(|name| name.len()).max().unwrap_or(0));
    path.push(0u32);
    let mut before: &[u8] = b"";
    for name in &*names {
        let name = name.as_bytes();
        let shared = name.iter().zip(before).take_while(|(a, b)| a == b).count();
        let mut elder = path.get(shared + 1).copied();
        path.truncate(shared + 1);
        for &byte in &name[shared..] {
            let new = nodes.len() as u32;
            let parent = path.last().map_or(0, |&parent| parent as usize);
            let state = step(nodes[parent].state, byte);
            match elder.take() {
                Some(elder) => nodes[elder as usize].sibling = Some((byte, new)),
                None => nodes[parent].child = Some((byte, new)),
            }
            nodes.push(Node { state, ..Node::default() });
            path.push(new);
        }
        nodes[path.last().map_or(0, |&last| last as usize)].is_name = true;
        before = name;
    }
    nodes
}

/// Returns the state after one more byte of a canonical spelling.
fn step(state: u32, byte: u8) -> u32 {
    if state == WHOLE && byte.is_ascii() && byte != b'\\' {
        return WHOLE;
    }
    let edges = CANONICAL[state as usize];
    edges.iter().find(|(low, high, _)| (*low..=*high).contains(&byte)).map_or(WHOLE, |edge| edge.2)
}

/// Returns a string that is none of `names`, with its quotes. It is in canonical spelling up to the character in which
/// it differs from the names; after that, it consists of any `character`. The size is linear in the length of the
/// names.
pub(in crate::syntax::json_schema) fn other_than<'n>(
    g: &mut GrammarBuilder,
    names: impl IntoIterator<Item = &'n str>,
    character: ExprId,
) -> ExprId {
    let mut names: Vec<Cow<'n, str>> = names.into_iter().map(content).collect();
    let (quote, any) = (g.text("\""), g.star(character));
    let rest = g.sequence([any, quote]);
    if names.is_empty() {
        return g.sequence([quote, rest]);
    }
    let nodes = trie(&mut names);
    // after the nodes: a state where a character or the end follows, one where a character follows, and the other
    // states of a character
    let (or_end, first) = (nodes.len() as u32, nodes.len() as u32 + 1);
    let ends = nodes.iter().any(|node| node.state == WHOLE && !node.is_name);
    let (first, or_end) = if ends { (first, or_end) } else { (or_end, or_end) };
    let empty = g.empty();
    let mut graph = WordGraph::new([rest].into_iter().chain(ends.then_some(empty)));
    let shared: usize = CANONICAL.iter().map(|state| state.len()).sum();
    graph.reserve(nodes.len() + CANONICAL.len() + 1, nodes.len() + shared + FIRST.len() + 1);
    for node in &nodes {
        let otherwise = match node.state {
            WHOLE if node.is_name => first,
            WHOLE => or_end,
            state => first + state,
        };
        let children = std::iter::successors(node.child, |(_, child)| nodes[*child as usize].sibling);
        let edge = |(byte, child)| WordEdge { low: byte, high: byte, to: WordTarget::Node(child) };
        graph.push(children.map(edge), Some(otherwise));
    }
    if ends {
        let edge = |&(low, high, to): &(u8, u8, u32)| WordEdge { low, high, to: target(to, first) };
        let (before, after) = FIRST.split_at(1);
        let end = WordEdge { low: b'"', high: b'"', to: WordTarget::Exit(1) };
        graph.push(before.iter().map(edge).chain([end]).chain(after.iter().map(edge)), None);
    }
    push_states(&mut graph, &CANONICAL, first);
    let graph = g.sound_word_graph(graph);
    g.sequence([quote, graph])
}
