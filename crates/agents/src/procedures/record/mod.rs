//! Recorded conversations, the verdict on them, and random conversations.

pub(super) mod trace;
pub(super) mod walk;

pub use trace::{Event, TraceLine, Verdict, Verification, Violation, follow, read_trace, verify};
pub use walk::{Walk, WalkOptions, random_walk};
