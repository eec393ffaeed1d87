//! Plans whose steps are in another order than in the words of the spec.

use crate::plans::{plans, shipped};
use grammata::syntax::automaton_spec::Direction;
use grammata_agents::plan::{Plan, ReadPlan, Step, Verdict, dataflow};

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

#[test]
fn the_recipe_of_the_paper_is_a_plan_in_its_own_words_and_order() {
    let mut cooking = shipped("cooking", &[]);
    let spec = cooking.shared_spec();
    let recipe = "Step 1: Wash raw beef slices with water.\n\
        Step 2: Prepare the seasoning: ginger, garlic, oil, salt, light soy sauce, cooking wine, white pepper for the step: \
        \"Marinate clean slices of beef in a bowl with seasoning\".\n\
        Step 3: Marinate clean slices of beef in a bowl with seasoning.\n\
        Step 4: Stir-fry the marinaded beef in a wok.\n\
        Step 5: Wash broccoli with water.\n\
        Step 6: Blanch clean broccoli in a cooking pot.\n\
        Step 7: Use a bowl to drain the blanched broccoli.\n\
        Step 8: Combine lightly cooked beef and blanched and drained broccoli in a wok.\n\
        Step 9: Prepare the seasoning: ginger, garlic, oil, salt, light soy sauce, cooking wine, white pepper for the step: \
        \"Stir-fry the beef and broccoli mixture with the seasoning in a wok\".\n\
        Step 10: Stir-fry the beef and broccoli mixture with the seasoning in a wok.\n";
    let read = ReadPlan::parse(recipe, &spec).unwrap();
    assert!(read.steps.iter().all(|step| step.meanings.len() == 1), "{read:?}");
    // the words of the spec have the steps of the broccoli first
    assert!(matches!(cooking.verify(&read, &[]).unwrap(), Verdict::Wrong { .. }));
    let found = cooking.find_order(&read, &[]).unwrap().unwrap();
    assert!(matches!(cooking.verify(&ReadPlan::of(&found, &spec), &[]).unwrap(), Verdict::Valid(_)));
    // the beef cannot be cooked before it is marinated
    let mut early = read.clone();
    early.steps.swap(2, 3);
    assert_eq!(cooking.find_order(&early, &[]).unwrap(), None);
    // if no step has inputs, no steps are independent
    let mut day = shipped("daily-plan", &[]);
    let some = day.plans().unwrap().next().unwrap().unwrap();
    let spec = day.shared_spec();
    assert_eq!(day.find_order(&ReadPlan::of(&some, &spec), &[]).unwrap(), None);
}
