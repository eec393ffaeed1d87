//! Plans as data: reading them back, the data flow between steps, questions, scores, and the warnings of specs.

use crate::byte_encoder::ByteEncoder;
use crate::models::Function;
use crate::plans::{plans, read};
use grammata::syntax::automaton_spec::{Options, Spec};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{Limits, Result};
use grammata_agents::plan::policy::{Answer, RandomPolicy};
use grammata_agents::plan::search::{Beam, BestFirst, Greedy};
use grammata_agents::plan::{
    Episode, Event, Policy, Problem, Question, Questions, ReadPlan, Search, SearchOptions, Verdict, dataflow,
    policy_rows, tree_dot, tree_text,
};
use grammata_agents_drive::plan::{InteractivePolicy, ModelPolicy, PromptMode, PromptOptions};
use grammata_decode::SamplingParams;

/// Returns a spec with one action, which takes a set of the elements `of`.
fn shopping(of: &[&str], separator: &str) -> String {
    format!(
        "kind = 'cfg'\nstart = 's'\nrules = {{ s = ['buy'] }}\n[symbols]\n\
         buy = {{ text = 'Buy {{}}.', set = {{ of = {of:?}, separator = '{separator}', min = 1 }} }}"
    )
}

#[test]
fn an_element_may_begin_like_another_one() {
    let lists = [&["salt", "salt water", "water"][..], &["a", "ab", "b", "ba", "aba"], &["x", "x, y", "y"]];
    for of in lists {
        for separator in ["", " ", ", ", "; "] {
            let mut automaton = plans(&shopping(of, separator));
            let spec = automaton.shared_spec();
            let all: Vec<_> = automaton.plans().unwrap().map(Result::unwrap).collect();
            assert_eq!(all.len(), (1 << of.len()) - 1);
            for plan in all {
                let word = plan.word(&spec);
                let found = automaton.read_word(&word).unwrap().unwrap_or_else(|| panic!("{word}"));
                // if two sets have the same text, either may be found
                assert_eq!(found.word(&spec), word);
                let line = ReadPlan::parse(&word, &spec).unwrap();
                let Verdict::Valid(found) = automaton.verify(&line, &[]).unwrap() else { panic!("{word}") };
                assert_eq!(found.word(&spec), word);
            }
        }
    }
    let mut automaton = plans(&shopping(&["salt", "salt water"], ", "));
    assert_eq!(automaton.read_word("Buy salt wate.").unwrap(), None);
    assert_eq!(automaton.read_word("Buy salt water, salt.").unwrap(), None, "out of order");
}

const SHOP: &str = "kind = 'cfg'\nstart = 's'\nrules = { s = ['load chat check refund', 'load load check', 'check load'] }\n\
    [symbols]\nload = { text = 'Load the order.', outputs = ['order'] }\nchat = { text = 'Say hello.' }\n\
    check = { text = 'Check the order.', inputs = ['order'], outputs = ['verdict'] }\n\
    refund = { text = 'Refund.', inputs = ['order', 'verdict'] }";

fn valid(automaton: &mut grammata_agents::plan::PlanAutomaton, text: &str) -> grammata_agents::plan::Plan {
    let read = ReadPlan::parse(text, automaton.spec()).unwrap();
    match automaton.verify(&read, &[]).unwrap() {
        Verdict::Valid(plan) => plan,
        Verdict::Wrong { step, .. } => panic!("{text}: wrong at {step}"),
    }
}

#[test]
fn a_step_works_on_what_has_the_name_of_its_input() {
    let mut automaton = plans(SHOP);
    let spec = automaton.shared_spec();
    let plan = valid(&mut automaton, "load\nchat\ncheck\nrefund");
    // two steps use the order; `chat` has no output
    assert_eq!(dataflow(&plan, &spec), [vec![], vec![], vec![Some(0)], vec![Some(0), Some(2)]]);
    let dot = tree_dot(&plan, &spec);
    assert!(
        dot.contains("s0 -> s2 [label=\"order\"]") && dot.contains("s2 -> s3 [label=\"verdict\"]"),
        "{dot}"
    );
    assert!(!dot.contains("s1 ->"), "{dot}");
    let tree =
        "Refund.\n├─ Load the order.\n└─ Check the order.\n   └─ Load the order. (above)\nSay hello.\n";
    let lines: Vec<&str> = tree.lines().collect();
    let found = tree_text(&plan, &spec);
    assert!(lines.iter().all(|line| found.lines().any(|found| found == *line)), "{found}");
    // the latest of two makers is used; without a maker there is `None`
    let plan = valid(&mut automaton, "load\nload\ncheck");
    assert_eq!(dataflow(&plan, &spec)[2], [Some(1)]);
    let plan = valid(&mut automaton, "check\nload");
    assert_eq!(dataflow(&plan, &spec), [vec![None], vec![]]);
}

/// If several steps share a maker, its subtree is printed in full only once.
#[test]
fn a_tree_of_shared_steps_is_as_long_as_the_plan() {
    let source = "kind = 'cfg'\nstart = 's'\nrules = { s = ['a t'], t = ['b t', 'b'] }\n\
        [symbols]\na = { outputs = ['x'] }\nb = { inputs = ['x', 'x'], outputs = ['x'] }";
    let mut automaton = plans(source);
    let text = format!("a\n{}", "b\n".repeat(60));
    let plan = valid(&mut automaton, &text);
    let tree = tree_text(&plan, automaton.spec());
    assert!(tree.lines().count() <= 2 * 61, "{} lines", tree.lines().count());
}

fn warnings(source: &str) -> Vec<String> {
    let spec = Spec::read(source, &Options::default()).unwrap();
    spec.warnings().iter().map(|warning| format!("{} {warning}", warning.code())).collect()
}

#[test]
fn what_is_of_no_use_is_warned_of() {
    let input = SHOP.replace("outputs = ['order']", "outputs = ['parcel']");
    let found = warnings(&input);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("automaton-spec/unmade-input") && found[0].contains("/symbols/check/inputs/0"));
    assert_eq!(warnings(SHOP), [""; 0]);
    let dfa = "kind = 'dfa'\nstart = 'a'\naccepting = ['b']\nstates = ['a', 'b', 'c']\nsymbols = ['x', 'y', 'z']\n\
        transitions = [{ from = 'a', input = 'x', to = 'b' }, { from = 'a', input = 'y', to = 'c' }]";
    let found = warnings(dfa).join("\n");
    assert!(found.contains("automaton-spec/no-end") && found.contains("`c`"), "{found}");
    assert!(found.contains("automaton-spec/unused") && found.contains("`y`, `z`"), "{found}");
    // in a spec with parameters, unused states and symbols are assumed to be intended
    let header = format!("[parameters]\nn = {{ default = 1 }}\n# ---\n{dfa}");
    assert_eq!(warnings(&header), [""; 0]);
}

#[test]
fn a_least_number_joins_a_greatest_one() {
    let source = |limits: &str| {
        format!(
            "kind = 'cfg'\nsymbols = ['email', 'call']\nstart = 's'\nrules = {{ s = ['x s', ''], x = ['email', 'call'] }}\n\
             limits = {{ {limits} }}"
        )
    };
    let mut once =
        plans(&source("at_most_once = ['email'], at_least = { email = 1 }, at_most = { call = 1 }"));
    assert_eq!(once.count().unwrap().to_string(), "3");
    let refused = |limits: &str| read(&source(limits), &[]).unwrap_err();
    assert_eq!(
        refused("at_most_once = ['email'], at_least = { email = 2 }").code(),
        "automaton-spec/empty-language"
    );
    assert_eq!(refused("at_most_once = ['email'], at_most = { email = 1 }").code(), "automaton-spec/twice");
    assert_eq!(refused("exactly_once = ['email'], at_least = { email = 1 }").code(), "automaton-spec/twice");
}

#[test]
fn a_graph_shows_what_is_affordable() {
    let source = "kind = 'dfa'\nstart = 'home'\naccepting = ['away']\n\
        symbols = { walk = { cost = 1 }, fly = { cost = 9 }, rest = { cost = 5 } }\nlimits = { max_cost = 9 }\n\
        transitions = [\
        { from = 'home', input = 'walk', to = 'inn' }, { from = 'home', input = 'fly', to = 'away' },\
        { from = 'inn', input = 'rest', to = 'bed' }, { from = 'inn', input = 'walk', to = 'away' },\
        { from = 'bed', input = 'rest', to = 'away' }, { from = 'bed', input = 'fly', to = 'away' }]";
    let mut automaton = plans(source);
    assert_eq!(automaton.count().unwrap().to_string(), "2");
    let live = automaton.graph(99, false).unwrap().dot;
    assert_eq!((live.matches("shape=").count(), live.matches("->").count()), (3, 3), "{live}");
    let all = automaton.graph(99, true).unwrap().dot;
    // no step from `bed` is affordable
    assert_eq!((all.matches("shape=").count(), all.matches("->").count()), (4, 4), "{all}");
    assert_eq!(all.matches("style=dashed").count(), 1, "{all}");
}

#[test]
fn the_nearest_plan_may_not_be_found() {
    let limits = Limits::default().plan_states(300);
    let source = "kind = 'cfg'\nsymbols = ['a', 'b', 'c', 'd']\nstart = 's'\nrules = { s = ['x s', 'd'], x = ['a', 'b', 'c'] }\n\
        limits = { exactly_once = ['a', 'b', 'c'] }";
    let spec = Spec::read(source, &Options::default().limits(limits)).unwrap();
    let mut automaton = grammata_agents::plan::PlanAutomaton::new(spec).unwrap();
    let read = ReadPlan::parse(&"z\n".repeat(9), automaton.spec()).unwrap();
    assert!(matches!(automaton.verify(&read, &[]).unwrap(), Verdict::Wrong { step: 0, .. }));
    let error = automaton.repair(&read).unwrap_err();
    assert_eq!(error.code(), "plan/budget-exhausted");
    assert!(error.to_string().contains("the nearest plan was not found"), "{error}");
}

#[test]
fn equal_rewards_have_no_advantage() {
    let decision = || {
        let mut automaton = plans(SHOP);
        let questions = Questions::new(automaton.spec(), None).unwrap();
        let options = SearchOptions::default();
        BestFirst
            .run(&mut Problem::new(&mut automaton, &mut RandomPolicy::new(1), &questions, &options))
            .unwrap()
            .decisions
    };
    for reward in [0.1, 1.0 / 3.0, 0.7, 1e9 / 7.0] {
        for count in 1..9 {
            let episodes = vec![Episode { decisions: decision(), reward }; count];
            let rows = policy_rows("shop", &episodes);
            assert!(!rows.is_empty() && rows.iter().all(|row| row["advantage"] == 0.0), "{rows:?}");
        }
    }
}

#[test]
fn a_ranking_keeps_its_decisions_and_wraps_up() {
    let source = "kind = 'cfg'\nsymbols = ['go', 'turn', 'stop']\nstart = 's'\nrules = { s = ['x s', 'stop'], x = ['go', 'turn'] }";
    let mut automaton = plans(source);
    let questions = Questions::new(automaton.spec(), None).unwrap();
    for width in [1, 3] {
        let options = SearchOptions::default().max_free_steps(4).trace(true);
        let found =
            Beam { width }.run(&mut Problem::new(&mut automaton, &mut Going, &questions, &options)).unwrap();
        let plan = found.plan.unwrap();
        assert_eq!(plan.steps.len(), 5, "{plan:?}");
        let answers: Vec<String> =
            found.decisions.iter().map(|decision| decision.completion.clone()).collect();
        assert_eq!(answers, ["1"; 4], "the last step is forced");
        assert!(found.decisions[0].prompt.contains("2. turn"), "{:?}", found.decisions);
        assert!(found.trace.iter().any(|event| matches!(event, Event::Took { depth: 3, choices: 3, .. })));
    }
}

/// A policy that prefers the first choice.
struct Going;

impl Policy for Going {
    fn choose(&mut self, _: &Question) -> Result<Answer> {
        Ok(Answer::one(0))
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        Ok((0..question.choices.len()).map(|place| -0.1 - place as f64).collect())
    }
}

#[test]
fn a_set_that_is_not_chosen_is_no_pair_of_braces() {
    let source = "kind = 'cfg'\nstart = 's'\nrules = { s = ['buy', 'leave'] }\n[symbols]\nleave = 'Leave.'\n\
        buy = { text = 'Buy {}.', set = { of = ['salt', 'tea'] } }";
    let mut automaton = plans(source);
    let questions = Questions::new(automaton.spec(), None).unwrap();
    let mut asked = Asked(Vec::new());
    Greedy.run(&mut Problem::new(&mut automaton, &mut asked, &questions, &SearchOptions::default())).unwrap();
    assert!(asked.0[0].contains("Buy …."), "{:?}", asked.0);
    assert!(asked.0.iter().all(|text| !text.contains("{}")), "{:?}", asked.0);
    let whole = questions.whole(&automaton, &[], false);
    assert!(whole.contains("Buy …. (instead of …, some of: salt, tea; or none)"), "{whole}");
    assert!(!automaton.graph(9, true).unwrap().dot.contains("{}"));
}

/// A policy that takes the last choice and records the questions.
struct Asked(Vec<String>);

impl Policy for Asked {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        self.0.push(question.text.clone());
        Ok(Answer::one(if question.set.is_some() { 0 } else { question.choices.len() - 1 }))
    }
}

// ---- a policy that asks a person

fn ask(input: &str) -> (Result<usize>, String) {
    let source = "kind = 'cfg'\nsymbols = ['tea', 'milk', 'cup']\nstart = 's'\nrules = { s = ['x x'], x = ['tea', 'milk', 'cup'] }";
    let mut automaton = plans(source);
    let questions = Questions::new(automaton.spec(), None).unwrap();
    let mut output = Vec::new();
    let mut person = InteractivePolicy::new(input.as_bytes(), &mut output);
    let found =
        Greedy.run(&mut Problem::new(&mut automaton, &mut person, &questions, &SearchOptions::default()));
    (found.map(|found| found.plan.unwrap().steps[0].action), String::from_utf8(output).unwrap())
}

#[test]
fn a_person_answers_quits_or_leaves() {
    let (found, shown) = ask("juice\n2\ntea\n");
    assert_eq!(found.unwrap(), 1);
    let allowed = "That is none of the answers. Answer with a number from 1 to 3, or with the text of an option; `quit` ends.";
    assert!(shown.contains(allowed), "{shown}");
    let (error, _) = ask("1\n");
    let error = error.unwrap_err();
    assert_eq!(error.code(), "plan/no-answer");
    assert!(error.to_string().contains("before question 2 was answered"), "{error}");
    let (error, _) = ask("1\n  quit\n");
    assert_eq!(error.unwrap_err().code(), "plan/quit");
}

// ---- a policy that asks a language model

#[test]
fn a_model_chooses_as_its_sampling_says() {
    let source = "kind = 'cfg'\nsymbols = ['a', 'b', 'c', 'd']\nstart = 's'\nrules = { s = ['x x x x x x x x'], x = ['a', 'b', 'c', 'd'] }";
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary: std::sync::Arc<_> =
        VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap().into();
    let run = |temperature: f32, seed: u64, asking: PromptMode| {
        let mut automaton = plans(source);
        let questions = Questions::new(automaton.spec(), None).unwrap();
        // two tokens have almost half of the probability each, whatever the input is
        let mut coin = Function::new(257, |_: &[u32]| {
            (0..257).map(|token| if [50, 52].contains(&token) { 1.0 } else { -9.0 }).collect()
        });
        let sampling = SamplingParams::default().temperature(temperature).seed(seed);
        let options = PromptOptions::default().mode(asking).sampling(sampling);
        let mut model =
            ModelPolicy::new(&mut coin, vocabulary.clone(), Box::new(ByteEncoder), options).unwrap();
        let mut one = || {
            let found = Greedy
                .run(&mut Problem::new(&mut automaton, &mut model, &questions, &SearchOptions::default()))
                .unwrap();
            found.plan.unwrap().steps.iter().map(|step| step.action).collect::<Vec<_>>()
        };
        (one(), one())
    };
    for asking in [PromptMode::Answer, PromptMode::Likelihood] {
        // at temperature 0 the first of the most probable choices is taken
        assert_eq!(run(0.0, 1, asking), (vec![1; 8], vec![1; 8]), "{asking:?}");
        let (first, second) = run(1.0, 1, asking);
        assert_ne!(first, second, "{asking:?}: two samples of a model differ");
        assert!([&first, &second].iter().all(|plan| plan.iter().all(|action| [1, 3].contains(action))));
        assert_eq!(run(1.0, 1, asking), (first.clone(), second), "{asking:?}: equal seeds choose alike");
        assert_ne!(run(1.0, 2, asking).0, first, "{asking:?}");
    }
}
