//! Plans: counts against brute force, searches without dead ends, verification.
//!
//! `GRAMMATA_WALKS=100000` sets the number of random walks over all specs; the default is 4,000.

use crate::openagi::modalities;
use grammata::syntax::automaton_spec::{Options, Spec};
use grammata::transitions::Count;
use grammata::{Error, Limits};
use grammata_agents::plan::policy::{AdversarialPolicy, Answer, RandomPolicy, ScriptedPolicy};
use grammata_agents::plan::search::{Backtracking, Beam, BestFirst, Greedy};
use grammata_agents::plan::{
    Completable, Objective, PartialPlan, Plan, PlanAutomaton, PlanSampler, Problem, Questions, ReadPlan,
    Search, SearchOptions, Verdict, dataflow, tree_text,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

pub(crate) fn read(source: &str, parameters: &[(&str, &str)]) -> Result<PlanAutomaton, Error> {
    let parameters: BTreeMap<String, String> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    PlanAutomaton::new(Spec::read(source, &Options::default().parameters(parameters))?)
}

pub(crate) fn plans(source: &str) -> PlanAutomaton {
    read(source, &[]).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

pub(crate) fn shipped(name: &str, parameters: &[(&str, &str)]) -> PlanAutomaton {
    let path = Path::new(crate::ROOT).join("grammars").join(name).join("spec.toml");
    let source = std::fs::read_to_string(path).unwrap();
    read(&source, parameters).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub(crate) fn count(plans: &mut PlanAutomaton) -> String {
    plans.count().unwrap().to_string()
}

/// The shipped specs whose symbols are actions, each with one or more sets of parameters.
const SHIPPED: &[(&str, &[(&str, &str)])] = &[
    ("daily-plan", &[]),
    ("daily-plan", &[("meal_gap_hours", "3")]),
    ("cooking", &[]),
    ("cooking", &[("seasoning_may_be_empty", "false")]),
    ("risk-management", &[]),
    ("openagi", &[]),
    ("openagi", &[("output", "text"), ("inputs", "image")]),
    ("openagi", &[("inputs", "text")]),
];

// ---- counts

/// Returns the number of ways to complete a plan in Polish prefix notation. `open` has the parts that are still to be
/// written, `used` one bit for each tool used so far. No code is shared with the library; the table of tools is a copy.
fn count_by_hand(
    open: &mut Vec<char>,
    used: u16,
    inputs: &[char],
    known: &mut HashMap<(Vec<char>, u16), u64>,
) -> u64 {
    const TOOLS: [(char, &str, u16); 15] = [
        ('I', "I", 0),
        ('I', "I", 1),
        ('I', "I", 2),
        ('I', "I", 3),
        ('T', "I", 4),
        ('T', "I", 5),
        ('T', "I", 6),
        ('I', "T", 7),
        ('T', "T", 8),
        ('T', "T", 9),
        ('T', "T", 10),
        ('T', "T", 11),
        ('T', "T", 12),
        ('T', "IT", 13),
        ('T', "TT", 14),
    ];
    if let Some(&known) = known.get(&(open.clone(), used)) {
        return known;
    }
    let Some(goal) = open.pop() else { return 1 };
    let mut total = 0;
    if inputs.contains(&goal) {
        total += count_by_hand(open, used, inputs, known);
    }
    for (output, takes, bit) in TOOLS {
        if output == goal && used >> bit & 1 == 0 {
            let before = open.len();
            open.extend(takes.chars().rev());
            total += count_by_hand(open, used | 1 << bit, inputs, known);
            open.truncate(before);
        }
    }
    open.push(goal);
    known.insert((open.clone(), used), total);
    total
}

#[test]
fn tools_used_once_are_counted_as_by_hand() {
    let table = [
        ("image", "image", 348_042_254),
        ("text", "image", 4_007_600_937),
        ("image", "text", 349_830),
        ("text", "text", 14_617_512),
        ("image", "image,text", 518_563_004),
        ("text", "image,text", 8_543_019_637u64),
    ];
    for (output, inputs, expected) in table {
        let letter = |name: &str| if name == "image" { 'I' } else { 'T' };
        let given: Vec<char> = inputs.split(',').map(letter).collect();
        let by_hand = count_by_hand(&mut vec![letter(output)], 0, &given, &mut HashMap::new());
        let mut plans = shipped("openagi", &[("output", output), ("inputs", inputs)]);
        assert_eq!(count(&mut plans), expected.to_string(), "{output} from {inputs}");
        assert_eq!(by_hand, expected, "{output} from {inputs}");
        assert!(plans.state_count() < 5_000, "{}", plans.state_count());
    }
}

#[test]
fn days_are_counted_as_by_hand() {
    // breakfast, lunch, supper, basketball, shopping, cleaning, homework
    const HOURS: [u32; 7] = [1, 1, 1, 2, 1, 1, 3];
    let mut orders: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..7 {
        orders = orders
            .iter()
            .flat_map(|order| {
                (0..7).filter(|next| !order.contains(next)).map(|next| [&order[..], &[next]].concat())
            })
            .collect();
    }
    for (gap, expected) in [(0, 88), (1, 12), (2, 8), (3, 8)] {
        let mut valid = 0;
        for order in &orders {
            let mut starts = [0; 7];
            let mut hour = 10;
            for &activity in order {
                starts[activity] = hour;
                hour += HOURS[activity];
            }
            let meals = starts[0] + 1 + gap <= starts[1] && starts[1] + 1 + gap <= starts[2];
            let rested = (0..3).all(|meal| starts[meal] + 1 != starts[3]);
            // the washing machine is turned on right before cleaning or right before homework
            valid += if starts[3] == 13 && meals && rested { 2 } else { 0 };
        }
        let mut plans = shipped("daily-plan", &[("meal_gap_hours", &gap.to_string())]);
        assert_eq!((count(&mut plans), valid), (expected.to_string(), expected), "{gap}");
    }
}

#[test]
fn recipes_are_counted() {
    for (may_be_empty, sets) in [("true", 1024u64), ("false", 1023)] {
        let mut plans = shipped("cooking", &[("seasoning_may_be_empty", may_be_empty)]);
        // two sets of seasonings, and either a third set or one of two ways to blanch
        assert_eq!(count(&mut plans), (sets * sets * (sets + 2)).to_string());
    }
    assert_eq!(count(&mut shipped("risk-management", &[])), "471");
}

#[test]
fn counts_are_those_of_the_texts() {
    for (name, parameters) in [("daily-plan", &[][..]), ("cooking", &[]), ("risk-management", &[])] {
        let mut plans = shipped(name, parameters);
        let grammar = plans.spec().grammar().unwrap();
        let automaton = grammata::automaton::Automaton::new(&grammar, &Limits::default()).unwrap();
        let texts = grammata::automaton::words::count(&automaton).unwrap();
        assert_eq!(count(&mut plans), texts.to_string(), "{name}");
    }
}

#[test]
fn enumeration_lists_each_plan_once() {
    for (name, parameters, number) in [
        ("daily-plan", &[][..], 88),
        ("daily-plan", &[("meal_gap_hours", "3")], 8),
        ("risk-management", &[], 471),
    ] {
        let mut automaton = shipped(name, parameters);
        let all: Vec<Plan> = automaton.plans().unwrap().map(Result::unwrap).collect();
        let distinct: HashSet<&Plan> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (number, number), "{name}");
        for plan in &all {
            let read = ReadPlan::of(plan, automaton.spec());
            assert_eq!(automaton.verify(&read, &[]).unwrap(), Verdict::Valid(plan.clone()));
            assert_eq!(automaton.read_word(&plan.word(automaton.spec())).unwrap().as_ref(), Some(plan));
        }
    }
    let mut endless = plans("kind = 'cfg'\nsymbols = ['a', 'b']\nstart = 's'\nrules = { s = ['a s', 'b'] }");
    let lengths: Vec<usize> =
        endless.plans().unwrap().take(4).map(|plan| plan.unwrap().steps.len()).collect();
    assert_eq!(lengths, [1, 2, 3, 4]);
    assert_eq!(endless.count().unwrap(), Count::Infinite);
    assert_eq!(endless.count_within(endless.start(), 7).unwrap(), 7u32.into());
}

#[test]
fn subsets_are_listed_and_counted() {
    let source = |min: usize, max: usize| {
        format!(
            "kind = 'cfg'\nstart = 's'\nrules = {{ s = ['x'] }}\n[symbols]\n\
             x = {{ text = '<{{}}>', set = {{ of = ['a', 'b', 'c', 'd', 'e'], min = {min}, max = {max} }} }}"
        )
    };
    for (min, max) in [(0, 5), (1, 5), (2, 3), (0, 0), (5, 5)] {
        let mut automaton = plans(&source(min, max));
        let expected = (0u32..32).filter(|mask| (min..=max).contains(&(mask.count_ones() as usize))).count();
        assert_eq!(count(&mut automaton), expected.to_string());
        let spec = automaton.shared_spec();
        let texts: HashSet<String> =
            automaton.plans().unwrap().map(|plan| plan.unwrap().word(&spec)).collect();
        assert_eq!(texts.len(), expected);
        let language = crate::language::Language::new(&spec.grammar().unwrap());
        assert!(texts.iter().all(|text| language.accepts(text.as_bytes())), "{texts:?}");
        let grammar = spec.grammar().unwrap();
        let words = grammata::automaton::Automaton::new(&grammar, &Limits::default()).unwrap();
        assert_eq!(grammata::automaton::words::count(&words).unwrap().to_string(), expected.to_string());
    }
}

/// All words over a small alphabet, under all kinds of limits, are compared with a naive check of each.
#[test]
fn limits_are_kept_as_a_naive_check_keeps_them() {
    let spec = |direction: &str, limits: &str, requires: &str| {
        format!(
            "kind = 'cfg'\ndirection = '{direction}'\nstart = 's'\nseparator = ','\n\
             rules = {{ s = ['x s', ''], x = ['a', 'b', 'c', 'd'] }}\n\
             symbols = {{ a = {{ group = 'g' }}, b = {{ group = 'g' }}, c = {{ {requires} }}, d = 'd' }}\n\
             limits = {{ {limits} }}"
        )
    };
    type Check = fn(&[usize]) -> bool;
    let cases: &[(&str, &str, &str, Check)] = &[
        ("forward", "at_most_once = ['a', 'b'], exactly_once = ['d']", "", |w| {
            let n = |s| w.iter().filter(|&&x| x == s).count();
            n(0) <= 1 && n(1) <= 1 && n(3) == 1
        }),
        ("forward", "at_most = { g = 2, d = 1 }", "", |w| {
            let n = |s| w.iter().filter(|&&x| x == s).count();
            n(0) + n(1) <= 2 && n(3) <= 1
        }),
        ("forward", "at_most = { a = 2 }, at_least = { a = 1, g = 2 }", "", |w| {
            let n = |s| w.iter().filter(|&&x| x == s).count();
            (1..=2).contains(&n(0)) && n(0) + n(1) >= 2
        }),
        ("forward", "", "requires = ['a']", |w| {
            w.iter().position(|&x| x == 2).is_none_or(|c| w[..c].contains(&0))
        }),
        ("backward", "at_most_once = ['d']", "requires = ['a', 'b']", |w| {
            let n = |s| w.iter().filter(|&&x| x == s).count();
            let after = |c: usize, s| w[c..].contains(&s);
            n(3) <= 1 && w.iter().rposition(|&x| x == 2).is_none_or(|c| after(c, 0) && after(c, 1))
        }),
    ];
    const LONGEST: u32 = 6;
    for (direction, limits, requires, check) in cases {
        let mut automaton = plans(&spec(direction, limits, requires));
        let grammar = automaton.spec().grammar().unwrap();
        let language = crate::language::Language::new(&grammar);
        let mut expected = 0u32;
        for length in 0..=LONGEST {
            for number in 0..4usize.pow(length) {
                let word: Vec<usize> = (0..length).map(|place| number / 4usize.pow(place) % 4).collect();
                expected += u32::from(check(&word));
                if length <= 5 {
                    let text: Vec<&str> = word.iter().map(|&s| ["a", "b", "c", "d"][s]).collect();
                    let text = text.join(",");
                    assert_eq!(
                        language.accepts(text.as_bytes()),
                        check(&word),
                        "{limits} {requires}: {text}"
                    );
                }
            }
        }
        let found = automaton.count_within(automaton.start(), LONGEST as usize).unwrap();
        assert_eq!(found, expected.into(), "{limits} {requires}");
    }
}

// ---- search

#[test]
fn random_walks_meet_no_dead_end() {
    let walks = std::env::var("GRAMMATA_WALKS").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000usize);
    let each = walks.div_ceil(SHIPPED.len());
    let mut taken = 0;
    for (name, parameters) in SHIPPED {
        let mut automaton = shipped(name, parameters);
        let questions = Questions::new(automaton.spec(), None).unwrap();
        for seed in 0..each {
            let mut policy = RandomPolicy::new(seed as u64);
            let outcome = Greedy
                .run(&mut Problem::new(&mut automaton, &mut policy, &questions, &SearchOptions::default()))
                .unwrap();
            let plan = outcome.plan.unwrap_or_else(|| panic!("{name}, seed {seed}: no plan"));
            assert_eq!(outcome.backtracks, 0, "{name}, seed {seed}");
            let walk = automaton.walk(&plan).unwrap().unwrap_or_else(|| panic!("{name}, seed {seed}"));
            assert!(automaton.is_complete(walk.position().state), "{name}, seed {seed}");
            taken += 1;
        }
    }
    assert!(taken >= walks, "{taken}");
}

fn tasks() -> Vec<String> {
    let path = Path::new(crate::ROOT).join("grammars/openagi/tasks.txt");
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn an_adversarial_policy_reaches_a_plan_for_every_task() {
    let tasks = tasks();
    assert_eq!(tasks.len(), 185);
    let mut backtracks = 0;
    for task in &tasks {
        let found = modalities(task).unwrap_or_else(|| panic!("{task}"));
        let parameters = [("inputs", found.inputs.join(",")), ("output", found.output.to_owned())];
        let parameters: Vec<(&str, &str)> = parameters.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let mut automaton = shipped("openagi", &parameters);
        let questions = Questions::new(automaton.spec(), Some(task)).unwrap();
        let options = SearchOptions::default().trace(true);
        let outcome = Backtracking
            .run(&mut Problem::new(&mut automaton, &mut AdversarialPolicy, &questions, &options))
            .unwrap();
        let plan = outcome.plan.unwrap_or_else(|| panic!("{task}: no plan"));
        let read = ReadPlan::of(&plan, automaton.spec());
        assert_eq!(automaton.verify(&read, &[]).unwrap(), Verdict::Valid(plan), "{task}");
        backtracks += outcome.backtracks;
    }
    assert!(backtracks > 100, "the automaton has dead ends, but the adversarial policy met {backtracks}");
}

/// The shipped file of tasks is what the example writes.
#[test]
fn tasks_with_parameters_are_those_of_the_descriptions() {
    let path = Path::new(crate::ROOT).join("grammars/openagi/tasks.jsonl");
    let written: String =
        tasks().iter().map(|task| format!("{}\n", crate::openagi::task(task).unwrap())).collect();
    assert_eq!(std::fs::read_to_string(path).unwrap(), written);
}

#[test]
fn words_of_a_task_give_its_modalities() {
    let cases = [
        (
            "Given low-resolutioned noisy image, how to return the regular image step by step?",
            "image",
            "image",
        ),
        ("Given grayscale image, how to return the caption in German step by step?", "image", "text"),
        ("Given English text, how to generate a image step by step?", "text", "image"),
        ("Given image and English query, how to answer the question step by step?", "image,text", "text"),
        (
            "Given English document and English query, how to answer the question step by step?",
            "text",
            "text",
        ),
    ];
    for (description, inputs, output) in cases {
        let found = modalities(description).unwrap();
        assert_eq!((found.inputs.join(",").as_str(), found.output), (inputs, output), "{description}");
    }
    assert_eq!(modalities("Make a cake."), None);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks() {
        let found = modalities(&task).unwrap();
        *kinds.entry(format!("{} from {}", found.output, found.inputs.join(","))).or_default() += 1;
    }
    let expected = [("image from image", 15), ("image from text", 2), ("text from image", 90)];
    assert!(expected.iter().all(|(kind, number)| kinds.get(*kind) == Some(number)), "{kinds:?}");
    assert_eq!(kinds["text from image,text"] + kinds["text from text"], 78, "{kinds:?}");
}

#[test]
fn a_script_answers_and_is_refused() {
    let mut automaton = shipped("daily-plan", &[]);
    let questions = Questions::new(automaton.spec(), None).unwrap();
    let mut run = |answers: &[&str]| {
        let mut policy = ScriptedPolicy::new(answers.iter().map(|answer| (*answer).to_owned()));
        Greedy.run(&mut Problem::new(&mut automaton, &mut policy, &questions, &SearchOptions::default()))
    };
    assert_eq!(run(&["nonsense"]).unwrap_err().code(), "plan/wrong-answer");
    assert_eq!(run(&["99"]).unwrap_err().code(), "plan/wrong-answer");
    assert_eq!(run(&[]).unwrap_err().code(), "plan/no-answer");
    let answers = ["Eating supper.", "Doing homework.", "2", "1", "1", "1", "1", "1"];
    let plan = run(&answers).unwrap().plan.unwrap();
    let text = plan.word(automaton.spec());
    assert!(text.starts_with("19:00 - 20:00 Eating supper.\n16:00 - 19:00 Doing homework."), "{text}");
}

/// A policy that gives each choice the score in its label.
struct Labels;

impl grammata_agents::plan::Policy for Labels {
    fn choose(&mut self, _: &grammata_agents::plan::Question) -> grammata::Result<Answer> {
        Ok(Answer::one(0))
    }

    fn scores(&mut self, question: &grammata_agents::plan::Question) -> grammata::Result<Vec<f64>> {
        Ok(question.choices.iter().map(|choice| -choice.label.parse::<f64>().unwrap()).collect())
    }
}

#[test]
fn the_likeliest_plan_is_found_best_first_and_a_beam_may_miss_it() {
    // the prefix with the better score has the worse completion
    let source = "kind = 'cfg'\nsymbols = ['1', '2', '9', '3', '8']\nstart = 's'\n\
        rules = { s = ['1 x', '2 y'], x = ['9', '8'], y = ['3', '9'] }";
    let mut automaton = plans(source);
    let questions = Questions::new(automaton.spec(), None).unwrap();
    let options = SearchOptions::default();
    let cases: [(Box<dyn Search>, _, _); 3] = [
        (Box::new(BestFirst), ["2", "3"], -5.0),
        (Box::new(Beam { width: 1 }), ["1", "8"], -9.0),
        (Box::new(Beam { width: 9 }), ["2", "3"], -5.0),
    ];
    for (place, (search, expected, score)) in cases.into_iter().enumerate() {
        let found = search.run(&mut Problem::new(&mut automaton, &mut Labels, &questions, &options)).unwrap();
        let ids = found
            .plan
            .as_ref()
            .unwrap()
            .steps
            .iter()
            .map(|step| automaton.spec().symbols()[step.action].id.as_str());
        assert_eq!((ids.collect::<Vec<_>>(), found.score), (expected.to_vec(), Some(score)), "{place}");
    }
    let error = BestFirst
        .run(&mut Problem::new(&mut automaton, &mut AdversarialPolicy, &questions, &options))
        .unwrap_err();
    assert_eq!(error.code(), "plan/no-scores");
}

#[test]
fn plans_are_drawn_evenly() {
    let mut automaton = shipped("daily-plan", &[("meal_gap_hours", "3")]);
    let mut sampler = PlanSampler::new(&mut automaton, 7, 0);
    let mut drawn: HashMap<Plan, u32> = HashMap::new();
    for _ in 0..4_000 {
        *drawn.entry(sampler.sample().unwrap()).or_default() += 1;
    }
    // 500 draws of each plan are expected, with a standard deviation of 21
    assert!(drawn.len() == 8 && drawn.values().all(|&n| (400..600).contains(&n)), "{:?}", drawn.values());
}

#[test]
fn completions_are_shortest_and_cheapest() {
    let source = "kind = 'dfa'\nstart = '0'\naccepting = ['4']\n\
        symbols = { walk = { cost = 1 }, ride = { cost = 5 }, fly = { cost = 40 } }\n\
        transitions = [\
        { from = '0', input = 'walk', to = '1' }, { from = '1', input = 'walk', to = '2' },\
        { from = '2', input = 'walk', to = '3' }, { from = '3', input = 'walk', to = '4' },\
        { from = '0', input = 'ride', to = '2' }, { from = '2', input = 'ride', to = '4' },\
        { from = '0', input = 'fly', to = '4' }]";
    let mut automaton = plans(source);
    let (start, spec) = (PartialPlan::new(&automaton), automaton.shared_spec());
    let shortest = automaton.completion(&start, Objective::Steps).unwrap().unwrap();
    let cheapest = automaton.completion(&start, Objective::Cost).unwrap().unwrap();
    assert_eq!((shortest.steps.len(), shortest.cost(&spec)), (1, 40));
    assert_eq!((cheapest.steps.len(), cheapest.cost(&spec)), (4, 4));
    for (max, number) in [(3, 0), (4, 1), (7, 3), (10, 4), (40, 5)] {
        let mut automaton = plans(&format!("{source}\nlimits = {{ max_cost = {max} }}"));
        assert_eq!(count(&mut automaton), number.to_string(), "{max}");
        assert_eq!(automaton.plans().unwrap().count(), number, "{max}");
        let expected = if number == 0 { Completable::No } else { Completable::Yes };
        assert_eq!(automaton.completable(automaton.start()).unwrap(), expected);
    }
}

#[test]
fn a_plan_is_a_tree() {
    let mut automaton = shipped("openagi", &[("output", "text")]);
    let read = ReadPlan::parse(
        "Input Image\nImage Captioning\nInput Image\nColorization\nVisual Question Answering",
        automaton.spec(),
    );
    let Verdict::Valid(plan) = automaton.verify(&read.unwrap(), &[]).unwrap() else { panic!("a valid plan") };
    assert_eq!(
        dataflow(&plan, automaton.spec()),
        [vec![Some(1), Some(3)], vec![Some(2)], vec![], vec![Some(4)], vec![]]
    );
    let tree = "Visual Question Answering\n├─ Colorization\n│  └─ Input Image\n└─ Image Captioning\n   └─ Input Image\n";
    assert_eq!(tree_text(&plan, automaton.spec()), tree);
}

// ---- verification

/// The plan that the paper prints (A.6). `UNCONSTRAINED` is the plan that GPT-4 wrote without the automaton.
const PRINTED: &str = "10:00 - 10:00 Turning on the washer/laundry machine.\n10:00 - 11:00 House cleaning.\n\
    11:00 - 12:00 Eating breakfast.\n12:00 - 13:00 Grocery shopping.\n13:00 - 15:00 Playing basketball.\n\
    15:00 - 16:00 Eating lunch.\n16:00 - 19:00 Doing homework.\n19:00 - 20:00 Eating supper.";
const UNCONSTRAINED: &str = "10:00 - 11:00 : Breakfast\n11:00 - 12:00 : House Cleaning\n12:00 - 13:00 : Free Time\n\
    13:00 - 15:00 : Basketball Playing\n15:00 - 16:00 : Free Time\n16:00 - 17:00 : Lunch\n\
    17:00 - 18:00 : Grocery Shopping\n18:00 - 19:00 : Homework\n19:00 - 20:00 : Laundry and Supper\n\
    20:00 - 23:00 : Continue Homework";

#[test]
fn the_printed_day_is_valid_and_the_unconstrained_one_is_not() {
    for gap in ["0", "3"] {
        let mut automaton = shipped("daily-plan", &[("meal_gap_hours", gap)]);
        let read = ReadPlan::parse(PRINTED, automaton.spec()).unwrap();
        assert!(matches!(automaton.verify(&read, &[]).unwrap(), Verdict::Valid(_)), "{gap}");
        let nearest = automaton.repair(&read).unwrap();
        assert_eq!(nearest.edits, 0);
    }
    let mut automaton = shipped("daily-plan", &[]);
    let read = ReadPlan::parse(UNCONSTRAINED, automaton.spec()).unwrap();
    let Verdict::Wrong { step, feasible, may_end } = automaton.verify(&read, &[]).unwrap() else {
        panic!("the plan is wrong")
    };
    assert_eq!((read.steps[step].written.as_str(), may_end), ("12:00 - 13:00 : Free Time", false));
    let texts: Vec<&str> =
        feasible.iter().map(|&action| automaton.spec().symbols()[action].text.as_str()).collect();
    assert_eq!(texts, ["12:00 - 13:00 Grocery shopping."]);
    let nearest = automaton.repair(&read).unwrap();
    let found = ReadPlan::of(&nearest.plan, automaton.spec());
    assert!(matches!(automaton.verify(&found, &[]).unwrap(), Verdict::Valid(_)));
    assert!(nearest.edits > 0 && nearest.edits < 10, "{nearest:?}");
}

#[test]
fn the_first_wrong_step_is_named_whichever_way_plans_are_made() {
    for direction in ["forward", "backward"] {
        let rules = if direction == "forward" { "'a b c', 'a c'" } else { "'c b a', 'c a'" };
        let source = format!(
            "kind = 'cfg'\ndirection = '{direction}'\nsymbols = ['a', 'b', 'c']\nstart = 's'\nrules = {{ s = [{rules}] }}"
        );
        let mut automaton = plans(&source);
        let mut verdict = |text: &str| {
            let read = ReadPlan::parse(text, automaton.spec()).unwrap();
            match automaton.verify(&read, &[]).unwrap() {
                Verdict::Valid(_) => None,
                Verdict::Wrong { step, feasible, may_end } => Some((step, feasible, may_end)),
            }
        };
        assert_eq!(verdict("[\"a\", \"b\", \"c\"]"), None, "{direction}");
        assert_eq!(verdict("a\nc"), None, "{direction}");
        assert_eq!(verdict("b\nc"), Some((0, vec![0], false)), "{direction}");
        assert_eq!(verdict("a\na"), Some((1, vec![1, 2], false)), "{direction}");
        assert_eq!(verdict("a\nb"), Some((2, vec![2], false)), "{direction}");
        assert_eq!(verdict("a\nc\nc"), Some((2, vec![], true)), "{direction}");
        assert_eq!(verdict("[\"a\", \"unheard of\"]"), Some((1, vec![1, 2], false)), "{direction}");
    }
    let automaton = plans("kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a'] }");
    let error = ReadPlan::parse("[1, 2]", automaton.spec()).unwrap_err();
    assert_eq!(error.code(), "plan/unreadable");
}
