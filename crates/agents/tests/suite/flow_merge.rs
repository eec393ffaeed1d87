//! Several domains merged into one, agreement of thoughts with their calls, and queries that no flow serves.

use crate::flow_metrics::agreement;
use grammata::transitions::{Counts, TransitionSystem};
use grammata::{Limits, Result};
use grammata_agents::flows::{
    FlowAutomaton, FlowDomain, FlowOptions, Level, Names, Thoughts, WrittenCall, grammar, spec,
};
use grammata_agents_drive::flows::{Served, Similarity, serving_flow};
use grammata_testing::fuzz_flows;

const DOMAINS: [&str; 4] = ["trip-booking", "insurance", "banking", "restaurant-and-ride"];

fn text(name: &str) -> String {
    std::fs::read_to_string(format!("{}/grammars/flows/{name}.toml", crate::ROOT)).unwrap()
}

fn merge(texts: &[&str], names: Names) -> Result<FlowDomain> {
    FlowDomain::merge(texts, names, &Limits::default(), false)
}

fn plans(domain: &FlowDomain, level: Level, flow: Option<usize>, intents: usize) -> String {
    let options = FlowOptions::default().level(level).flow(flow).intents(intents);
    let mut automaton = FlowAutomaton::new(domain, options).unwrap();
    let start = automaton.start();
    Counts::default().count(&mut automaton, &start).unwrap().to_string()
}

#[test]
fn domains_that_are_kept_apart_have_the_plans_of_each() {
    let texts = DOMAINS.map(text);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let merged = merge(&texts, Names::Apart).unwrap();
    assert_eq!(merged.name, "trip-booking and insurance and banking and restaurant-and-ride");
    assert_eq!(merged.flows.len(), 13);
    // the merged domain has InitSystem, Start and Finish once
    assert_eq!(merged.apis.len(), 64 - 3 * 3);
    assert_eq!(merged.apis[merged.end].inputs[0].any_of.len(), 1 + 3 + 3 + 4);
    let mut at = 0;
    for one in &texts {
        let domain = FlowDomain::read(one, &Limits::default()).unwrap();
        for flow in 0..domain.flows.len() {
            for level in [Level::Steps, Level::Apis] {
                assert_eq!(
                    plans(&merged, level, Some(at), 1),
                    plans(&domain, level, Some(flow), 1),
                    "{}",
                    merged.flows[at].id
                );
            }
            at += 1;
        }
    }
    assert_eq!(plans(&merged, Level::Steps, None, 1), (3 + 3 + 4 + 26).to_string());
    assert!(merged.flow("banking__open_account").is_some());
    assert!(merged.api("trip_booking__Confirm").is_some() && merged.api("Confirm").is_none());
    // a merged domain can be written as a spec and as a grammar
    let mut automaton = FlowAutomaton::new(&merged, FlowOptions::default()).unwrap();
    spec(&mut automaton).unwrap();
    grammar(&merged, &FlowOptions::default(), Thoughts::Stated).unwrap();
    // the bodies of the two intents may come in any order, before one end
    let two = merge(&texts[..2], Names::Apart).unwrap();
    let both: u64 = plans(&two, Level::Steps, None, 2).parse().unwrap();
    assert!(both > 9, "{both}");
}

const SHOP: &str = "kind = 'flows'\nname = 'shop'\nprelude = 'p'\nend = 'E'\n[apis]\n\
    P = {}\nFind = { outputs = ['item'] }\nPay = { inputs = ['item'], outputs = ['paid'] }\n\
    E = { inputs = ['paid'] }\n[steps]\np = { text = 'begin', apis = ['P'] }\n\
    find = { text = 'find it', apis = ['Find'] }\npay = { text = 'pay', apis = ['Pay'] }\ne = { text = 'end it', apis = ['E'] }\n\
    [[flows]]\nid = 'buy'\nintent = 'buy'\nsteps = ['p', 'find', 'pay', 'e']\n";

/// A domain with the same API `Find` and step `find` as the shop.
const LIBRARY: &str = "kind = 'flows'\nname = 'library'\nprelude = 'p'\nend = 'E'\n[apis]\n\
    P = {}\nFind = { outputs = ['item'] }\nLend = { inputs = ['item'], outputs = ['lent'] }\n\
    E = { inputs = ['lent'] }\n[steps]\np = { text = 'begin', apis = ['P'] }\n\
    find = { text = 'find it', apis = ['Find'] }\nlend = { text = 'lend', apis = ['Lend'] }\ne = { text = 'end it', apis = ['E'] }\n\
    [[flows]]\nid = 'borrow'\nintent = 'borrow'\nsteps = ['p', 'find', { either = [['lend'], [{ step = 'lend' }]] }, 'e']\n";

#[test]
fn domains_share_what_they_declare_equally() {
    let shared = merge(&[SHOP, LIBRARY], Names::Shared).unwrap();
    let names: Vec<&str> = shared.apis.iter().map(|api| api.name.as_str()).collect();
    assert_eq!(names, ["P", "Find", "Pay", "E", "Lend"]);
    assert_eq!(plans(&shared, Level::Steps, None, 1), "2");
    let apart = merge(&[SHOP, LIBRARY], Names::Apart).unwrap();
    let names: Vec<&str> = apart.apis.iter().map(|api| api.name.as_str()).collect();
    assert_eq!(names, ["P", "shop__Find", "shop__Pay", "E", "library__Find", "library__Lend"]);
    assert_eq!(plans(&apart, Level::Steps, None, 1), "2");
    // merging one domain leaves it unchanged
    let one = merge(&[SHOP], Names::Shared).unwrap();
    assert_eq!(one, FlowDomain::read(SHOP, &Limits::default()).unwrap());
}

/// An API that both domains allow at any time, and data that both are given.
#[test]
fn domains_share_what_both_allow_and_are_given() {
    let both = |text: &str| {
        text.replace("end = 'E'\n", "end = 'E'\nallow = ['Help']\ngiven = ['who']\n")
            .replace("P = {}\n", "P = {}\nHelp = { inputs = ['who'] }\n")
    };
    let merged = merge(&[&both(SHOP), &both(LIBRARY)], Names::Shared).unwrap();
    assert_eq!(merged.allow, [merged.api("Help").unwrap()]);
    assert_eq!(merged.given.len(), 1);
    let apart = merge(&[&both(SHOP), &both(LIBRARY)], Names::Apart).unwrap();
    assert_eq!((apart.allow.len(), apart.given.len()), (2, 2));
}

#[test]
fn what_does_not_fit_together_is_named() {
    let code = |texts: &[&str], names| match merge(texts, names) {
        Ok(_) => String::new(),
        Err(error) => error.code().to_owned(),
    };
    let [trip, insurance, ..] = DOMAINS.map(text);
    let found = merge(&[&trip, &insurance], Names::Shared).unwrap_err();
    assert_eq!(found.code(), "flow/api-redefined");
    let all = found.to_string();
    assert!(all.contains("Confirm") && all.contains("insurance"), "{all}");
    assert!(code(&[SHOP, SHOP], Names::Apart).starts_with("flow/twice"));
    let renamed = |from: &str, to: &str| LIBRARY.replace(from, to);
    let other_end = renamed("'E'", "'End'").replace("\nE =", "\nEnd =");
    assert!(code(&[SHOP, &other_end], Names::Shared).starts_with("flow/api-redefined"));
    let two_needs = renamed("E = { inputs = ['lent'] }", "E = { inputs = ['lent', 'item'] }");
    assert!(code(&[SHOP, &two_needs], Names::Apart).starts_with("flow/api-redefined"));
    let other_step = renamed("'find it'", "'look it up'");
    assert!(code(&[SHOP, &other_step], Names::Shared).starts_with("flow/api-redefined"));
    assert_eq!(code(&[SHOP, &other_step], Names::Apart), "");
    // errors of a single domain are reported before errors of the merge
    assert!(code(&[SHOP, "kind = 1"], Names::Apart).starts_with("flow/unreadable"));
    let limits = Limits::default().source_bytes(SHOP.len() + 10);
    let error = FlowDomain::merge(&[SHOP, LIBRARY], Names::Apart, &limits, false).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
}

/// A similarity of 1 for equal texts and 0 for others.
struct Equal;

impl Similarity for Equal {
    fn similarity(&mut self, first: &str, second: &str) -> Result<f64> {
        Ok(f64::from(u8::from(first == second)))
    }
}

#[test]
fn thoughts_agree_where_the_nearest_step_is_that_of_the_call() {
    let domain = FlowDomain::read(SHOP, &Limits::default()).unwrap();
    let plan = |calls: &[(&str, &str)]| -> Vec<WrittenCall> {
        let call = |&(thought, name): &(&str, &str)| WrittenCall {
            thought: thought.into(),
            name: name.into(),
            ..WrittenCall::default()
        };
        calls.iter().map(call).collect()
    };
    let share = |calls: &[(&str, &str)]| agreement(&domain, 0, &plan(calls), &mut Equal).unwrap();
    assert_eq!(share(&[("find it", "Find"), ("pay", "Pay"), ("end it", "E")]), Some(1.0));
    assert_eq!(share(&[("find it", "Find"), ("find it", "Pay"), ("begin", "E"), ("end it", "E")]), Some(0.5));
    // the call of an unknown API belongs to no step; a blank thought is not counted
    assert_eq!(share(&[("pay", "Steal"), (" ", "Pay")]), Some(0.0));
    assert_eq!(share(&[("", "Find")]), None);
    assert_eq!(share(&[]), None);
}

#[test]
fn below_a_threshold_no_flow_serves() {
    assert_eq!(serving_flow(&[0.1, 0.5, 0.5], None), Served::By(1));
    assert_eq!(serving_flow(&[0.1, 0.5, 0.5], Some(0.5)), Served::By(1));
    assert_eq!(serving_flow(&[0.1, 0.5], Some(0.51)), Served::CannotHelp(Some(0.5)));
    assert_eq!(serving_flow(&[], None), Served::CannotHelp(None));
}

/// Runs the body of the fuzz target on domains with one line deleted, doubled or swapped with another one.
#[test]
fn changed_domains_are_read_or_refused() {
    for text in [SHOP, LIBRARY, &text("trip-booking")] {
        let lines: Vec<&str> = text.lines().collect();
        fuzz_flows::flow(text.as_bytes());
        for place in 0..lines.len() {
            let without = [&lines[..place], &lines[place + 1..]].concat();
            let doubled = [&lines[..=place], &lines[place..]].concat();
            let mut swapped = lines.clone();
            swapped.swap(place, (place * 7 + 3) % lines.len());
            for changed in [without, doubled, swapped] {
                fuzz_flows::flow(changed.join("\n").as_bytes());
            }
        }
    }
}
