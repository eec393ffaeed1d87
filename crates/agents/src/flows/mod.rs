//! Customer-care flows after FLAP (Roy et al. 2024, arXiv 2403.05766): APIs, steps that are carried out by APIs, and
//! flows of steps that serve an intent.
//!
//! A [`FlowDomain`] is read from TOML. [`FlowAutomaton`] accepts its plans at a level of strictness. It is a
//! [`TransitionSystem`](grammata::transitions::TransitionSystem), so the algorithms for these apply. [`FlowLookahead`]
//! counts the plans from a state on. [`grammar`] builds the grammar of the texts of plans, with or without thoughts,
//! for a [`Compiler`](grammata::Compiler); [`parse`] reads such texts. [`spec`] writes the automaton as a plan spec.
//!
//! With a model, [`FlowPrompt`] asks for the plan of a customer's query, and [`ValidChooser`] chooses among valid
//! plans. A [`PlanWriter`] stops at each call, so that an [`Execution`] can execute it and the answer decides which
//! calls may follow.

mod automaton;
mod budget;
mod chat;
mod check;
mod choose;
mod completions;
mod domain;
mod entries;
mod errors;
mod execute;
mod follow;
mod letters;
mod lookahead;
mod merge;
mod options;
mod parse;
mod picture;
mod places;
mod planner;
mod program;
mod prompt;
mod similarity;
mod spec;
mod text;
mod written;

pub use automaton::{FlowAutomaton, FlowCall, FlowState};
pub use budget::WithinBudget;
pub use chat::ChatFlow;
pub use choose::{
    ChooserOptions, ChosenPlan, IntentText, Served, ThoughtScore, ValidChooser, intent_similarities, mixed,
    serving_flow,
};
pub use domain::{Api, Entry, Flow, FlowDomain, FlowOrder, Input, Outcome, Rounds, Step};
pub use execute::{ExecutedCall, Execution, PlanWriter, WriterUse};
pub use lookahead::{Ahead, FeasibleCall, FlowLookahead, Lookahead};
pub use merge::Names;
pub use options::{FlowOptions, Level, Within};
pub use parse::{Brackets, ParsedPlan, WrittenCall, parse, parse_with};
pub use picture::FlowPicture;
pub use planner::{FlowPlanner, FlowScope, PlannerOptions, PromptEncoder, WrittenPlan};
pub use prompt::FlowPrompt;
pub use similarity::{EmbeddedSimilarity, Similarity, nearest, similar};
pub use spec::spec;
pub use text::{THOUGHT_CHARS, Thoughts, grammar};
