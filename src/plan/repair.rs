//! The plan of the spec that is nearest to a given one: with the fewest steps put in, left out or exchanged.

use super::automaton::{PlanAutomaton, Position};
use super::errors;
use super::lookahead::Completable;
use super::partial::{Plan, Step};
use super::read::ReadPlan;
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One difference between a plan that was given and the nearest plan of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The step stays.
    Keep(Step),
    /// The given step becomes another.
    Substitute {
        /// The step as it was written.
        given: String,
        /// What takes its place.
        step: Step,
    },
    /// A step that was missing.
    Insert(Step),
    /// The given step is left out.
    Delete(String),
}

/// The nearest plan, and how it differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// A plan of the spec.
    pub plan: Plan,
    /// Its edit distance: steps inserted, deleted and substituted.
    pub edits: usize,
    /// All steps of both plans, in the order in which they are carried out.
    pub differences: Vec<Edit>,
}

/// A partial alignment: where it comes from, and its last edit.
struct Node {
    parent: Option<usize>,
    at: Position,
    /// How many given steps are done with.
    place: usize,
    /// The actions that may be used once and were, in rising order.
    used: Vec<usize>,
    edit: Option<Edit>,
}

impl PlanAutomaton {
    /// The plan of the spec with the fewest edits from a given one: a search by the number of edits (Dijkstra 1959) over
    /// places in the plan and in the automaton. Of several, the first found.
    ///
    /// # Errors
    /// `plan/none` if there is no plan; `plan/budget-exhausted` past a quarter of [`Limits::plan_states`](crate::Limits::plan_states)
    /// partial alignments, which take several times the memory of a state; limits.
    pub fn repair(&mut self, plan: &ReadPlan) -> Result<Repair> {
        let spec = self.shared_spec();
        let order = plan.in_word_order(&spec);
        let mut nodes = vec![Node { parent: None, at: self.start(), place: 0, used: Vec::new(), edit: None }];
        let mut seen: FxHashMap<(Position, usize, Vec<usize>), usize> = FxHashMap::default();
        // fewest edits first; among those, what is furthest along
        let mut open = BinaryHeap::from([(Reverse(0usize), 0usize, Reverse(0usize))]);
        while let Some((Reverse(edits), _, Reverse(number))) = open.pop() {
            let Node { at, place, used, .. } = &nodes[number];
            let (at, place, used) = (*at, *place, used.clone());
            let key = (at, place, used.clone());
            if seen.get(&key).is_some_and(|&known| known <= edits) {
                continue;
            }
            seen.insert(key, edits);
            if place == order.len() && self.is_complete(at.state) {
                return Ok(self.finish(&nodes, number, edits));
            }
            let most = self.limits().plan_states / 4;
            if nodes.len() > most {
                return Err(errors::exhausted_nearest(most));
            }
            let given = order.get(place).and_then(|&place| plan.steps.get(place));
            let mut next = Vec::new();
            if let Some(given) = given {
                let edit = Edit::Delete(given.written.clone());
                next.push((edits + 1, at, place + 1, used.clone(), edit));
            }
            for edge in self.steps(at.state)? {
                let to = Position { state: edge.to, cost: at.cost.saturating_add(self.cost(edge.class)) };
                if !self.affordable(to.cost) || self.completable(to)? == Completable::No {
                    continue;
                }
                let outcome = self.outcome(edge);
                let class = self.codes.classes[edge.class as usize].clone();
                for action in class.members {
                    let mut used = used.clone();
                    if class.each.is_some() {
                        if used.contains(&action) {
                            continue;
                        }
                        used.push(action);
                        used.sort_unstable();
                    }
                    let step = Step::least(&spec, action).with_outcome(outcome);
                    if let Some(given) = given {
                        let meant = given.meanings.iter().find(|step| {
                            (step.action, step.outcome) == (action, outcome) && self.takes(step)
                        });
                        let (cost, edit) = match meant {
                            Some(step) => (edits, Edit::Keep(step.clone())),
                            None => {
                                let given = given.written.clone();
                                (edits + 1, Edit::Substitute { given, step: step.clone() })
                            }
                        };
                        next.push((cost, to, place + 1, used.clone(), edit));
                    }
                    next.push((edits + 1, to, place, used, Edit::Insert(step)));
                }
            }
            for (edits, at, place, used, edit) in next {
                open.push((Reverse(edits), place, Reverse(nodes.len())));
                nodes.push(Node { parent: Some(number), at, place, used, edit: Some(edit) });
            }
        }
        Err(errors::no_plan())
    }

    fn finish(&self, nodes: &[Node], last: usize, edits: usize) -> Repair {
        let mut differences = Vec::new();
        let mut at = Some(last);
        while let Some(node) = at.and_then(|at| nodes.get(at)) {
            differences.extend(node.edit.clone());
            at = node.parent;
        }
        differences.reverse();
        let steps = differences.iter().filter_map(|edit| match edit {
            Edit::Keep(step) | Edit::Substitute { step, .. } | Edit::Insert(step) => Some(step.clone()),
            Edit::Delete(_) => None,
        });
        let plan = Plan { steps: steps.collect() };
        if self.spec.direction() == crate::syntax::automaton_spec::Direction::Backward {
            differences.reverse();
        }
        Repair { plan, edits, differences }
    }
}
