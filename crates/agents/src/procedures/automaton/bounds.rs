//! How many acts a turn and a session have at most.
//!
//! The *rank* of a state is the fewest acts to a closing answer. What the user says or decides for the first time is *news*. From
//! news to news the lowest rank counts that was reached:
//!
//! - a call after which it has not fallen is *aside*. After [`ASIDE`] of them in a turn only calls are offered some outcome of
//!   which lowers it, after twice as many none;
//! - a turn without news after one in which it has not fallen is *idle*. From the [`IDLE`]th of them on the same holds for answers,
//!   and replies out of the workflow are not offered; with twice as many the conversation is *stalled* and ends.
//!
//! So a turn has no more calls than falls and those aside, and an answer; and from news to news there are no more turns than
//! falls and idle ones.

use super::supervisor::Supervisor;

/// Calls of a turn that may bring it no nearer.
pub(in crate::procedures) const ASIDE: usize = 3;
/// Turns without news that may bring it no nearer.
pub(in crate::procedures) const IDLE: usize = 2;

/// The most acts of an agent whose steps keep the pace, calls and answers alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// In a turn.
    pub turn: usize,
    /// From what the user says or decides for the first time to the next of its kind, or to the end.
    pub news: usize,
    /// In a session whose user says hello, tells each slot and decides each question in one way, until a closing answer.
    pub session: usize,
}

impl Supervisor<'_> {
    /// How many acts an agent has that keeps the pace. `None` where the start is outside of S: nothing leads to a closing answer for
    /// certain.
    pub fn bounds(&self) -> Option<Bounds> {
        if self.is_blocking() {
            return None;
        }
        let procedure = self.procedure();
        let falls = self.greatest_rank() as usize;
        let turn = falls + 2 * ASIDE + 1;
        // the last act is the word with which the driver ends a stalled conversation
        let news = falls + (falls + 2 * IDLE) * (2 * ASIDE + 1) + 1;
        let mut tells: Vec<&String> = procedure.nodes.iter().flat_map(|node| &node.request).collect();
        tells.retain(|slot| procedure.is_tellable(slot));
        tells.extend(procedure.targets.iter().flatten());
        tells.sort_unstable();
        tells.dedup();
        Some(Bounds { turn, news, session: (1 + tells.len()) * news })
    }
}
