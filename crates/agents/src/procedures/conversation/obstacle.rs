//! Reasons why a node is not open.

use serde_json::Value;
use std::fmt;

/// The maximum number of characters of a schema that an obstacle shows.
const MOST_SHOWN: usize = 400;

/// Why a node is not open, or why a call with certain arguments is not allowed: the first rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No node of the required kind has the name.
    Unknown,
    /// A precondition is not met: the name of its node; if the node is done with another outcome than the required one,
    /// `!ok` or `!error` follows.
    Precondition(String),
    /// The API answered `max_calls` calls or more; the number is `max_calls`.
    Limit(u32),
    /// Conditions close each call of the node in the text. The fields describe a test around the first call.
    Guard {
        /// The condition as written, in `not (…)` if it must not hold; or `no error of …` or `an error of …` with the
        /// names of APIs.
        condition: String,
        /// `NAME = VALUE` for each slot or result that the condition reads, or `NAME is not known`; empty for errors.
        values: String,
    },
    /// The control flow of the text is not at a call of the node (mode `strict`).
    Order,
    /// A value differs from that in an earlier call on which the call builds, or two such calls have different values.
    Stale {
        /// The API of the earlier call.
        api: String,
        /// The slot of the value.
        slot: String,
    },
    /// A required slot of the request is missing, or can have no value.
    Argument(String),
    /// The value of an argument is not of the schema of its slot, or the request has no such slot.
    Schema {
        /// The name of the argument.
        slot: String,
        /// The schema of the slot; `false` if the request does not have it.
        schema: Value,
    },
    /// Nobody said the value of this slot: none of the messages of the user, results and decisions that the `source` of
    /// the slot admits has it, and it is not known otherwise, for instance as the declared default.
    Unsaid(String),
    /// The call was answered in this turn with the same arguments, and no API on which it depends has given another
    /// answer since; or all arguments that the call may have would be such a repetition.
    Again,
    /// The user dropped the request, and the call has an effect in the world.
    Cancelled,
    /// The named outcome of the node leads to a state from which results or decisions can prevent every closing answer.
    Blocking(String),
}

impl Obstacle {
    /// Returns the kind of the obstacle in one word.
    pub fn code(&self) -> &'static str {
        match self {
            Obstacle::Unknown => "unknown",
            Obstacle::Precondition(_) => "precondition",
            Obstacle::Limit(_) => "limit",
            Obstacle::Guard { .. } => "guard",
            Obstacle::Order => "order",
            Obstacle::Stale { .. } => "stale",
            Obstacle::Argument(_) => "argument",
            Obstacle::Schema { .. } => "schema",
            Obstacle::Unsaid(_) => "unsaid",
            Obstacle::Again => "again",
            Obstacle::Cancelled => "cancelled",
            Obstacle::Blocking(_) => "blocking",
        }
    }
}

/// Returns the beginning of a schema's text.
fn cut(schema: &Value) -> String {
    schema.to_string().chars().take(MOST_SHOWN).collect()
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())?;
        match self {
            Obstacle::Unknown | Obstacle::Order | Obstacle::Again | Obstacle::Cancelled => Ok(()),
            Obstacle::Precondition(name) => write!(f, " {name}"),
            Obstacle::Limit(most) => write!(f, " {most}"),
            Obstacle::Guard { condition, values } if values.is_empty() => write!(f, " {condition}"),
            Obstacle::Guard { condition, values } => write!(f, " {condition} ({values})"),
            Obstacle::Stale { api, slot } => write!(f, " {api}.{slot}"),
            Obstacle::Argument(slot) | Obstacle::Unsaid(slot) => write!(f, " {slot}"),
            Obstacle::Schema { slot, schema: Value::Bool(false) } => {
                write!(f, " {slot} (the call has no such argument)")
            }
            Obstacle::Schema { slot, schema } => write!(f, " {slot} ({})", cut(schema)),
            Obstacle::Blocking(outcome) => write!(f, " {outcome}"),
        }
    }
}
