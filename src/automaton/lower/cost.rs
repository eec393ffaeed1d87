//! The number of states that expressions become, and which expressions are lowered once and shared.

use super::Lowering;
use super::task::Task;
use crate::automaton::program::block::Scope;
use crate::automaton::program::ids::StateId;
use crate::automaton::tuning::{INLINE_RULE, INLINE_STATES, ROUND_LEVELS};
use crate::grammar::{ExprId, Expression, Grammar};

/// Counted repeats of at most this many states are unrolled instead of counted.
pub(in crate::automaton) const UNROLLED_STATES: u32 = 16;

impl Lowering<'_> {
    /// A lower bound on the bytes of a round of a loop; at least 1.
    pub(in crate::automaton) fn round_bytes(&self, body: ExprId) -> u32 {
        fewest_bytes(self.grammar, body, ROUND_LEVELS, &mut { INLINE_RULE }).max(1)
    }

    /// Inlines the body of a loop, even if it is shared: a configuration in the loop then leads back to itself without
    /// a return. A rule as the body is inlined only if it is small and calls no rule.
    pub(in crate::automaton) fn build_loop_body(&mut self, body: ExprId, next: StateId, scope: u32) {
        let (expression, scope) = match *self.grammar.expression(body) {
            Expression::Rule(rule) if is_leaf(self.grammar, self.grammar.rule(rule).body) => {
                (self.grammar.rule(rule).body, self.scope_id(Scope { rule, label: None }))
            }
            _ => (body, scope),
        };
        self.push_task(Task::BuildHere { expression, next, scope });
    }
}

/// Whether an expression contains no reference to a rule, and at most [`INLINE_RULE`] expressions and nodes of word
/// graphs.
fn is_leaf(grammar: &Grammar, expression: ExprId) -> bool {
    let mut open = vec![expression];
    let mut seen = 0;
    while let Some(expression) = open.pop() {
        seen += 1;
        let expression = grammar.expression(expression);
        if let Expression::WordGraph(graph) = expression {
            seen += graph.len();
        }
        if seen > INLINE_RULE || matches!(expression, Expression::Rule(_)) {
            return false;
        }
        // one more than allowed suffices to see that there are too many
        open.extend(expression.children().take(INLINE_RULE + 1));
    }
    true
}

/// A lower bound on the bytes of each word of an expression, examining at most `depth` levels and `look` expressions.
fn fewest_bytes(grammar: &Grammar, expression: ExprId, depth: usize, look: &mut usize) -> u32 {
    let (Some(depth), Some(less)) = (depth.checked_sub(1), look.checked_sub(1)) else { return 0 };
    *look = less;
    let mut fewest = |child: &ExprId| fewest_bytes(grammar, *child, depth, look);
    match grammar.expression(expression) {
        Expression::Bytes(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        Expression::ByteSet(_) | Expression::Class(_) => 1,
        Expression::Sequence(list) => list.iter().fold(0, |sum, child| sum.saturating_add(fewest(child))),
        Expression::Choice(list) => list.iter().map(fewest).min().unwrap_or(0),
        Expression::Repeat { body, min, .. } if *min > 0 => fewest(body).saturating_mul(*min),
        Expression::Rule(rule) => fewest(&grammar.rule(*rule).body),
        Expression::Label(_, body) | Expression::MaxTokens { body, .. } => fewest(body),
        _ => 0,
    }
}

/// The sizes of the expressions of a grammar.
#[derive(Debug)]
pub(in crate::automaton) struct Costs {
    /// The approximate number of states of each expression when all uses in it are copies, saturating. A reference to a
    /// rule counts 1.
    pub(in crate::automaton) expanded_size: Vec<u32>,
    /// Whether an expression is lowered once and called, because it is not small and is used more than once. If all
    /// uses were copies, nested sharing would lead to exponentially many states.
    pub(in crate::automaton) shared: Vec<bool>,
    /// An upper bound on the states of each expression if it is inlined and the shared expressions in it are called.
    pub(in crate::automaton) inline_size: Vec<u64>,
    /// An upper bound on the states of all expressions together.
    all: u64,
}

impl Costs {
    pub(in crate::automaton) fn of(grammar: &Grammar) -> Costs {
        let (expanded_size, uses) = weights_and_uses(grammar);
        let shared = shared(grammar, &expanded_size, &uses);
        let inline_size = inline_sizes(grammar, &shared);
        let of_shared = inline_size
            .iter()
            .zip(&shared)
            .filter(|(_, shared)| **shared)
            .map(|(inline_size, _)| *inline_size);
        let of_rules = grammar.rules().iter().map(|rule| inline_size[rule.body.index()]);
        let all = of_shared.chain(of_rules).fold(0, u64::saturating_add);
        Costs { expanded_size, shared, inline_size, all }
    }

    /// An upper bound on the states of all expressions together.
    pub(in crate::automaton) fn all(&self) -> u64 {
        self.all
    }
}

fn shared(grammar: &Grammar, expanded_size: &[u32], uses: &[u32]) -> Vec<bool> {
    let counts = uses.iter().zip(expanded_size).zip(grammar.expressions());
    counts
        .map(|((&uses, &weight), expression)| {
            let inline_size = match expression {
                Expression::Bytes(_) => true,
                // a loop is followed by its continuation without a return if it is copied, so small loops are copied
                Expression::Repeat { max: None, .. } => weight as usize <= INLINE_RULE,
                _ => false,
            };
            uses > 1 && weight > INLINE_STATES && !inline_size
        })
        .collect()
}

/// The approximate number of states of each expression, and the number of its uses as an operand.
fn weights_and_uses(grammar: &Grammar) -> (Vec<u32>, Vec<u32>) {
    let mut expanded_size: Vec<u32> = Vec::with_capacity(grammar.expressions().len());
    let mut uses = vec![0u32; grammar.expressions().len()];
    for expression in grammar.expressions() {
        let mut children = 0u32;
        expression.for_each_child(|child| {
            children = children.saturating_add(expanded_size[child.index()]);
            uses[child.index()] = uses[child.index()].saturating_add(1);
        });
        expanded_size.push(match expression {
            Expression::Empty | Expression::Never => 0,
            Expression::Bytes(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            Expression::Class(class) => (class.ranges().len() as u32).min(4),
            Expression::ByteSet(_) | Expression::Token(_) | Expression::Rule(_) => 1,
            Expression::WordGraph(graph) => {
                children.saturating_add(u32::try_from(graph.len()).unwrap_or(u32::MAX))
            }
            Expression::Members(_)
            | Expression::Distinct(_)
            | Expression::Intersection(_)
            | Expression::Complement(_) => 1000,
            Expression::Repeat { max, min, .. } => children.saturating_mul(max.unwrap_or(*min).max(1)),
            Expression::Sequence(_) | Expression::Choice(_) | Expression::Label(..) => children,
            Expression::Name(..) | Expression::MaxTokens { .. } => children.saturating_add(1),
        });
    }
    (expanded_size, uses)
}

fn inline_sizes(grammar: &Grammar, shared: &[bool]) -> Vec<u64> {
    let mut inline_size: Vec<u64> = Vec::with_capacity(shared.len());
    for expression in grammar.expressions() {
        let mut inner = 0u64;
        expression.for_each_child(|child| {
            let states = if shared[child.index()] { 1 } else { inline_size[child.index()] };
            inner = inner.saturating_add(states);
        });
        let own = match expression {
            Expression::Empty | Expression::Never | Expression::Label(..) => 0,
            Expression::ByteSet(_)
            | Expression::Token(_)
            | Expression::Rule(_)
            | Expression::MaxTokens { .. } => 1,
            // names from a set that may be small are called
            Expression::Name(..) => 4,
            Expression::Bytes(bytes) => bytes.len(),
            // a character of a range has at most four bytes, and a range begins and ends in up to three sequences
            Expression::Class(class) => 24 * class.ranges().len(),
            Expression::WordGraph(graph) => 1 + graph.len(),
            Expression::Members(list) => {
                8 + list.members.iter().map(|member| member.key.len() + 2).sum::<usize>()
            }
            // each part that may be empty needs up to two splits
            Expression::Sequence(list) => 2 * list.len(),
            Expression::Choice(list) => 1 + 2 * list.len(),
            Expression::Distinct(list) => 8 + 2 * list.items.len(),
            Expression::Intersection(_) | Expression::Complement(_) => 4,
            &Expression::Repeat { body, min, max } => {
                // a loop inlines its body, even if it is shared
                let rounds = max.unwrap_or(min).clamp(1, UNROLLED_STATES);
                inner = inline_size[body.index()].saturating_mul(u64::from(rounds));
                let leaf = matches!(grammar.expression(body), Expression::Rule(_));
                4 + 2 * rounds as usize + if leaf { 4 * INLINE_RULE } else { 0 }
            }
        };
        inline_size.push(inner.saturating_add(own as u64));
    }
    inline_size
}
