//! Plans carried out step by step: planners, environments, and their refusals.

use crate::language::Language;
use crate::plans::{plans, shipped};
use grammata::syntax::automaton_spec::Spec;
use grammata::{ErrorKind, Result};
use grammata_agents::plan::policy::{Answer, ArgumentRequest, FirstPolicy, RandomPolicy, ScriptedPolicy};
use grammata_agents::plan::{
    Environment, Next, Observation, Planner, Policy, Question, Questions, ReadPlan, Step, Verdict,
};
use grammata_agents_drive::plan::{CommandEnvironment, InteractivePolicy, MockEnvironment};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SHOP: &str = "kind = 'dfa'\nstart = 's'\naccepting = ['end']\nfacts = { verdict = ['due', 'denied'] }\n[symbols]\n\
    check = { outcomes = { due = { set = { verdict = 'due' } }, denied = { set = { verdict = 'denied' } } }, requires = 'not verdict' }\n\
    refund = { requires = 'verdict == due', arguments = { type = 'object', required = ['cents'], properties = { cents = { type = 'integer', minimum = 1, maximum = 9 } }, additionalProperties = false } }\n\
    sorry = { requires = 'verdict == denied' }\n\
    [[transitions]]\nfrom = 's'\ninput = 'check'\nto = 's'\n\
    [[transitions]]\nfrom = 's'\ninput = ['refund', 'sorry']\nto = 'end'\n";

fn shop() -> Planner {
    Planner::new(plans(SHOP)).unwrap()
}

fn outcome(name: &str) -> Observation {
    Observation { outcome: Some(name.to_owned()), ..Observation::default() }
}

/// Returns an environment that answers with the entries of a list, one after the other.
fn answering(list: &'static [&'static str]) -> impl Environment {
    let mut list = list.iter();
    move |_: &Spec, _: &Step| Ok(serde_json::from_str(list.next().unwrap()).unwrap())
}

#[test]
fn what_comes_next_depends_on_what_came_back() {
    for (answer, next) in [("due", 1), ("denied", 2)] {
        let mut planner = shop();
        assert_eq!(planner.next().unwrap(), Next::Forced(0));
        planner.observe(Step::of(0), &outcome(answer)).unwrap();
        assert_eq!(planner.facts()["verdict"], answer);
        assert_eq!(planner.next().unwrap(), Next::Forced(next));
    }
    // the facts alone determine the outcome
    let mut planner = shop();
    planner
        .execute(&mut answering(&[r#"{"facts": {"verdict": "denied"}, "data": [1]}"#]), Step::of(0))
        .unwrap();
    assert_eq!(planner.plan().steps[0].outcome, Some(1));
    assert_eq!(planner.observations()[0].outcome.as_deref(), Some("denied"));
    assert_eq!(planner.observations()[0].data, json!([1]));
    planner.observe(Step::of(2), &Observation::default()).unwrap();
    assert_eq!(planner.next().unwrap(), Next::Finished);
    let plan = planner.plan().clone();
    let mut automaton = plans(SHOP);
    let read = ReadPlan::of(&plan, automaton.spec());
    assert_eq!(automaton.verify(&read, &[]).unwrap(), Verdict::Valid(plan));
}

#[test]
fn steps_are_taken_back_with_their_observations() {
    let mut planner = shop();
    assert_eq!(planner.back(), None);
    planner.observe(Step::of(0), &outcome("denied")).unwrap();
    let taken = Step::of(0).with_outcome(Some(1));
    assert_eq!(planner.back(), Some(taken));
    assert!(planner.plan().steps.is_empty() && planner.observations().is_empty());
    assert_eq!((planner.facts()["verdict"].clone(), planner.next().unwrap()), (Value::Null, Next::Forced(0)));
    planner.observe(Step::of(0), &outcome("due")).unwrap();
    assert_eq!(planner.next().unwrap(), Next::Forced(1));
}

#[test]
fn what_the_spec_forbids_is_refused_and_the_plan_stays() {
    let cases = [
        (r#"{"outcome": "du"}"#, "environment/forbidden", "du", "`due`, `denied`"),
        ("{}", "environment/forbidden", "no outcome", "`due`, `denied`"),
        (r#"{"outcome": "due", "facts": {"verdict": "denied"}}"#, "environment/forbidden", "denied", "= due"),
        (
            r#"{"outcome": "due", "facts": {"verdict": "maybe"}}"#,
            "environment/forbidden",
            "maybe",
            "`null`, `due`, `denied`",
        ),
        (r#"{"outcome": "due", "facts": {"verdict": 3}}"#, "environment/forbidden", "3", "`due`"),
        (r#"{"outcome": "due", "facts": {"check": true}}"#, "environment/forbidden", "check", "`verdict`"),
    ];
    for (answer, code, found, allowed) in cases {
        let mut planner = shop();
        let mut environment =
            |_: &Spec, _: &Step| -> Result<Observation> { Ok(serde_json::from_str(answer).unwrap()) };
        let error = planner.execute(&mut environment, Step::of(0)).unwrap_err();
        assert_eq!(error.code(), code, "{answer}");
        let diagnostic = error.diagnostic();
        assert!(diagnostic.message().contains("`check`"), "{error}");
        assert!(diagnostic.found_text().unwrap().contains(found), "{error}");
        assert!(diagnostic.allowed_text().unwrap().contains(allowed), "{error}");
        assert!(diagnostic.help_text().is_some());
        assert_eq!(planner.plan().steps.len(), 0);
        assert_eq!(planner.next().unwrap(), Next::Forced(0));
    }
    // an outcome of an action without outcomes is refused
    let mut planner = shop();
    planner.observe(Step::of(0), &outcome("denied")).unwrap();
    assert_eq!(planner.observe(Step::of(2), &outcome("ok")).unwrap_err().code(), "environment/forbidden");
    assert_eq!(
        planner.observe(Step::of(1), &Observation::default()).unwrap_err().code(),
        "plan/step-not-allowed"
    );
}

#[test]
fn steps_are_checked_before_they_are_carried_out() {
    let mut planner = shop();
    planner.observe(Step::of(0), &outcome("due")).unwrap();
    let with = |arguments: Value| Step { arguments: Some(arguments), ..Step::of(1) };
    let mut never = |_: &Spec, _: &Step| -> Result<Observation> { panic!("carried out") };
    for (step, code) in [
        (Step::of(2), "plan/step-not-allowed"),
        (Step::of(99), "plan/step-not-allowed"),
        (Step::of(1), "plan/wrong-arguments"),
        (with(json!({"cents": 10})), "plan/wrong-arguments"),
        (with(json!({"cents": 1, "more": 1})), "plan/wrong-arguments"),
        (Step { elements: vec![0], ..with(json!({"cents": 1})) }, "plan/step-not-allowed"),
    ] {
        let error = planner.execute(&mut never, step.clone()).unwrap_err();
        assert_eq!(error.code(), code, "{step:?}: {error}");
    }
    planner.observe(with(json!({"cents": 9})), &Observation::default()).unwrap();
    assert_eq!(planner.next().unwrap(), Next::Finished);
}

#[test]
fn the_grammar_of_the_next_step_is_that_of_what_may_come() {
    let mut planner = shop();
    planner.observe(Step::of(0), &outcome("due")).unwrap();
    let language = Language::new(&planner.grammar().unwrap().unwrap());
    assert!(language.accepts(br#"refund {"cents": 9}"#));
    assert!(!language.accepts(br#"refund {"cents": 10}"#) && !language.accepts(b"sorry"));
    let step = planner.read(r#"refund {"cents": 9}"#).unwrap();
    assert_eq!(step.arguments, Some(json!({"cents": 9})));
    for (text, code) in [
        (r#"refund {"cents": 0}"#, "plan/wrong-arguments"),
        ("refund", "plan/wrong-arguments"),
        ("sorry", "plan/step-not-allowed"),
        ("refund all", "plan/step-not-allowed"),
        ("", "plan/step-not-allowed"),
        ("[\"check\", \"sorry\"]", "plan/step-not-allowed"),
    ] {
        assert_eq!(planner.read(text).unwrap_err().code(), code, "{text}");
    }
    planner.observe(step, &Observation::default()).unwrap();
    assert!(planner.grammar().unwrap().is_none());
}

/// There is always a next step, whatever the outcomes are: they are drawn at random, in the shipped flow.
#[test]
fn random_worlds_meet_no_dead_end() {
    let mut longest = 0;
    for seed in 0..300 {
        let mut planner = Planner::new(shipped("customer-service", &[])).unwrap().with_max_free_steps(12);
        let questions = Questions::new(planner.spec(), None).unwrap();
        let mut policy = RandomPolicy::new(seed);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut world = |spec: &Spec, step: &Step| -> Result<Observation> {
            let outcomes = &spec.symbols()[step.action].outcomes;
            let outcome =
                (!outcomes.is_empty()).then(|| outcomes[random.random_range(0..outcomes.len())].clone());
            Ok(Observation { outcome, ..Observation::default() })
        };
        while let Some(step) = planner.choose(&mut policy, &questions).unwrap() {
            planner.execute(&mut world, step).unwrap();
            longest = longest.max(planner.plan().steps.len());
            assert!(longest < 40);
        }
        let last = planner.plan().steps.last().unwrap().action;
        assert_eq!(planner.spec().symbols()[last].id, "close");
        assert_eq!(planner.facts()["settled"], true);
    }
    assert!(longest > 5, "{longest}");
}

#[test]
fn a_backward_spec_is_no_flow() {
    assert_eq!(Planner::new(shipped("openagi", &[])).unwrap_err().code(), "plan/backward");
}

fn mock(text: &str) -> Result<MockEnvironment> {
    MockEnvironment::parse(text, plans(SHOP).spec())
}

#[test]
fn a_mock_answers_in_order_and_by_arguments() {
    let text = "[[check]]\noutcome = 'denied'\n[[check]]\noutcome = 'due'\n\
        [[refund]]\nwhen = { cents = 5 }\nfail = 'no money'\n[[refund]]\ndata = 'paid'\n";
    let mut environment = mock(text).unwrap();
    let automaton = plans(SHOP);
    let mut ask = |step: &Step| environment.execute(automaton.spec(), step);
    let outcomes: Vec<_> = (0..3).map(|_| ask(&Step::of(0)).unwrap().outcome.unwrap()).collect();
    assert_eq!(outcomes, ["denied", "due", "due"], "the last one from then on");
    let five = Step { arguments: Some(json!({"cents": 5})), ..Step::of(1) };
    let six = Step { arguments: Some(json!({"cents": 6})), ..Step::of(1) };
    assert_eq!(ask(&six).unwrap().data, "paid");
    let error = ask(&five).unwrap_err();
    assert!(error.code() == "environment/failed" && error.to_string().contains("no money"), "{error}");
    assert_eq!(
        ask(&Step::of(2)).unwrap(),
        Observation::default(),
        "an action without outcomes needs no answer"
    );
    let mut silent = mock("[[check]]\nwhen = { cents = 1 }\noutcome = 'due'\n").unwrap();
    assert_eq!(silent.execute(automaton.spec(), &Step::of(0)).unwrap_err().code(), "environment/failed");
    let mut slow = mock("[[check]]\ntimeout = true\n").unwrap();
    assert_eq!(slow.execute(automaton.spec(), &Step::of(0)).unwrap_err().code(), "environment/timeout");
}

#[test]
fn a_wrong_mock_is_refused_where_it_is_wrong() {
    let cases = [
        ("[[chek]]\noutcome = 'due'\n", "#/chek", "`check`"),
        ("\n[[check]]\noutcome = 'du'\n", "line 3", "due, denied"),
        ("[[sorry]]\noutcome = 'due'\n", "line 2", "no `outcome`"),
        ("[[check]]\noutcom = 'due'\n", "line 2", "outcom"),
        ("[[check]\n", "line 1", "TOML"),
    ];
    for (text, place, part) in cases {
        let error = mock(text).unwrap_err();
        let shown = error.to_string();
        assert_eq!(error.code(), "environment/mock", "{text}: {shown}");
        assert!(shown.contains(part) && shown.contains(place), "{text}: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_command_is_an_environment() {
    let automaton = plans(SHOP);
    let run = |command: &str, step: &Step, deadline: Duration| {
        CommandEnvironment::new(command, deadline).execute(automaton.spec(), step)
    };
    let long = Duration::from_secs(20);
    // the command reads the step and answers
    let echo = "read line; printf '{\"outcome\": \"due\", \"data\": %s}' \"$line\"";
    let found = run(echo, &Step::of(0), long).unwrap();
    assert_eq!(found.outcome.as_deref(), Some("due"));
    assert_eq!(found.data["action"], "check");
    let step = Step { arguments: Some(json!({"cents": 2})), ..Step::of(1) };
    let found = run("printf '{\"data\": '; cat; printf '}'", &step, long).unwrap();
    assert_eq!(
        found.data,
        json!({"action": "refund", "text": "refund {\"cents\":2}", "arguments": {"cents": 2}})
    );
    assert_eq!(run("true", &step, long).unwrap(), Observation::default(), "it need not read");
    for (command, part) in [
        ("exit 3", "3"),
        ("echo nonsense", "not a JSON object"),
        ("echo '{\"outcom\": 1}'", "outcom"),
        ("echo '{\"outcome\": 7}'", "not an observation"),
        ("echo '[]'", "not a JSON object"),
        ("echo '[\"due\"]'", "not a JSON object"),
        ("yes | head -c 2000000", "1048576"),
        ("no-such-command-at-all 2> /dev/null", "127"),
    ] {
        let error = run(command, &Step::of(0), long).unwrap_err();
        assert_eq!(error.code(), "environment/failed", "{command}: {error}");
        assert!(error.to_string().contains(part), "{command}: {error}");
    }
    // commands that are too slow: before they write, after they close their output, in processes that they start
    for command in ["sleep 60", "exec >&-; sleep 60", "sleep 60 & wait", "(sleep 60; echo '{}') | cat"] {
        let start = Instant::now();
        let error = run(command, &Step::of(0), Duration::from_millis(300)).unwrap_err();
        assert_eq!(error.code(), "environment/timeout", "{command}");
        assert!(start.elapsed() < Duration::from_secs(20), "{command}: {:?}", start.elapsed());
    }
}

/// A policy whose answers are invalid.
struct Nonsense(Vec<usize>, Value);

impl Policy for Nonsense {
    fn choose(&mut self, _: &Question) -> Result<Answer> {
        Ok(Answer::set(self.0.clone()))
    }

    fn arguments(&mut self, _: &ArgumentRequest<'_>) -> Result<Value> {
        Ok(self.1.clone())
    }
}

#[test]
fn a_policy_that_answers_nonsense_is_refused() {
    let two = "kind = 'dfa'\nstart = 's'\naccepting = ['s']\nsymbols = ['a', 'b']\n\
        [[transitions]]\nfrom = 's'\ninput = ['a', 'b']\nto = 's'\n";
    for places in [vec![], vec![7], vec![0, 1], vec![usize::MAX]] {
        let mut planner = Planner::new(plans(two)).unwrap();
        let questions = Questions::new(planner.spec(), None).unwrap();
        let error = planner.choose(&mut Nonsense(places.clone(), Value::Null), &questions).unwrap_err();
        assert_eq!(error.code(), "plan/wrong-answer", "{places:?}");
    }
    let mut planner = shop();
    planner.observe(Step::of(0), &outcome("due")).unwrap();
    let questions = Questions::new(planner.spec(), None).unwrap();
    for value in [Value::Null, json!({}), json!({"cents": "9"}), json!([])] {
        let error = planner.choose(&mut Nonsense(vec![0], value.clone()), &questions).unwrap_err();
        assert_eq!(error.code(), "plan/wrong-arguments", "{value}");
    }
    // a script without an answer is an error, and one with an answer that is not JSON
    for (answers, code) in [(vec![], "plan/no-answer"), (vec!["{cents".to_owned()], "plan/wrong-arguments")] {
        let error = planner.choose(&mut ScriptedPolicy::new(answers), &questions).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(matches!(error.kind(), ErrorKind::Usage | ErrorKind::Rejected));
    }
}

#[test]
fn arguments_come_from_every_policy() {
    let after_check = || {
        let mut planner = shop();
        planner.observe(Step::of(0), &outcome("due")).unwrap();
        planner
    };
    let mut planner = after_check();
    let questions = Questions::new(planner.spec(), Some("Pay Ada.")).unwrap();
    let first = planner.choose(&mut FirstPolicy, &questions).unwrap().unwrap();
    assert!(planner.check(&first).is_ok(), "{first:?}");
    let scripted = &mut ScriptedPolicy::new(vec![r#"{"cents": 4}"#.to_owned()]);
    let step = planner.choose(scripted, &questions).unwrap().unwrap();
    assert_eq!(step.arguments, Some(json!({"cents": 4})));
    // a person is told the fault, and asked again until the arguments are valid
    let mut shown = Vec::new();
    let input = "no json\n{\"cents\": 70}\n{\"cents\": 7}\n";
    let step = planner
        .choose(&mut InteractivePolicy::new(input.as_bytes(), &mut shown), &questions)
        .unwrap()
        .unwrap();
    assert_eq!(step.arguments, Some(json!({"cents": 7})));
    let shown = String::from_utf8(shown).unwrap();
    assert!(
        shown.contains("Pay Ada.") && shown.contains("1. check -> due") && shown.contains("\"maximum\":9"),
        "{shown}"
    );
    assert!(shown.contains("not JSON") && shown.contains("At #/cents"), "{shown}");
    for (input, code) in [("quit\n", "plan/quit"), ("", "plan/no-answer")] {
        let mut person = InteractivePolicy::new(input.as_bytes(), Vec::new());
        assert_eq!(planner.choose(&mut person, &questions).unwrap_err().code(), code);
    }
}

/// After the maximum number of free steps only steps that finish soonest are offered.
#[test]
fn a_flow_without_end_is_ended() {
    let source = "kind = 'dfa'\nstart = 's'\naccepting = ['end']\n[symbols]\n\
        call = { outcomes = ['ok', 'busy'] }\nwait = {}\nleave = {}\n\
        [[transitions]]\nfrom = 's'\ninput = ['call', 'wait']\nto = 's'\n[[transitions]]\nfrom = 's'\ninput = 'leave'\nto = 'end'\n";
    let mut planner = Planner::new(plans(source)).unwrap().with_max_free_steps(3);
    let questions = Questions::new(planner.spec(), None).unwrap();
    let mut asked = 0;
    while let Some(step) = planner.choose(&mut FirstPolicy, &questions).unwrap() {
        asked += 1;
        planner
            .execute(&mut answering(&[r#"{"outcome": "busy"}"#; 4]), step.clone())
            .map(|_| ())
            .unwrap_or_else(|_| {
                planner.observe(step, &Observation::default()).unwrap();
            });
    }
    let ids: Vec<&str> =
        planner.plan().steps.iter().map(|step| planner.spec().symbols()[step.action].id.as_str()).collect();
    assert_eq!(ids, ["call", "call", "call", "leave"]);
    assert_eq!(asked, 4);
}

#[test]
fn a_planner_of_a_spec_without_plans_says_so() {
    let none = "kind = 'dfa'\nstart = 's'\naccepting = ['t']\nsymbols = ['a', 'b']\nlimits = { at_most = { b = 0 } }\n\
        [[transitions]]\nfrom = 's'\ninput = 'b'\nto = 't'\n[[transitions]]\nfrom = 's'\ninput = 'a'\nto = 's'\n";
    let mut planner = Planner::new(plans(none)).unwrap();
    assert_eq!(planner.next().unwrap_err().code(), "plan/none");
}
