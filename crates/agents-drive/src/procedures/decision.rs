//! Decisions of the user after an answer of the agent, and the values among which the user decides.

use grammata_agents::procedures::{Conversation, Procedure};
use serde_json::Value;

/// The question what the user decided with a reply to an answer of the agent.
#[derive(Clone, Debug)]
pub struct DecisionRequest<'a> {
    /// The slot that is decided.
    pub slot: &'a str,
    /// The description of the slot; empty if there is none.
    pub description: &'a str,
    /// What the agent said.
    pub said: &'a str,
    /// What the user answered.
    pub reply: &'a str,
    /// The choices, each with its name and value. The last one is `cancel` with a null value: the user drops the
    /// request.
    pub choices: Vec<(String, Value)>,
}

/// The name of the choice that means: the user drops the request.
pub(super) const CANCEL: &str = "cancel";
/// The name of the choice that means: the reply decides nothing.
pub(super) const UNCLEAR: &str = "unclear";

/// Returns the choices of a slot, by the first of these rules that applies: the values of the slot's `enum`; `yes` and
/// `no` for a boolean; the elements of the first known non-empty list whose `$slot` occurs in the reference text of the
/// answer `node`; the pieces of the reply.
pub(super) fn choices(
    conversation: &Conversation<'_>,
    node: usize,
    slot: &str,
    reply: &str,
) -> Vec<(String, Value)> {
    let session = conversation.session();
    let procedure: &Procedure = session.procedure();
    let schema = procedure.slot(slot).and_then(|slot| slot.schema.as_ref());
    let field = |name: &str| schema.and_then(|schema| schema.get(name));
    if let Some(Value::Array(values)) = field("enum") {
        return values.iter().map(named).collect();
    }
    if field("type").is_some_and(|kind| kind == "boolean") {
        return vec![("yes".to_owned(), true.into()), ("no".to_owned(), false.into())];
    }
    let description = &procedure.nodes()[node].description;
    let lists = session.known().iter().filter(|(name, _)| description.contains(&format!("${name}")));
    if let Some(list) = lists.filter_map(|(_, value)| value.as_array()).find(|list| !list.is_empty()) {
        return list.iter().map(named).collect();
    }
    grammata_agents::procedures::pieces([reply].into_iter())
        .into_iter()
        .map(|piece| (piece.clone(), Value::from(piece)))
        .collect()
}

fn named(value: &Value) -> (String, Value) {
    (grammata_agents::procedures::one_line(&grammata_agents::procedures::spoken(value)), value.clone())
}
