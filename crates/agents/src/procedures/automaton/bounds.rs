//! Bounds on the acts of a turn and of a session.
//!
//! The *rank* of a state is the smallest number of acts up to and including a closing answer, by choices that the
//! supervisor permits. New words and new decisions of the user are *news*. Acts are compared with the lowest rank
//! reached since the last news:
//!
//! - A call that does not lower this rank is *aside*. After [`ASIDE`] such calls in a turn, only calls are offered that
//!   may lower the rank by some outcome (any call, if no rank is known); after twice as many, no calls are offered.
//! - A turn that begins with a message without new words is *idle* if the rank did not fall since the message before.
//!   News end a series of idle turns. From the [`IDLE`]th idle turn of a series on, only calls and answers are offered
//!   that may lower the rank, and closing answers and questions; replies out of the workflow are not offered. With
//!   twice as many idle turns the conversation is *stalled* and ends.
//!
//! So each call of a turn lowers the rank or is aside, and a turn has one answer. Between news, each turn lowers the
//! rank or makes the next turn idle.

use super::supervisor::Supervisor;

/// The number of calls in a turn that did not lower the rank, after which the turn's other calls are only offered if
/// they may lower it. After twice as many, no calls are offered.
pub(in crate::procedures) const ASIDE: usize = 3;
/// The number of idle turns since the last news from which on only questions, closing answers, and acts that may lower
/// the rank are offered. With twice as many, the conversation ends.
pub(in crate::procedures) const IDLE: usize = 2;

/// The maximum number of acts (calls and answers) of an agent that takes only offered steps with the option `progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum number of acts in one turn.
    pub turn: usize,
    /// The maximum number of acts between two news (new words or decisions of the user), or from the last news to the
    /// end.
    pub news: usize,
    /// The maximum number of acts of a session up to a closing answer, if the user says hello, tells each slot once and
    /// decides each question in one way.
    pub session: usize,
}

impl Supervisor<'_> {
    /// Returns the maximum number of acts of an agent that takes only offered steps. Returns `None` if results or
    /// decisions can block the procedure from the start ([`is_blocking`](Supervisor::is_blocking)): then no behaviour
    /// is certain to reach a closing answer.
    pub fn bounds(&self) -> Option<Bounds> {
        if self.is_blocking() {
            return None;
        }
        let procedure = self.procedure();
        let falls = self.greatest_rank() as usize;
        let turn = falls + 2 * ASIDE + 1;
        // the last act is the message with which the driver ends a stalled conversation
        let news = falls + (falls + 2 * IDLE) * (2 * ASIDE + 1) + 1;
        let mut tells: Vec<&String> = procedure.nodes.iter().flat_map(|node| &node.request).collect();
        tells.retain(|slot| procedure.is_tellable(slot));
        tells.extend(procedure.targets.iter().flatten());
        tells.sort_unstable();
        tells.dedup();
        Some(Bounds { turn, news, session: (1 + tells.len()) * news })
    }
}
