//! Runs, judges and reports sessions of procedures under several arms.

mod arm;
mod errors;
mod evaluation;
mod judge;
mod turns;

pub use arm::{ARMS, Arm};
pub use evaluation::{SessionRecord, report, transcript};
pub use judge::{Judgement, judge};
pub use turns::{Confusion, Recorded, Turns, replay};
