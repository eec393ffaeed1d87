//! One conversation with tools: the turns of a model over a set that is compiled once.
//!
//! - A [`ToolCompiler`] makes [`CompiledTools`] of a set and a format: names and what stands around them. What follows a name is
//!   compiled when a turn has reached the name's end, and kept by its content for all sets.
//! - A [`TurnMatcher`] has the masks of one turn, with a [`Subset`] of the tools. They are those of the grammar of the whole turn.
//! - A [`Session`] follows turns of the model and of the host, and reports the parts of a turn while it is written.
//! - [`most_probable_names`] finds the tool that a model gives the most probability, where greedy choice looks at one token alone.

mod budget;
mod chat;
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
