//! Grammars that are not plan specs, and specs whose plans would take too much time or memory.

use grammata::syntax::automaton_spec::{Options, Spec};
use grammata::{Error, ErrorKind};
use grammata_agents::plan::PlanAutomaton;
use std::time::{Duration, Instant};

/// Far more than any of these tests takes unoptimised on a busy machine; far less than quadratic algorithms would take.
const PATIENCE: Duration = Duration::from_secs(60);

fn in_time<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    assert!(start.elapsed() < PATIENCE, "{what} took {:?}", start.elapsed());
    result
}

fn spec(symbols: usize, more: &str) -> String {
    let list: Vec<String> = (0..symbols).map(|i| format!("\"s{i}.\"")).collect();
    let list = list.join(",");
    format!(
        "kind = \"nfa\"\nstart = \"q\"\naccepting = [\"q\"]\nsymbols = [{list}]\n\
         transitions = [{{ from = \"q\", input = [{list}], to = \"q\" }}]\n{more}"
    )
}

fn refusal(spec: &str) -> Error {
    PlanAutomaton::new(Spec::read(spec, &Options::default()).unwrap()).unwrap_err()
}

#[test]
fn long_plans_are_refused() {
    let body = "x ".repeat(100_000);
    let long = format!("kind = \"cfg\"\nsymbols = [\"x\"]\nstart = \"a\"\n[rules]\na = [\"{body}\"]\n");
    let read = Spec::read(&long, &Options::default()).unwrap();
    let planned = in_time("a plan of 100,000 steps", || PlanAutomaton::new(read));
    let error = planned.unwrap_err();
    assert_eq!(error.limit().map(|limit| limit.name()), Some("grammar_nodes"), "{error}");
}

#[test]
fn free_text_is_no_plan() {
    let spec = r#"
kind = "nfa"
symbols = { talk = { free_text = { until = ["<call>", "<ask>"], without = ["<end>"] } }, number = "1", rest = { free_text = { max_chars = 3, max_bytes = 4 } } }
start = "talking"
accepting = ["end"]
transitions = [
    { from = "talking", input = "talk", to = "called" },
    { from = "called", input = "number", to = "talking" },
    { from = "called", input = "rest", to = "end" },
]
"#;
    assert_eq!(refusal(spec).code(), "automaton-spec/free-text-in-plan");
}

#[test]
fn tokens_are_no_plan() {
    let spec = r#"
kind = "dfa"
symbols = { open = { token = "<think>" }, word = { token = { any_but = ["</think>"] } }, close = { token = [10] }, answer = "ab", low = { token = [[0, 1], "<"] } }
start = "begin"
accepting = ["end"]
transitions = [
    { from = "begin", input = "open", to = "thought" },
    { from = "thought", input = "word", to = "thought" },
    { from = "thought", input = "close", to = "after" },
    { from = "after", input = ["answer", "low"], to = "end" },
]
"#;
    assert_eq!(refusal(&spec.replace("dfa", "nfa")).code(), "automaton-spec/token-in-plan");
}

#[test]
fn counts_of_plans_are_bounded() {
    let plans = || {
        let read = Spec::read(&spec(5, ""), &Options::default()).unwrap();
        PlanAutomaton::new(read).unwrap()
    };
    let within = |most: usize| {
        let mut plans = plans();
        let start = plans.start();
        in_time("a count of plans", || plans.count_within(start, most))
    };
    assert_eq!(within(3).unwrap(), (1u32 + 5 + 25 + 125).into());
    // the first fails because of the length of a path, the second because of the digits of the counts
    for most in [1_000_000_000, 200_000] {
        let error = within(most).map(|count| count.bits()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
}
