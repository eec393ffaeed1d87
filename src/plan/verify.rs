//! Whether a plan is one of the spec's; if not, its first wrong step, and what was feasible there.

use super::automaton::{PlanAutomaton, PlanState, Position};
use super::errors;
use super::lookahead::Completable;
use super::partial::{Plan, Step};
use super::read::ReadPlan;
use crate::error::Result;
use crate::syntax::automaton_spec::Direction;
use rustc_hash::{FxHashMap, FxHashSet};

/// What was found out about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a plan of the spec.
    Valid(Plan),
    /// It is none.
    Wrong {
        /// The first wrong step, counted from 0 in the order in which the plan is carried out: no plan begins with the
        /// steps up to it. It is the number of steps if the plan is only not finished.
        step: usize,
        /// The actions that may stand there instead, in the spec's order.
        feasible: Vec<usize>,
        /// Whether the plan might end before that step.
        may_end: bool,
    },
}

/// A position with the actions of which each may be used once and was.
type Spot = (Position, Vec<usize>);

impl PlanAutomaton {
    /// Checks a plan. `implied` are actions that the plan need not name.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if a spec that plans backwards has too many states; limits.
    pub fn verify(&mut self, plan: &ReadPlan, implied: &[usize]) -> Result<Verdict> {
        match self.spec.direction() {
            Direction::Forward => self.verify_forward(plan, implied),
            Direction::Backward => {
                // most plans are right: then the walk in the order of the words is all that is needed
                if let Some(found) = self.follow(plan, implied)? {
                    return Ok(Verdict::Valid(found));
                }
                self.verify_backward(plan, implied)
            }
        }
    }

    /// The spots after each way to take one more step, and the step.
    fn after(&mut self, (at, used): &Spot, wanted: &dyn Fn(usize) -> Vec<Step>) -> Result<Vec<(Spot, Step)>> {
        let mut found = Vec::new();
        for edge in self.steps(at.state)? {
            let cost = at.cost.saturating_add(self.cost(edge.class));
            let outcome = self.outcome(edge);
            let class = self.codes.classes[edge.class as usize].clone();
            if !self.affordable(cost) {
                continue;
            }
            for action in class.members {
                if class.each.is_some() && used.contains(&action) {
                    continue;
                }
                for step in wanted(action) {
                    if step.outcome != outcome || !self.takes(&step) {
                        continue;
                    }
                    let mut used = used.clone();
                    if class.each.is_some() {
                        used.push(action);
                        used.sort_unstable();
                    }
                    found.push(((Position { state: edge.to, cost }, used), step));
                }
            }
        }
        Ok(found)
    }

    /// All spots that implied actions lead to, the given ones among them, each with the steps to it.
    fn with_implied(
        &mut self,
        spots: Vec<(Spot, Vec<Step>)>,
        implied: &[usize],
    ) -> Result<Vec<(Spot, Vec<Step>)>> {
        let mut seen: FxHashSet<Spot> = FxHashSet::default();
        let mut all: Vec<(Spot, Vec<Step>)> = Vec::new();
        let mut open = spots;
        open.reverse();
        while let Some((spot, steps)) = open.pop() {
            if !seen.insert(spot.clone()) {
                continue;
            }
            if seen.len() > MOST_SPOTS {
                return Err(errors::exhausted_verdict());
            }
            if !implied.is_empty() {
                let wanted = |action: usize| {
                    if implied.contains(&action) { vec![Step::of(action)] } else { Vec::new() }
                };
                for (next, step) in self.after(&spot, &wanted)? {
                    if self.completable(next.0)? != Completable::No {
                        let mut steps = steps.clone();
                        steps.push(step);
                        open.push((next, steps));
                    }
                }
            }
            all.push((spot, steps));
        }
        Ok(all)
    }

    /// Follows a plan in the order of the spec's words to a finished plan.
    fn follow(&mut self, plan: &ReadPlan, implied: &[usize]) -> Result<Option<Plan>> {
        let mut spots = vec![((self.start(), Vec::new()), Vec::new())];
        for place in plan.in_word_order(&self.shared_spec()) {
            spots = self.with_implied(spots, implied)?;
            spots = self.one_step(spots, &plan.steps[place].meanings)?;
        }
        spots = self.with_implied(spots, implied)?;
        let whole = spots.into_iter().find(|((at, _), _)| self.is_complete(at.state));
        Ok(whole.map(|(_, steps)| Plan { steps }))
    }

    fn one_step(
        &mut self,
        spots: Vec<(Spot, Vec<Step>)>,
        meanings: &[Step],
    ) -> Result<Vec<(Spot, Vec<Step>)>> {
        let mut next: Vec<(Spot, Vec<Step>)> = Vec::new();
        let mut seen: FxHashSet<Spot> = FxHashSet::default();
        let wanted = |action: usize| meanings.iter().filter(|step| step.action == action).cloned().collect();
        for (spot, steps) in spots {
            for (after, step) in self.after(&spot, &wanted)? {
                if self.completable(after.0)? != Completable::No && seen.insert(after.clone()) {
                    let mut steps = steps.clone();
                    steps.push(step);
                    next.push((after, steps));
                }
            }
        }
        Ok(next)
    }

    fn verify_forward(&mut self, plan: &ReadPlan, implied: &[usize]) -> Result<Verdict> {
        let mut spots = vec![((self.start(), Vec::new()), Vec::new())];
        for number in 0..=plan.steps.len() {
            let here = self.with_implied(spots, implied)?;
            let whole = here.iter().find(|((at, _), _)| self.is_complete(at.state)).cloned();
            spots = match plan.steps.get(number) {
                Some(step) => self.one_step(here.clone(), &step.meanings)?,
                None => match whole {
                    Some((_, steps)) => return Ok(Verdict::Valid(Plan { steps })),
                    None => Vec::new(),
                },
            };
            if spots.is_empty() {
                let mut feasible = Vec::new();
                for (spot, _) in &here {
                    for ((at, _), step) in self.after_any(spot)? {
                        if self.completable(at)? != Completable::No {
                            feasible.push(step.action);
                        }
                    }
                }
                feasible.sort_unstable();
                feasible.dedup();
                return Ok(Verdict::Wrong { step: number, feasible, may_end: whole.is_some() });
            }
        }
        Err(errors::exhausted_verdict())
    }

    /// As [`after`](PlanAutomaton::after), for every action; set-valued ones take as few elements as they may.
    fn after_any(&mut self, spot: &Spot) -> Result<Vec<(Spot, Step)>> {
        let spec = self.shared_spec();
        let smallest = |action: usize| Step::least(&spec, action).with_each_outcome(&spec);
        self.after(spot, &smallest)
    }

    /// The first wrong step of a plan whose words name the last step first: from the ends of plans towards the start.
    fn verify_backward(&mut self, plan: &ReadPlan, implied: &[usize]) -> Result<Verdict> {
        let graph = self.whole_graph()?;
        // spots, read backwards: a state, and the actions used after it (in the word's order)
        let ends = graph.states.iter().copied().filter(|&state| self.is_complete(state));
        let mut spots: FxHashSet<(PlanState, Vec<usize>)> = ends.map(|state| (state, Vec::new())).collect();
        for number in 0..=plan.steps.len() {
            let mut open: Vec<_> = spots.iter().cloned().collect();
            while let Some(spot) = open.pop() {
                for (before, _) in self.before(&graph, &spot, &|action| implied.contains(&action)) {
                    if spots.insert(before.clone()) {
                        open.push(before);
                    }
                }
                if spots.len() > MOST_SPOTS {
                    return Err(errors::exhausted_verdict());
                }
            }
            let start = self.start().state;
            let may_end = spots.iter().any(|(state, _)| *state == start);
            let mut next = FxHashSet::default();
            if let Some(step) = plan.steps.get(number) {
                let meant = |action: usize| {
                    step.meanings.iter().any(|step| step.action == action && self.takes(step))
                };
                for spot in &spots {
                    next.extend(self.before(&graph, spot, &meant).into_iter().map(|(before, _)| before));
                }
            }
            if next.is_empty() {
                let mut feasible: Vec<usize> = spots
                    .iter()
                    .flat_map(|spot| self.before(&graph, spot, &|_| true))
                    .map(|(_, action)| action)
                    .collect();
                feasible.sort_unstable();
                feasible.dedup();
                return Ok(Verdict::Wrong { step: number, feasible, may_end });
            }
            spots = next;
        }
        Err(errors::exhausted_verdict())
    }

    /// The spots from which one action leads to a spot.
    fn before(
        &self,
        graph: &Whole,
        (state, used): &(PlanState, Vec<usize>),
        wanted: &dyn Fn(usize) -> bool,
    ) -> Vec<((PlanState, Vec<usize>), usize)> {
        let mut found = Vec::new();
        for &(from, class) in graph.before.get(state).into_iter().flatten() {
            let class = &self.codes.classes[class as usize];
            for &action in class.members.iter().filter(|&&action| wanted(action)) {
                if class.each.is_some() && used.contains(&action) {
                    continue;
                }
                let mut used = used.clone();
                if class.each.is_some() && class.members.len() > 1 {
                    used.push(action);
                    used.sort_unstable();
                }
                found.push(((from, used), action));
            }
        }
        found
    }

    /// All states of finished plans, and the steps between them backwards.
    fn whole_graph(&mut self) -> Result<Whole> {
        if self.spec.max_cost().is_some() {
            return Err(errors::exhausted_verdict());
        }
        let mut graph = Whole::default();
        let mut seen: FxHashSet<PlanState> = FxHashSet::default();
        let start = self.start();
        if self.completable(start)? == Completable::No {
            return Ok(graph);
        }
        let mut open = vec![start.state];
        seen.insert(start.state);
        while let Some(state) = open.pop() {
            graph.states.push(state);
            if graph.states.len() > MOST_SPOTS {
                return Err(errors::exhausted_verdict());
            }
            for edge in self.steps(state)? {
                if self.completable(Position { state: edge.to, cost: 0 })? == Completable::No {
                    continue;
                }
                graph.before.entry(edge.to).or_default().push((state, edge.class));
                if seen.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        Ok(graph)
    }
}

/// Spots that are kept at a time.
const MOST_SPOTS: usize = 200_000;

#[derive(Debug, Default)]
struct Whole {
    states: Vec<PlanState>,
    before: FxHashMap<PlanState, Vec<(PlanState, u32)>>,
}
