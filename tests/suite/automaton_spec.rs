//! Automaton specs: random ones compared with a direct simulation, single cases, and diagnostics.

use crate::language::{Language, matches};
use grammata::Limits;
use grammata::syntax::automaton_spec::{Format, Options, ParameterValue, compile, parameters};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::Path;

fn toml(spec: &str) -> grammata::Result<grammata::grammar::Grammar> {
    compile(spec, &Options::default()).map(|compiled| compiled.grammar)
}

/// Returns all words of at most `length` letters, the shorter ones first.
fn words(letters: &[char], length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..length {
        let to = all.len();
        for i in from..to {
            all.extend(letters.iter().map(|letter| format!("{}{letter}", all[i])).collect::<Vec<_>>());
        }
        from = to;
    }
    all
}

/// Returns the words of a spec's language that have at most `length` letters, the shorter ones first.
fn language(spec: &str, letters: &[char], length: usize) -> Vec<String> {
    let grammar = toml(spec).unwrap_or_else(|e| panic!("{e}\n{spec}"));
    words(letters, length).into_iter().filter(|word| matches(&grammar, word.as_bytes())).collect()
}

// ---- random automata against a direct simulation ----

#[derive(Clone, Debug)]
struct Edge {
    from: usize,
    input: Option<usize>,
    pop: Option<usize>,
    push: Vec<usize>,
    to: usize,
}

#[derive(Clone, Debug)]
struct Machine {
    edges: Vec<Edge>,
    accepting: BTreeSet<usize>,
    stack_start: Option<usize>,
    accept_by: &'static str,
    separator: &'static str,
    at_most_once: BTreeSet<usize>,
    exactly_once: BTreeSet<usize>,
}

const STATES: usize = 3;
/// The texts of the symbols. One is a prefix of the other, yet each text can be split into symbols in only one way.
const TEXTS: [&str; 2] = ["x", "xy"];

fn machines() -> impl Strategy<Value = Machine> {
    let edge = (
        0..STATES,
        prop::option::weighted(0.75, 0..2_usize),
        prop::option::of(0..2_usize),
        prop::collection::vec(0..2_usize, 0..3),
        0..STATES,
    )
        .prop_map(|(from, input, pop, push, to)| Edge { from, input, pop, push, to });
    let limits = prop::sample::select(vec![
        (vec![], vec![]),
        (vec![], vec![]),
        (vec![0], vec![]),
        (vec![0, 1], vec![]),
        (vec![1], vec![0]),
        (vec![], vec![1]),
    ]);
    (
        prop::collection::vec(edge, 1..8),
        prop::collection::btree_set(0..STATES, 1..3),
        prop::option::of(0..2_usize),
        prop::sample::select(vec!["final-state", "empty-stack", "both", "either"]),
        prop::sample::select(vec!["", "-"]),
        limits,
    )
        .prop_map(|(edges, accepting, stack_start, accept_by, separator, (most, exact))| Machine {
            edges,
            accepting,
            stack_start,
            accept_by,
            separator,
            at_most_once: most.into_iter().collect(),
            exactly_once: exact.into_iter().collect(),
        })
}

impl Machine {
    fn spec(&self) -> String {
        let mut out = String::from("kind = \"pda\"\nsymbols = { s0 = \"x\", s1 = \"xy\" }\nstart = \"q0\"\n");
        let list = |letter: char, numbers: &mut dyn Iterator<Item = usize>| {
            let names: Vec<String> = numbers.map(|n| format!("\"{letter}{n}\"")).collect();
            format!("[{}]", names.join(", "))
        };
        writeln!(out, "states = {}", list('q', &mut (0..STATES))).unwrap();
        if self.accept_by != "empty-stack" {
            writeln!(out, "accepting = {}", list('q', &mut self.accepting.iter().copied())).unwrap();
        }
        writeln!(out, "accept_by = \"{}\"\nseparator = \"{}\"", self.accept_by, self.separator).unwrap();
        if let Some(symbol) = self.stack_start {
            writeln!(out, "stack_start = \"k{symbol}\"").unwrap();
        }
        for edge in &self.edges {
            write!(out, "[[transitions]]\nfrom = \"q{}\"\nto = \"q{}\"\n", edge.from, edge.to).unwrap();
            if let Some(input) = edge.input {
                writeln!(out, "input = \"s{input}\"").unwrap();
            }
            if let Some(pop) = edge.pop {
                writeln!(out, "pop = \"k{pop}\"").unwrap();
            }
            if !edge.push.is_empty() {
                writeln!(out, "push = {}", list('k', &mut edge.push.iter().copied())).unwrap();
            }
        }
        writeln!(out, "[limits]\nat_most_once = {}", list('s', &mut self.at_most_once.iter().copied()))
            .unwrap();
        writeln!(out, "exactly_once = {}", list('s', &mut self.exactly_once.iter().copied())).unwrap();
        out
    }

    /// Returns whether the word is accepted; `None` if the search was truncated and has found nothing.
    fn accepts(&self, word: &[usize]) -> Option<bool> {
        let count = |symbol: usize| word.iter().filter(|&&s| s == symbol).count();
        if self.at_most_once.iter().any(|&s| count(s) > 1) || self.exactly_once.iter().any(|&s| count(s) != 1)
        {
            return Some(false);
        }
        let start = (0, 0, self.stack_start.into_iter().collect::<Vec<usize>>());
        let mut seen = BTreeSet::from([start.clone()]);
        let mut open = VecDeque::from([start]);
        let mut cut = false;
        while let Some((state, at, stack)) = open.pop_front() {
            let (by_state, by_stack) = (self.accepting.contains(&state), stack.is_empty());
            let accepts = match self.accept_by {
                "final-state" => by_state,
                "empty-stack" => by_stack,
                "both" => by_state && by_stack,
                _ => by_state || by_stack,
            };
            if accepts && at == word.len() {
                return Some(true);
            }
            for edge in self.edges.iter().filter(|edge| edge.from == state) {
                let (mut next, mut at) = (stack.clone(), at);
                if let Some(input) = edge.input {
                    if word.get(at) != Some(&input) {
                        continue;
                    }
                    at += 1;
                }
                if let Some(pop) = edge.pop
                    && next.pop() != Some(pop)
                {
                    continue;
                }
                next.extend(&edge.push);
                if next.len() > 9 || seen.len() > 3_000 {
                    cut = true;
                } else if seen.insert((edge.to, at, next.clone())) {
                    open.push_back((edge.to, at, next));
                }
            }
        }
        (!cut).then_some(false)
    }
}

fn symbol_words(length: usize) -> Vec<Vec<usize>> {
    words(&['0', '1'], length).iter().map(|w| w.bytes().map(|b| usize::from(b - b'0')).collect()).collect()
}

proptest! {
    #![proptest_config(crate::properties::config(400))]

    #[test]
    fn a_pda_and_its_grammar_have_the_same_words(machine in machines()) {
        let spec = machine.spec();
        match compile(&spec, &Options::default()) {
            Ok(compiled) => {
                // if a stack grows without bound, it may remain undecided whether limited symbols can be reached
                let limits = Limits::default().lockstep_search(2_000);
                let Some(language) = Language::within(&compiled.grammar, &limits) else { return Ok(()) };
                for word in symbol_words(4) {
                    let texts: Vec<&str> = word.iter().map(|&symbol| TEXTS[symbol]).collect();
                    let text = texts.join(machine.separator);
                    let Ok(found) = language.decides(text.as_bytes()) else { continue };
                    if let Some(expected) = machine.accepts(&word) {
                        prop_assert_eq!(found, expected, "{} of\n{}\n{}", text, spec, compiled.grammar);
                    }
                    let with_end = format!("{text}-");
                    prop_assert_ne!(language.decides(with_end.as_bytes()).ok(), Some(true));
                }
            }
            Err(error) if error.code() == "automaton-spec/empty-language" => {
                for word in symbol_words(4) {
                    prop_assert_ne!(machine.accepts(&word), Some(true), "{:?} of\n{}", word, spec);
                }
            }
            // a random transition may pop a symbol that no transition pushes
            Err(error) => prop_assert!(error.diagnostic().message().starts_with("no such stack symbol"), "{}", error),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-z\"=\\[\\]{}%#\n -]{0,80}") {
        for format in [Format::Toml, Format::Json] {
            let _ = compile(&text, &Options::default().format(format));
            let with_header = format!("[parameters]\nn = {{ default = 1 }}\n# ---\n{text}");
            let _ = compile(&with_header, &Options::default().format(format));
        }
    }
}

#[test]
fn the_simulation_decides_most_words() {
    // the property would say nothing if the simulation were always truncated
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut decided, mut accepted, mut all) = (0, 0, 0);
    for _ in 0..200 {
        let machine = machines().new_tree(&mut runner).unwrap().current();
        for word in symbol_words(4) {
            let answer = machine.accepts(&word);
            all += 1;
            decided += usize::from(answer.is_some());
            accepted += usize::from(answer == Some(true));
        }
    }
    assert!(decided * 10 > all * 8 && accepted * 50 > all, "{decided} decided, {accepted} accepted of {all}");
}

// ---- case by case ----

#[test]
fn a_dfa_with_lists_of_inputs() {
    let spec = r#"
        kind = "dfa"
        symbols = ["a", "b", "c"]
        start = "even"
        accepting = ["odd"]
        transitions = [
            { from = "even", input = ["a", "b"], to = "odd" },
            { from = "odd", input = ["a", "b"], to = "even" },
            { from = "odd", input = "c", to = "odd" },
        ]
    "#;
    let expected = ["a", "b", "ac", "bc"];
    assert_eq!(language(spec, &['a', 'b', 'c'], 2), expected);
    let one_rest = "even ::= (\"a\" | \"b\") odd";
    assert!(toml(spec).unwrap().to_string().contains(one_rest), "{}", toml(spec).unwrap());
}

#[test]
fn separators_prefix_and_suffix() {
    let spec = r#"
        kind = "cfg"
        symbols = ["a", "b"]
        separator = "-"
        prefix = "<"
        suffix = ">"
        start = "S"
        [rules]
        S = ["A A B", "B"]
        A = ["", "a"]
        B = ["", "b B"]
    "#;
    let grammar = toml(spec).unwrap();
    for (word, expected) in [
        ("<>", true),
        ("<a>", true),
        ("<a-a>", true),
        ("<a-a-a>", false),
        ("<b-b-b>", true),
        ("<a-b>", true),
        ("<b-a>", false),
        ("<-a>", false),
        ("<a->", false),
        ("<ab>", false),
        ("a", false),
        ("<a--b>", false),
    ] {
        assert_eq!(matches(&grammar, word.as_bytes()), expected, "{word}\n{grammar}");
    }
}

#[test]
fn rules_as_a_list_and_left_recursion() {
    let spec = r#"
        kind = "cfg"
        symbols = { plus = "+", one = "1" }
        start = "sum"
        rules = [
            { head = "sum", body = ["sum", "plus", "one"] },
            { head = "sum", body = "one" },
        ]
    "#;
    assert_eq!(language(spec, &['1', '+'], 5), ["1", "1+1", "1+1+1"]);
}

#[test]
fn json_and_toml_say_the_same() {
    let json = r#"{ "kind": "nfa", "symbols": { "s": "a" }, "start": "p", "accepting": ["q"],
        "transitions": [ { "from": "p", "to": "q" }, { "from": "q", "input": "s", "to": "p" } ] }"#;
    let toml_spec = r#"
        kind = "nfa"
        symbols = { s = "a" }
        start = "p"
        accepting = ["q"]
        transitions = [{ from = "p", to = "q" }, { from = "q", input = "s", to = "p" }]
    "#;
    let options = Options::default().format(Format::Json);
    assert_eq!(compile(json, &options).unwrap().grammar, toml(toml_spec).unwrap());
    assert_eq!(language(toml_spec, &['a', 'b'], 2), ["", "a", "aa"]);
}

#[test]
fn pushing_in_order_puts_the_first_deepest() {
    let spec = |first: &str, second: &str| {
        format!(
            r#"
            kind = "pda"
            symbols = ["a", "b", "c"]
            start = "p"
            accept_by = "empty-stack"
            states = ["p", "q"]
            transitions = [
                {{ from = "p", input = "a", pop = "X", push = ["X", "Y"], to = "q" }},
                {{ from = "q", input = "b", pop = "{first}", to = "q" }},
                {{ from = "q", input = "c", pop = "{second}", to = "q" }},
            ]
            stack_start = "X"
            "#
        )
    };
    assert_eq!(language(&spec("Y", "X"), &['a', 'b', 'c'], 3), ["abc"]);
    assert_eq!(language(&spec("X", "Y"), &['a', 'b', 'c'], 3), ["acb"]);
}

#[test]
fn limits_are_a_set_beside_the_rules() {
    let letters: Vec<String> = (0..40).map(|n| format!("\"t{n:02}\"")).collect();
    let list = letters.join(", ");
    let spec = format!(
        r#"
        kind = "nfa"
        symbols = [{list}]
        separator = " "
        start = "s"
        accepting = ["s"]
        transitions = [{{ from = "s", input = [{list}], to = "s" }}]
        [limits]
        at_most_once = [{list}]
        "#
    );
    let grammar = toml(&spec).unwrap();
    assert!(grammar.expressions().len() < 200, "{}", grammar.expressions().len());
    assert!(matches(&grammar, b""));
    assert!(matches(&grammar, b"t07 t39 t00"));
    assert!(!matches(&grammar, b"t07 t39 t07"));
}

const PARAMETRIC: &str = r#"# A spec with parameters.
[parameters]
count = { default = 2, min = 0, max = 5, description = "how many" }
who = { default = "you", type = "string" }
loud = { default = false }
marks = { default = ["!", "?"], allowed = ["!", "?", "."] }
# ---
kind = "nfa"
symbols = { who = "{{ who }}", mark = "{% if loud %}!{% else %}.{% endif %}" }
suffix = "{% for m in marks %}{{ m }}{% endfor %}"
start = "s0"
accepting = ["s{{ count }}"]
transitions = [
    # {% for n in range(0, count + 1) %}
    { from = "s{{ n }}", input = "{{ ["who", "mark"][n % 2] }}", to = "s{{ n + 1 }}" },
    # {% endfor %}
]
states = [
    # {% for n in range(0, count + 2) %}
    "s{{ n }}",
    # {% endfor %}
]
"#;

fn with(values: &[(&str, &str)]) -> Options {
    let parameters = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Options::default().parameters(parameters)
}

#[test]
fn parameters_are_rendered() {
    for (values, word) in [
        (vec![], "you.!?"),
        (vec![("count", "3"), ("loud", "true"), ("marks", ".")], "you!you."),
        (
            vec![("count", "1"), ("who", "a \"b\"\\\n\u{7f}{{ 1 }}"), ("marks", "")],
            "a \"b\"\\\n\u{7f}{{ 1 }}",
        ),
    ] {
        let compiled = compile(PARAMETRIC, &with(&values)).unwrap();
        assert!(matches(&compiled.grammar, word.as_bytes()), "{word:?}\n{}", compiled.grammar);
        assert!(!matches(&compiled.grammar, b"you?"));
    }
}

#[test]
fn parameters_can_be_listed() {
    let listed = parameters(PARAMETRIC, &Limits::default()).unwrap();
    let names: Vec<&str> = listed.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["count", "who", "loud", "marks"]);
    assert_eq!(listed[0].default, ParameterValue::Integer(2));
    assert_eq!(listed[0].describe_allowed(), "an integer from 0 to 5");
    assert_eq!(compile(PARAMETRIC, &with(&[("count", "4")])).unwrap().parameters[0].value.to_string(), "4");
}

#[test]
fn templates_cannot_cost_much() {
    let doubling = "{% for y in [1, 2] %}{% set x = x ~ x %}".repeat(60);
    let (template, limit) = ("automaton-spec/template", "limit/exceeded");
    for (body, code) in [
        ("{{ 'a' * 100000000 }}".to_owned(), template),
        (doubling.clone(), template),
        (doubling + &"{% endfor %}".repeat(60), limit),
        ("{% for x in range(2) recursive %}{{ loop('a') }}{% endfor %}".to_owned(), template),
        ("{% set x = 9 %}{{ {'a': x} }}".to_owned(), template),
        ("{{ range(1000000) }}".to_owned(), template),
        ("{{ range(9223372036854775807, -9223372036854775807, -1) }}".to_owned(), template),
        ("{% for a in range(1000) %}".repeat(9) + "x" + &"{% endfor %}".repeat(9), limit),
        (format!("{{{{ {} }}}}", "1 + ".repeat(400)), template),
    ] {
        let spec = format!("[parameters]\nx = {{ default = \"x\" }}\n# ---\n{body}");
        let error = compile(&spec, &Options::default()).expect_err(&body);
        assert_eq!(error.code(), code, "{error}");
    }
    let long = "[parameters]\n# ---\n{% for a in range(1000) %}{% for a in range(1000) %}0123456789{% endfor %}{% endfor %}";
    let limits = Limits::default().source_bytes(100_000);
    let error = compile(long, &Options::default().limits(limits)).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded", "{error}");
}

#[test]
fn sizes_are_limited() {
    // n states that push n symbols, each of which can be popped on the way to every state: cubic without the limit
    let n = 60;
    let mut spec =
        String::from("kind = \"pda\"\nsymbols = [\"a\"]\nstart = \"q0\"\naccept_by = \"empty-stack\"\n");
    for state in 0..n {
        for other in 0..n {
            writeln!(spec, "[[transitions]]\nfrom = \"q{state}\"\nto = \"q{other}\"\npush = \"k{other}\"")
                .unwrap();
            writeln!(spec, "[[transitions]]\nfrom = \"q{state}\"\nto = \"q{other}\"\npop = \"k{state}\"")
                .unwrap();
        }
    }
    let limits = Limits::default().grammar_nodes(50_000);
    let error = compile(&spec, &Options::default().limits(limits)).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded", "{error}");
    let deep = format!("kind = {}", "[".repeat(100_000));
    assert_eq!(compile(&deep, &Options::default()).unwrap_err().code(), "automaton-spec/unreadable");
    let options = Options::default().format(Format::Json);
    assert_eq!(compile(&deep[7..], &options).unwrap_err().code(), "automaton-spec/unreadable");
}

// ---- diagnostics, pinned whole ----

/// Each case is `<case>.in`, read as JSON if its name begins with `json`; a line `#! name=value` gives a parameter.
/// `<case>.out` is the output of compiling it. `UPDATE_DIAGNOSTICS=1` rewrites the `.out` files.
#[test]
fn diagnostics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics/automaton-spec");
    let update = std::env::var_os("UPDATE_DIAGNOSTICS").is_some();
    let mut cases = 0;
    let mut wrong = String::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "in") {
            continue;
        }
        cases += 1;
        let source = std::fs::read_to_string(&path).unwrap();
        let json = path.file_stem().unwrap().to_string_lossy().starts_with("json");
        let values: BTreeMap<String, String> = source
            .lines()
            .filter_map(|line| line.strip_prefix("#! ")?.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let format = if json { Format::Json } else { Format::Toml };
        let mut said = String::new();
        match compile(&source, &Options::default().format(format).parameters(values)) {
            Err(error) => writeln!(said, "{error}").unwrap(),
            Ok(compiled) => {
                for warning in compiled.warnings {
                    writeln!(said, "warning{warning}").unwrap();
                }
            }
        }
        assert!(!said.is_empty(), "{} says nothing", path.display());
        let expected = path.with_extension("out");
        if update {
            std::fs::write(&expected, &said).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            writeln!(wrong, "{}\n{said}", path.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cases >= 30, "{cases}");
}
