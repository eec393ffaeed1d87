//! Drivers: ways to produce outputs with decoders and models.

mod beam;
mod best_of;
mod exact;
mod generate;
mod scheduler;
mod speculative;
mod together;

pub use beam::{BeamOptions, Hypothesis, beam_search};
pub use best_of::best_of;
pub use exact::exact_samples;
pub use generate::{generate, generate_with};
pub use scheduler::{Ended, Request, RequestId, Scheduler, SchedulerOptions, SchedulerStatistics};
pub use speculative::speculative;
pub use together::run_together;
