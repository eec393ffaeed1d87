//! The prompts of agents whose steps a model writes.

use super::decision::{DecisionRequest, UNCLEAR};
use super::record::Entry;
use super::{Mask, Situation, errors};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::{FREE_REPLIES, Node, NodeKind, StepFormat, one_line, spoken};
use grammata_template::Dialect;
use minijinja::context;
use minijinja::value::Value as Shown;
use serde_json::Value;

/// The maximum number of events in a prompt. The index of the first one is a multiple of half of that number, so that
/// consecutive prompts often share their beginning.
const SHOWN: usize = 16;

/// The default prompt of a step.
const TEMPLATE: &str = include_str!("prompt.jinja");

/// Returns the fields of a node for the template: `name`, `request` and `description`.
fn described(node: &Node) -> Shown {
    let description = match (node.description.as_str(), node.kind) {
        ("", NodeKind::Request) => "asks the user for slots: NAME(slot)",
        ("", NodeKind::OutOfWorkflow) => "replies to anything else",
        (description, _) => description,
    };
    context! {
        name => node.name.as_str(),
        request => node.request.join(", "),
        description => one_line(description),
    }
}

/// Returns the last events, at most [`SHOWN`], in FlowAgent's published notation. Unreadable steps and unclear
/// decisions are left out.
fn history(entries: &[(usize, Entry)]) -> Vec<String> {
    let first = match entries.len() {
        all if all <= SHOWN => 0,
        all => (all - SHOWN).next_multiple_of(SHOWN / 2),
    };
    let mut lines = Vec::new();
    for (_, entry) in &entries[first..] {
        lines.push(match entry {
            Entry::User { text, .. } => format!("[USER] {text}"),
            Entry::Say { text, .. } | Entry::Free { text, .. } => format!("[BOT] {text}"),
            Entry::Call { api, arguments } => {
                format!("<Call API> {api}({})", Value::Object(arguments.clone()))
            }
            Entry::Result(result) => format!("<API response> {}", Value::Object(result.clone())),
            Entry::Refused { written, reason } => format!("[BOT] {written}\n[SYSTEM] refused: {reason}"),
            Entry::Decide { slot, value: Some(value) } => format!("[SYSTEM] {slot} = {}", spoken(value)),
            Entry::Cancel => "[SYSTEM] the user drops the request".to_owned(),
            Entry::Switch(name) => format!("[SYSTEM] now: {name}"),
            Entry::Return => "[SYSTEM] back".to_owned(),
            Entry::Decide { .. } | Entry::Unread(_) => continue,
        });
    }
    lines
}

/// Returns one line with the open nodes and one with the blocked nodes and their obstacles. If arguments are narrowed
/// and their values must have been said, a call that can have no arguments is blocked too.
fn feedback(situation: &Situation<'_, '_>) -> (String, String) {
    let session = situation.conversation.session();
    let nodes = session.procedure().nodes();
    let lacking = |node: usize| session.lacking(node).filter(|_| situation.binding.narrow);
    let (lack, open): (Vec<usize>, Vec<usize>) =
        session.open().into_iter().partition(|&node| lacking(node).is_some());
    let names: Vec<&str> = open.iter().map(|&node| nodes[node].name.as_str()).collect();
    let blocked: Vec<String> = (0..nodes.len())
        .filter(|node| !open.contains(node))
        .filter_map(|node| {
            let obstacle = match lack.contains(&node) {
                true => lacking(node)?.to_string(),
                false => session.obstacle(node, None)?.code().to_owned(),
            };
            Some(format!("{} ({obstacle})", nodes[node].name))
        })
        .collect();
    (names.join(", "), blocked.join(", "))
}

/// Returns the prompt of a step in a format.
///
/// # Errors
/// `procedure/template` if the template cannot be read or rendered; the limits `template_work` and `source_bytes`.
pub(super) fn step(situation: &Situation<'_, '_>, format: StepFormat, limits: &Limits) -> Result<String> {
    let (session, binding) = (situation.conversation.session(), situation.binding);
    let procedure = session.procedure();
    let context = {
        let about = match procedure.description() {
            "" => procedure.name(),
            description => description,
        };
        let (calls, answers): (Vec<&Node>, Vec<&Node>) =
            procedure.nodes().iter().partition(|node| node.kind == NodeKind::Api);
        let mut messages: Vec<Shown> = answers.into_iter().map(described).collect();
        messages.extend(
            FREE_REPLIES
                .iter()
                .map(|(name, description)| context! { name => *name, description => *description }),
        );
        let known: Vec<String> =
            session.known().iter().map(|(slot, value)| format!("{slot} = {}", spoken(value))).collect();
        let (open, blocked) = if binding.feedback { feedback(situation) } else { Default::default() };
        let refusal = situation.refusals.last().filter(|_| binding.mask == Mask::None);
        context! {
            about => about,
            format => match (&binding.calls, format) {
                (Some(_), _) => "turn",
                (None, StepFormat::Json) => "json",
                (None, StepFormat::Published) => "lines",
            },
            call_format => binding.calls.as_ref().map_or("", |calls| calls.description.as_str()),
            thought => binding.thought.is_some(),
            calls => calls.into_iter().map(described).collect::<Shown>(),
            messages => messages.into_iter().collect::<Shown>(),
            procedure => binding.procedure.then(|| procedure.text().trim_end().to_owned()),
            conversation => history(&situation.record.entries),
            known => known.join("; "),
            feedback => binding.feedback,
            open => open,
            blocked => blocked,
            refusal => refusal,
        }
    };
    let dialect = Dialect { trim_blocks: true, strict: true, put: None, functions: Vec::new() };
    let template = binding.template.as_deref().unwrap_or(TEMPLATE);
    dialect
        .render(template, move || context, limits)
        .map_err(|fault| fault.into_error(limits, errors::template))
}

/// The maximum number of values that the prompt of a decision names. The others may be answered, too.
const MOST_NAMED: usize = 8;

/// Returns the prompt of a decision. It names the first [`MOST_NAMED`] values, the last choice, which is `cancel`, and
/// `unclear`.
pub(super) fn decision(request: &DecisionRequest<'_>) -> String {
    let values = request.choices.len().saturating_sub(1);
    let (values, cancel) = request.choices.split_at(values);
    let named = values.iter().take(MOST_NAMED).chain(cancel);
    let names: Vec<&str> = named.map(|(name, _)| name.as_str()).chain([UNCLEAR]).collect();
    let what = if request.description.is_empty() { request.slot } else { request.description };
    format!(
        "The agent said: {}\nThe user answered: {}\nWhat did the user decide about `{}` ({what})? Answer with one of: {}.",
        request.said,
        request.reply,
        request.slot,
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_decision_among_many_values_can_be_to_drop_the_request() {
        let mut choices: Vec<(String, Value)> = (0..20).map(|n| (format!("v{n}"), Value::from(n))).collect();
        choices.push(("cancel".to_owned(), Value::Null));
        let request =
            DecisionRequest { slot: "room", description: "", said: "Which?", reply: "None.", choices };
        let prompt = decision(&request);
        assert!(prompt.ends_with("v0, v1, v2, v3, v4, v5, v6, v7, cancel, unclear."), "{prompt}");
    }
}
