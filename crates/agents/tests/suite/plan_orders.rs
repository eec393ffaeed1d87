//! Plans whose steps are in another order than in the words of the spec.

use crate::plans::{plans, read, shipped};
use grammata::syntax::automaton_spec::Direction;
use grammata_agents::plan::{Plan, ReadPlan, Step, Verdict, dataflow};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns all permutations of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let with_last = |order: &Vec<usize>| {
        (0..count).map(|place| [&order[..place], &[count - 1], &order[place..]].concat()).collect::<Vec<_>>()
    };
    shorter.iter().flat_map(with_last).collect()
}

#[test]
fn orders_of_independent_steps_are_those_that_some_plan_permits() {
    let source = "kind = 'cfg'\nstart = 's'\n\
        symbols.join = { inputs = ['x', 'y', 'salt'], outputs = ['z'] }\n\
        symbols.raw = { outputs = ['x'] }\n\
        symbols.cooked = { inputs = ['w', 'salt'], outputs = ['x'] }\n\
        symbols.water = { outputs = ['w'] }\n\
        symbols.greens = { outputs = ['y'] }\n\
        symbols.salt = { outputs = ['salt'] }\n\
        symbols.pepper = { outputs = ['salt'] }\n\
        symbols.soy = { outputs = ['salt'] }\n\
        [rules]\n";
    // a step that makes something precedes the step that takes it: postfix notation, or prefix notation read backwards
    let forward = "s = ['x greens salt join', 'x greens pepper join']\nx = ['raw', 'water soy cooked']";
    let backward = "s = ['join x greens salt', 'join x greens pepper']\nx = ['raw', 'cooked water soy']";
    for source in [format!("{source}{forward}"), format!("direction = 'backward'\n{source}{backward}")] {
        let mut automaton = plans(&source);
        let spec = automaton.shared_spec();
        let all: Vec<Plan> = automaton.plans().unwrap().map(Result::unwrap).collect();
        assert_eq!(all.len(), 4);
        let (mut permitted, mut forbidden) = (0, 0);
        for plan in &all {
            let made: Vec<Step> = plan.executed(&spec).cloned().collect();
            for order in orders(made.len()) {
                let steps: Vec<Step> = order.iter().map(|&place| made[place].clone()).collect();
                let given = Plan {
                    steps: match spec.direction() {
                        Direction::Forward => steps.clone(),
                        Direction::Backward => steps.iter().rev().cloned().collect(),
                    },
                };
                let found = automaton.find_order(&ReadPlan::of(&given, &spec), &[]).unwrap();
                // the oracle: some plan of the spec has these steps, and each step follows the steps whose outputs it
                // takes in the given order
                let expected = all.iter().any(|plan| {
                    let place = |number: usize| {
                        let step = plan.steps.get(number).unwrap();
                        let same = plan.steps.iter().filter(|other| *other == step).count();
                        assert_eq!(same, 1, "the plans of this spec have no step twice");
                        steps.iter().position(|other| other == step)
                    };
                    plan.steps.len() == steps.len()
                        && dataflow(plan, &spec).iter().enumerate().all(|(taker, makers)| {
                            place(taker).is_some()
                                && makers.iter().flatten().all(|&maker| place(maker) < place(taker))
                        })
                });
                assert_eq!(found.is_some(), expected, "{steps:?}");
                permitted += usize::from(expected);
                forbidden += usize::from(!expected);
                if let Some(found) = found {
                    assert!(all.contains(&found));
                }
            }
        }
        assert!(permitted > all.len() && forbidden > 0, "{permitted} {forbidden}");
    }
}

// The next plans are printed in the appendix A.6 of Formal-LLM (arXiv 2402.00798), as results of its own method.
const RECIPE: &str = include_str!("../../../../tests/cases/plans/recipe.txt");
const RISKS: &str = include_str!("../../../../tests/cases/plans/risks.txt");
const DAY: &str = include_str!("../../../../tests/cases/plans/day.txt");

/// The parameters with which the paper asked for its plan of risks.
const SALE: [(&str, &str); 3] = [
    ("seller", "Shareholders of Blizzard Entertainment"),
    ("company", "Blizzard Entertainment"),
    ("buyer", "Microsoft"),
];

#[test]
fn the_recipe_of_the_paper_is_a_plan_in_its_own_words_and_order() {
    let mut cooking = shipped("cooking", &[]);
    let spec = cooking.shared_spec();
    let read = ReadPlan::parse(RECIPE, &spec).unwrap();
    assert_eq!(read.steps.len(), 10);
    assert!(read.steps.iter().all(|step| step.meanings.len() == 1), "{read:?}");
    let notes = [
        "Here is the final plan:",
        "Step 11: Then, we get the cooked broccoli beef.",
        "Carefully cooking at each step!",
    ];
    assert_eq!(read.notes, notes);
    // the words of the spec have the steps of the broccoli first
    assert!(matches!(cooking.verify(&read, &[]).unwrap(), Verdict::Wrong { .. }));
    let found = cooking.find_order(&read, &[]).unwrap().unwrap();
    assert!(matches!(cooking.verify(&ReadPlan::of(&found, &spec), &[]).unwrap(), Verdict::Valid(_)));
    // the beef cannot be cooked before it is marinated
    let mut early = read.clone();
    early.steps.swap(2, 3);
    assert_eq!(cooking.find_order(&early, &[]).unwrap(), None);
    // steps that no action means are known before any search
    let other = RECIPE.replacen("cooking oil", "motor oil", 1).replace("Wash broccoli", "Paint broccoli");
    let other = ReadPlan::parse(&other, &spec).unwrap();
    assert_eq!(other.unknown().collect::<Vec<_>>(), [1, 4]);
    assert_eq!(cooking.find_order(&other, &[]).unwrap(), None);
    // if no step has inputs, no steps are independent
    let mut day = shipped("daily-plan", &[]);
    let some = day.plans().unwrap().next().unwrap().unwrap();
    let spec = day.shared_spec();
    assert_eq!(day.find_order(&ReadPlan::of(&some, &spec), &[]).unwrap(), None);
}

#[test]
fn the_other_plans_of_the_paper_are_plans_as_they_are_printed() {
    let mut risks = shipped("risk-management", &SALE);
    let read = ReadPlan::parse(RISKS, &risks.shared_spec()).unwrap();
    assert_eq!((read.unknown().count(), read.notes.len()), (0, 2), "{read:?}");
    let Verdict::Valid(plan) = risks.verify(&read, &[]).unwrap() else { panic!("{read:?}") };
    let ids: Vec<&str> =
        plan.steps.iter().map(|step| risks.spec().symbols()[step.action].id.as_str()).collect();
    let expected = "entitled_assumed ask_liabilities not_liable ask_sensitive no_review ask_antitrust filing regions \
        approved pass";
    assert_eq!(ids.join(" "), expected);
    assert!(plan.steps.iter().any(|step| step.elements == [1, 2]), "the United States and China: {plan:?}");
    // another seller is not that of the plan
    let unknown = ReadPlan::parse(RISKS, &shipped("risk-management", &[]).shared_spec()).unwrap();
    assert!(unknown.unknown().next().is_some());
    for gap in ["0", "3"] {
        let mut day = shipped("daily-plan", &[("meal_gap_hours", gap)]);
        let read = ReadPlan::parse(DAY, &day.shared_spec()).unwrap();
        assert!(matches!(day.verify(&read, &[]).unwrap(), Verdict::Valid(_)), "{gap}: {read:?}");
    }
}

/// Lists of elements in any order, by any of their names, with any joint between them, mean the elements; with a name
/// that no element has, they mean nothing.
#[test]
fn elements_are_read_by_all_their_names() {
    let source = "kind = 'dfa'\nstart = 'a'\naccepting = ['b']\n\
        transitions = [{ from = 'a', input = 'mix', to = 'b' }]\n\
        phrases = [{ text = 'Bring {} along.', steps = ['mix'] }]\n\
        [symbols.mix]\ntext = 'Mix: {}.'\naliases = ['Take {} now']\n\
        set = { of = ['salt', 'salt water', 'oil', 'sweet and sour sauce', 'orange', 'é'], aliases = { oil = ['cooking oil', 'olive oil'], salt = 'sea salt' } }";
    let automaton = plans(source);
    let spec = automaton.shared_spec();
    let names: [&[&str]; 6] = [
        &["salt", "sea salt", "Sea Salt"],
        &["salt water"],
        &["oil", "cooking oil", "OLIVE OIL"],
        &["sweet and sour sauce"],
        &["orange"],
        &["é", "É"],
    ];
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for round in 0..2_000 {
        let mut chosen: Vec<usize> = (0..names.len()).filter(|_| random.random()).collect();
        chosen.shuffle(&mut random);
        let mut list = String::new();
        for (number, &element) in chosen.iter().enumerate() {
            if number > 0 {
                list.push_str(
                    [", ", " and ", " or ", " and/or ", ", and ", ","].choose(&mut random).unwrap(),
                );
            }
            list.push_str(names[element].choose(&mut random).unwrap());
        }
        let is_strange = round % 5 == 0;
        if is_strange {
            list.push_str(if list.is_empty() { "pepper" } else { ", pepper" });
        } else if chosen.is_empty() {
            list.push_str("none");
        }
        let form = ["Mix: {}.", "take {} now", "Bring {} along.", "3. Mix: {}.", "Step 2: Bring {} along."];
        let line = form.choose(&mut random).unwrap().replace("{}", &list);
        let read = ReadPlan::parse(&line, &spec).unwrap();
        chosen.sort_unstable();
        let expected = if is_strange { Vec::new() } else { vec![Step { elements: chosen, ..Step::of(0) }] };
        assert_eq!(read.steps[0].meanings, expected, "{line}");
    }
}

#[test]
fn wrong_phrases_are_refused() {
    let spec = |phrases: &str| {
        format!(
            "kind = 'dfa'\nstart = 'a'\naccepting = ['b']\ntransitions = [{{ from = 'a', input = ['x', 's', 'g'], to = 'b' }}]\n\
             phrases = [{phrases}]\n[symbols]\nx = 'x'\n\
             s = {{ text = 's {{}}', set = {{ of = ['1', '2'] }} }}\ng = {{ arguments = {{ type = 'object' }} }}"
        )
    };
    for (phrases, code) in [
        ("{ text = 'a note' }, { text = 'both {}', steps = ['x', 's'] }", None),
        ("{ text = 'x', steps = ['y'] }", Some("automaton-spec/undefined")),
        ("{ text = '...', steps = ['x'] }", Some("automaton-spec/phrase")),
        ("{ text = 'all', steps = ['s'] }", Some("automaton-spec/phrase")),
        ("{ text = 'all {}', steps = ['s', 's'] }", Some("automaton-spec/phrase")),
        ("{ text = 'all {}', steps = ['g'] }", Some("automaton-spec/phrase")),
        ("{ steps = ['x'] }", Some("automaton-spec/unreadable")),
    ] {
        let found = read(&spec(phrases), &[]);
        assert_eq!(found.as_ref().err().map(|error| error.code()), code, "{phrases}: {found:?}");
    }
    for aliases in ["{ '3' = 'three' }", "{ '1' = '-' }"] {
        let source = spec("").replace("of = ['1', '2']", &format!("of = ['1', '2'], aliases = {aliases}"));
        assert_eq!(read(&source, &[]).unwrap_err().code(), "automaton-spec/set", "{aliases}");
    }
}
