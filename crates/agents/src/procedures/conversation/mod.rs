//! A conversation under procedures: its values, the steps that are allowed next, why others are not, and the grammar of
//! a step.

pub(super) mod act;
pub(super) mod arguments;
pub(super) mod checks;
pub(super) mod claims;
pub(super) mod conversation;
pub(super) mod fill;
pub(super) mod object;
pub(super) mod obstacle;
pub(super) mod owners;
pub(super) mod pace;
pub(super) mod provenance;
pub(super) mod sayings;
pub(super) mod session;
mod sites;
pub(super) mod step;
pub(super) mod told;
pub(super) mod turns;
pub(super) mod words;

pub use act::Act;
pub use arguments::{Argument, Arguments, Origin};
pub use conversation::{Conversation, FREE_REPLIES, Offering, Resolved, Texts, Workflow};
pub use fill::{one_line, spoken};
pub use object::{object_act, object_schema, step_text};
pub use obstacle::Obstacle;
pub use session::{Session, Values};
pub use step::{Offer, StepFormat, StepOptions, Text, step_grammar};
pub use turns::Turns;
pub use words::pieces;
