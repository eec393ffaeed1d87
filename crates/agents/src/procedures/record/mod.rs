//! Recorded conversations, the verdict on them, and random conversations.

pub(super) mod trace;
pub(super) mod walk;

pub use trace::{
    Event, TraceLine, Verdict, Verification, Violation, follow, read_trace, split_cut_line, verify,
};
pub use walk::{Walk, WalkOptions, random_walk};
