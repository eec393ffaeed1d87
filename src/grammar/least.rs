//! Lower bounds on the length of the words of each expression, in bytes or in characters.

use super::{ExprId, Expression, Grammar, Members, WordEdge, WordGraph, WordTarget};

/// How often the lengths of rules are improved, at most. Lengths only rise, and are lower bounds after each pass.
/// Bounds that would still rise after the last pass are not tight: rules may be nested deeper than there are passes.
const PASSES: usize = 32;

/// The unit in which the length of a text is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    /// Characters, counted by their first bytes in UTF-8.
    Chars,
}

impl Unit {
    /// The length of one byte: 1, but 0 for a UTF-8 continuation byte if the unit is characters.
    pub(crate) fn of_byte(self, byte: u8) -> u32 {
        u32::from(self == Unit::Bytes || !(0x80..=0xBF).contains(&byte))
    }

    /// The least length of a byte in `low..=high`: 0 or 1.
    pub(crate) fn of_range(self, low: u8, high: u8) -> u32 {
        u32::from(self == Unit::Bytes || high < 0x80 || low > 0xBF)
    }

    fn of_bytes(self, bytes: &[u8]) -> u32 {
        let length = match self {
            Unit::Bytes => bytes.len(),
            Unit::Chars => bytes.iter().filter(|&&byte| self.of_byte(byte) == 1).count(),
        };
        u32::try_from(length).unwrap_or(u32::MAX)
    }
}

/// A lower bound on the length of the words of each expression, by id, saturating at `u32::MAX`. The bound may be below
/// the exact least length for members with conditions or a `min`, lists of different items, names of objects, parts
/// bounded in tokens, complements, intersections, rules without a word, rules whose bounds still rise after [`PASSES`]
/// passes, and expressions that contain any of them.
pub(crate) fn least_lengths(grammar: &Grammar, unit: Unit) -> Vec<u32> {
    let mut rules = vec![0; grammar.rules().len()];
    let mut lengths = Vec::new();
    for _ in 0..PASSES {
        lengths = pass(grammar, &rules, unit);
        let after: Vec<u32> = grammar.rules().iter().map(|rule| lengths[rule.body.index()]).collect();
        if after == rules {
            break;
        }
        rules = after;
    }
    lengths
}

/// Computes the lengths of all expressions, given the lengths of the rules. One loop suffices, since operands have
/// smaller ids than the expressions that contain them.
fn pass(grammar: &Grammar, rules: &[u32], unit: Unit) -> Vec<u32> {
    let mut lengths: Vec<u32> = Vec::with_capacity(grammar.expressions().len());
    for expression in grammar.expressions() {
        let of = |id: &ExprId| lengths[id.index()];
        lengths.push(match expression {
            Expression::Never => u32::MAX,
            // a token terminal counts no bytes
            Expression::Empty | Expression::Complement(_) | Expression::Token(_) => 0,
            Expression::Bytes(bytes) => unit.of_bytes(bytes),
            Expression::ByteSet(set) => {
                set.ranges().map(|(low, high)| unit.of_range(low, high)).min().unwrap_or(1)
            }
            Expression::Class(class) => match (unit, class.ranges().first()) {
                (_, None) => u32::MAX,
                (Unit::Bytes, Some(low)) => low.0.len_utf8() as u32,
                (Unit::Chars, Some(_)) => 1,
            },
            Expression::Sequence(list) => list.iter().map(of).fold(0, u32::saturating_add),
            Expression::Choice(list) => list.iter().map(of).min().unwrap_or(u32::MAX),
            Expression::Intersection(list) => list.iter().map(of).max().unwrap_or(0),
            Expression::Repeat { min: 0, .. } => 0,
            Expression::Repeat { body, min, .. } => of(body).saturating_mul(*min),
            Expression::Rule(rule) => rules[rule.index()],
            Expression::Label(_, body) | Expression::Name(body, _) | Expression::MaxTokens { body, .. } => {
                of(body)
            }
            Expression::Distinct(list) => {
                let item = list.items.iter().map(of).min().unwrap_or(u32::MAX);
                listed(list.min, item, of(&list.separator))
            }
            Expression::WordGraph(graph) => of_graph(graph, of, unit),
            Expression::Members(list) => of_members(list, of, unit),
        });
    }
    lengths
}

/// The length of a list of `count` items of length `item`, with a separator between any two adjacent items.
fn listed(count: u32, item: u32, separator: u32) -> u32 {
    match count.checked_sub(1) {
        None => 0,
        Some(0) => item,
        Some(more) => item.saturating_mul(count).saturating_add(separator.saturating_mul(more)),
    }
}

fn of_graph(graph: &WordGraph, of: impl Fn(&ExprId) -> u32, unit: Unit) -> u32 {
    let mut least = vec![u32::MAX; graph.len()];
    for node in (0..graph.len()).rev() {
        let after = |edge: &WordEdge| {
            let rest = match edge.to {
                WordTarget::Node(node) => least[node as usize],
                WordTarget::Exit(exit) => of(&graph.exits()[exit as usize]),
            };
            rest.saturating_add(unit.of_range(edge.low, edge.high))
        };
        least[node] = graph.edges(node).iter().map(after).min().unwrap_or(u32::MAX);
    }
    least.first().copied().unwrap_or(u32::MAX)
}

fn of_members(list: &Members, of: impl Fn(&ExprId) -> u32, unit: Unit) -> u32 {
    let (mut required, mut count, mut any) = (0u32, 0u32, u32::MAX);
    for group in list.members.chunk_by(|one, other| one.key == other.key) {
        let length = |member: &super::Member| of(&member.value).saturating_add(unit.of_bytes(&member.key));
        let least = group.iter().map(length).min().unwrap_or(u32::MAX);
        any = any.min(least);
        if group.iter().any(|member| member.required) {
            required = required.saturating_add(least);
            count += 1;
        }
    }
    let others = list.rest.iter().chain(&list.ones).map(&of).min().unwrap_or(u32::MAX);
    let more = list.min.saturating_sub(count);
    let further = if more == 0 { 0 } else { any.min(others).saturating_mul(more) };
    let separators = (count + more).saturating_sub(1);
    let separators = if separators == 0 { 0 } else { of(&list.separator).saturating_mul(separators) };
    required.saturating_add(further).saturating_add(separators)
}
