//! Typed arguments of actions, and invalid formulas, effects, facts and arguments.

use crate::language::Language;
use crate::plans::{plans, read};
use grammata::syntax::automaton_spec::{Options, Spec};
use grammata_agents::plan::{Plan, PlanAutomaton, ReadPlan, Verdict};

/// Returns a spec with one state, in which all symbols may occur in any order and number. `symbols` and `more` are
/// TOML.
fn free(symbols: &str, more: &str) -> String {
    let table: toml::Table = toml::from_str(&format!("[symbols]\n{symbols}")).unwrap();
    let names: Vec<String> =
        table["symbols"].as_table().unwrap().keys().map(|name| format!("'{name}'")).collect();
    format!(
        "kind = 'dfa'\nstart = 's'\naccepting = ['s']\nseparator = '; '\n{more}\n[symbols]\n{symbols}\n\
         [[transitions]]\nfrom = 's'\ninput = [{}]\nto = 's'\n",
        names.join(", ")
    )
}

const REFUND: &str = "refund = { arguments = { type = 'object', additionalProperties = false, required = ['order', 'cents'], properties = { order = { type = 'string', pattern = '^[A-Z][0-9]{2}$' }, cents = { type = 'integer', minimum = 1, maximum = 500 } } } }\n\
    note = { text = 'note: {}!', arguments = { type = 'object', enum = [{ n = 1 }, { n = 2 }] } }\nclose = 'close it'";

#[test]
fn a_text_holds_the_json_of_the_arguments() {
    for more in
        ["", "limits = { at_most = { refund = 1 } }", "limits = { at_most_once = ['refund', 'close'] }"]
    {
        let spec = Spec::read(&free(REFUND, more), &Options::default()).unwrap();
        let language = Language::new(&spec.grammar().unwrap());
        let good = [
            r#"refund {"order":"A12","cents":3}"#,
            r#"refund {"order": "A12", "cents": 500}"#,
            r#"note: {"n":2}!; close it"#,
            r#"note: {"n": 1}!; refund {"order":"B00","cents":1}; close it"#,
        ];
        for text in good {
            assert!(language.accepts(text.as_bytes()), "{text} {more}");
        }
        let bad = [
            r#"refund {"order":"a12","cents":3}"#,
            r#"refund {"order":"A12","cents":0}"#,
            r#"refund {"order":"A12"}"#,
            "refund {}",
            "refund",
            r#"note: {"n":3}!"#,
            r#"note: {"n":2}"#,
        ];
        for text in bad {
            assert!(!language.accepts(text.as_bytes()), "{text} {more}");
        }
        let twice = r#"refund {"order":"A12","cents":3}; refund {"order":"A12","cents":3}"#;
        assert_eq!(language.accepts(twice.as_bytes()), more.is_empty(), "{more}");
    }
}

fn verdict(automaton: &mut PlanAutomaton, text: &str) -> Result<Plan, (usize, Option<String>)> {
    let read = ReadPlan::parse(text, automaton.spec()).unwrap();
    match automaton.verify(&read, &[]).unwrap() {
        Verdict::Valid(plan) => Ok(plan),
        Verdict::Wrong { step, .. } => {
            let wrong = read.steps.get(step).and_then(|step| step.wrong_arguments.as_ref());
            Err((step, wrong.map(|wrong| wrong.pointer.clone())))
        }
    }
}

#[test]
fn arguments_are_read_from_json_and_from_text() {
    let mut automaton = plans(&free(REFUND, "limits = { at_most_once = ['refund'] }"));
    let spec = automaton.shared_spec();
    let json = r#"[{"action": "refund", "arguments": {"cents": 7, "order": "C33"}}, "close"]"#;
    let line = "1. refund {\"cents\":7,\"order\":\"C33\"}\n2. close it\n";
    for text in [json, line] {
        let plan = verdict(&mut automaton, text).unwrap();
        assert_eq!(plan.steps[0].arguments.as_ref().unwrap()["cents"], 7, "{text}");
        assert_eq!(plan.steps[0].text(&spec), r#"refund {"cents":7,"order":"C33"}"#);
    }
    // the arguments may be missing from a plan
    assert!(verdict(&mut automaton, "[\"refund\", \"close\"]").is_ok());
    let wrong = [
        (r#"["close", {"action": "refund", "arguments": {"order": "C33", "cents": 501}}]"#, 1, "/cents"),
        (r#"[{"action": "refund", "arguments": {"order": "C333", "cents": 5}}]"#, 0, "/order"),
        (r#"[{"action": "refund", "arguments": [1]}]"#, 0, ""),
        ("close it\nrefund {\"order\": \"x\", \"cents\": 1}", 1, "/order"),
        (r#"[{"action": "note", "arguments": {"n": 1, "m": 1}}]"#, 0, "/n"),
        (r#"[{"action": "close", "arguments": {}}]"#, 0, ""),
    ];
    for (text, step, pointer) in wrong {
        let found = verdict(&mut automaton, text).unwrap_err();
        assert_eq!(found, (step, Some(pointer.to_owned())), "{text}");
    }
    // a word of the spec is read as a plan with arguments, too
    let word = r#"note: {"n": 2}!; refund {"order": "D44", "cents": 12}"#;
    let plan = automaton.read_word(word).unwrap().unwrap();
    assert_eq!(plan.steps[1].arguments.as_ref().unwrap()["order"], "D44");
    assert_eq!(automaton.read_word("note: {\"n\": 3}!").unwrap(), None);
    assert_eq!(
        verdict(&mut automaton, &format!("{}\n{}", plan.steps[0].text(&spec), plan.steps[1].text(&spec))),
        Ok(plan)
    );
}

/// An action counts as one letter, whatever its arguments are.
#[test]
fn arguments_are_not_counted() {
    let mut automaton = plans(&free(REFUND, "limits = { at_most_once = ['refund', 'note', 'close'] }"));
    assert_eq!(automaton.count().unwrap().to_string(), "16");
    assert_eq!(automaton.plans().unwrap().count(), 16);
}

#[test]
fn actions_with_equal_rules_share_a_letter_and_are_counted_all_the_same() {
    let source = free(
        "login = {}\na = { requires = ['login'] }\nb = { requires = ['login'] }\nc = { requires = ['login'], effects = { set = 'x' } }\nd = { requires = 'x' }",
        "limits = { at_most_once = ['login', 'a', 'b', 'c', 'd'] }",
    );
    let mut automaton = plans(&source);
    // all orders of subsets of the five actions such that each action follows the actions that it requires
    let (mut expected, ids) = (0, ["login", "a", "b", "c", "d"]);
    let mut open: Vec<Vec<&str>> = vec![Vec::new()];
    while let Some(word) = open.pop() {
        expected += 1;
        for id in ids {
            let is_open = match id {
                "login" => true,
                "d" => word.contains(&"c"),
                _ => word.contains(&"login"),
            };
            if is_open && !word.contains(&id) {
                open.push([&word[..], &[id]].concat());
            }
        }
    }
    assert_eq!(automaton.count().unwrap().to_string(), expected.to_string());
    assert_eq!(automaton.plans().unwrap().count(), expected);
}

#[test]
fn wrong_rules_are_refused_where_they_are() {
    // symbols, further fields, code, place, part of the message
    let cases = [
        (
            "a = { requires = \"b and\" }\nb = {}",
            "",
            "automaton-spec/formula",
            "/symbols/a/requires",
            "character 6",
        ),
        (
            "a = { requires = \"b and (c\" }\nb = {}\nc = {}",
            "",
            "automaton-spec/formula",
            "/symbols/a/requires",
            "character 7",
        ),
        (
            "a = { requires = \"shwer\" }\nshower = {}",
            "",
            "automaton-spec/undefined",
            "/symbols/a/requires",
            "`shower`",
        ),
        (
            "a = { requires = ['b', ['c', 'd']] }\nb = {}\nc = {}",
            "",
            "automaton-spec/undefined",
            "/symbols/a/requires/1",
            "`d`",
        ),
        ("a = { requires = [[]] }", "", "automaton-spec/formula", "/symbols/a/requires/0", "any of no names"),
        (
            "a = { requires = \"b and not b\" }\nb = {}",
            "",
            "automaton-spec/contradiction",
            "/symbols/a/requires",
            "never holds",
        ),
        (
            "a = { requires = \"f == p and f == q\" }",
            "facts = { f = ['p', 'q'] }",
            "automaton-spec/contradiction",
            "/symbols/a/requires",
            "f == p and f == q",
        ),
        (
            "a = { requires = \"f == r\" }",
            "facts = { f = ['p', 'q'] }",
            "automaton-spec/undefined",
            "/symbols/a/requires",
            "`p`, `q`",
        ),
        (
            "a = { requires = \"b == p\" }\nb = {}",
            "",
            "automaton-spec/formula",
            "/symbols/a/requires",
            "has no values",
        ),
        (
            "a = { effects = { set = ['x'], clear = ['x'] } }",
            "",
            "automaton-spec/effects",
            "/symbols/a/effects",
            "two values",
        ),
        (
            "a = { effects = { set = ['b'] } }\nb = {}",
            "",
            "automaton-spec/effects",
            "/symbols/a/effects/set",
            "no effect can set",
        ),
        (
            "a = { effects = { clear = ['z'] } }",
            "",
            "automaton-spec/undefined",
            "/symbols/a/effects/clear",
            "`z`",
        ),
        (
            "a = { outcomes = { ok = { set = { f = 'r' } } } }",
            "facts = { f = ['p'] }",
            "automaton-spec/undefined",
            "/symbols/a/outcomes/ok/set",
            "`p`",
        ),
        ("a = {}", "facts = { a = true }", "automaton-spec/twice", "/facts/a", "both a fact and an action"),
        ("a = {}", "facts = { f = ['p', 'p'] }", "automaton-spec/fact", "/facts/f", "distinct"),
        (
            "a = {}",
            "facts = { f = { values = ['p'], initial = 'q' } }",
            "automaton-spec/fact",
            "/facts/f",
            "none of its values",
        ),
        (
            "a = { outcomes = ['ok'], cost = 1 }",
            "limits = { max_cost = 3 }",
            "automaton-spec/plans-only",
            "/limits/max_cost",
            "outcomes",
        ),
        (
            "a = { requires = \"b or c\" }\nb = {}\nc = {}",
            "direction = 'backward'",
            "automaton-spec/backward",
            "/symbols/a/requires",
            "forwards",
        ),
        (
            "a = { effects = { set = 'x' } }",
            "direction = 'backward'",
            "automaton-spec/backward",
            "/symbols/a/effects",
            "forwards",
        ),
        (
            "a = { text = 'go', arguments = { type = 'object' } }",
            "",
            "automaton-spec/arguments",
            "/symbols/a/text",
            "one `{}`",
        ),
        ("a = { arguments = { type = 'objekt' } }", "", "json-schema/type", "/symbols/a/arguments/type", ""),
        (
            "a = { arguments = 'schema.json' }",
            "",
            "automaton-spec/arguments",
            "/symbols/a/arguments",
            "schema.json",
        ),
        ("a = { outcomes = ['ok', 'ok'] }", "", "automaton-spec/unreadable", "", "twice"),
    ];
    for (symbols, more, code, place, part) in cases {
        let error = match Spec::read(&free(symbols, more), &Options::default()) {
            Err(error) => error,
            Ok(_) => panic!("{symbols}"),
        };
        let text = error.to_string();
        assert!(error.code().starts_with(code.split("/type").next().unwrap()), "{symbols}: {text}");
        assert!(text.contains(place) && text.contains(part), "{symbols}: {text}");
        assert!(error.diagnostic().help_text().is_some(), "{symbols}: {text}");
    }
    // specs that can be read, and planned with, but that have no grammar of texts
    let cases = [
        (
            "a = { arguments = { type = 'object' } }",
            "limits = { at_most_once = ['a'] }",
            "automaton-spec/arguments",
        ),
        ("a = { outcomes = ['ok'] }", "", "automaton-spec/plans-only"),
        (
            "a = { arguments = { type = 'string' } }",
            "limits = { at_most_once = ['a'] }",
            "automaton-spec/ambiguous-texts",
        ),
        (
            "a = { arguments = { type = 'object', additionalProperties = false } }\nb = 'a {}'",
            "limits = { at_most_once = ['a'] }",
            "automaton-spec/ambiguous-texts",
        ),
    ];
    for (symbols, more, code) in cases {
        let spec = Spec::read(&free(symbols, more), &Options::default()).unwrap();
        assert_eq!(spec.grammar().unwrap_err().code(), code, "{symbols}");
    }
}

#[test]
fn what_nothing_sets_is_warned_of() {
    let cases = [
        ("a = { requires = \"f == p\" }\nb = {}", "facts = { f = ['p', 'q'] }", "automaton-spec/never-set"),
        ("a = { requires = \"x\" }\nb = {}", "facts = { x = false }", "automaton-spec/never-set"),
        ("a = {}", "facts = { x = false }", "automaton-spec/unused"),
    ];
    for (symbols, more, code) in cases {
        let spec = Spec::read(&free(symbols, more), &Options::default()).unwrap();
        let codes: Vec<&str> = spec.warnings().iter().map(|warning| warning.code()).collect();
        assert_eq!(codes, [code], "{symbols}");
    }
    let fine =
        free("a = { requires = \"x and not y\" }\nb = { effects = { set = 'y' } }", "facts = { x = true }");
    assert_eq!(Spec::read(&fine, &Options::default()).unwrap().warnings().len(), 0);
}

/// Effects that undo each other make infinitely many plans, because a state recurs.
#[test]
fn effects_that_loop_are_plans_without_end() {
    let lamp = free(
        "on = { requires = \"not lit\", effects = { set = 'lit' } }\noff = { requires = 'lit', effects = { clear = 'lit' } }\nleave = { requires = 'on and not lit' }",
        "limits = { exactly_once = ['leave'] }",
    );
    let mut automaton = plans(&lamp);
    assert_eq!(automaton.count().unwrap().to_string(), "infinite");
    let first: Vec<usize> =
        automaton.plans().unwrap().take(3).map(|plan| plan.unwrap().steps.len()).collect();
    assert_eq!(first, [3, 4, 5]);
    // if both actions may occur at most twice, the number of plans is finite
    let bounded =
        lamp.replace("exactly_once = ['leave']", "exactly_once = ['leave'], at_most = { on = 2, off = 2 }");
    let mut automaton = plans(&bounded);
    let count = automaton.count().unwrap().to_string();
    assert_eq!(automaton.plans().unwrap().count().to_string(), count);
}

/// Plans are enumerated by length, not in depth-first order, even if a required action has no bound.
#[test]
fn a_required_action_that_repeats_is_infinite() {
    let source = "kind = 'dfa'\nstart = 's'\naccepting = ['t']\n[symbols]\na = {}\nb = { requires = ['a'] }\n\
        [[transitions]]\nfrom = 's'\ninput = 'a'\nto = 's'\n[[transitions]]\nfrom = 's'\ninput = 'b'\nto = 't'\n";
    let mut automaton = plans(source);
    assert!(automaton.is_infinite().unwrap());
    let lengths: Vec<usize> =
        automaton.plans().unwrap().take(3).map(|plan| plan.unwrap().steps.len()).collect();
    assert_eq!(lengths, [2, 3, 4]);
    let error = read(&source.replace("['a']", "['c']"), &[]).unwrap_err();
    assert_eq!(error.code(), "automaton-spec/undefined");
}

#[test]
fn a_schema_of_arguments_may_be_a_file_beside_the_spec() {
    let folder = std::env::temp_dir().join(format!("grammata-arguments-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("schemas")).unwrap();
    std::fs::write(folder.join("schemas/a.json"), r#"{"type": "object", "maxProperties": 0}"#).unwrap();
    let read = |path: &str| {
        let options = Options::default().folder(Some(folder.clone()));
        Spec::read(&free(&format!("a = {{ arguments = '{path}' }}"), ""), &options)
    };
    let spec = read("schemas/a.json").unwrap();
    assert!(Language::new(&spec.grammar().unwrap()).accepts(b"a {}"));
    for path in ["schemas/b.json", "../a.json", "/etc/passwd", "schemas/../../x.json"] {
        assert_eq!(read(path).unwrap_err().code(), "automaton-spec/arguments", "{path}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
