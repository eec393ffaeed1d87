//! Drives agents under the rules of [`grammata_agents`]: asks models, servers, commands and simulated users.
//!
//! - [`chat`] asks models that give no logits: every answer is checked, and after a refused answer the model is asked
//!   once more. [`tools`] asks such a model for a turn that calls tools.
//! - [`plan`] has the policies that ask a language model, a chat model or a person, and environments that carry steps
//!   out.
//! - [`flows`] writes the plan of a customer's query with a model.
//! - [`procedures`] runs a session of an agent with a user and with APIs.
//! - [`retrieval`] writes the queries of a request with a model.

// docs.rs shows for each item the feature that it requires
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod chat;
pub mod flows;
pub mod plan;
pub mod procedures;
pub mod retrieval;
pub mod tools;
