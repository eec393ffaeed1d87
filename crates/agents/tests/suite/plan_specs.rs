//! Plan specs that are invalid, that have no plans or infinitely many, or that are large; and the schema of specs.

use crate::plans::{count, plans, read, shipped};
use grammata::syntax::automaton_spec::{Options, Spec};
use grammata::transitions::{Count, TransitionSystem};
use grammata::{LimitKind, Limits};
use grammata_agents::plan::policy::{RandomPolicy, ScriptedPolicy};
use grammata_agents::plan::search::{Greedy, STRATEGIES};
use grammata_agents::plan::{
    PlanAutomaton, PlanSampler, Problem, Questions, ReadPlan, Search, SearchOptions, Verdict,
};

#[test]
fn an_undefined_action_is_named() {
    let cases = [
        ("kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a b'] }", "automaton-spec/undefined"),
        (
            "kind = 'cfg'\nsymbols = { a = { requires = ['b'] } }\nstart = 's'\nrules = { s = ['a'] }",
            "automaton-spec/undefined",
        ),
        (
            "kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a'] }\nlimits = { at_most = { b = 1 } }",
            "automaton-spec/undefined",
        ),
        (
            "kind = 'cfg'\nsymbols = { a = { group = 'b' }, b = 'b' }\nstart = 's'\nrules = { s = ['a b'] }\nlimits = { at_most = { b = 1 } }",
            "automaton-spec/twice",
        ),
        (
            "kind = 'cfg'\nsymbols = { a = { set = { of = ['x', 'x'] } } }\nstart = 's'\nrules = { s = ['a'] }",
            "automaton-spec/set",
        ),
        (
            "kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a s'] }",
            "automaton-spec/unproductive",
        ),
        (
            "kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a'] }\nlimits = { at_most = { a = 1 }, at_least = { a = 2 } }",
            "automaton-spec/empty-language",
        ),
    ];
    for (source, code) in cases {
        assert_eq!(read(source, &[]).unwrap_err().code(), code, "{source}");
    }
}

#[test]
fn too_few_hours_leave_no_plan() {
    for first_hour in ["9", "11"] {
        let mut automaton = shipped("daily-plan", &[("first_hour", first_hour)]);
        assert_eq!(count(&mut automaton), "0", "{first_hour}");
        let questions = Questions::new(automaton.spec(), None).unwrap();
        let options = SearchOptions::default();
        for (name, _, make) in STRATEGIES {
            let outcome = make(4)
                .run(&mut Problem::new(&mut automaton, &mut RandomPolicy::new(1), &questions, &options))
                .unwrap();
            assert_eq!(outcome.plan, None, "{name}, {first_hour}");
        }
        assert_eq!(PlanSampler::new(&mut automaton, 0, 9).sample().unwrap_err().code(), "plan/none");
    }
    // a day that begins at 12:00 has no hours left for the homework
    let source =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../grammars/daily-plan/spec.toml"));
    let error = read(&source.unwrap(), &[("first_hour", "12")]).unwrap_err();
    assert_eq!(error.code(), "automaton-spec/empty-language");
}

#[test]
fn a_cycle_of_actions_that_take_no_time_ends() {
    let source = "kind = 'dfa'\nstart = 'day'\naccepting = ['night']\n\
        symbols = { wait = { duration = 0 }, work = { duration = 8 } }\n\
        transitions = [{ from = 'day', input = 'wait', to = 'day' }, { from = 'day', input = 'work', to = 'night' }]";
    let mut automaton = plans(source);
    assert_eq!(automaton.count().unwrap(), Count::Infinite);
    let questions = Questions::new(automaton.spec(), None).unwrap();
    let options = SearchOptions::default().max_free_steps(5);
    let mut patient = ScriptedPolicy::new(vec!["1".to_owned(); 10]);
    let outcome = Greedy.run(&mut Problem::new(&mut automaton, &mut patient, &questions, &options)).unwrap();
    assert_eq!(outcome.plan.unwrap().steps.len(), 6);
    // with a limit, the number of plans is finite
    let mut limited = plans(&format!("{source}\nlimits = {{ at_most = {{ wait = 3 }} }}"));
    assert_eq!(count(&mut limited), "4");
}

#[test]
fn pumping_is_told_from_nesting() {
    let nested = "kind = 'cfg'\nsymbols = ['x', 'y', 'z']\nstart = 's'\nrules = { s = ['x s y', 'z'] }";
    assert_eq!(plans(nested).count().unwrap(), Count::Infinite);
    // a limit of one side of a nesting limits the other side, too
    let limits = Limits::default().plan_states(50_000);
    let spec = format!("{nested}\nlimits = {{ at_most = {{ y = 3 }} }}");
    let spec = Spec::read(&spec, &Options::default().limits(limits)).unwrap();
    let limited = PlanAutomaton::new(spec).unwrap().count();
    let decided = matches!(&limited, Ok(count) if count.to_string() == "4");
    let unknown = matches!(&limited, Err(error) if error.code() == "plan/budget-exhausted");
    assert!(decided || unknown, "{limited:?}");
    // no plan within the limits reaches the loop
    let unreachable = "kind = 'cfg'\nsymbols = ['x', 'y']\nstart = 's'\nrules = { s = ['x', 'y y l'], l = ['x l', 'x'] }\n\
        limits = { at_most = { y = 1 } }";
    assert_eq!(count(&mut plans(unreachable)), "1");
}

/// Three kinds of actions, each up to a hundred times, have a million states. The number of plans is that of lattice
/// paths.
#[test]
fn a_million_states_are_counted_or_refused() {
    let source = |most: usize| {
        format!(
            "kind = 'cfg'\nsymbols = ['x', 'y', 'z']\nstart = 's'\nrules = {{ s = ['x s', 'y s', 'z s', ''] }}\n\
             limits = {{ at_most = {{ x = {most}, y = {most}, z = {most} }} }}"
        )
    };
    let mut small = plans(&source(2));
    // the sum of (i+j+k)! / (i! j! k!) over i, j, k from 0 to 2
    assert_eq!(count(&mut small), "271");
    let options = Options::default().limits(Limits::default().plan_states(20_000));
    let mut bounded = PlanAutomaton::new(Spec::read(&source(100), &options).unwrap()).unwrap();
    assert_eq!(bounded.count().unwrap_err().code(), "plan/budget-exhausted");
    // a search finds a plan even so
    let mut bounded = PlanAutomaton::new(Spec::read(&source(100), &options).unwrap()).unwrap();
    let questions = Questions::new(bounded.spec(), None).unwrap();
    let outcome = Greedy
        .run(&mut Problem::new(
            &mut bounded,
            &mut RandomPolicy::new(3),
            &questions,
            &SearchOptions::default(),
        ))
        .unwrap();
    assert!(outcome.plan.is_some());
}

#[test]
fn the_schema_describes_specs() {
    let schema = grammata::syntax::automaton_spec::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value = |source: &str| -> serde_json::Value {
        serde_json::to_value(toml::from_str::<toml::Value>(source).unwrap()).unwrap()
    };
    let good = "kind = 'cfg'\nstart = 's'\ndirection = 'backward'\nrules = { s = ['a b', []] }\n\
        [symbols]\na = 'go'\nb = { text = '{}', cost = 3, group = ['x', 'y'], set = { of = ['1', '2'], min = 1 } }\n\
        c = { requires = 'a and not b', arguments = { type = 'object' }, outcomes = { ok = { set = { f = 'p' }, clear = 'x' } } }\n\
        d = { requires = ['a', ['b', 'c']], effects = { set = ['x'] }, outcomes = ['ok'] }\n\
        [facts]\nf = ['p', 'q']\nx = true\ny = { initial = false }\n\
        [parameters]\nn = { default = 3, min = 1 }\n[templates]\nquestion = 'what?'\n[limits]\nat_most = { x = 2 }";
    assert!(validator.is_valid(&value(good)), "{:?}", validator.iter_errors(&value(good)).next());
    for bad in [
        good.replace("cost = 3", "cost = 'three'"),
        good.replace("kind = 'cfg'", "kind = 'net'"),
        good.replace("question =", "questions ="),
        good.replace("at_most =", "at_best ="),
        good.replace("clear =", "clean ="),
        good.replace("f = ['p', 'q']", "f = 3"),
        good.replace("'a and not b'", "7"),
    ] {
        assert!(!validator.is_valid(&value(&bad)), "{bad}");
    }
}

#[test]
fn plans_written_from_their_end_are_verified_under_a_cost() {
    let source = "kind = 'cfg'\ndirection = 'backward'\nstart = 's'\n\
        symbols = { a = { cost = 1 }, b = { cost = 5 }, end = { cost = 0 } }\n\
        rules = { s = ['end x'], x = ['a x', 'b x', 'a', 'b'] }\nlimits = { max_cost = 6 }";
    let mut automaton = plans(source);
    // the plans are one to six times a; b; a b; and b a
    assert_eq!(count(&mut automaton), "9");
    // steps in the order of execution, the first wrong step, the actions that may take its place, whether a plan may
    // end there
    let wrong: [(&str, usize, &[usize], bool); 4] = [
        ("b\nb\nend", 1, &[0, 2], false),
        ("a\nb\nb\nend", 2, &[2], false),
        ("a\na\na", 3, &[0, 2], false),
        ("end", 0, &[0, 1], false),
    ];
    for (text, step, feasible, may_end) in wrong {
        let read = ReadPlan::parse(text, automaton.spec()).unwrap();
        let expected = Verdict::Wrong { step, feasible: feasible.to_vec(), may_end };
        assert_eq!(automaton.verify(&read, &[]).unwrap(), expected, "{text}");
    }
    let read = ReadPlan::parse("b\na\nend", automaton.spec()).unwrap();
    assert!(matches!(automaton.verify(&read, &[]).unwrap(), Verdict::Valid(_)));
}

/// Returns the automaton of a spec in which the actions may follow each other in any order, each at most as often as
/// `at_most` says.
fn in_a_row(actions: usize, at_most: impl Fn(usize) -> usize, limits: Limits) -> PlanAutomaton {
    let names: Vec<String> = (0..actions).map(|action| format!("'a{action}'")).collect();
    let most: Vec<String> = (0..actions).map(|action| format!("a{action} = {}", at_most(action))).collect();
    let (names, most) = (names.join(", "), most.join(", "));
    let source = format!(
        "kind = 'cfg'\nsymbols = [{names}]\nstart = 's'\nrules = {{ s = ['x s', ''], x = [{names}] }}\n\
         limits = {{ at_most = {{ {most} }} }}"
    );
    PlanAutomaton::new(Spec::read(&source, &Options::default().limits(limits)).unwrap()).unwrap()
}

/// Each action has a counter, and each state has the values of all counters. The successors of the start alone exceed
/// the limit.
#[test]
fn values_of_counters_are_bounded_in_bytes() {
    let mut plans = in_a_row(1_000, |action| action + 2, Limits::default().plan_states(5_000));
    let start = plans.start();
    let error = plans.successors(&start, &mut Vec::new()).unwrap_err();
    assert_eq!(error.limit(), Some(LimitKind::PlanStates));
    assert!(error.to_string().contains("states of "), "{error}");
}
