//! The verifier of grammars. Lowering relies on these invariants:
//!
//! - **G1** operands precede their expression in the table, so every pass is a loop and no pass recurses;
//! - **G2** every referenced rule exists, and so does the root;
//! - **G3** every referenced label exists;
//! - **G4** repeats, members and lists of different items have `min <= max`; repeats are neither `{0}` nor `{1}`; the
//!   `max` of a list of different items is at least 2;
//! - **G5** sequences, choices and intersections have at least two operands;
//! - **G6** byte strings, byte sets and classes are not empty, class ranges are sorted, disjoint and not adjacent;
//! - **G7** member keys are not empty; equal keys of a list are adjacent, all required or all optional; conditions name
//!   existing entries;
//! - **G8** word graphs are [sound](WordGraph::is_sound): among other things, the edges of a node are sorted and
//!   disjoint and lead to later nodes or exits, and every node and exit is reachable;
//! - **G9** equal expressions have equal ids;
//! - **G10** lists of different items have an item for the first place; if they have several items and are not endless,
//!   `min` is at most 1;
//! - **G11** token terminals are not empty; their lists are sorted without duplicates, and ranges of ids are not empty,
//!   disjoint and not adjacent;
//! - **G12** an expression bounded in tokens is a rule, and the bound is not 0.

use super::Grammar;
use super::errors::{UNSOUND_GRAPH, invariant};
use super::expression::{Expression, Member};
use super::word_graph::WordGraph;
use crate::diagnostic::Place;
use crate::error::Result;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// Checks all invariants; G9 only in debug builds. G8 is checked only if `graphs` is set: the builder takes only graphs
/// that were checked or are known to be sound.
pub(super) fn verify(grammar: &Grammar, graphs: bool) -> Result<()> {
    let mut seen = FxHashSet::default();
    for (index, expression) in grammar.expressions().iter().enumerate() {
        let sound = |graph: &WordGraph| !graphs || graph.is_sound();
        if let Err((name, what)) = check(grammar, index, expression, sound) {
            return Err(invariant(name, what, Place::Whole));
        }
        // G9 is checked in debug builds only: the builder guarantees it
        if cfg!(debug_assertions) && !seen.insert(expression) {
            return Err(invariant("G9", "an expression stands twice in the table", Place::Whole));
        }
    }
    for rule in grammar.rules() {
        if rule.body.index() >= grammar.expressions().len() {
            return Err(invariant("G2", "the body is not in the table", Place::Rule(rule.name.to_string())));
        }
    }
    if grammar.root.index() >= grammar.rules().len() {
        return Err(invariant("G2", "the root is not a rule", Place::Whole));
    }
    Ok(())
}

fn check(
    grammar: &Grammar,
    index: usize,
    expression: &Expression,
    sound: impl Fn(&WordGraph) -> bool,
) -> Result<(), (&'static str, &'static str)> {
    let mut ordered = true;
    expression.for_each_child(|child| ordered &= child.index() < index);
    if !ordered {
        return Err(("G1", "an operand follows its expression"));
    }
    match expression {
        Expression::Empty | Expression::Never | Expression::Complement(_) => Ok(()),
        Expression::Bytes(bytes) if bytes.is_empty() => Err(("G6", "an empty byte string")),
        Expression::ByteSet(set) if set.is_empty() => Err(("G6", "an empty byte set")),
        Expression::Class(class) if class.is_empty() => Err(("G6", "an empty class")),
        Expression::Class(class) => {
            let apart = |pair: &[(char, char)]| u32::from(pair[0].1) + 1 < u32::from(pair[1].0);
            let ranges = class.ranges();
            if ranges.iter().all(|(low, high)| low <= high) && ranges.windows(2).all(apart) {
                Ok(())
            } else {
                Err(("G6", "class ranges that are not sorted, disjoint and apart"))
            }
        }
        Expression::Token(terminal) if terminal.is_empty() || !terminal.is_canonical() => {
            Err(("G11", "a token terminal that is empty or not in order"))
        }
        Expression::Bytes(_) | Expression::ByteSet(_) | Expression::Token(_) => Ok(()),
        Expression::Sequence(list) | Expression::Choice(list) | Expression::Intersection(list) => {
            if list.len() < 2 { Err(("G5", "fewer than two operands")) } else { Ok(()) }
        }
        Expression::Repeat { min, max, .. } => match max {
            Some(max) if max < min => Err(("G4", "a repeat with crossed bounds")),
            Some(0) => Err(("G4", "a repeat of zero times")),
            Some(1) if *min == 1 => Err(("G4", "a repeat of exactly once")),
            _ => Ok(()),
        },
        Expression::Rule(rule) if rule.index() >= grammar.rules().len() => Err(("G2", "no such rule")),
        Expression::Rule(_) => Ok(()),
        Expression::Label(label, _) if label.index() >= grammar.tables.labels.len() => {
            Err(("G3", "no such label"))
        }
        Expression::Label(..) | Expression::Name(..) => Ok(()),
        Expression::MaxTokens { most: 0, .. } => Err(("G12", "a bound of no tokens")),
        Expression::MaxTokens { body, .. } => match grammar.expression(*body) {
            Expression::Rule(_) => Ok(()),
            _ => Err(("G12", "a bound in tokens of what is no rule")),
        },
        Expression::Distinct(list) if list.max.is_some_and(|max| max < list.min.max(2)) => {
            Err(("G4", "a list with crossed bounds"))
        }
        Expression::Distinct(list) if list.items.is_empty() => Err(("G10", "a list without items")),
        Expression::Distinct(list) if list.items.len() > 1 && list.min > 1 && !list.endless => {
            Err(("G10", "a list of different items of different kinds with a minimum"))
        }
        Expression::Distinct(_) => Ok(()),
        Expression::WordGraph(graph) if !sound(graph) => Err(("G8", UNSOUND_GRAPH)),
        Expression::WordGraph(_) => Ok(()),
        Expression::Members(members) => {
            if members.max.is_some_and(|max| max < members.min) {
                return Err(("G4", "members with crossed bounds"));
            }
            let entries = members.members.len() + members.ones.len();
            let named = members.conditions.iter().flat_map(|condition| &condition.0);
            let mut named = named.flat_map(|way| way.some.iter().flatten().chain(&way.none));
            if named.any(|&entry| entry as usize >= entries) {
                return Err(("G7", "a condition on an entry that is not there"));
            }
            let mut keys = FxHashSet::with_capacity_and_hasher(members.members.len(), FxBuildHasher);
            let mut last: Option<&Member> = None;
            for member in &members.members {
                if member.key.is_empty() {
                    return Err(("G7", "an empty member key"));
                }
                let same = last.replace(member).filter(|last| last.key == member.key);
                if same.is_none() && !keys.insert(&member.key) {
                    return Err(("G7", "a member key that stands twice, apart"));
                }
                if same.is_some_and(|same| same.required != member.required) {
                    return Err(("G7", "a member key that is required and optional"));
                }
            }
            Ok(())
        }
    }
}
