//! Reasons why a node is not open.

use std::fmt;

/// Why a node is not open: the first rule that it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No node has the name.
    Unknown,
    /// A precondition is not met: its name, with the outcome that it must have, if any.
    Precondition(String),
    /// The API was called `max_calls` times.
    Limit(u32),
    /// No call of the text is open: a condition of the first one, with the values that it reads.
    Guard {
        /// The condition as written, with `not` if it must not hold.
        condition: String,
        /// `slot = value` for each slot that it reads; a slot without a value is `not known`.
        values: String,
    },
    /// The control flow of the text is elsewhere (mode `strict`).
    Order,
    /// A value differs from that in a call on which this one builds.
    Stale {
        /// The call that it builds on.
        api: String,
        /// The slot.
        slot: String,
    },
    /// A required slot of the request is missing, or no value of it is known.
    Argument(String),
    /// The value of a slot is in no message of the user, no result and no decision, and is not its declared default; or
    /// nobody said a possible value of a required slot.
    Unsaid(String),
    /// The same call with the same arguments was answered in this turn, and no API on which it depends was answered
    /// again.
    Again,
    /// The user dropped the request, and the call has an effect in the world.
    Cancelled,
    /// The named outcome of the node leads to a state that may not reach a closing answer.
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
            Obstacle::Unsaid(_) => "unsaid",
            Obstacle::Again => "again",
            Obstacle::Cancelled => "cancelled",
            Obstacle::Blocking(_) => "blocking",
        }
    }
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
            Obstacle::Blocking(outcome) => write!(f, " {outcome}"),
        }
    }
}
