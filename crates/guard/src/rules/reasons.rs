//! Why a procedure does not allow a step, as texts for the agent.

use super::names::ClientNames;
use grammata::diagnostic::excerpt;
use grammata_agents::procedures::{Node, NodeKind, Obstacle, Origin, Session};
use serde_json::Value;

/// The name of the guard's tool that answers are told with.
pub(super) const SAY: &str = "say";

/// Maximum number of characters of a schema in a reason.
const MOST_SCHEMA: usize = 400;

/// The texts of obstacles in a state of a session.
pub(super) struct Reasons<'s, 'p> {
    pub(super) session: &'s Session<'p>,
    pub(super) names: &'s ClientNames,
}

impl Reasons<'_, '_> {
    /// Formats the obstacle of a node in one line. The first word is the obstacle's code. Names are those of the client.
    pub(super) fn text(&self, node: usize, obstacle: &Obstacle) -> String {
        let names = self.names;
        let declared = self.session.procedure().nodes().get(node);
        let argument = |slot: &str| self.argument(declared, slot);
        match obstacle {
            Obstacle::Precondition(required) => self.precondition(required),
            Obstacle::Again => {
                "again: the same call was answered, and nothing that it depends on has changed since"
                    .to_owned()
            }
            Obstacle::Stale { api, slot } => self.stale(node, api, slot),
            Obstacle::Guard { condition, values } => {
                let known = if values.is_empty() { String::new() } else { format!(" ({values})") };
                format!("guard {}{known}", names.in_condition(condition))
            }
            Obstacle::Blocking(outcome) => format!("blocking {}", names.in_condition(outcome)),
            Obstacle::Argument(slot) => {
                format!("argument {}: it is missing, or has no value that is known", argument(slot))
            }
            Obstacle::Unsaid(slot) => format!("unsaid {}: nobody has said this value", argument(slot)),
            Obstacle::Schema { slot, schema: Value::Bool(false) } => {
                format!("argument {}: the procedure has no such slot in the request", argument(slot))
            }
            Obstacle::Schema { slot, schema } => wrong_argument(&argument(slot), schema),
            Obstacle::Limit(most) => format!("limit {most}: it was called as often as it may be"),
            Obstacle::Order => "order: the procedure has another step here".to_owned(),
            Obstacle::Unknown | Obstacle::Cancelled => obstacle.to_string(),
        }
    }

    fn argument(&self, node: Option<&Node>, slot: &str) -> String {
        let tool = node.and_then(|node| node.tool.as_ref());
        excerpt(tool.map_or(slot, |tool| tool.parameter(slot)))
    }

    /// Formats an unmet precondition. `required` is the name of a node, and `!ok` or `!error` if the node is done with the
    /// other outcome.
    fn precondition(&self, required: &str) -> String {
        let (name, outcome) = match required.rsplit_once('!') {
            Some((name, outcome @ ("ok" | "error"))) => (name, Some(outcome)),
            _ => (required, None),
        };
        let procedure = self.session.procedure();
        let node = procedure.node(name).and_then(|node| procedure.nodes().get(node));
        let is_answer = node.is_some_and(|node| node.kind != NodeKind::Api);
        let shown = if is_answer { excerpt(name) } else { self.names.tool(name) };
        match outcome {
            Some("ok") => format!("precondition {shown}: it must succeed before"),
            Some(_) => format!("precondition {shown}: this comes only after its error"),
            None if is_answer => {
                format!("precondition {shown}: tell it before, with {}", self.names.own(SAY))
            }
            None => format!("precondition {shown}: it must come before"),
        }
    }

    /// Formats the obstacle that a value differs from that of an earlier call of `api`, with the value that is expected.
    fn stale(&self, node: usize, api: &str, slot: &str) -> String {
        let declared = self.session.procedure().nodes().get(node);
        let (argument, tool) = (self.argument(declared, slot), self.names.tool(api));
        let origin = self.session.arguments(node).ok().and_then(|known| {
            known.slots.into_iter().find(|known| known.slot == slot).map(|known| known.origin)
        });
        match origin {
            Some(Origin::Fixed(value)) => format!(
                "stale {argument}: it must be {}, which {tool} had; or call {tool} with the other value first",
                excerpt(&value.to_string())
            ),
            _ => format!(
                "stale {argument}: the calls before it had different values; call {tool} again with the right one"
            ),
        }
    }
}

/// Formats the reason for an argument that its schema does not allow.
pub(super) fn wrong_argument(name: &str, schema: &Value) -> String {
    let allowed: String = schema.to_string().chars().take(MOST_SCHEMA).collect();
    format!("argument {name}: it must be of the schema {allowed}")
}
