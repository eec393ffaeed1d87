//! Searches for plans compared with a list of all plans: each strategy with the same specs and scores.

use crate::plans::plans;
use grammata::Result;
use grammata_agents::plan::policy::{
    Answer, CostHeuristic, FirstPolicy, Heuristic, Needs, Policy, ScriptedPolicy, StepsHeuristic,
    WeightedPolicy,
};
use grammata_agents::plan::search::{
    AStar, Backtracking, Beam, BestFirst, Greedy, STRATEGIES, Search, SearchOptions,
};
use grammata_agents::plan::{Outcome, Plan, PlanAutomaton, Problem, Question, Questions};
use proptest::prelude::*;
use std::collections::HashMap;

/// A policy that scores a choice by its action alone, so that listed plans can be scored with the same weights.
struct Table {
    weights: Vec<f64>,
}

impl Table {
    /// Returns the weight of an action, which is less than 0. The last weight is that of the end of a plan.
    fn weight(&self, action: usize) -> f64 {
        self.weights[action % self.weights.len()]
    }
}

impl Policy for Table {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        let scores = self.scores(question)?;
        let best = (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        Ok(Answer { log_probability: Some(scores[best.unwrap()]), ..Answer::one(best.unwrap()) })
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let weigh = |choice: &grammata_agents::plan::Choice| {
            self.weight(choice.successor.map_or(self.weights.len() - 1, |successor| successor.action))
        };
        Ok(question.choices.iter().map(weigh).collect())
    }

    fn needs(&self) -> Needs {
        Needs { forced: true, ..Needs::default() }
    }
}

/// Returns the score of a plan: the weights of its actions and of its end, since the policy is asked about every
/// choice.
fn score(table: &Table, plan: &Plan) -> f64 {
    plan.steps.iter().map(|step| table.weight(step.action)).sum::<f64>()
        + table.weight(table.weights.len() - 1)
}

fn run(search: &dyn Search, plans: &mut PlanAutomaton, policy: &mut dyn Policy) -> Result<Outcome> {
    let questions = Questions::new(plans.spec(), None).unwrap();
    search.run(&mut Problem::new(plans, policy, &questions, &SearchOptions::default()))
}

/// Returns random specs with finitely many plans over four actions: random bodies of two rules, and a greatest number
/// for each action that occurs.
fn spec() -> impl Strategy<Value = String> {
    let body = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "t"]), 0..4);
    let bodies = prop::collection::vec(body, 1..5);
    (bodies.clone(), bodies, prop::collection::vec(1u32..3, 4), prop::collection::vec(0u64..4, 4)).prop_map(
        |(s, t, most, cost)| {
            let list = |bodies: &[Vec<&str>], recursive: bool| {
                let keep = |word: &&&str| recursive || **word != "t";
                let text = |body: &Vec<&str>| {
                    format!("'{}'", body.iter().filter(keep).copied().collect::<Vec<_>>().join(" "))
                };
                bodies.iter().map(text).collect::<Vec<_>>().join(", ")
            };
            let names = ["a", "b", "c", "d"];
            let symbols = names.iter().zip(cost).map(|(name, cost)| format!("{name} = {{ cost = {cost} }}"));
            let used = |name: &str| s.iter().chain(&t).flatten().any(|word| *word == name);
            let most = names.iter().zip(most).filter(|(name, _)| used(name));
            let most = most.map(|(name, most)| format!("{name} = {most}"));
            format!(
                "kind = 'cfg'\nstart = 's'\nrules = {{ s = [{}], t = [{}] }}\nsymbols = {{ {} }}\nlimits = {{ at_most = {{ {} }} }}",
                list(&s, true),
                list(&t, false),
                symbols.collect::<Vec<_>>().join(", "),
                most.collect::<Vec<_>>().join(", ")
            )
        },
    )
}

proptest! {
    #![proptest_config(crate::properties::config(256))]

    #[test]
    fn each_search_finds_what_the_list_of_all_plans_says(
        source in spec(),
        weights in prop::collection::vec(-3.0f64..-0.01, 5),
    ) {
        let table = || Table { weights: weights.clone() };
        let Ok(spec) = grammata::syntax::automaton_spec::Spec::read(&source, &Default::default()) else {
            return Ok(());
        };
        let mut automaton = PlanAutomaton::new(spec).unwrap();
        let all: Vec<Plan> = automaton.plans().unwrap().collect::<Result<_>>().unwrap();
        let best = all.iter().map(|plan| score(&table(), plan)).fold(f64::NEG_INFINITY, f64::max);
        let least = all.iter().map(|plan| plan.cost(automaton.spec())).min();
        for (name, _, make) in STRATEGIES {
            let outcome = run(&*make(3), &mut automaton, &mut table()).unwrap();
            prop_assert_eq!(outcome.plan.is_some(), !all.is_empty(), "{} on {}", name, source);
            let Some(plan) = &outcome.plan else { continue };
            prop_assert!(all.contains(plan), "{name}: {plan:?}");
            // the search reports the plan's score correctly
            prop_assert!((outcome.score.unwrap() - score(&table(), plan)).abs() < 1e-9, "{name}: {outcome:?}");
        }
        if all.is_empty() {
            return Ok(());
        }
        for (name, search) in [("best-first", Box::new(BestFirst) as Box<dyn Search>), ("beam", Box::new(Beam { width: usize::MAX }))] {
            let outcome = run(&*search, &mut automaton, &mut table()).unwrap();
            prop_assert!((outcome.score.unwrap() - best).abs() < 1e-9, "{name}: {outcome:?}, best {best}, {source}");
        }
        let cheapest = run(&AStar, &mut automaton, &mut table()).unwrap().plan.unwrap();
        prop_assert_eq!(Some(cheapest.cost(automaton.spec())), least, "{}", source);
        // of the cheapest plans, A* finds one with the best score
        let best = all.iter().filter(|plan| Some(plan.cost(automaton.spec())) == least);
        let best = best.map(|plan| score(&table(), plan)).fold(f64::NEG_INFINITY, f64::max);
        prop_assert!((score(&table(), &cheapest) - best).abs() < 1e-9, "{cheapest:?}, {source}");
    }
}

const ROUTES: &str = "kind = 'cfg'\nstart = 's'\nrules = { s = ['taxi', 'walk bus walk', 'walk walk walk walk'] }\n\
    symbols = { taxi = { cost = 30 }, bus = { cost = 3 }, walk = { cost = 0 } }";

fn ids(outcome: &Outcome, plans: &PlanAutomaton) -> Vec<String> {
    let steps = outcome.plan.iter().flat_map(|plan| &plan.steps);
    steps.map(|step| plans.spec().symbols()[step.action].id.clone()).collect()
}

#[test]
fn heuristics_change_what_a_search_finds() {
    let mut automaton = plans(ROUTES);
    type Weighted = Vec<(f64, Box<dyn Heuristic>)>;
    let cases: [(&str, Weighted, &[&str]); 3] = [
        ("none: the first of equals", Vec::new(), &["taxi"]),
        ("cost", vec![(1.0, Box::new(CostHeuristic))], &["walk", "walk", "walk", "walk"]),
        ("steps", vec![(1.0, Box::new(StepsHeuristic))], &["taxi"]),
    ];
    for (name, heuristics, expected) in cases {
        let mut first = FirstPolicy;
        let mut policy = WeightedPolicy::new(&mut first, heuristics);
        let outcome = run(&Greedy, &mut automaton, &mut policy).unwrap();
        assert_eq!(ids(&outcome, &automaton), expected, "{name}");
    }
    // A* finds the cheapest plan, whatever the policy prefers
    let outcome = run(&AStar, &mut automaton, &mut FirstPolicy).unwrap();
    assert_eq!(ids(&outcome, &automaton), ["walk"; 4]);
}

/// A heuristic with fixed scores for two choices, and 0 for one.
struct Fixed([f64; 2]);

impl Heuristic for Fixed {
    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        Ok(if question.choices.len() == 2 { self.0.to_vec() } else { vec![0.0; question.choices.len()] })
    }
}

#[test]
fn infinite_heuristics_exclude_choices_or_are_refused() {
    const NEVER: f64 = f64::NEG_INFINITY;
    const ALWAYS: f64 = f64::INFINITY;
    for (weight, scores, expected) in [
        (1.0, [NEVER, 0.0], Ok("walk")),
        (1.0, [0.0, NEVER], Ok("taxi")),
        // a heuristic without weight changes nothing, whatever its scores are
        (0.0, [NEVER, 0.0], Ok("taxi")),
        (0.0, [ALWAYS, NEVER], Ok("taxi")),
        (-0.0, [NEVER, ALWAYS], Ok("taxi")),
        (-1.0, [0.0, ALWAYS], Ok("taxi")),
        (1.0, [ALWAYS, 0.0], Err("plan/bad-scores")),
        (-1.0, [NEVER, 0.0], Err("plan/bad-scores")),
        (0.0, [f64::NAN, 0.0], Err("plan/bad-scores")),
        (f64::NAN, [1.0, 0.0], Err("plan/bad-scores")),
        (ALWAYS, [0.0, -1.0], Err("plan/bad-scores")),
    ] {
        let (mut first, mut automaton) = (FirstPolicy, plans(ROUTES));
        let mut policy = WeightedPolicy::new(&mut first, vec![(weight, Box::new(Fixed(scores)))]);
        let found = run(&Greedy, &mut automaton, &mut policy).map(|outcome| ids(&outcome, &automaton));
        let found = found.as_ref().map(|ids| ids[0].as_str()).map_err(|error| error.code());
        assert_eq!(found, expected, "{weight} {scores:?}");
    }
    // no choice is left
    let mut first = FirstPolicy;
    let mut policy = WeightedPolicy::new(&mut first, vec![(1.0, Box::new(Fixed([NEVER, NEVER])))]);
    assert!(run(&Greedy, &mut plans(ROUTES), &mut policy).is_err());
}

/// A policy that returns fixed places and scores, which may be invalid.
struct Nonsense(Vec<usize>, Vec<f64>);

impl Policy for Nonsense {
    fn choose(&mut self, _: &Question) -> Result<Answer> {
        Ok(Answer::set(self.0.clone()))
    }

    fn scores(&mut self, _: &Question) -> Result<Vec<f64>> {
        Ok(self.1.clone())
    }
}

#[test]
fn nonsense_is_refused_by_every_search() {
    let nonsense = [vec![], vec![7], vec![0, 1], vec![usize::MAX]];
    for places in nonsense {
        for search in [&Greedy as &dyn Search, &Backtracking] {
            let error =
                run(search, &mut plans(ROUTES), &mut Nonsense(places.clone(), Vec::new())).unwrap_err();
            assert_eq!(error.code(), "plan/wrong-answer", "{places:?}");
        }
    }
    for scores in [vec![], vec![0.0], vec![f64::NAN, -1.0]] {
        for search in [&BestFirst as &dyn Search, &Beam { width: 2 }, &AStar] {
            let error = run(search, &mut plans(ROUTES), &mut Nonsense(vec![0], scores.clone())).unwrap_err();
            assert_eq!(error.code(), "plan/bad-scores", "{scores:?}");
        }
    }
}

#[test]
fn a_search_says_which_bound_ended_it() {
    let mut automaton = plans(ROUTES);
    let questions = Questions::new(automaton.spec(), None).unwrap();
    let options = SearchOptions::default().max_questions(1);
    let mut policy = ScriptedPolicy::new(["2".to_owned(), "1".to_owned()]);
    let error = Greedy.run(&mut Problem::new(&mut automaton, &mut policy, &questions, &options)).unwrap_err();
    assert_eq!((error.code(), error.kind()), ("plan/budget-exhausted", grammata::ErrorKind::Limit));
    assert!(error.to_string().contains("more than 1 questions"), "{error}");
}

#[test]
fn decisions_are_those_of_the_plan() {
    // the first answer leads to a dead end, so it is undone together with its decision
    let source = "kind = 'cfg'\nstart = 's'\nsymbols = ['a', 'b', 'c', 'd']\n\
        rules = { s = ['a x', 'b y'], x = ['a c', 'a d'], y = ['c', 'd'] }\nlimits = { at_most_once = ['a'] }";
    let mut automaton = plans(source);
    let mut policy = ScriptedPolicy::new(["a", "d"].map(str::to_owned));
    let outcome = run(&Backtracking, &mut automaton, &mut policy).unwrap();
    assert_eq!(ids(&outcome, &automaton), ["b", "d"]);
    assert_eq!(outcome.backtracks, 1);
    let decisions: HashMap<usize, (String, Vec<String>)> = outcome
        .decisions
        .iter()
        .map(|one| (one.step, (one.completion.clone(), one.options.clone())))
        .collect();
    assert_eq!(decisions, HashMap::from([(1, ("2".to_owned(), vec!["c".to_owned(), "d".to_owned()]))]));
}
