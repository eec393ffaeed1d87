//! Plans of customer-care flows with a model, after FLAP (Roy et al. 2024, arXiv 2403.05766).
//!
//! A [`FlowPrompt`] asks for the plan of a customer's query, and a [`FlowPlanner`] writes it under the grammar of a
//! domain; a [`ChatFlow`] asks a chat model for each call. A [`ValidChooser`] chooses among valid plans. A
//! [`PlanWriter`] stops at each call, so that an [`Execution`] can execute it and the answer decides which calls may
//! follow.

mod chat;
mod choose;
mod errors;
mod execute;
mod planner;
mod prompt;
mod similarity;

pub use chat::ChatFlow;
pub use choose::{
    ChooserOptions, ChosenPlan, IntentText, Served, ThoughtScore, ValidChooser, intent_similarities, mixed,
    serving_flow,
};
pub use execute::{ExecutedCall, Execution, PlanWriter, WriterUse};
pub use planner::{FlowPlanner, FlowScope, PlannerOptions, PromptEncoder, WrittenPlan};
pub use prompt::FlowPrompt;
pub use similarity::{EmbeddedSimilarity, Similarity, nearest, similar};
