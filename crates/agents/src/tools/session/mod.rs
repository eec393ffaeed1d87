//! One conversation with tools: the turns of a model over a set that is compiled once.
//!
//! - A [`ToolCompiler`] compiles a set in a format to [`CompiledTools`]: the names, and the text before and after them.
//!   If the format writes names first, the arguments of a tool are compiled when a turn or a token of a mask reaches
//!   beyond its name, and cached by content for all sets.
//! - A [`TurnMatcher`] computes the masks of one turn, with a [`Subset`] of the tools. They equal the masks of the
//!   grammar of the whole turn.
//! - A [`Session`] follows turns of the model and of the host, and reports the parts of a turn while the model writes
//!   it, or at its end if the format does not write names first.
//! - [`most_probable_names`] finds the tools to whose whole names a model gives the most probability; a greedy choice
//!   considers only one token at a time.

mod bits;
mod budget;
mod choice;
mod compiled;
mod constraint;
mod conversation;
mod event;
mod forced;
mod lowering;
mod names;
mod search;
mod subset;
mod turn;
mod values;
mod walk;

pub use choice::ToolChoice;
pub use compiled::{CompiledTools, TurnOptions};
pub use conversation::{Grounding, Session};
pub use event::Event;
pub use lowering::ToolCompiler;
pub use search::{ScoredName, most_probable_names};
pub use subset::Subset;
pub use turn::TurnMatcher;
pub use values::{Limited, values_under};
