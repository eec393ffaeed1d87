//! Plans whose calls are executed while they are written: the answers decide which calls may follow.

use crate::flow_vocabulary::{tokens, vocabulary};
use grammata::syntax::automaton_spec::Spec;
use grammata::{Compiler, Limits, Result, Vocabulary};
use grammata_agents::flows::{Brackets, FlowDomain, FlowOptions, Thoughts, WrittenCall, grammar, parse};
use grammata_agents::plan::{Environment, Observation, Step};
use grammata_agents_drive::flows::{Execution, PlanWriter};
use grammata_decode::RandomLogits;
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns the domain of `tests/cases/flows/refund.toml` with a further outcome `due_later`, whose name begins with
/// `due`.
fn domain() -> FlowDomain {
    let text = include_str!("../../../../tests/cases/flows/refund.toml")
        .replace("due = [\"approval\"]", "due = [\"approval\"], due_later = [\"reason\"]");
    FlowDomain::read(&text, &Limits::default()).unwrap()
}

/// Returns a vocabulary with tokens that cross the borders between a call, its answer and the text after it.
fn crossing(domain: &FlowDomain) -> Arc<Vocabulary> {
    let mut all = tokens(domain);
    let end = all.pop();
    let more =
        ["()=", "()=d", "CheckRefund()=due", "=due,", "=denied, ", "=due\n[", "e_later", "r() [thought] "];
    all.extend(more.map(|text| Some(text.as_bytes().to_vec())));
    all.sort();
    all.dedup();
    all.extend(end);
    vocabulary(&all)
}

/// Encodes a text greedily: the longest token at each position.
fn encode(vocabulary: &Vocabulary, text: &str) -> Vec<u32> {
    let (mut found, mut rest) = (Vec::new(), text.as_bytes());
    while !rest.is_empty() {
        let spelt = (0..vocabulary.width() as u32).filter_map(|token| {
            let bytes = vocabulary.bytes(grammata::TokenId::new(token))?;
            (!bytes.is_empty() && rest.starts_with(bytes)).then_some((bytes.len(), token))
        });
        let (length, token) = spelt.max().expect("each byte is a token");
        found.push(token);
        rest = &rest[length..];
    }
    found
}

/// The calls that an environment received, in order: API and arguments.
type Called = Vec<(String, Value)>;

fn world<'w>(answer: &'w str, called: &'w mut Called) -> impl Environment + 'w {
    move |spec: &Spec, step: &Step| -> Result<Observation> {
        let name = spec.symbols()[step.action].id.clone();
        called.push((name.clone(), step.arguments.clone().unwrap_or_default()));
        let outcome = (name == "CheckRefund").then(|| answer.to_owned());
        let data = match name.as_str() {
            "FindOrder" => json!({ "order": "A7", "of no use": 1 }),
            "CheckRefund" => json!({ "approval": 5, "reason": "too late" }),
            _ => Value::Null,
        };
        Ok(Observation { outcome, data, ..Observation::default() })
    }
}

#[test]
fn what_the_world_answers_decides_what_comes_next() {
    let domain = domain();
    let vocabulary = crossing(&domain);
    let encode = |text: &str| Ok(encode(&vocabulary, text));
    let prompt = encode("Plan: Start(),").unwrap();
    let mut crossed = 0;
    for (name, thoughts) in Thoughts::ALL {
        let made = grammar(&domain, &FlowOptions::default(), thoughts).unwrap();
        let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&made).unwrap();
        for seed in 0..12 {
            for (answer, then, given) in [
                ("due", "PayBack", json!({ "approval": 5 })),
                ("due_later", "Explain", json!({ "reason": "too late" })),
                ("denied", "Explain", json!({ "reason": "too late" })),
            ] {
                let shown = format!("{name} {seed} {answer}");
                let mut model = RandomLogits::new(vocabulary.width(), seed);
                let mut called = Called::new();
                let mut execution = Execution::new(&domain, &Limits::default()).unwrap();
                let mut writer =
                    PlanWriter::new(&compiled, &domain, thoughts, Brackets::Empty, &prompt, &encode);
                let mut calls = Vec::new();
                {
                    let mut environment = world(answer, &mut called);
                    while let Some(call) = writer.next_call(&mut model).unwrap() {
                        let written = format!("{}()", call.name);
                        crossed += usize::from(!writer.text().ends_with(&written));
                        let executed = execution.call(&call, &mut environment).unwrap();
                        if let Some(outcome) = executed.outcome {
                            writer.answer(outcome, &mut model);
                        }
                        calls.push(call.name);
                    }
                }
                let text = writer.text();
                assert_eq!(calls, ["FindOrder", "CheckRefund", then, "Finish"], "{shown}: {text}");
                let names: Vec<&str> = called.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(names, calls, "each is called once, in order: {shown}");
                assert_eq!(called[1].1, json!({ "order": "A7" }), "{shown}");
                assert_eq!(called[2].1, given, "{shown}");
                let mut matcher = compiled.matcher();
                let accepted = matcher.accept_bytes(text.as_bytes());
                accepted.unwrap_or_else(|error| panic!("{shown}: {text}: {error}"));
                assert!(matcher.is_accepting(), "{shown}: {text}");
                let plan = parse(&text, "Finish", thoughts);
                assert!(plan.is_finished && plan.is_parsable, "{shown}: {text}");
                assert_eq!(plan.calls[1].outcome.as_deref(), Some(answer), "{shown}: {text}");
                assert!(writer.used().tokens > 0 && writer.used().passes > 0, "{shown}");
            }
        }
    }
    assert!(crossed > 0, "no token went on behind a call");
}

/// Without an answer from an environment, the model writes the outcome. A token limit cuts a plan, and the writer stays
/// ended.
#[test]
fn a_plan_goes_on_unanswered_and_is_cut_where_it_is_too_long() {
    let domain = domain();
    let vocabulary = crossing(&domain);
    let encode = |text: &str| Ok(encode(&vocabulary, text));
    let made = grammar(&domain, &FlowOptions::default(), Thoughts::None).unwrap();
    let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&made).unwrap();
    let prompt = encode("Plan: Start(),").unwrap();
    let mut model = RandomLogits::new(vocabulary.width(), 1);
    let writer = || PlanWriter::new(&compiled, &domain, Thoughts::None, Brackets::Empty, &prompt, &encode);
    let mut whole = writer();
    while whole.next_call(&mut model).unwrap().is_some() {}
    let plan = parse(&whole.text(), "Finish", Thoughts::None);
    assert!(plan.is_finished && plan.calls[1].outcome.is_some(), "{}", whole.text());
    let mut cut = writer().max_tokens(3);
    while cut.next_call(&mut model).unwrap().is_some() {}
    assert!(whole.text().starts_with(&cut.text()) && cut.text() != whole.text());
    assert_eq!(cut.used().tokens, 3);
    assert!(cut.next_call(&mut model).unwrap().is_none(), "it stays ended");
}

#[test]
fn what_is_not_declared_is_refused_and_leaves_the_calls_as_they_were() {
    let domain = domain();
    let mut execution = Execution::new(&domain, &Limits::default()).unwrap();
    let call = |name: &str| WrittenCall { name: name.to_owned(), ..WrittenCall::default() };
    let mut answers = |outcome: Option<&str>, name: &str, data: Value| {
        let observation = Observation { outcome: outcome.map(str::to_owned), data, ..Observation::default() };
        let mut environment = |_: &Spec, _: &Step| Ok(observation.clone());
        let found = execution.call(&call(name), &mut environment).cloned();
        (found, execution.calls().len())
    };
    // outcome that is observed, API, part of the message
    let refused = [
        (Some("maybe"), "CheckRefund", "`due`, `due_later`, `denied`"),
        (Some("Due"), "CheckRefund", "did you mean `due`?"),
        (None, "CheckRefund", "#/apis/CheckRefund/outcomes"),
        (Some("due"), "FindOrder", "#/apis/FindOrder/outcomes"),
    ];
    for (outcome, name, shown) in refused {
        let (found, calls) = answers(outcome, name, json!({ "order": 1 }));
        let error = found.unwrap_err();
        assert_eq!((error.code(), calls), ("environment/forbidden", 0), "{error}");
        assert!(error.to_string().contains(shown), "{error}");
    }
    assert_eq!(answers(None, "FindOdrer", Value::Null).0.unwrap_err().code(), "flow/unknown-name");
    // the observed data need not be an object, nor contain the outputs of the API
    let (found, calls) = answers(Some("denied"), "CheckRefund", json!(["no"]));
    assert_eq!((found.unwrap().outcome, calls), (Some(2), 1));
    let (found, calls) = answers(None, "Explain", Value::Null);
    assert_eq!((found.unwrap().arguments.len(), calls), (0, 2));
}

/// The value of an input comes from the maker that the call names. If the call names none, or one that does not make
/// the data, it comes from the latest maker; an input that is `given` is left out.
#[test]
fn arguments_are_what_earlier_calls_made() {
    let text = "kind = 'flows'\nprelude = 'p'\nend = 'E'\n[apis]\nP = {}\nA = { outputs = ['x'] }\n\
        B = { outputs = ['x', 'y'] }\nC = { inputs = [['x', 'z'], 'y'] }\nE = {}\n\
        [steps]\np = { text = 'begin', apis = ['P'] }\ns = { text = 'do', apis = ['A', 'B', 'C'] }\n\
        e = { text = 'end', apis = ['E'] }\n[[flows]]\nid = 'f'\nintent = 'do'\nsteps = ['p', 's', 'e']\n";
    let domain = FlowDomain::read(text, &Limits::default()).unwrap();
    let run = |named: &[(&str, &str)]| {
        let mut execution = Execution::new(&domain, &Limits::default()).unwrap();
        let mut environment = |spec: &Spec, step: &Step| {
            let name = &spec.symbols()[step.action].id;
            let data = json!({ "x": format!("{name}'s x"), "y": format!("{name}'s y") });
            Ok(Observation { data, ..Observation::default() })
        };
        for name in ["B", "A"] {
            let call = WrittenCall { name: name.to_owned(), ..WrittenCall::default() };
            execution.call(&call, &mut environment).unwrap();
        }
        let arguments = named.iter().map(|(input, maker)| ((*input).to_owned(), (*maker).to_owned()));
        let (name, arguments) = ("C".to_owned(), arguments.collect());
        let call = WrittenCall { name, arguments, ..WrittenCall::default() };
        Value::Object(execution.call(&call, &mut environment).unwrap().arguments.clone())
    };
    // `y` names A, which does not make it, so the value comes from B
    assert_eq!(run(&[]), json!({ "x": "A's x", "y": "B's y" }));
    assert_eq!(run(&[("x", "B"), ("y", "B")]), json!({ "x": "B's x", "y": "B's y" }));
    assert_eq!(run(&[("x", "given")]), json!({ "y": "B's y" }));
}
