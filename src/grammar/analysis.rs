//! What can be said of a grammar's expressions without running it: which are productive, which are
//! nullable, which rules are reachable. All passes are worklists over parent lists, linear in the grammar.

use super::Grammar;
use super::expression::{ExprId, Expression, Members, RuleId};

/// A property that spreads from operands to the expressions made of them: every expression waits for a
/// number of its operands and has the property as soon as all of those have it.
///
/// The state stays usable after the first result: [`set`](Fixpoint::set) gives one more expression the
/// property and spreads what follows from that.
#[derive(Clone, Debug)]
pub struct Fixpoint {
    value: Vec<bool>,
    /// How many more operands an expression waits for; `NEVER` if operands cannot give it the property.
    waiting: Vec<u32>,
    /// The expressions that wait for expression `i`: `parents[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    parents: Vec<ExprId>,
    worklist: Vec<ExprId>,
}

const NEVER: u32 = u32::MAX;

/// How an expression gets a property from its operands.
enum Need {
    /// It has it.
    Given,
    /// It cannot get it.
    Never,
    /// Any one operand suffices.
    Any,
    /// All of these operands are needed.
    All,
}

impl Fixpoint {
    /// Which expressions are productive: describe at least one string. An intersection counts as productive
    /// if all its operands are, a complement always does; the truth about those takes a search.
    pub fn productive(grammar: &Grammar) -> Fixpoint {
        Fixpoint::new(grammar, |expression| match expression {
            Expression::Never => Need::Never,
            Expression::Empty | Expression::Bytes(_) | Expression::ByteSet(_) | Expression::Class(_) => {
                Need::Given
            }
            Expression::Complement(_) | Expression::Repeat { min: 0, .. } => Need::Given,
            Expression::Choice(_) => Need::Any,
            Expression::Sequence(_)
            | Expression::Intersection(_)
            | Expression::Repeat { .. }
            | Expression::Rule(_)
            | Expression::Members(_)
            | Expression::Label(..) => Need::All,
        })
    }

    /// Which expressions are nullable: describe the empty string. Exact, as long as no complement contains
    /// itself through a rule (such a complement counts as not nullable).
    pub fn nullable(grammar: &Grammar) -> Fixpoint {
        let mut fixpoint = Fixpoint::new(grammar, |expression| match expression {
            Expression::Empty | Expression::Repeat { min: 0, .. } => Need::Given,
            Expression::Never | Expression::Bytes(_) | Expression::ByteSet(_) | Expression::Class(_) => {
                Need::Never
            }
            // decided below, operands first
            Expression::Complement(_) => Need::Never,
            // keys are not empty
            Expression::Members(members) if members.members.iter().any(|m| m.required) => Need::Never,
            Expression::Members(_) => Need::Given,
            Expression::Choice(_) => Need::Any,
            Expression::Sequence(_)
            | Expression::Intersection(_)
            | Expression::Repeat { .. }
            | Expression::Rule(_)
            | Expression::Label(..) => Need::All,
        });
        for (id, operand) in complements_operands_first(grammar) {
            if !fixpoint.holds(operand) {
                fixpoint.set(id);
            }
        }
        fixpoint
    }

    fn new(grammar: &Grammar, need: impl Fn(&Expression) -> Need) -> Fixpoint {
        let count = grammar.expressions.len();
        let mut fixpoint = Fixpoint {
            value: vec![false; count],
            waiting: vec![NEVER; count],
            starts: vec![0; count + 1],
            parents: Vec::new(),
            worklist: Vec::new(),
        };
        let mut given = Vec::new();
        let mut edges: Vec<(ExprId, ExprId)> = Vec::new();
        for (parent, expression) in ids(grammar) {
            let before = edges.len();
            let need = need(expression);
            match need {
                Need::Given => given.push(parent),
                Need::Never => {}
                Need::Any | Need::All => {
                    for_each_needed(grammar, expression, |child| edges.push((child, parent)));
                }
            }
            let children = u32::try_from(edges.len() - before).unwrap_or(NEVER);
            match need {
                Need::Given | Need::Never => {}
                Need::Any => fixpoint.waiting[parent.index()] = 1,
                // members of which none is required
                Need::All if children == 0 => given.push(parent),
                Need::All => fixpoint.waiting[parent.index()] = children,
            }
        }
        fixpoint.fill_parents(&edges);
        for id in given {
            fixpoint.set(id);
        }
        fixpoint
    }

    /// Counting sort of the edges by child.
    fn fill_parents(&mut self, edges: &[(ExprId, ExprId)]) {
        for (child, _) in edges {
            self.starts[child.index() + 1] += 1;
        }
        for i in 1..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        let Some(&(_, first)) = edges.first() else { return };
        let mut next = self.starts.clone();
        self.parents = vec![first; edges.len()];
        for &(child, parent) in edges {
            let slot = &mut next[child.index()];
            self.parents[*slot as usize] = parent;
            *slot += 1;
        }
    }

    /// Whether the expression has the property so far.
    pub fn holds(&self, id: ExprId) -> bool {
        self.value[id.index()]
    }

    /// Gives an expression the property, and so all that follow from it.
    pub fn set(&mut self, id: ExprId) {
        if std::mem::replace(&mut self.value[id.index()], true) {
            return;
        }
        self.worklist.push(id);
        while let Some(id) = self.worklist.pop() {
            let (start, end) = (self.starts[id.index()] as usize, self.starts[id.index() + 1] as usize);
            for i in start..end {
                let parent = self.parents[i].index();
                if self.value[parent] || self.waiting[parent] == NEVER {
                    continue;
                }
                self.waiting[parent] -= 1;
                if self.waiting[parent] == 0 {
                    self.value[parent] = true;
                    self.worklist.push(self.parents[i]);
                }
            }
        }
    }

    /// The property of every expression, by id.
    pub fn values(&self) -> &[bool] {
        &self.value
    }

    /// The property of every expression, by id.
    pub fn into_values(self) -> Vec<bool> {
        self.value
    }
}

/// Which expressions describe at least one string; see [`Fixpoint::productive`].
pub fn productive(grammar: &Grammar) -> Vec<bool> {
    Fixpoint::productive(grammar).into_values()
}

/// Which expressions describe the empty string; see [`Fixpoint::nullable`].
pub fn nullable(grammar: &Grammar) -> Vec<bool> {
    Fixpoint::nullable(grammar).into_values()
}

/// Which rules the root uses, directly or through others; by rule id.
pub fn reachable(grammar: &Grammar) -> Vec<bool> {
    let mut rules = vec![false; grammar.rules.len()];
    let mut seen = vec![false; grammar.expressions.len()];
    let mut worklist = Vec::new();
    let mut visit = |rule: RuleId, worklist: &mut Vec<ExprId>| {
        if !std::mem::replace(&mut rules[rule.index()], true) {
            worklist.push(grammar.rule(rule).body);
        }
    };
    visit(grammar.root, &mut worklist);
    while let Some(id) = worklist.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match grammar.expression(id) {
            Expression::Rule(rule) => visit(*rule, &mut worklist),
            expression => worklist.extend(expression.children()),
        }
    }
    rules
}

fn ids(grammar: &Grammar) -> impl Iterator<Item = (ExprId, &Expression)> {
    grammar.expressions.iter().enumerate().filter_map(|(i, e)| ExprId::new(i).map(|id| (id, e)))
}

/// The operands that matter: all; of members the required values, and the separator if two or more are
/// required; of a rule its body.
fn for_each_needed(grammar: &Grammar, expression: &Expression, mut visit: impl FnMut(ExprId)) {
    match expression {
        Expression::Rule(rule) => visit(grammar.rule(*rule).body),
        Expression::Members(members) => {
            let Members { members, separator, .. } = &**members;
            let required = members.iter().filter(|m| m.required);
            if required.clone().nth(1).is_some() {
                visit(*separator);
            }
            required.for_each(|m| visit(m.value));
        }
        expression => expression.children().for_each(visit),
    }
}

/// The complements with their operands, each after all complements that its operand is made of. (Tarjan's
/// strongly connected components come out in that order; the stack is explicit.)
fn complements_operands_first(grammar: &Grammar) -> Vec<(ExprId, ExprId)> {
    let mut out = Vec::new();
    if !grammar.expressions.iter().any(|e| matches!(e, Expression::Complement(_))) {
        return out;
    }
    let count = grammar.expressions.len();
    // 0: not seen; `DONE`: its component is complete; otherwise 1 + the order of discovery
    const DONE: usize = usize::MAX;
    let (mut order, mut low) = (vec![0_usize; count], vec![0_usize; count]);
    let mut next = 0;
    let mut component: Vec<ExprId> = Vec::new();
    let mut path: Vec<(ExprId, std::vec::IntoIter<ExprId>)> = Vec::new();
    for (start, _) in ids(grammar) {
        let mut enter = (order[start.index()] == 0).then_some(start);
        loop {
            if let Some(id) = enter.take() {
                next += 1;
                (order[id.index()], low[id.index()]) = (next, next);
                component.push(id);
                let operands: Vec<ExprId> = match grammar.expression(id) {
                    Expression::Rule(rule) => vec![grammar.rule(*rule).body],
                    expression => expression.children().collect(),
                };
                path.push((id, operands.into_iter()));
            }
            let Some((id, operands)) = path.last_mut() else { break };
            let id = *id;
            match operands.next() {
                Some(operand) if order[operand.index()] == 0 => enter = Some(operand),
                Some(operand) if order[operand.index()] != DONE => {
                    low[id.index()] = low[id.index()].min(order[operand.index()]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        low[parent.index()] = low[parent.index()].min(low[id.index()]);
                    }
                    if low[id.index()] == order[id.index()] {
                        while let Some(member) = component.pop() {
                            order[member.index()] = DONE;
                            if let Expression::Complement(operand) = grammar.expression(member) {
                                out.push((member, *operand));
                            }
                            if member == id {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
    out
}
