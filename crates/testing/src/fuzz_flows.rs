//! The body of the fuzz target for flows.

use super::fuzz_limits::limits;
use grammata::transitions::TransitionSystem;
use grammata_agents::flows::{
    Brackets, FlowAutomaton, FlowDomain, FlowOptions, Level, Names, Thoughts, grammar, parse_with,
};

/// The most calls of a walk.
const CALLS: usize = 24;

/// Reads bytes as a plan written by a model, and as a domain. Merging a domain alone must give the domain itself; a
/// path chosen by the bytes through its plans is written as text, which the reader must give back.
pub fn flow(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for (_, thoughts) in Thoughts::ALL {
        for brackets in [Brackets::Empty, Brackets::Makers] {
            let plan = parse_with(&text, "E", thoughts, brackets);
            assert!(text.is_char_boundary(plan.length));
            assert!(!(plan.is_broken && plan.is_finished));
        }
    }
    let Ok(mut domain) = FlowDomain::read(&text, &limits()) else { return };
    if let Ok(mut merged) = FlowDomain::merge(&[&text], Names::Shared, &limits(), false) {
        // only a domain that was read from text has places
        (domain.warnings, merged.warnings) = (Vec::new(), Vec::new());
        assert_eq!(merged, domain);
    }
    for level in [Level::Names, Level::Bounded, Level::Data, Level::Apis, Level::Steps] {
        let options = FlowOptions::default().level(level).limits(limits());
        walk(&domain, &options, bytes);
        for arguments in [false, true] {
            let options = options.clone().arguments(arguments);
            // limits and unsuitable names must be errors, not panics
            let _ = grammar(&domain, &options, Thoughts::None);
        }
    }
}

/// Takes calls as the bytes decide.
fn walk(domain: &FlowDomain, options: &FlowOptions, bytes: &[u8]) {
    let Ok(mut automaton) = FlowAutomaton::new(domain, options.clone()) else { return };
    let (mut state, mut calls, mut next) = (automaton.start(), Vec::new(), Vec::new());
    for &byte in bytes.iter().rev().take(CALLS) {
        next.clear();
        if automaton.successors(&state, &mut next).is_err() {
            return;
        }
        let Some(taken) = next.get(usize::from(byte) % next.len().max(1)) else { break };
        calls.push(domain.apis[taken.label.api].name.clone());
        state = taken.to;
    }
    let text: Vec<String> = calls.iter().map(|name| format!(" {name}()")).collect();
    let end = &domain.apis[domain.end].name;
    let plan = parse_with(&text.join(","), end, Thoughts::None, Brackets::Empty);
    let read: Vec<&str> = plan.calls.iter().map(|call| call.name.as_str()).collect();
    // at level 2 the end is allowed anywhere and ends the parsed plan
    let length = calls.iter().position(|name| name == end).map_or(calls.len(), |place| place + 1);
    assert_eq!(read, calls[..length], "{text:?}");
}
