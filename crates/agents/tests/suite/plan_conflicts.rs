//! Reasons why there is no plan: the conflicts that are found are compared with a trial of all sets of rules.

use grammata::syntax::automaton_spec::{Rule, Spec};
use grammata_agents::plan::{Conflicts, Plan, PlanAutomaton, Step};
use proptest::prelude::*;
use std::sync::Arc;

/// A rule, which is written into a spec over the actions a, b, c and also checked naively.
#[derive(Clone, Debug)]
enum Written {
    AtMost(&'static str, u32),
    AtLeast(&'static str, u32),
    Requires(&'static str, &'static str),
    MaxCost(u64),
}

fn spec(bodies: &[&str], rules: &[Written]) -> String {
    let of = |name: &str, wanted: fn(&Written) -> Option<(&'static str, u32)>| {
        let entries: Vec<String> =
            rules.iter().filter_map(wanted).map(|(name, count)| format!("{name} = {count}")).collect();
        format!("{name} = {{ {} }}", entries.join(", "))
    };
    let most = of("at_most", |rule| match *rule {
        Written::AtMost(name, count) => Some((name, count)),
        _ => None,
    });
    let least = of("at_least", |rule| match *rule {
        Written::AtLeast(name, count) => Some((name, count)),
        _ => None,
    });
    let cost = rules.iter().find_map(|rule| match rule {
        Written::MaxCost(cost) => Some(format!(", max_cost = {cost}")),
        _ => None,
    });
    let symbols: Vec<String> = ["a", "b", "c"]
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let required = rules.iter().filter_map(|rule| match rule {
                Written::Requires(action, required) if action == name => Some(format!("\"{required}\"")),
                _ => None,
            });
            let required: Vec<String> = required.collect();
            format!("{name} = {{ cost = {place}, requires = [{}] }}", required.join(", "))
        })
        .collect();
    let bodies: Vec<String> = bodies.iter().map(|body| format!("\"{body}\"")).collect();
    format!(
        "kind = 'cfg'\nstart = 's'\nrules = {{ s = [{}] }}\nsymbols = {{ {} }}\nlimits = {{ {most}, {least}{} }}",
        bodies.join(", "),
        symbols.join(", "),
        cost.unwrap_or_default()
    )
}

/// Returns whether a plan begins with the steps: some body of the finite grammar does, and satisfies each rule.
fn is_possible(bodies: &[&str], rules: &[Written], begins: &[&str]) -> bool {
    let keeps = |word: &[&str], rule: &Written| {
        let count = |name: &str| word.iter().filter(|action| **action == name).count() as u32;
        match *rule {
            Written::AtMost(name, most) => count(name) <= most,
            Written::AtLeast(name, least) => count(name) >= least,
            Written::Requires(action, required) => word
                .iter()
                .enumerate()
                .all(|(place, one)| *one != action || word[..place].contains(&required)),
            Written::MaxCost(most) => {
                let cost = word.iter().map(|one| u64::from(one.as_bytes()[0] - b'a')).sum::<u64>();
                cost <= most
            }
        }
    };
    bodies.iter().any(|body| {
        let word: Vec<&str> = body.split_whitespace().collect();
        word.starts_with(begins) && rules.iter().all(|rule| keeps(&word, rule))
    })
}

fn rule() -> impl Strategy<Value = Written> {
    let name = || prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        (name(), 1u32..3).prop_map(|(name, count)| Written::AtMost(name, count)),
        (name(), 1u32..3).prop_map(|(name, count)| Written::AtLeast(name, count)),
        (name(), name()).prop_map(|(action, required)| Written::Requires(action, required)),
        (0u64..4).prop_map(Written::MaxCost),
    ]
}

/// Returns the rules without those that bound what an earlier rule already bounds, or that contradict an earlier bound.
fn distinct(rules: Vec<Written>) -> Vec<Written> {
    let mut kept: Vec<Written> = Vec::new();
    for rule in rules {
        let same = |other: &Written| match (&rule, other) {
            (Written::AtMost(a, _), Written::AtMost(b, _))
            | (Written::AtLeast(a, _), Written::AtLeast(b, _)) => a == b,
            (Written::Requires(a, b), Written::Requires(c, d)) => a == c && b == d,
            (Written::MaxCost(_), Written::MaxCost(_)) => true,
            _ => false,
        };
        // reading a spec fails if a greatest number is below the least one
        let crossed = |other: &Written| match (&rule, other) {
            (Written::AtMost(a, most), Written::AtLeast(b, least))
            | (Written::AtLeast(b, least), Written::AtMost(a, most)) => a == b && most < least,
            _ => false,
        };
        if !kept.iter().any(|other| same(other) || crossed(other)) {
            kept.push(rule);
        }
    }
    kept
}

proptest! {
    #![proptest_config(crate::properties::config(256))]

    #[test]
    fn a_conflict_is_a_smallest_set_of_rules(
        bodies in prop::collection::vec(prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..6), 1..5),
        rules in prop::collection::vec(rule(), 0..6).prop_map(distinct),
        begins in prop::collection::vec(0usize..3, 0..3),
    ) {
        let bodies: Vec<String> = bodies.iter().map(|body| body.join(" ")).collect();
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let source = spec(&bodies, &rules);
        // specs that cannot be read are skipped, for instance if a rule is about an action that no body has
        let Ok(read) = Spec::read(&source, &Default::default()) else { return Ok(()) };
        let steps = Plan { steps: begins.iter().map(|&action| Step::of(action)).collect() };
        let begins: Vec<&str> = begins.iter().map(|&action| ["a", "b", "c"][action]).collect();
        let conflict = Conflicts::new(Arc::new(read)).of(&steps).unwrap();
        let possible = is_possible(&bodies, &rules, &begins);
        prop_assert_eq!(conflict.is_none(), possible, "{}", source);
        let Some(conflict) = conflict else { return Ok(()) };
        prop_assert!(conflict.is_smallest);
        // the size of the smallest set of rules that leaves no plan, found by trying all sets
        let smallest = (0u32..1 << rules.len())
            .filter(|set| {
                let kept: Vec<Written> =
                    rules.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1).map(|(_, rule)| rule.clone()).collect();
                !is_possible(&bodies, &kept, &begins)
            })
            .map(u32::count_ones)
            .min();
        prop_assert_eq!(Some(conflict.rules.len() as u32), smallest, "{:?} of {}", conflict, source);
    }
}

#[test]
fn rules_are_named_as_they_are_written() {
    let rules =
        [Written::AtMost("a", 1), Written::AtLeast("b", 2), Written::Requires("b", "a"), Written::MaxCost(1)];
    let source = spec(&["a b b", "b b c"], &rules);
    let read = Arc::new(Spec::read(&source, &Default::default()).unwrap());
    let named: Vec<String> = read.rules().iter().map(ToString::to_string).collect();
    assert_eq!(named, ["`a` at most once", "`b` at least 2 times", "`b` requires a", "`max_cost` 1"]);
    let mut conflicts = Conflicts::new(Arc::clone(&read));
    let conflict = conflicts.of(&Plan::default()).unwrap().unwrap();
    assert_eq!(conflict.rules, [Rule::MaxCost(1)]);
    let nothing = Plan { steps: vec![Step::of(2)] };
    assert_eq!(conflicts.of(&nothing).unwrap().unwrap().rules, [], "no plan begins with c");
    assert_eq!(
        PlanAutomaton::new(Spec::read(&source, &Default::default()).unwrap())
            .unwrap()
            .count()
            .unwrap()
            .to_string(),
        "0"
    );
}
