//! What agents may do next, by the automata of [`grammata`]: calls of tools, plans, workflows, and the tools that a request needs.
//!
//! - [`tools`] reads documents of tools (OpenAPI, MCP, function declarations) and makes grammars of the turns that call them.
//! - [`plan`] makes plans of actions under the same automata: what may come next, search, choosers, verification.
//! - [`retrieval`] finds the tools that a request needs among thousands.
//! - [`procedures`] reads workflows of agents in PDL: static checks, what may come next, verification of conversations.
//! - [`chat`] asks models that give no logits: every answer is checked, and refused ones are asked for once more.
//! - [`flows`] has flows of customer care: which steps a dialogue must and may take, and plans that keep them.

// docs.rs shows for each item the feature that it requires
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod chat;
mod document;
pub mod flows;
pub mod plan;
pub mod procedures;
pub mod retrieval;
pub mod shell;
pub mod tools;
