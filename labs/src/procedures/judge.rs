//! Judges a session without a model, by comparing it with the expectations of its user.

use grammata_agents::procedures::{Event, Mode, NodeKind, Procedure, Scalar, Values, normal, verify};
use grammata_agents_drive::procedures::{Entry, Record, UserScript};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The measures of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Whether the calls with an effect are exactly the expected ones, in any order, and the last expected inform was
    /// said, if one is expected.
    pub success: bool,
    /// Number of expected calls and informs that were made, as multisets.
    pub made: usize,
    /// Number of expected calls and informs.
    pub expected: usize,
    /// Number of calls and answers that were judged.
    pub steps: usize,
    /// Steps that break the procedure in the mode `guarded`, by reason.
    pub violations: BTreeMap<String, usize>,
    /// Numbers of distinct APIs that are called and expected, called only, and expected only.
    pub tools: (usize, usize, usize),
    /// Number of messages out of the workflow that were followed by an adequate act: it breaks no rule, and is a free
    /// text, a question, an answer out of the workflow, or a call with a value that the message told.
    pub adequate: usize,
    /// Number of messages out of the workflow.
    pub outside: usize,
    /// Number of messages, of both sides, between each message out of the workflow and the next call or inform that
    /// breaks no rule, or the end of the session, summed.
    pub distance: usize,
    /// Number of messages of the user.
    pub user_messages: usize,
}

impl Judgement {
    /// Returns the share of the expected calls and informs that were made; 1 if none is expected.
    pub fn progress(&self) -> f64 {
        if self.expected == 0 { 1.0 } else { self.made as f64 / self.expected as f64 }
    }

    /// Returns the number of steps that break the procedure.
    pub fn wrong(&self) -> usize {
        self.violations.values().sum()
    }
}

/// Returns arguments in a form for comparison: sorted, with values as text.
fn compared(arguments: &Values) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        arguments.iter().map(|(slot, value)| (slot.clone(), Scalar::of(value).to_string())).collect();
    all.sort();
    all
}

/// Counts the expected items that were made, as multisets.
fn common<T: PartialEq>(made: &[T], expected: &[T]) -> usize {
    let mut left: Vec<&T> = made.iter().collect();
    let mut count = 0;
    for item in expected {
        if let Some(place) = left.iter().position(|one| *one == item) {
            left.swap_remove(place);
            count += 1;
        }
    }
    count
}

/// Judges a session by the expectations of its user.
pub fn judge(procedure: &Procedure, script: &UserScript, record: &Record) -> Judgement {
    let mut made_calls = Vec::new();
    let mut made_informs = Vec::new();
    let is_inform = |name: &str| {
        procedure.node(name).is_some_and(|node| procedure.nodes()[node].kind == NodeKind::Inform)
    };
    for (_, entry) in record.entries.iter().filter(|(depth, _)| *depth == 0) {
        match entry {
            Entry::Call { api, arguments } => made_calls.push((api.clone(), compared(arguments))),
            Entry::Say { node, .. } if is_inform(node) => made_informs.push(normal(node)),
            _ => {}
        }
    }
    let expected_calls: Vec<_> =
        script.expect.calls.iter().map(|(api, arguments)| (normal(api), compared(arguments))).collect();
    let expected_informs: Vec<String> = script.expect.informs.iter().map(|name| normal(name)).collect();
    let writes = |calls: &[(String, Vec<(String, String)>)]| {
        let is_write = |api: &str| procedure.node(api).is_some_and(|api| procedure.nodes()[api].writes);
        let mut writes: Vec<_> = calls.iter().filter(|(api, _)| is_write(api)).cloned().collect();
        writes.sort();
        writes
    };
    let last_said = expected_informs.last().is_none_or(|last| made_informs.contains(last));
    let mut judgement = Judgement {
        success: last_said && writes(&made_calls) == writes(&expected_calls),
        made: common(&made_calls, &expected_calls) + common(&made_informs, &expected_informs),
        expected: expected_calls.len() + expected_informs.len(),
        user_messages: record.user_messages(),
        ..Judgement::default()
    };
    let names = |calls: &[(String, Vec<(String, String)>)]| {
        calls.iter().map(|(api, _)| api.clone()).collect::<std::collections::BTreeSet<String>>()
    };
    let (made, expected) = (names(&made_calls), names(&expected_calls));
    let both = made.intersection(&expected).count();
    judgement.tools = (both, made.len() - both, expected.len() - both);
    steps(procedure, record, &mut judgement);
    judgement
}

/// Counts violations, and judges the acts that follow messages out of the workflow.
fn steps(procedure: &Procedure, record: &Record, judgement: &mut Judgement) {
    let entries: Vec<&Entry> = record
        .entries
        .iter()
        .filter(|(depth, entry)| *depth == 0 && entry.event().is_some())
        .map(|(_, entry)| entry)
        .collect();
    let events: Vec<Event> =
        entries.iter().filter_map(|entry| Event::of(&entry.event().unwrap_or_default())).collect();
    let (verdict, _) = verify(procedure, Mode::Guarded, &events, true);
    judgement.steps = verdict.steps;
    for violation in &verdict.violations {
        *judgement.violations.entry(violation.obstacle.code().to_owned()).or_default() += 1;
    }
    let is_wrong = |place: usize| verdict.violations.iter().any(|violation| violation.event == place);
    for (place, entry) in entries.iter().enumerate() {
        let Entry::User { kind: Some(_), tells, .. } = entry else { continue };
        judgement.outside += 1;
        let is_act =
            |entry: &Entry| matches!(entry, Entry::Say { .. } | Entry::Free { .. } | Entry::Call { .. });
        let next = (place + 1..entries.len()).find(|&next| is_act(entries[next]));
        let is_adequate = next.is_some_and(|next| {
            let is_reply = match entries[next] {
                Entry::Free { .. } => true,
                Entry::Say { node, .. } => {
                    procedure.node(node).is_some_and(|node| procedure.nodes()[node].kind.is_free())
                }
                Entry::Call { arguments, .. } => tells
                    .iter()
                    .any(|(slot, value)| arguments.get(slot).map(Scalar::of) == Some(Scalar::of(value))),
                _ => false,
            };
            is_reply && !is_wrong(next)
        });
        judgement.adequate += usize::from(is_adequate);
        let is_step = |at: usize| match entries[at] {
            Entry::Call { .. } => !is_wrong(at),
            Entry::Say { node, .. } => {
                let node = procedure.node(node);
                !is_wrong(at) && node.is_some_and(|node| procedure.nodes()[node].kind == NodeKind::Inform)
            }
            _ => false,
        };
        let end = (place + 1..entries.len()).find(|&at| is_step(at)).unwrap_or(entries.len());
        let messages = entries[place + 1..end].iter();
        judgement.distance += messages
            .filter(|entry| matches!(entry, Entry::User { .. } | Entry::Say { .. } | Entry::Free { .. }))
            .count();
    }
}
