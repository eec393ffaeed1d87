//! Procedures: a table of hard cases, sizes of automata, the supervisor compared with a search over all sets of states,
//! and malformed or very large input.

use grammata::transitions::{Transition, TransitionSystem};
use grammata::{Limits, Place};
use grammata_agents::procedures::{
    Automaton, Event, Format, Mode, NodeKind, Outcome, Procedure, Report, Session, Severity, StateId,
    Supervisor, check, follow, verify,
};
use grammata_testing::fuzz_procedures;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(crate::ROOT).join("grammars/procedures")
}

fn checked(text: &str) -> Report {
    check(text, Format::Yaml, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn read(text: &str) -> Procedure {
    Procedure::read(text, Format::Yaml, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the codes of errors and warnings, sorted and without duplicates.
fn codes(report: &Report) -> Vec<&'static str> {
    let findings = report.findings.iter().filter(|finding| finding.severity != Severity::Note);
    let mut codes: Vec<&str> = findings.map(|finding| finding.diagnostic.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    text: Option<String>,
    file: Option<String>,
    mode: Option<String>,
    codes: Option<Vec<String>>,
    enabled: Option<Vec<String>>,
    #[serde(default)]
    done: BTreeMap<String, String>,
    #[serde(default)]
    regs: BTreeMap<String, Value>,
    events: Option<Vec<Value>>,
    wrong: Option<Vec<(usize, String, String)>>,
}

impl Case {
    fn text(&self) -> String {
        match (&self.text, &self.file) {
            (Some(text), _) => text.clone(),
            (None, Some(file)) => std::fs::read_to_string(root().join(file)).unwrap(),
            (None, None) => panic!("{}: no text", self.name),
        }
    }

    fn mode(&self) -> Mode {
        match self.mode.as_deref() {
            Some("graph") => Mode::Graph,
            Some("guarded") => Mode::Guarded,
            Some("strict") => Mode::Strict,
            other => panic!("{}: {other:?}", self.name),
        }
    }

    /// Returns a session in which the nodes of `done` happened in the order of the procedure's nodes, with the results
    /// of `regs`.
    fn session<'p>(&self, procedure: &'p Procedure) -> Session<'p> {
        let mut session = Session::new(procedure, self.mode());
        for node in procedure.nodes().iter().filter(|node| self.done.contains_key(&node.name)) {
            if node.kind != NodeKind::Api {
                follow(
                    &mut session,
                    &Event::Say { answer: node.name.clone(), text: String::new(), asks: Vec::new() },
                );
                continue;
            }
            let mut result = Map::new();
            for slot in &node.response {
                let value = self.regs.get(&format!("{}.{slot}", node.name)).or_else(|| self.regs.get(slot));
                result.extend(value.map(|value| (slot.clone(), value.clone())));
            }
            if self.done[&node.name] == "error" {
                result.insert("error".into(), "failed".into());
            }
            follow(&mut session, &Event::Call(node.name.clone(), Map::new()));
            follow(&mut session, &Event::Result(result));
        }
        let is_result = |slot: &str| {
            slot.contains(['.', '@'])
                || procedure.nodes().iter().any(|node| node.response.iter().any(|r| r == slot))
        };
        for (slot, value) in self.regs.iter().filter(|(slot, _)| !is_result(slot)) {
            session.decide(slot, value);
        }
        session
    }

    fn is_as_expected(&self) -> Result<(), String> {
        let text = self.text();
        let same = |found: &[String], expected: &[String]| {
            if found == expected {
                Ok(())
            } else {
                Err(format!("{}: {found:?} and not {expected:?}", self.name))
            }
        };
        if let Some(expected) = &self.codes {
            let found: Vec<String> = codes(&checked(&text)).into_iter().map(str::to_owned).collect();
            return same(&found, expected);
        }
        let procedure = read(&text);
        if let Some(expected) = &self.enabled {
            let nodes = procedure.nodes();
            let open = self.session(&procedure).open();
            let steps = open.into_iter().map(|node| &nodes[node]);
            let steps = steps.filter(|node| matches!(node.kind, NodeKind::Api | NodeKind::Inform));
            let mut found: Vec<String> = steps.map(|node| node.name.clone()).collect();
            found.sort();
            return same(&found, expected);
        }
        let events: Vec<Event> =
            self.events.iter().flatten().map(|event| Event::of(event).unwrap()).collect();
        let (verdict, _) = verify(&procedure, self.mode(), &events, true);
        let found: Vec<String> = verdict
            .violations
            .iter()
            .map(|violation| format!("{} {} {}", violation.event, violation.node, violation.obstacle.code()))
            .collect();
        let expected = self.wrong.as_ref().unwrap();
        let expected: Vec<String> =
            expected.iter().map(|(event, node, code)| format!("{event} {node} {code}")).collect();
        same(&found, &expected)
    }
}

#[test]
fn the_hard_cases_come_out_as_stated() {
    let text = include_str!("../../../../tests/cases/procedures/cases.json");
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    let count = |is: fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count();
    assert_eq!(count(|case| case.codes.is_some()), 29);
    assert_eq!(count(|case| case.enabled.is_some()), 12);
    assert_eq!(count(|case| case.wrong.is_some()), 27);
    let wrong: Vec<String> = cases.iter().filter_map(|case| case.is_as_expected().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The number of states and edges of each shipped procedure in the mode `guarded`, without the numbers of calls.
const SIZES: [(&str, usize, usize); 12] = [
    ("card_block", 11, 63),
    ("flight_booking", 12, 60),
    ("hospital_appointment", 27, 246),
    ("insurance_claim", 28, 182),
    ("library_loan", 22, 156),
    ("meeting_room", 6, 22),
    ("parcel_return", 33, 262),
    ("password_reset", 8, 39),
    ("phone_plan", 12, 59),
    ("prescription_refill", 11, 60),
    ("restaurant_table", 18, 130),
    ("taxi_order", 12, 59),
];

#[test]
fn shipped_procedures_are_free_of_findings_and_have_these_sizes() {
    let list = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut files: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned))
        .collect();
    files.sort();
    assert_eq!(files, SIZES.map(|(name, ..)| name));
    for (name, states, edges) in SIZES {
        let report = checked(&std::fs::read_to_string(root().join(format!("{name}.yaml"))).unwrap());
        assert_eq!(codes(&report), Vec::<&str>::new(), "{name}");
        let size = report.size.unwrap();
        assert_eq!((size.states, size.edges, size.safe), (states, edges, states), "{name}");
        assert_eq!(report.procedure.unwrap().name(), name);
        let line = format!("| [{name}]({name}.yaml) |");
        let line = list.lines().find(|text| text.starts_with(&line)).unwrap_or_else(|| panic!("{name}"));
        assert!(line.ends_with(&format!("| {states} | {edges} |")), "{line}");
    }
}

#[test]
fn findings_say_where_what_and_how() {
    let text = include_str!("../../../../tests/cases/procedures/cases.json");
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    let mut seen = 0;
    for case in cases.iter().filter(|case| case.codes.is_some()) {
        for finding in checked(&case.text()).findings {
            let diagnostic = finding.diagnostic;
            seen += 1;
            assert!(matches!(diagnostic.place(), Place::LineColumn { .. }), "{diagnostic}");
            assert!(diagnostic.allowed_text().is_some() && diagnostic.help_text().is_some(), "{diagnostic}");
        }
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn all_errors_come_at_once_with_their_places() {
    let text = "Name: x\nSLOTs:\n- {name: s}\n- {name: s}\nAPIs:\n- {name: a, precondition: [b, c!no]}\n\
                - {name: b, precondition: [a], max_calls: 0}\n- {name: c}\nANSWERs:\n- {name: ok, kind: infrom}\n\
                Procedure: |\n    a()\n    if s:\n        API.ok()\n    d()\n";
    let report = checked(text);
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let found: Vec<String> = errors
        .map(|finding| match finding.diagnostic.place() {
            Place::LineColumn { line, column } => format!("{} {line}:{column}", finding.diagnostic.code()),
            place => panic!("{place}"),
        })
        .collect();
    let expected = [
        "pdl/duplicate-slot 4:10",
        "pdl/unknown-precondition 6:10",
        "pdl/cyclic-precondition 6:10",
        "pdl/yaml 7:43",
        "pdl/kind 10:20",
        "pdl/node-kind 14:9",
        "pdl/unknown-node 15:5",
    ];
    assert_eq!(found, expected);
    let error = Procedure::read(text, Format::Yaml, &Limits::default()).unwrap_err();
    assert_eq!(error.diagnostics().count(), expected.len());
}

#[test]
fn yaml_json_and_toml_are_the_same_procedure() {
    let yaml = "Name: x\nSLOTs:\n- {name: s, schema: {enum: [1, two, true, null]}}\nAPIs:\n- name: a b\n  response: [s]\n\
                ANSWERs:\n- {name: ok, pre: \"['a_b']\", desc: 'it is $s'}\nProcedure: |\n  API.a_b()\n  if s == 1:\n    ok()\n";
    let json = r#"{"name": "x", "SLOTS": [{"name": "s", "schema": {"enum": [1, "two", true, null]}}],
        "apis": [{"name": "a b", "response": ["s"]}],
        "answers": [{"name": "ok", "precondition": ["a_b"], "desc": "it is $s"}],
        "pdl": "API.a_b()\nif s == 1:\n  ok()\n"}"#;
    let toml = "Name = 'x'\nProcedure = '''\nAPI.a_b()\nif s == 1:\n  ok()\n'''\n[[SLOTs]]\nname = 's'\nschema = {enum = [1, 'two', true]}\n\
                [[APIs]]\nname = 'a b'\nresponse = ['s']\n[[ANSWERs]]\nname = 'ok'\nprecondition = ['a_b']\ndesc = 'it is $s'\n";
    let outline = |text: &str, format| {
        let report = check(text, format, &Limits::default()).unwrap();
        let procedure = report.procedure.unwrap_or_else(|| panic!("{:?}", report.findings));
        let nodes: Vec<String> = procedure
            .nodes()
            .iter()
            .map(|n| format!("{} {:?} {:?} {}", n.name, n.kind, n.required, n.description))
            .collect();
        (nodes, procedure.slots()[0].schema.clone().unwrap()["enum"][1].clone(), report.size.unwrap().states)
    };
    let expected = outline(yaml, Format::Yaml);
    // the start, and one state after the call for each value
    assert_eq!(expected.2, 5);
    assert_eq!(outline(json, Format::Yaml), expected);
    let toml = outline(toml, Format::Toml);
    assert_eq!((toml.0, toml.1, toml.2), (expected.0, expected.1, 4));
}

/// Returns a pseudo-random number below `bound`, from a generator with 64 bits of state (Knuth's MMIX constants).
fn draw(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// Returns a small random procedure in which a result or an error may lead to a dead end; calls may be bounded.
fn random_procedure(seed: u64) -> String {
    let mut state = seed;
    let mut text = String::from(
        "Name: x\nSLOTs:\n- {name: s, schema: {type: boolean}}\n- {name: t, schema: {type: boolean}}\nAPIs:\n",
    );
    let mut value = |bound: u64| draw(&mut state, bound);
    let mut most = || match value(4) {
        most @ 1..=2 => format!(", max_calls: {most}"),
        _ => String::new(),
    };
    let (a, b) = (most(), most());
    // an optional call whose error ends the procedure
    let has_risk = value(2) == 0;
    let (risk, response) =
        if has_risk { ("- {name: c, max_calls: 1}\n", "") } else { ("", ", response: [t]") };
    text.push_str(&format!(
        "- {{name: a, response: [s]{a}}}\n- {{name: b, precondition: [a]{response}{b}}}\n{risk}"
    ));
    text.push_str("ANSWERs:\n- {name: ok, kind: inform, precondition: [b]}\n- {name: no, kind: inform, precondition: [a]}\nProcedure: |\n");
    if has_risk {
        text.push_str("  try:\n    c()\n  except:\n    return\n");
    }
    let mut flag = || ["true", "false"][value(2) as usize];
    let first = flag();
    match has_risk {
        true => text.push_str(&format!("  [s] = a()\n  if s == {first}:\n    b()\n    ok()\n")),
        false => text.push_str(&format!(
            "  [s] = a()\n  if s == {first}:\n    [t] = b()\n    if t == {}:\n      ok()\n",
            flag()
        )),
    }
    if value(2) == 0 {
        text.push_str("  else:\n    no()\n");
    }
    text
}

/// Returns the states of `set` from which a goal can be reached through choices whose outcomes all stay in `set`. Sets
/// of states are bit sets.
fn live_within(set: u32, choices: &[Vec<Vec<StateId>>], goal: u32) -> u32 {
    let has = |set: u32, state: StateId| set >> state & 1 == 1;
    let mut live = set & goal;
    for _ in 0..choices.len() {
        for (state, choices) in choices.iter().enumerate().filter(|(state, _)| has(set, *state as StateId)) {
            let leads = choices
                .iter()
                .any(|to| to.iter().all(|&to| has(set, to)) && to.iter().any(|&to| has(live, to)));
            if leads {
                live |= 1 << state;
            }
        }
    }
    live
}

#[test]
fn the_supervisor_is_the_union_of_all_controllable_nonblocking_sets() {
    const MOST: usize = 14;
    let (mut blocking, mut cut) = (0, 0);
    for seed in 0..60 {
        let text = random_procedure(seed);
        let procedure = read(&text);
        let limits = Limits::default();
        let mut automaton = Automaton::new(&procedure, Mode::Guarded, &limits);
        let mut choices: Vec<Vec<Vec<StateId>>> = Vec::new();
        let (mut goal, mut most) = (0_u32, 0);
        while choices.len() <= most as usize && choices.len() <= MOST {
            let state = choices.len() as StateId;
            let mut successors = Vec::new();
            automaton.successors(&state, &mut successors).unwrap();
            let mut by_node: BTreeMap<usize, Vec<StateId>> = BTreeMap::new();
            for Transition { label, to } in successors {
                most = most.max(to);
                by_node.entry(label.node).or_default().push(to);
            }
            choices.push(by_node.into_values().collect());
            goal |= u32::from(automaton.is_accepting(&state)) << state;
        }
        if choices.len() > MOST {
            continue;
        }
        let sets = (0..1_u32 << choices.len()).filter(|&set| live_within(set, &choices, goal) == set);
        let greatest = sets.fold(0, |union, set| union | set);
        let supervisor = Supervisor::new(&procedure, Mode::Guarded, &limits).unwrap();
        for state in 0..choices.len() as StateId {
            assert_eq!(supervisor.is_safe(state), greatest >> state & 1 == 1, "{state}\n{text}");
        }
        blocking += u32::from(supervisor.is_blocking());
        let size = supervisor.size();
        cut += u32::from(size.safe < size.states && !supervisor.is_blocking());
        let has_blocking = codes(&checked(&text)).contains(&"pdl/blocking");
        assert_eq!(has_blocking, supervisor.is_blocking(), "{text}");
    }
    assert!(blocking > 3 && cut > 3, "{blocking} {cut}");
}

/// Returns whether some choices and outcomes reach a closing answer within `steps` steps.
fn can_close(session: &Session<'_>, steps: usize) -> bool {
    session.is_complete() || steps > 0 && after_steps(session).iter().any(|next| can_close(next, steps - 1))
}

/// Returns the sessions after one step: each open node, with each possible result.
fn after_steps<'p>(session: &Session<'p>) -> Vec<Session<'p>> {
    let mut all = Vec::new();
    for node in session.open() {
        let mut next = session.clone();
        if session.procedure().nodes()[node].kind != NodeKind::Api {
            next.say(node);
            all.push(next);
            continue;
        }
        let name = &session.procedure().nodes()[node].name;
        let slot = session.procedure().nodes()[node].response.first();
        let mut results: Vec<Map<String, Value>> = match slot {
            Some(slot) => [true, false].map(|flag| Map::from_iter([(slot.clone(), flag.into())])).into(),
            None => vec![Map::new()],
        };
        // `c` is the only call whose error is caught
        results.extend((name == "c").then(|| Map::from_iter([("error".to_owned(), "no".into())])));
        for result in results {
            let mut next = session.clone();
            next.call(node, Map::new(), false);
            next.result(&result);
            all.push(next);
        }
    }
    all
}

#[test]
fn a_supervised_session_never_enters_a_dead_end() {
    let (mut cut, mut refused) = (0, 0);
    for seed in 0..60 {
        let text = random_procedure(seed);
        let procedure = read(&text);
        let supervisor = Supervisor::new(&procedure, Mode::Guarded, &Limits::default()).unwrap();
        let size = supervisor.size();
        if supervisor.is_blocking() || size.safe == size.states {
            continue;
        }
        cut += 1;
        let mut sessions = vec![Session::supervised(&supervisor)];
        for _ in 0..3 {
            for session in &sessions {
                assert!(can_close(session, 4), "{}\n{text}", session.feedback());
                refused += session.unsupervised().open().len() - session.open().len();
            }
            sessions = sessions.iter().flat_map(after_steps).collect();
        }
    }
    assert!(cut > 3 && refused > 0, "{cut} {refused}");
}

#[test]
fn an_error_that_an_answer_requires_is_an_outcome_without_a_try() {
    let procedure = read(
        "Name: order\nSLOTs:\n- {name: order, schema: {type: string}}\nAPIs:\n- {name: find, request: [order]}\n\
         ANSWERs:\n- {name: found, kind: inform, precondition: [find!ok]}\n\
         - {name: none, kind: inform, precondition: [find!error]}\nProcedure: |\n  find([order])\n  found()\n  none()\n",
    );
    let (find, none) = (procedure.node("find").unwrap(), procedure.node("none").unwrap());
    assert!(procedure.catches(find));
    let mut automaton = Automaton::new(&procedure, Mode::Graph, &Limits::default());
    let mut after = Vec::new();
    automaton.successors(&0, &mut after).unwrap();
    let to =
        after.iter().find(|step| step.label.node == find && step.label.outcome == Outcome::Error).unwrap().to;
    assert!(automaton.is_accepting(&to) && !automaton.is_accepting(&0));
    // the agent reaches the same state
    let mut session = Session::new(&procedure, Mode::Graph);
    session.call(find, Map::from_iter([("order".to_owned(), "7".into())]), false);
    session.result(&Map::from_iter([("error".to_owned(), "no".into())]));
    assert_eq!(session.say(none), None, "{}", session.feedback());
    assert!(session.is_complete());
}

#[test]
fn feedback_names_what_is_open_and_what_blocks_the_rest() {
    let procedure = read(&std::fs::read_to_string(root().join("card_block.yaml")).unwrap());
    let mut session = Session::new(&procedure, Mode::Guarded);
    let arguments = Map::from_iter([("customer".to_owned(), "Ada".into())]);
    assert_eq!(session.call(0, arguments, true), None);
    session.result(&Map::from_iter([("identified".to_owned(), false.into())]));
    let expected = "open:\n  identify\n  request_information\n  answer_out_of_workflow\n  \
        not_identified: I could not identify you; please come to a branch.\nblocked:\n  \
        block_card: guard not (identified == false) (identify.identified = false)\n  \
        order_card: precondition block_card\n  block_failed: precondition block_card\n  \
        offer_new: precondition block_card\n  new_card: precondition order_card\n  only_blocked: precondition block_card\n";
    assert_eq!(session.feedback(), expected);
    assert!(!session.is_complete());
    assert_eq!(session.say(procedure.node("not identified").unwrap()), None);
    assert!(session.is_complete());
}

#[test]
fn calls_that_disagree_close_what_builds_on_both() {
    let procedure = read(
        "Name: x\nAPIs:\n- {name: a, request: [s]}\n- {name: b, request: [s]}\n- {name: c, request: [s], pre: [a, b]}\n\
         Procedure: |\n  a(s)\n  b(s)\n  c(s)\n",
    );
    let with = |value: &str| Map::from_iter([("s".to_owned(), value.into())]);
    let mut session = Session::new(&procedure, Mode::Guarded);
    for (api, value, open) in [(0, "x", vec![0, 1]), (1, "y", vec![0, 1]), (0, "Y", vec![0, 1, 2])] {
        session.call(api, with(value), true);
        session.result(&Map::new());
        assert_eq!(session.open(), open);
    }
    assert_eq!(session.obstacle(2, Some(&with("z"))).unwrap().to_string(), "stale a.s");
    assert_eq!(session.obstacle(2, Some(&Map::new())).unwrap().to_string(), "argument s");
}

/// Returns a procedure with a chain or a row of APIs. Its answer requires the last API of the chain, or all APIs of the
/// row.
fn many(count: usize, is_chain: bool) -> String {
    let mut text = String::from("Name: x\nAPIs:\n");
    for api in 0..count {
        let before = if is_chain && api > 0 { format!("a{}", api - 1) } else { String::new() };
        text.push_str(&format!("- {{name: a{api}, precondition: [{before}]}}\n"));
    }
    let all = if is_chain { count - 1..count } else { 0..count };
    let all: Vec<String> = all.map(|api| format!("a{api}")).collect();
    text.push_str(&format!("ANSWERs:\n- {{name: ok, precondition: [{}]}}\nProcedure: |\n", all.join(", ")));
    (0..count).for_each(|api| text.push_str(&format!("  a{api}()\n")));
    text + "  ok()\n"
}

#[test]
fn many_nodes_are_states_or_a_limit() {
    let chain = checked(&many(30, true));
    assert_eq!(chain.size.unwrap().states, 31);
    let row = many(30, false);
    let limits = Limits::default().plan_states(2_000);
    let report = check(&row, Format::Yaml, &limits).unwrap();
    let error = report.unchecked.unwrap();
    assert!(error.to_string().contains("`plan_states`"), "{error}");
    let procedure = report.procedure.unwrap();
    let mut session = Session::new(&procedure, Mode::Strict);
    for api in 0..30 {
        assert_eq!(session.open(), [api]);
        session.call(api, Map::new(), true);
        session.result(&Map::new());
    }
    assert_eq!(session.open(), [30]);
    let long = Procedure::read(&many(3_000, true), Format::Yaml, &Limits::default()).unwrap();
    assert_eq!(Session::new(&long, Mode::Guarded).open(), [0]);
    let few = Limits::default().procedure_nodes(30);
    let error = Procedure::read(&row, Format::Yaml, &few).unwrap_err();
    assert!(error.to_string().contains("`procedure_nodes`"), "{error}");
}

#[test]
fn hostile_files_are_errors() {
    let deep = format!("Name: {}", "[".repeat(50_000));
    let aliases = "a: &a [x, x]\nb: &b [*a, *a]\nName: *b\n".to_owned();
    let blocks: String = (0..300).map(|depth| format!("  {}if a:\n", " ".repeat(depth))).collect();
    let nested = format!("Name: x\nProcedure: |\n{blocks}");
    for (text, code) in [
        (deep, "pdl/yaml"),
        (aliases, "pdl/yaml"),
        ("Name: !x y\n".to_owned(), "pdl/yaml"),
        ("Name: x\n---\nName: y\n".to_owned(), "pdl/yaml"),
        ("- x\n".to_owned(), "pdl/yaml"),
        ("Name: x\nname: y\nProcedure: a\n".to_owned(), "pdl/yaml"),
        ("Name: x\nAPIs: {a: b}\nProcedure: a\n".to_owned(), "pdl/yaml"),
        (String::new(), "pdl/yaml"),
        (nested, "pdl/empty-block"),
    ] {
        assert_eq!(codes(&checked(&text)).first(), Some(&code), "{}", &text[..text.len().min(60)]);
    }
    let small = Limits::default().source_bytes(3);
    assert_eq!(check("Name: x", Format::Yaml, &small).unwrap_err().code(), "limit/exceeded");
}

#[test]
fn every_beginning_of_a_file_is_read_or_refused() {
    let text = std::fs::read_to_string(root().join("parcel_return.yaml")).unwrap();
    let mut valid = 0;
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)).step_by(3) {
        match Procedure::read(&text[..end], Format::Yaml, &Limits::default()) {
            Ok(_) => valid += 1,
            Err(error) => assert!(error.code().starts_with("pdl/"), "{error}"),
        }
    }
    assert!(valid > 20, "{valid}");
}

#[test]
fn changed_files_are_taken_without_panic() {
    let mut state = 5;
    let mut valid = 0;
    for (name, ..) in SIZES {
        let text = std::fs::read_to_string(root().join(format!("{name}.yaml"))).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for _ in 0..24 {
            let mut lines = lines.clone();
            for _ in 0..=draw(&mut state, 2) {
                let (one, other) =
                    (draw(&mut state, lines.len() as u64), draw(&mut state, lines.len() as u64));
                let (one, other) = (one as usize, other as usize);
                match draw(&mut state, 4) {
                    0 => lines.swap(one, other),
                    1 => drop(lines.remove(one)),
                    2 => lines[one] = lines[one].trim_start(),
                    _ => lines[one] = lines[one].get(..other).unwrap_or(lines[other]),
                }
            }
            let text = lines.join("\n");
            fuzz_procedures::procedure(text.as_bytes());
            valid += u32::from(Procedure::read(&text, Format::Yaml, &Limits::default()).is_ok());
        }
    }
    assert!((20..250).contains(&valid), "{valid}");
}
