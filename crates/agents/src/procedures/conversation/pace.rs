//! The pace of a conversation: acts that do not bring a closing answer nearer are
//! [bounded](crate::procedures::automaton::bounds).

use super::sayings::words;
use crate::procedures::automaton::bounds::{ASIDE, IDLE};
use rustc_hash::FxHashSet;
use serde_json::Value;

/// The counters that bound acts which do not bring a closing answer nearer. The rank of a state is the smallest number
/// of acts up to a closing answer; news are new words or decisions of the user.
#[derive(Clone, Debug, Default)]
pub(in crate::procedures) struct Pace {
    /// The lowest rank since the last news; `None` before the first news or act, and if no state since the last news
    /// had a rank.
    pub(in crate::procedures) lowest: Option<u32>,
    /// Number of calls of this turn that did not lower the lowest rank.
    pub(in crate::procedures) aside: usize,
    /// Number of turns since the last news in which the rank did not fall.
    pub(in crate::procedures) idle: usize,
    has_fallen: bool,
    /// The words that the user said.
    words: FxHashSet<String>,
    /// The decisions that the user made.
    decisions: FxHashSet<String>,
}

impl Pace {
    /// Records a message of the user; `rank` is that of the current state.
    pub(in crate::procedures) fn hear(&mut self, text: &str, rank: Option<u32>) {
        let before = self.words.len();
        self.words.extend(words(text));
        if self.words.len() > before {
            self.news(rank);
        } else if !self.has_fallen {
            self.idle += 1;
        }
        self.aside = 0;
        self.has_fallen = false;
    }

    /// Records a decision of the user; `rank` is that of the state after it.
    pub(in crate::procedures) fn decide(&mut self, slot: &str, value: &Value, rank: Option<u32>) {
        if self.decisions.insert(format!("{slot} = {value}")) {
            self.news(rank);
        }
    }

    fn news(&mut self, rank: Option<u32>) {
        self.idle = 0;
        self.lowest = rank;
    }

    /// Records an act; `rank` is that of the state after it.
    pub(in crate::procedures) fn act(&mut self, is_call: bool, rank: Option<u32>) {
        let falls = match (rank, self.lowest) {
            (Some(rank), Some(lowest)) => rank < lowest,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if falls {
            self.lowest = rank;
            self.has_fallen = true;
        } else {
            self.aside += usize::from(is_call);
        }
    }

    /// Returns whether only calls that can lower the rank are allowed.
    pub(in crate::procedures) fn is_pressed(&self) -> bool {
        self.aside >= ASIDE || self.is_idle()
    }

    /// Returns whether no call is allowed in the current turn.
    pub(in crate::procedures) fn is_over(&self) -> bool {
        self.aside >= 2 * ASIDE
    }

    /// Returns whether only questions, closing answers, and those calls and other answers that can lower the rank are
    /// allowed.
    pub(in crate::procedures) fn is_idle(&self) -> bool {
        self.idle >= IDLE
    }

    /// Returns whether the conversation should end.
    pub(in crate::procedures) fn is_stalled(&self) -> bool {
        self.idle >= 2 * IDLE
    }
}
