//! Bounds on the acts of a turn and of a session.
//!
//! The *rank* of a state is the smallest number of acts to a closing answer. Words and decisions of the user that are
//! new are *news*. The lowest rank reached since the last news counts:
//!
//! - a call that does not lower it is *aside*. After [`ASIDE`] of them in a turn only calls are offered that may lower
//!   it by some outcome, and after twice as many no calls;
//! - a turn without news, after a turn that did not lower it, is *idle*. From the [`IDLE`]th idle turn on the same
//!   holds for answers, and replies out of the workflow are not offered; after twice as many the conversation is
//!   *stalled* and ends.
//!
//! So a turn has at most as many calls as falls of the rank and calls aside, and one answer. Between news there are at
//! most as many turns as falls and idle turns.

use super::supervisor::Supervisor;

/// The number of calls in a turn that need not lower the rank.
pub(in crate::procedures) const ASIDE: usize = 3;
/// The number of turns without news that need not lower the rank.
pub(in crate::procedures) const IDLE: usize = 2;

/// The most acts (calls and answers) of an agent that keeps the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// In a turn.
    pub turn: usize,
    /// Between two new words or decisions of the user, or from the last one to the end.
    pub news: usize,
    /// In a session until a closing answer, if the user says hello, tells each slot once and decides each question in
    /// one way.
    pub session: usize,
}

impl Supervisor<'_> {
    /// Returns the most acts of an agent that keeps the pace. `None` if the start is outside of S: then no behaviour is
    /// certain to reach a closing answer.
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
