//! The case files in `tests/cases/flows`: the warnings and errors of each domain, and its plans at several levels and
//! orders. Random domains are compared with a naive enumeration of their plans.

use grammata::Limits;
use grammata::syntax::automaton_spec::{Format, Options, Spec};
use grammata::transitions::{Counts, Graph, Transition, TransitionSystem, minimize};
use grammata_agents::flows::{Entry, FlowAutomaton, FlowDomain, FlowOptions, Level, Within, spec};
use grammata_agents::plan::{PlanAutomaton, ReadPlan, Verdict};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The APIs, each written as `Name: input any/of -> output`.
    apis: Vec<String>,
    #[serde(default)]
    steps: BTreeMap<String, Vec<String>>,
    flows: Vec<Vec<toml::Value>>,
    #[serde(default)]
    given: Vec<String>,
    #[serde(default)]
    allow: Vec<String>,
    order: Option<String>,
    #[serde(default)]
    allow_infeasible: bool,
    intents: Option<usize>,
    plans: Option<String>,
    declared: Option<String>,
    level_3: Option<String>,
    level_4: Option<String>,
    level_5: Option<String>,
    states: Option<usize>,
    words: Option<Vec<String>>,
    words_declared: Option<Vec<String>>,
    error: Option<String>,
    declared_error: Option<String>,
    plans_error: Option<String>,
    shown: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

/// Returns a case as the TOML text of a domain, whose prelude is a step `p` of the API `P`.
fn written(case: &Case) -> String {
    let mut apis = toml::Table::new();
    apis.insert("P".to_owned(), toml::Table::new().into());
    let mut steps = toml::Table::new();
    let step = |apis: &[String]| {
        let apis: Vec<toml::Value> = apis.iter().map(|api| api.as_str().into()).collect();
        toml::Table::from_iter([("text".to_owned(), "a step".into()), ("apis".to_owned(), apis.into())])
    };
    steps.insert("p".to_owned(), step(&["P".to_owned()]).into());
    for api in &case.apis {
        let (name, data) = api.split_once(':').unwrap_or((api, ""));
        let (inputs, outputs) = data.split_once("->").unwrap_or((data, ""));
        let any_of = |input: &str| input.split('/').map(toml::Value::from).collect::<Vec<_>>();
        let inputs: Vec<toml::Value> = inputs.split_whitespace().map(|input| any_of(input).into()).collect();
        let outputs: Vec<toml::Value> = outputs.split_whitespace().map(toml::Value::from).collect();
        let api = toml::Table::from_iter([
            ("inputs".to_owned(), inputs.into()),
            ("outputs".to_owned(), outputs.into()),
        ]);
        apis.insert(name.to_owned(), api.into());
        steps.insert(name.to_owned(), step(&[name.to_owned()]).into());
    }
    for (id, apis) in &case.steps {
        steps.insert(id.clone(), step(apis).into());
    }
    let list = |names: &[String]| toml::Value::from(names.iter().map(String::as_str).collect::<Vec<_>>());
    let flow = |(number, entries): (usize, &Vec<toml::Value>)| {
        let entries = std::iter::once("p".into()).chain(entries.iter().cloned());
        let mut flow = toml::Table::from_iter([
            ("id".to_owned(), format!("f{number}").into()),
            ("intent".to_owned(), "an intent".into()),
            ("steps".to_owned(), entries.collect::<Vec<toml::Value>>().into()),
        ]);
        flow.extend(case.order.iter().map(|order| ("order".to_owned(), order.as_str().into())));
        toml::Value::from(flow)
    };
    let flows: Vec<toml::Value> = case.flows.iter().enumerate().map(flow).collect();
    let whole = toml::Table::from_iter([
        ("kind".to_owned(), "flows".into()),
        ("prelude".to_owned(), "p".into()),
        ("end".to_owned(), "E".into()),
        ("given".to_owned(), list(&case.given)),
        ("allow".to_owned(), list(&case.allow)),
        ("apis".to_owned(), apis.into()),
        ("steps".to_owned(), steps.into()),
        ("flows".to_owned(), flows.into()),
    ]);
    whole.to_string()
}

fn automaton(
    domain: &FlowDomain,
    level: u8,
    within: Within,
    intents: usize,
) -> grammata::Result<FlowAutomaton<'_>> {
    let level = Level::of(level).unwrap();
    FlowAutomaton::new(domain, FlowOptions::default().level(level).within(within).intents(intents))
}

fn count(automaton: &mut FlowAutomaton<'_>) -> String {
    let start = automaton.start();
    Counts::default().count(automaton, &start).unwrap().to_string()
}

/// Returns all words of an automaton with a finite language.
fn words(automaton: &mut FlowAutomaton<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(automaton.start(), Vec::<String>::new())];
    while let Some((state, word)) = open.pop() {
        if automaton.is_accepting(&state) {
            found.insert(word.join(" "));
        }
        let mut next = Vec::new();
        automaton.successors(&state, &mut next).unwrap();
        // every reachable prefix can be finished
        assert!(word.is_empty() || automaton.is_accepting(&state) || !next.is_empty(), "{word:?}");
        for Transition { label, to } in next {
            let name = automaton.domain().apis[label.api].name.clone();
            open.push((to, word.iter().cloned().chain([name]).collect()));
        }
    }
    found
}

/// Returns whether an automaton accepts a word.
fn has(automaton: &mut FlowAutomaton<'_>, word: &str) -> bool {
    let mut states = BTreeSet::from([automaton.start()]);
    for name in word.split_whitespace() {
        let api = automaton.domain().api(name).unwrap();
        let mut next = Vec::new();
        states.iter().for_each(|state| automaton.successors(state, &mut next).unwrap());
        states = next.iter().filter(|next| next.label.api == api).map(|next| next.to).collect();
    }
    states.iter().any(|state| automaton.is_accepting(state))
}

fn check(case: &Case) {
    let name = &case.name;
    let text = written(case);
    let read = FlowDomain::read_with(&text, &Limits::default(), case.allow_infeasible);
    let shown = |error: &grammata::Error| {
        let text = error.to_string();
        assert!(case.shown.iter().all(|part| text.contains(part)), "{name}: {text}");
    };
    if let Some(code) = &case.error {
        let error = read.map(|_| ()).expect_err(name);
        assert_eq!(error.code(), code, "{name}: {error}");
        return shown(&error);
    }
    let domain = read.unwrap_or_else(|error| panic!("{name}: {error}"));
    let warnings: Vec<&str> = domain.warnings.iter().map(|warning| warning.code()).collect();
    assert_eq!(warnings, case.warnings, "{name}");
    let intents = case.intents.unwrap_or(1);
    if let Some(code) = &case.plans_error {
        assert_eq!(automaton(&domain, 6, Within::Any, intents).unwrap_err().code(), code, "{name}");
        return;
    }
    if let Some(code) = &case.declared_error {
        let error = automaton(&domain, 6, Within::Declared, intents).unwrap_err();
        assert_eq!(error.code(), code, "{name}");
        shown(&error);
    }
    let counts = [
        (6, Within::Any, &case.plans),
        (6, Within::Declared, &case.declared),
        (5, Within::Any, &case.level_5),
        (4, Within::Any, &case.level_4),
        (3, Within::Any, &case.level_3),
    ];
    for (level, within, expected) in counts {
        let Some(expected) = expected else { continue };
        let mut automaton = automaton(&domain, level, within, intents).unwrap();
        assert_eq!(&count(&mut automaton), expected, "{name}: level {level}");
    }
    for (within, expected) in [(Within::Any, &case.words), (Within::Declared, &case.words_declared)] {
        let Some(expected) = expected else { continue };
        let expected: BTreeSet<String> = expected.iter().cloned().collect();
        assert_eq!(words(&mut automaton(&domain, 6, within, intents).unwrap()), expected, "{name}");
        for level in 2..=5 {
            let mut wider = automaton(&domain, level, within, intents).unwrap();
            expected.iter().for_each(|word| assert!(has(&mut wider, word), "{name}: level {level}: {word}"));
        }
    }
    if let Some(states) = case.states {
        let mut automaton = automaton(&domain, 6, Within::Any, intents).unwrap();
        let least = minimize(&Graph::of(&mut automaton, usize::MAX, |_| {}).unwrap());
        assert_eq!(least.nodes.len(), states, "{name}");
    }
}

#[test]
fn domains_of_the_case_files_have_their_plans() {
    let mut count = 0;
    for file in ["entries", "wrong"] {
        let path = format!("{}/tests/cases/flows/{file}.toml", crate::ROOT);
        let file: File = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        count += file.case.len();
        file.case.iter().for_each(check);
    }
    assert!(count >= 38, "{count}");
}

#[derive(Deserialize)]
struct PlanFile {
    case: Vec<PlanCase>,
}

/// A plan of a shipped domain, or a prefix of one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanCase {
    name: String,
    domain: String,
    /// A text of the domain file and its replacement.
    edit: Option<[String; 2]>,
    level: Option<u8>,
    calls: String,
    /// The APIs that may be called next, sorted.
    feasible: Option<Vec<String>>,
    feasible_count: Option<usize>,
    /// The number of plans that begin with the calls.
    plans: Option<String>,
    wrong: Option<Wrong>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrong {
    /// The place of the first wrong call, counted from 1.
    step: usize,
    feasible: Vec<String>,
    /// The edit distance to the nearest plan.
    edits: usize,
}

fn check_plan(case: &PlanCase) {
    let name = &case.name;
    let path = format!("{}/grammars/flows/{}.toml", crate::ROOT, case.domain);
    let mut text = std::fs::read_to_string(path).unwrap();
    if let Some([before, after]) = &case.edit {
        assert!(text.contains(before), "{name}");
        text = text.replace(before, after);
    }
    let domain =
        FlowDomain::read(&text, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let calls: Vec<&str> = case.calls.split_whitespace().collect();
    let mut flows = automaton(&domain, case.level.unwrap_or(6), Within::Any, 1).unwrap();
    let of = |next: &[Transition<_, grammata_agents::flows::FlowCall>]| {
        let mut names: Vec<String> =
            next.iter().map(|next| domain.apis[next.label.api].name.clone()).collect();
        names.sort();
        names
    };
    let (mut state, mut next, mut stopped) = (flows.start(), Vec::new(), None);
    flows.successors(&state, &mut next).unwrap();
    for (place, call) in calls.iter().enumerate() {
        let api = domain.api(call).unwrap_or_else(|| panic!("{name}: {call}"));
        let Some(found) = next.iter().find(|next| next.label.api == api) else {
            stopped = Some((place + 1, of(&next)));
            break;
        };
        state = found.to;
        next.clear();
        flows.successors(&state, &mut next).unwrap();
    }
    if let Some(feasible) = &case.feasible {
        assert_eq!((&of(&next), stopped.is_none()), (feasible, true), "{name}");
    }
    assert!(case.feasible_count.is_none_or(|count| count == next.len()), "{name}: {next:?}");
    if let Some(plans) = &case.plans {
        let found = Counts::default().count(&mut flows, &state).unwrap().to_string();
        assert_eq!(&found, plans, "{name}");
    }
    let Some(Wrong { step, feasible, edits }) = &case.wrong else {
        assert!(stopped.is_none(), "{name}: {stopped:?}");
        return;
    };
    assert_eq!(stopped, Some((*step, feasible.clone())), "{name}");
    // the domain as a plan spec finds the same wrong step and the same distance
    let options = Options::default().format(Format::Json);
    let mut plans =
        PlanAutomaton::new(Spec::read(&spec(&mut flows).unwrap().to_string(), &options).unwrap()).unwrap();
    let written = serde_json::to_string(&calls).unwrap();
    let plan = ReadPlan::parse(&written, plans.spec()).unwrap();
    let Verdict::Wrong { step: found, .. } = plans.verify(&plan, &[]).unwrap() else { panic!("{name}") };
    assert_eq!((found + 1, plans.repair(&plan).unwrap().edits), (*step, *edits), "{name}");
}

#[test]
fn plans_of_the_case_file_may_go_on_or_are_wrong_where_it_says() {
    let path = format!("{}/tests/cases/flows/plans.toml", crate::ROOT);
    let file: PlanFile = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(file.case.len() >= 13, "{}", file.case.len());
    file.case.iter().for_each(check_plan);
}

/// Returns the plans of a flow by definition: entries are resolved in every way, the APIs of a step put into every
/// order, and sequences kept whose data is available.
pub(crate) fn naive(domain: &FlowDomain, flow: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for steps in resolved(&domain.flows[flow].body) {
        let mut sequences = vec![Vec::new()];
        for step in steps {
            let orders = orders(&domain.steps[step].apis);
            let extended = |before: &Vec<usize>| -> Vec<Vec<usize>> {
                orders.iter().map(|order| before.iter().chain(order).copied().collect()).collect()
            };
            sequences = sequences.iter().flat_map(extended).collect();
        }
        for sequence in sequences {
            let prelude = domain.prelude_apis().iter().flat_map(|&api| &domain.apis[api].outputs);
            let assumed = domain.flows[flow].assumes.iter().chain(&domain.given);
            let mut made: BTreeSet<usize> = prelude.chain(assumed).copied().collect();
            let is_fine = sequence.iter().enumerate().all(|(place, &api)| {
                let api_of = &domain.apis[api];
                let served =
                    api_of.inputs.iter().all(|input| input.any_of.iter().any(|data| made.contains(data)));
                made.extend(&api_of.outputs);
                served && (api != domain.end || place + 1 == sequence.len())
            });
            if is_fine {
                let names: Vec<&str> = sequence.iter().map(|&api| domain.apis[api].name.as_str()).collect();
                found.insert(names.join(" "));
            }
        }
    }
    found
}

/// Returns each resolution of entries, as a list of steps: an alternative of each choice, and a number of rounds of
/// each step.
fn resolved(entries: &[Entry]) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new()];
    for entry in entries {
        let ways: Vec<Vec<usize>> = match entry {
            Entry::Step { step, rounds, .. } => {
                (rounds.min..=rounds.max.unwrap()).map(|count| vec![*step; count as usize]).collect()
            }
            Entry::Either(alternatives) => {
                alternatives.iter().flat_map(|alternative| resolved(alternative)).collect()
            }
        };
        let extended = |before: &Vec<usize>| -> Vec<Vec<usize>> {
            ways.iter().map(|way| before.iter().chain(way).copied().collect()).collect()
        };
        lists = lists.iter().flat_map(extended).collect();
    }
    lists
}

fn orders(apis: &[usize]) -> Vec<Vec<usize>> {
    match apis {
        [] => vec![Vec::new()],
        _ => {
            let first = |place: usize| {
                let rest: Vec<usize> = apis
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != place)
                    .map(|(_, api)| *api)
                    .collect();
                orders(&rest).into_iter().map(move |order| [vec![apis[place]], order].concat())
            };
            (0..apis.len()).flat_map(first).collect()
        }
    }
}

/// Returns a random case of three to six APIs that make and need some of three data, four steps of one or two of these
/// APIs, and one or two flows.
fn random_case(random: &mut ChaCha8Rng) -> Case {
    let data = ["x", "y", "z"];
    let count = random.random_range(3..7);
    let mut apis: Vec<String> = (0..count)
        .map(|number| {
            let input = match random.random_range(0..5) {
                0 => data[random.random_range(0..3)].to_owned(),
                1 => format!("{}/{}", data[random.random_range(0..3)], data[random.random_range(0..3)]),
                _ => String::new(),
            };
            let output = if random.random_bool(0.5) { data[random.random_range(0..3)] } else { "" };
            format!("A{number}: {input} -> {output}")
        })
        .collect();
    apis.push(if random.random_bool(0.3) { "E: x".to_owned() } else { "E".to_owned() });
    let mut steps = BTreeMap::new();
    for number in 0..4 {
        let mut names: Vec<String> = (0..count).map(|number| format!("A{number}")).collect();
        let keep = random.random_range(1..3);
        while names.len() > keep {
            names.remove(random.random_range(0..names.len()));
        }
        steps.insert(format!("s{number}"), names);
    }
    let entry = |random: &mut ChaCha8Rng| -> toml::Value {
        let step = format!("s{}", random.random_range(0..4));
        let text = match random.random_range(0..6) {
            0 => format!("{{ step = '{step}', optional = true }}"),
            1 => format!("{{ step = '{step}', repeat = {{ min = 0, max = 2 }} }}"),
            2 => format!("{{ either = [['{step}'], ['s{}', 's0']] }}", random.random_range(0..4)),
            _ => format!("'{step}'"),
        };
        toml::from_str::<toml::Table>(&format!("entry = {text}")).unwrap().remove("entry").unwrap()
    };
    let flows = (0..random.random_range(1..3)).map(|_| {
        let mut flow: Vec<toml::Value> = (0..random.random_range(1..4)).map(|_| entry(random)).collect();
        flow.push("E".into());
        flow
    });
    let flows = flows.collect();
    let given = if random.random_bool(0.3) { vec!["y".to_owned()] } else { Vec::new() };
    toml::from_str::<Case>("name = 'random'\napis = []\nflows = []")
        .map(|case| Case { apis, steps, flows, given, ..case })
        .unwrap()
}

/// Random domains have the plans that a naive enumeration finds. `GRAMMATA_CASES` sets the number of domains; the
/// default is 200.
#[test]
fn random_domains_agree_with_a_naive_list() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200);
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let mut feasible = 0;
    for number in 0..cases {
        let case = random_case(&mut random);
        let text = written(&case);
        let domain = FlowDomain::read_with(&text, &Limits::default(), true)
            .unwrap_or_else(|error| panic!("{number}: {error}\n{text}"));
        let mut expected = BTreeSet::new();
        for flow in 0..domain.flows.len() {
            let own = naive(&domain, flow);
            assert_eq!(domain.flows[flow].is_feasible, !own.is_empty(), "{number}: {text}");
            feasible += usize::from(!own.is_empty());
            expected.extend(own);
        }
        let mut six = automaton(&domain, 6, Within::Any, 1).unwrap();
        assert_eq!(words(&mut six), expected, "{number}: {text}");
        if expected.is_empty() {
            continue;
        }
        // the plans of level 6 are plans of level 5
        let mut before: Option<BTreeSet<String>> = None;
        for level in [6, 5] {
            let words = words(&mut automaton(&domain, level, Within::Any, 1).unwrap());
            assert!(before.iter().flatten().all(|word| words.contains(word)), "{number}: {level}: {text}");
            before = Some(words);
        }
        let mut four = automaton(&domain, 4, Within::Any, 1).unwrap();
        for word in before.iter().flatten() {
            let mut state = four.start();
            for name in word.split(' ') {
                let mut next = Vec::new();
                four.successors(&state, &mut next).unwrap();
                let api = domain.api(name);
                let after = next.iter().find(|next| Some(next.label.api) == api);
                state = after.unwrap_or_else(|| panic!("{number}: {word}: {text}")).to;
            }
            assert!(four.is_accepting(&state), "{number}: {word}: {text}");
        }
    }
    assert!(feasible * 2 > cases, "{feasible} of {cases}");
}

/// Returns the text of a domain of `flows` flows, each of `steps` steps of `apis` APIs. Each API needs data of the step
/// before.
fn large(flows: usize, steps: usize, apis: usize) -> String {
    let mut text = String::from("kind = 'flows'\nprelude = 'p'\nend = 'E'\n[apis]\nP = {}\n");
    let (mut of_steps, mut of_flows) =
        (String::from("[steps]\np = { text = 'begin', apis = ['P'] }\n"), String::new());
    for flow in 0..flows {
        let mut ids = Vec::new();
        for step in 0..steps {
            let name = |api: usize| format!("A{flow}x{step}x{api}");
            let names: Vec<String> = (0..apis).map(|api| format!("'{}'", name(api))).collect();
            for api in 0..apis {
                let input = if step == 0 { String::new() } else { format!("'d{flow}x{}'", step - 1) };
                text += &format!("{} = {{ inputs = [{input}], outputs = ['d{flow}x{step}'] }}\n", name(api));
            }
            of_steps += &format!("s{flow}x{step} = {{ text = 's', apis = [{}] }}\n", names.join(", "));
            ids.push(format!("'s{flow}x{step}'"));
        }
        of_flows +=
            &format!("[[flows]]\nid = 'f{flow}'\nintent = 'i'\nsteps = ['p', {}, 'e']\n", ids.join(", "));
    }
    text + "E = {}\n" + &of_steps + "e = { text = 'e', apis = ['E'] }\n" + &of_flows
}

#[test]
fn large_domains_are_read_or_refused() {
    let domain = FlowDomain::read(&large(200, 20, 5), &Limits::default()).unwrap();
    let mut six = automaton(&domain, 6, Within::Any, 1).unwrap();
    let mut successors = Vec::new();
    six.successors(&six.start(), &mut successors).unwrap();
    assert_eq!(successors.len(), 1000);
    // one step of 2,000 APIs has more states than the limit allows
    let limits = Limits::default().plan_states(5_000);
    let wide = FlowDomain::read(&large(1, 1, 2_000), &limits).unwrap();
    for level in [3, 4, 5, 6] {
        let options = FlowOptions::default().level(Level::of(level).unwrap()).limits(limits.clone());
        let mut wide = FlowAutomaton::new(&wide, options).unwrap();
        let start = wide.start();
        let counted = Counts::default().count(&mut wide, &start).map(|_| ());
        assert_eq!(counted.unwrap_err().code(), "limit/exceeded", "level {level}");
    }
    // 100,000 APIs in 20,000 consecutive steps
    let domain = FlowDomain::read(&large(1, 20_000, 5), &Limits::default()).unwrap();
    assert_eq!((domain.apis.len(), domain.flows[0].body.len()), (100_002, 20_001));
    let many = large(1, 100, 1);
    let ordered = many.replacen("'s0x99', ", "{ step = 's0x99', after = ['s0x98'] }, ", 1);
    assert_ne!(ordered, many);
    assert!(FlowDomain::read(&ordered, &Limits::default()).unwrap().flows[0].is_partial_order());
    let mut long = large(1, 1, 1);
    long.push_str(&format!("# {}\n", "x".repeat(10_000_000)));
    assert_eq!(FlowDomain::read(&long, &Limits::default()).unwrap().apis.len(), 3);
    let bounded = FlowDomain::read(&long, &Limits::default().source_bytes(1_000_000));
    assert_eq!(bounded.unwrap_err().code(), "limit/exceeded");
    let long = FlowDomain::read(&large(1, 500, 1), &Limits::default()).unwrap();
    assert_eq!(count(&mut automaton(&long, 6, Within::Any, 1).unwrap()), "1");
}
