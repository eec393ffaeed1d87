//! Outcomes of APIs in flows: the observed answer decides which calls may follow.

use grammata::transitions::{Counts, TransitionSystem};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, Limits};
use grammata_agents::flows::{
    FlowAutomaton, FlowDomain, FlowLookahead, FlowOptions, Level, Thoughts, grammar, parse, spec,
};
use proptest::prelude::*;
use std::fmt::Write;
use std::sync::Arc;

const REFUND: &str = include_str!("../../../../tests/cases/flows/refund.toml");

fn read(text: &str) -> grammata::Result<FlowDomain> {
    FlowDomain::read(text, &Limits::default())
}

fn count(domain: &FlowDomain, options: FlowOptions) -> grammata::Result<String> {
    let mut automaton = FlowAutomaton::new(domain, options)?;
    let start = automaton.start();
    Ok(Counts::default().count(&mut automaton, &start)?.to_string())
}

/// Returns all plans of a finite automaton as sorted texts, without the empty brackets of calls.
fn plans(domain: &FlowDomain, options: FlowOptions) -> Vec<String> {
    let mut automaton = FlowAutomaton::new(domain, options).unwrap();
    let (mut plans, mut open) = (Vec::new(), vec![(automaton.start(), Vec::new())]);
    while let Some((state, calls)) = open.pop() {
        if automaton.is_accepting(&state) {
            plans.push(calls.join(" "));
        }
        let mut next = Vec::new();
        automaton.successors(&state, &mut next).unwrap();
        for one in next {
            let call = one.label.text(domain).replacen("()", "", 1);
            open.push((one.to, calls.iter().cloned().chain([call]).collect()));
        }
    }
    plans.sort_unstable();
    plans
}

#[test]
fn an_answer_decides_what_follows() {
    let domain = read(REFUND).unwrap();
    let steps = plans(&domain, FlowOptions::default());
    let expected =
        ["FindOrder CheckRefund=denied Explain Finish", "FindOrder CheckRefund=due PayBack Finish"];
    assert_eq!(steps, expected);
    assert_eq!(count(&domain, FlowOptions::default()).unwrap(), "2");
    let known = FlowOptions::default().answers(vec![domain.answer("CheckRefund=due").unwrap()]);
    assert_eq!(plans(&domain, known), expected[1..]);
    // at levels that ignore data, an answer changes only the text
    assert!(
        plans(&domain, FlowOptions::default().level(Level::Bounded))
            .contains(&"CheckRefund=due Finish".to_owned())
    );
    let error = domain.answer("CheckRefund=dew").unwrap_err();
    assert_eq!(error.code(), "flow/answer");
    assert!(error.to_string().contains("CheckRefund=due"), "{error}");
}

#[test]
fn what_lies_ahead_counts_each_answer() {
    let domain = read(REFUND).unwrap();
    let mut automaton = FlowAutomaton::new(&domain, FlowOptions::default()).unwrap();
    assert!(automaton.has_outcomes());
    let mut next = Vec::new();
    automaton.successors(&automaton.start(), &mut next).unwrap();
    let at = next[0].to;
    let ahead = FlowLookahead::new(&mut automaton).at(at).unwrap();
    let calls: Vec<String> = ahead.feasible.iter().map(|one| one.call.text(&domain)).collect();
    assert_eq!(calls, ["CheckRefund()=due", "CheckRefund()=denied"]);
    assert!(ahead.forced.is_empty());
    assert!(ahead.feasible.iter().all(|one| automaton.action(&one.call) == Some(one.call.api)));
    let spec = spec(&mut automaton).unwrap();
    assert_eq!(spec["symbols"]["CheckRefund=due"]["outputs"], serde_json::json!(["approval"]));
    assert_eq!(spec["symbols"]["CheckRefund=due"]["text"], "CheckRefund()=due");
}

#[test]
fn forced_calls_end_where_a_state_comes_back() {
    // until the answer is `due`, the check is repeated; the options leave only the other answer
    let text = REFUND.replace(
        "\"find\", \"check\", { either = [[\"pay\"], [\"explain\"]] }",
        "\"find\", { step = \"check\", repeat = { min = 1 } }, \"pay\"",
    );
    let domain = read(&text).unwrap();
    let known = FlowOptions::default().answers(vec![domain.answer("CheckRefund=denied").unwrap()]);
    let mut automaton = FlowAutomaton::new(&domain, known).unwrap();
    let start = automaton.start();
    let ahead = FlowLookahead::new(&mut automaton).at(start).unwrap();
    let names: Vec<&str> = ahead.forced.iter().map(|&api| domain.apis[api].name.as_str()).collect();
    assert_eq!(names, ["FindOrder", "CheckRefund", "CheckRefund"]);
}

#[test]
fn an_answer_that_nothing_follows_is_refused() {
    let without = REFUND.replace(", [\"explain\"]", "");
    let error = read(&without).unwrap_err();
    assert_eq!(error.code(), "flow/unanswered");
    assert!(error.to_string().contains("CheckRefund()=denied"), "{error}");
    let warned = FlowDomain::read_with(&without, &Limits::default(), true).unwrap();
    assert!(!warned.flows[0].is_feasible);
    let cases = [
        (REFUND.replace("denied = [", "\"not due\" = ["), "flow/outcome-name"),
        (
            REFUND.replace("[apis.Start]", "[apis.Start]\noutcomes = { a = [], b = [] }"),
            "flow/fixed-outcomes",
        ),
        (REFUND.replace("[apis.Finish]", "[apis.Finish]\noutcomes = { a = [] }"), "flow/fixed-outcomes"),
        (REFUND.replace("denied = [\"reason\"]", "denied = 7"), "flow/value"),
    ];
    for (text, code) in cases {
        let error = read(&text).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
}

/// After a call with outcomes the mask allows each outcome, and the environment or the model chooses one.
#[test]
fn texts_have_the_answer_behind_the_call() {
    let domain = read(REFUND).unwrap();
    let bytes = (0..=255).map(|byte| vec![byte]);
    let vocabulary = Arc::new(VocabularyBuilder::from_tokens(bytes).build().unwrap());
    for (thoughts, text) in [
        (Thoughts::None, " FindOrder(), CheckRefund()=due, PayBack(), Finish()"),
        (
            Thoughts::Free,
            " look [API] FindOrder()\n[thought] check [API] CheckRefund()=denied\n[thought] say [API] Explain()\n[thought] end [API] Finish()",
        ),
        (
            Thoughts::After,
            " FindOrder() [thought] a\n[API] CheckRefund()=due [thought] b\n[API] PayBack() [thought] c\n[API] Finish() [thought] d",
        ),
    ] {
        let compiled = grammar(&domain, &FlowOptions::default(), thoughts).unwrap();
        let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&compiled).unwrap();
        let mut matcher = compiled.matcher();
        let call = text.find("CheckRefund()").unwrap() + "CheckRefund()".len();
        matcher.accept_bytes(&text.as_bytes()[..call]).unwrap();
        assert_eq!(matcher.forced_bytes().unwrap(), b"=d");
        matcher.accept_bytes(&text.as_bytes()[call..]).unwrap();
        assert!(matcher.is_accepting(), "{text}");
        let plan = parse(text, "Finish", thoughts);
        assert!(plan.is_parsable && plan.is_finished, "{plan:?}");
        assert_eq!(plan.calls.len(), 4);
        assert!(matches!(plan.calls[1].outcome.as_deref(), Some("due" | "denied")));
        assert!(!parse(&text[..call + 2], "Finish", thoughts).is_broken);
    }
}

/// A random domain: four APIs that make and need some of four data, some with answers. At level 4 each API may occur
/// once.
#[derive(Clone, Debug)]
struct Random {
    /// The inputs, the outputs and the additional outputs of each answer, as bit sets.
    apis: Vec<(u8, u8, Vec<u8>)>,
    end: u8,
}

impl Random {
    fn toml(&self) -> String {
        let list = |bits: u8| {
            let names: Vec<String> =
                (0..4).filter(|bit| bits >> bit & 1 == 1).map(|bit| format!("\"d{bit}\"")).collect();
            format!("[{}]", names.join(", "))
        };
        let mut text =
            String::from("kind = \"flows\"\nname = \"random\"\nprelude = \"start\"\nend = \"E\"\n");
        for (place, (inputs, outputs, answers)) in self.apis.iter().enumerate() {
            let _ =
                writeln!(text, "[apis.A{place}]\ninputs = {}\noutputs = {}", list(*inputs), list(*outputs));
            let answers: Vec<String> = answers
                .iter()
                .enumerate()
                .map(|(number, made)| format!("o{number} = {}", list(*made)))
                .collect();
            let _ = writeln!(text, "outcomes = {{ {} }}", answers.join(", "));
        }
        let _ = writeln!(text, "[apis.S]\n[apis.E]\ninputs = {}", list(self.end));
        text += "[steps]\nstart = { text = \"begin\", apis = [\"S\"] }\nend = { text = \"end\", apis = [\"E\"] }\n";
        text += "[[flows]]\nid = \"f\"\nintent = \"anything\"\nsteps = [\"start\", \"end\"]\n";
        text
    }

    /// Returns the number of plans from a state if the end can be reached whatever is answered, otherwise `None`.
    /// `came` has the APIs that were called and `made` the available data, as bit sets.
    fn solve(&self, came: u8, made: u8) -> Option<u64> {
        let mut plans = (self.end & !made == 0).then_some(1);
        for (place, (inputs, outputs, answers)) in self.apis.iter().enumerate() {
            if came >> place & 1 == 1 || inputs & !made != 0 {
                continue;
            }
            let answers = if answers.is_empty() { vec![0] } else { answers.clone() };
            let after = answers.iter().map(|more| self.solve(came | 1 << place, made | outputs | more));
            if let Some(after) = after.sum::<Option<u64>>() {
                plans = Some(plans.unwrap_or(0) + after);
            }
        }
        plans
    }
}

proptest! {
    #![proptest_config(crate::properties::config(300))]

    #[test]
    fn plans_can_be_finished_whatever_is_answered(
        apis in prop::collection::vec((any::<u8>(), any::<u8>(), prop::collection::vec(0..16u8, 0..3)), 4),
        end in 0..16u8,
    ) {
        // an API needs the data of two random sets in common, and makes exactly one
        let apis = apis.into_iter().map(|(inputs, outputs, answers)| (inputs & inputs >> 4 & 15, 1 << (outputs & 3), answers));
        let random = Random { apis: apis.collect(), end };
        let domain = FlowDomain::read_with(&random.toml(), &Limits::default(), true).unwrap();
        let found = count(&domain, FlowOptions::default().level(Level::Data));
        match random.solve(0, 0) {
            Some(plans) => prop_assert_eq!(found.unwrap(), plans.to_string(), "{}", random.toml()),
            None => match found {
                Ok(found) => prop_assert_eq!(found, "0", "{}", random.toml()),
                Err(error) => prop_assert_eq!(error.code(), "flow/unanswered"),
            },
        }
    }
}
