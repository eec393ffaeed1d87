//! Plans under `max_cost`, where the shortest path may be unaffordable: completions and searches are compared with a
//! search of all positions.

use crate::plans::plans;
use grammata_agents::plan::policy::{FirstPolicy, RandomPolicy};
use grammata_agents::plan::search::STRATEGIES;
use grammata_agents::plan::{Objective, PartialPlan, Planner, Problem, Questions, SearchOptions};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The expensive short way is nearer from `b` only, and `s` and `b` are connected by a cycle without cost.
const DETOUR: &str = "kind = 'dfa'\nstart = 's'\naccepting = ['end']\n\
    symbols = { out = {}, back = {}, dear = { cost = 10 }, c = {}, d = {}, e = {}, f = {} }\n\
    transitions = [\
    { from = 's', input = 'out', to = 'b' }, { from = 'b', input = 'back', to = 's' },\
    { from = 'b', input = 'dear', to = 'end' }, { from = 's', input = 'c', to = '1' },\
    { from = '1', input = 'd', to = '2' }, { from = '2', input = 'e', to = '3' },\
    { from = '3', input = 'f', to = 'end' }]";

fn within(source: &str, max_cost: u64) -> String {
    format!("{source}\nlimits = {{ max_cost = {max_cost} }}")
}

#[test]
fn the_shortest_completion_is_affordable() {
    for (max_cost, steps) in [(9, "c d e f"), (10, "out dear")] {
        let mut automaton = plans(&within(DETOUR, max_cost));
        let (start, spec) = (PartialPlan::new(&automaton), automaton.shared_spec());
        let plan = automaton.completion(&start, Objective::Steps).unwrap().unwrap();
        let ids: Vec<&str> = plan.steps.iter().map(|step| spec.symbols()[step.action].id.as_str()).collect();
        assert_eq!(ids.join(" "), steps);
    }
}

/// After the free steps, every search and a planner take the affordable way, although the other one is shorter.
#[test]
fn the_bound_on_free_steps_leaves_an_affordable_action() {
    for (name, _, make) in STRATEGIES {
        for free in 0..4 {
            let mut automaton = plans(&within(DETOUR, 9));
            let questions = Questions::new(automaton.spec(), None).unwrap();
            let options = SearchOptions::default().max_free_steps(free);
            let mut policy = RandomPolicy::new(0);
            let mut problem = Problem::new(&mut automaton, &mut policy, &questions, &options);
            let outcome = make(4).run(&mut problem).unwrap();
            assert!(outcome.plan.is_some(), "{name}, {free} free steps");
        }
    }
    let mut planner = Planner::new(plans(&within(DETOUR, 9))).unwrap().with_max_free_steps(3);
    let questions = Questions::new(planner.spec(), None).unwrap();
    let mut taken = 0;
    while let Some(step) = planner.choose(&mut FirstPolicy, &questions).unwrap() {
        planner.observe(step, &Default::default()).unwrap();
        taken += 1;
    }
    // `out`, `back`, `out`, and then `back` and the affordable way
    assert_eq!(taken, 8);
}

/// A DFA with the states 0 to 3, of which 3 accepts, and actions `a0`, `a1`, … with costs.
#[derive(Clone, Debug)]
struct Machine {
    /// Source, target and cost of each transition; each has an action of its own.
    transitions: Vec<(usize, usize, u64)>,
    max_cost: u64,
}

impl Machine {
    fn source(&self) -> String {
        let symbols = self
            .transitions
            .iter()
            .enumerate()
            .map(|(at, (.., cost))| format!("a{at} = {{ cost = {cost} }}"));
        let transitions = self.transitions.iter().enumerate();
        let transitions = transitions
            .map(|(at, (from, to, _))| format!("{{ from = '{from}', input = 'a{at}', to = '{to}' }}"));
        let source = format!(
            "kind = 'dfa'\nstart = '0'\naccepting = ['3']\nstates = ['0', '1', '2', '3']\nsymbols = {{ {} }}\n\
            transitions = [{}]",
            symbols.collect::<Vec<_>>().join(", "),
            transitions.collect::<Vec<_>>().join(", ")
        );
        within(&source, self.max_cost)
    }

    /// Returns the fewest steps of a plan whose cost is at most the bound, by layers of all affordable positions.
    fn fewest(&self) -> Option<usize> {
        let mut layer = BTreeSet::from([(0, 0)]);
        let mut seen = layer.clone();
        for steps in 0.. {
            if layer.is_empty() {
                return None;
            }
            if layer.iter().any(|&(state, _)| state == 3) {
                return Some(steps);
            }
            let mut next = BTreeSet::new();
            for &(state, spent) in &layer {
                for &(from, to, cost) in &self.transitions {
                    if from == state && spent + cost <= self.max_cost && seen.insert((to, spent + cost)) {
                        next.insert((to, spent + cost));
                    }
                }
            }
            layer = next;
        }
        None
    }
}

fn machine() -> impl Strategy<Value = Machine> {
    let transition = (0..4usize, 0..4usize, 0..6u64);
    // the first one makes the language without the bound not empty
    (prop::collection::vec(transition, 1..9), 0..12u64, 0..14u64).prop_map(
        |(mut transitions, cost, max_cost)| {
            transitions.push((0, 3, cost));
            Machine { transitions, max_cost }
        },
    )
}

proptest! {
    #[test]
    fn completions_have_the_fewest_affordable_steps(machine in machine()) {
        let mut automaton = plans(&machine.source());
        let start = PartialPlan::new(&automaton);
        let plan = automaton.completion(&start, Objective::Steps).unwrap();
        prop_assert_eq!(plan.as_ref().map(|plan| plan.steps.len()), machine.fewest());
        if let Some(plan) = plan {
            prop_assert!(plan.cost(automaton.spec()) <= machine.max_cost);
            prop_assert!(automaton.walk(&plan).unwrap().is_some());
        }
    }

    #[test]
    fn searches_find_a_plan_exactly_if_there_is_one(machine in machine(), free in 0..4usize, seed in 0..100u64) {
        for (name, _, make) in STRATEGIES {
            let mut automaton = plans(&machine.source());
            let questions = Questions::new(automaton.spec(), None).unwrap();
            let options = SearchOptions::default().max_free_steps(free).max_questions(1_000_000);
            let mut policy = RandomPolicy::new(seed);
            let mut problem = Problem::new(&mut automaton, &mut policy, &questions, &options);
            let plan = make(3).run(&mut problem).unwrap().plan;
            prop_assert_eq!(plan.is_some(), machine.fewest().is_some(), "{}", name);
            prop_assert!(plan.is_none_or(|plan| plan.cost(automaton.spec()) <= machine.max_cost));
        }
    }
}
