//! The prompts of an agent that is a language model.

use super::decision::{DecisionRequest, UNCLEAR};
use super::record::Entry;
use super::{Mask, Situation};
use crate::procedures::conversation::FREE_REPLIES;
use crate::procedures::conversation::fill::{one_line, spoken};
use crate::procedures::conversation::session::Session;
use crate::procedures::conversation::step::StepFormat;
use crate::procedures::language::declarations::{Node, NodeKind};
use crate::procedures::semantics::procedure::Procedure;
use serde_json::Value;
use std::fmt::Write;

/// Events that a prompt shows, at most. The first shown one moves by half of that, so that prompts begin alike.
const SHOWN: usize = 16;

fn form(format: StepFormat) -> &'static str {
    match format {
        StepFormat::Published => {
            "Write one step. A call is\nAction: NAME\nAction Input: JSON\nand a message to the user is\nAnswer: NAME\nResponse: TEXT\n"
        }
        StepFormat::Json => {
            "Write one step as JSON. A call is {\"call\": NAME, \"arguments\": {...}} and a message to the user is {\"say\": NAME, \"text\": TEXT}.\n"
        }
    }
}

fn node_line(node: &Node) -> String {
    let name = match node.kind {
        NodeKind::Api => format!("{}({})", node.name, node.request.join(", ")),
        _ => node.name.clone(),
    };
    let description = match (node.description.as_str(), node.kind) {
        ("", NodeKind::Request) => "asks the user for slots: NAME(slot)",
        ("", NodeKind::OutOfWorkflow) => "replies to anything else",
        (description, _) => description,
    };
    format!("- {name}: {}\n", one_line(description).trim_end())
}

/// What does not change in a session.
fn beginning(procedure: &Procedure, format: StepFormat) -> String {
    let about = if procedure.description().is_empty() { procedure.name() } else { procedure.description() };
    let mut text = format!(
        "You are an agent that talks to a user. {about}\nAsk the user for what a call needs and the user has not told. \
         {}Calls:\n",
        form(format)
    );
    let (apis, answers): (Vec<&Node>, Vec<&Node>) =
        procedure.nodes().iter().partition(|node| node.kind == NodeKind::Api);
    apis.iter().for_each(|node| text.push_str(&node_line(node)));
    text.push_str("Messages:\n");
    answers.iter().for_each(|node| text.push_str(&node_line(node)));
    for (name, description) in FREE_REPLIES {
        let _ = writeln!(text, "- {name}: {description}");
    }
    text
}

/// The history in the published notation.
fn history(entries: &[(usize, Entry)]) -> String {
    let first = match entries.len() {
        all if all <= SHOWN => 0,
        all => (all - SHOWN).next_multiple_of(SHOWN / 2),
    };
    let mut text = String::from("Conversation:\n");
    for (_, entry) in &entries[first..] {
        let line = match entry {
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
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// What is open, and what is blocked by what, in one line each.
fn feedback(session: &Session<'_>) -> String {
    let nodes = session.procedure().nodes();
    let open = session.open();
    let names: Vec<&str> = open.iter().map(|&node| nodes[node].name.as_str()).collect();
    let blocked: Vec<String> = (0..nodes.len())
        .filter(|node| !open.contains(node))
        .filter_map(|node| Some(format!("{} ({})", nodes[node].name, session.obstacle(node, None)?.code())))
        .collect();
    format!("Open: {}\nBlocked: {}\n", names.join(", "), blocked.join(", "))
}

/// The prompt of a step that is to be written in a format.
pub(super) fn step(situation: &Situation<'_, '_>, format: StepFormat) -> String {
    let session = situation.conversation.session();
    let mut text = beginning(session.procedure(), format);
    text.push_str(&history(&situation.record.entries));
    let known: Vec<String> =
        session.known().iter().map(|(slot, value)| format!("{slot} = {}", spoken(value))).collect();
    if !known.is_empty() {
        let _ = writeln!(text, "Known: {}", known.join("; "));
    }
    if situation.binding.feedback {
        text.push_str(&feedback(session));
    }
    if let Some(refusal) = situation.refusals.last().filter(|_| situation.binding.mask == Mask::None) {
        let _ = writeln!(text, "Your last step was refused: {refusal}.");
    }
    text.push_str("The next step:");
    text
}

/// The prompt of a decision.
pub(super) fn decision(request: &DecisionRequest<'_>) -> String {
    let names: Vec<&str> =
        request.choices.iter().take(8).map(|(name, _)| name.as_str()).chain([UNCLEAR]).collect();
    let what = if request.description.is_empty() { request.slot } else { request.description };
    format!(
        "The agent said: {}\nThe user answered: {}\nWhat did the user decide about `{}` ({what})? Answer with one of: {}.",
        request.said,
        request.reply,
        request.slot,
        names.join(", ")
    )
}
