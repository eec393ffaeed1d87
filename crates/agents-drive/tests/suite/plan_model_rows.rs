//! Plans of a simulated language model: a context that fills up, and rows of policy data.

use crate::byte_encoder::ByteEncoder;
use crate::models::Function;
use crate::plan_model::{
    ALL, WIDTH, bytes, form, noise, normalised, options, probability, script, softmax, spelled, vocabulary,
};
use grammata::ErrorKind;
use grammata::syntax::automaton_spec::{Options, Spec};
use grammata_agents::plan::search::{Greedy, SearchOptions};
use grammata_agents::plan::{AnswerForm, Episode, PlanAutomaton, Problem, Questions, Search, policy_rows};
use grammata_agents_drive::plan::{ModelPolicy, PromptMode};
use serde_json::json;

const WALK: &str = "kind = 'cfg'\nsymbols = ['walk', 'ride']\nstart = 's'\nrules = { s = ['x s', 'x'], x = ['walk', 'ride'] }";

fn plans(source: &str) -> PlanAutomaton {
    PlanAutomaton::new(Spec::read(source, &Options::default()).unwrap()).unwrap()
}

/// Each question contains the plan so far. After several answers, a question does not fit into the context.
#[test]
fn a_context_is_full_in_the_middle_of_a_plan() {
    for mode in ALL {
        let mut automaton = plans(WALK);
        let questions = Questions::new(automaton.spec(), Some("Go.")).unwrap();
        let search = SearchOptions::default();
        let mut model = Function::new(WIDTH, script(|_| vec![('1', 0.4), ('w', 0.4)]));
        model.context = Some(400);
        let mut policy =
            ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 1)).unwrap();
        let error =
            Greedy.run(&mut Problem::new(&mut automaton, &mut policy, &questions, &search)).unwrap_err();
        assert!(policy.usage().calls > 4, "{mode:?}: {:?}", policy.usage());
        assert_eq!((error.code(), error.kind()), ("plan/model", ErrorKind::Model), "{mode:?}");
        let text = error.to_string();
        assert!(text.contains("400 tokens, the context of the model"), "{text}");
        // shorter questions without the plan so far, as the help of the error proposes, fit
        let short = format!("{WALK}\n[templates]\nprogress = ''");
        let mut automaton = plans(&short);
        let questions = Questions::new(automaton.spec(), Some("Go.")).unwrap();
        let found = Greedy.run(&mut Problem::new(&mut automaton, &mut policy, &questions, &search)).unwrap();
        assert!(found.plan.is_some_and(|plan| plan.steps.len() >= 100), "{mode:?}");
    }
}

/// The prompts of policy data have the forms of the default template, and the completion is the answer of the model.
#[test]
fn rows_have_the_prompt_and_the_completion_that_the_model_was_asked_for() {
    let source = "kind = 'cfg'\nsymbols = ['walk', 'ride', 'rest']\nstart = 's'\nrules = { s = ['x x'], x = ['walk', 'ride', 'rest'] }";
    for mode in ALL {
        let mut automaton = plans(source);
        let questions = Questions::new(automaton.spec(), Some("Go.")).unwrap();
        let search = SearchOptions::default();
        let mut model = Function::new(WIDTH, noise);
        let asked = options(mode, 1).token_log_probabilities(true);
        let mut policy = ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), asked).unwrap();
        let found = Greedy.run(&mut Problem::new(&mut automaton, &mut policy, &questions, &search)).unwrap();
        let score = found.score.unwrap();
        let plan = found.plan.unwrap();
        let episodes =
            [(2.0, 0), (0.5, 1)].map(|(reward, _)| Episode { decisions: found.decisions.clone(), reward });
        let rows = policy_rows("trip", &episodes);
        assert_eq!(rows.len(), 4);
        let mut sum = 0.0;
        for (number, row) in rows.iter().enumerate() {
            let (sample, step) = (number / 2, number % 2);
            assert_eq!(
                (&row["task"], &row["sample"], &row["step"]),
                (&json!("trip"), &json!(sample), &json!(step))
            );
            assert_eq!(row["options"], json!(["walk", "ride", "rest"]));
            let taken = plan.steps[step].action;
            let label = ["walk", "ride", "rest"][taken];
            assert_eq!(row["chosen"], json!([label]));
            let prompt = row["prompt"].as_str().unwrap();
            let (completion, lists, ends) = match form(mode) {
                AnswerForm::Number => {
                    ((taken + 1).to_string(), "\n2. ride\n", "Answer with one number only, such as 1.")
                }
                AnswerForm::Text => {
                    (label.to_owned(), "\n- ride\n", "Answer with the text of one option only.")
                }
                AnswerForm::Open => (label.to_owned(), "Go.", "Answer with the action only."),
            };
            assert_eq!(row["completion"], json!(completion), "{mode:?}");
            assert!(prompt.contains(lists) && prompt.ends_with(ends), "{mode:?}: {prompt}");
            assert_eq!(
                prompt.contains("rest"),
                form(mode) != AnswerForm::Open || prompt.contains("1. rest"),
                "{prompt}"
            );
            // the log-probability of the option among all options, computed again
            let labels = ["walk", "ride", "rest"];
            let of = |place: usize| match form(mode) {
                AnswerForm::Number => probability(&bytes(prompt), &spelled(&(place + 1).to_string())),
                _ => probability(&bytes(prompt), &bytes(labels[place])),
            };
            let found = row["logprob"].as_f64().unwrap();
            let expected = if mode == PromptMode::Answer {
                masked(&bytes(prompt), taken)
            } else {
                normalised(&[0, 1, 2].map(of))[taken]
            };
            assert!((found - expected).abs() < 1e-4, "{mode:?}: {found} is not {expected}");
            // the log-probability of each token among all tokens, whatever the other options are
            let prompt = bytes(prompt);
            let tokens = bytes(&completion);
            let after =
                |place: usize| softmax(&noise(&[&prompt, &tokens[..place]].concat()), tokens[place]).ln();
            let expected: Vec<f64> = (0..tokens.len()).map(after).collect();
            let found_tokens: Vec<f64> = serde_json::from_value(row["token_logprobs"].clone()).unwrap();
            assert_eq!(found_tokens.len(), expected.len());
            assert!(
                found_tokens.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4),
                "{found_tokens:?}"
            );
            sum += found * f64::from(u8::from(sample == 0));
            assert_eq!(row["reward"], json!([2.0, 0.5][sample]));
            assert_eq!(row["advantage"], json!([0.75, -0.75][sample]));
        }
        assert!((sum - score).abs() < 1e-9, "{mode:?}: the score of the plan is the sum of its decisions'");
    }
}

/// Returns the log-probability of the number of `taken` among the tokens that can begin a number from 1 to 3.
fn masked(prompt: &[u32], taken: usize) -> f64 {
    let logits = noise(prompt);
    // token 258 spells 1 as well
    let tokens = [b'1', b'2', b'3'].map(u32::from).into_iter().chain([258]);
    let all: f64 = tokens.map(|token| softmax(&logits, token)).sum();
    let written = |token: u32| (softmax(&logits, token) / all).ln();
    match taken {
        0 => written(u32::from(b'1')).max(written(258)),
        place => written(u32::from(b'1') + place as u32),
    }
}
