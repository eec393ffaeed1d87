//! Decides what agents may do next, with the automata of [`grammata`]: calls of tools, plans, workflows, and the tools
//! that a request needs.
//!
//! - [`tools`] reads documents of tools (OpenAPI, MCP, function declarations) and makes grammars of the turns that call
//!   them.
//! - [`plan`] makes plans of actions under the same automata: the allowed next actions, search, policies, verification.
//! - [`retrieval`] finds the tools that a request needs among thousands.
//! - [`procedures`] reads workflows of agents in PDL: static checks, the allowed next acts, verification of
//!   conversations.
//! - [`flows`] has flows of customer care: which steps a dialogue must and may take, and plans that follow the flows.

// docs.rs shows for each item the feature that it requires
#![cfg_attr(docsrs, feature(doc_cfg))]

mod document;
pub mod flows;
pub mod plan;
pub mod procedures;
pub mod retrieval;
pub mod tools;
