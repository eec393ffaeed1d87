//! The tests of policies, agents, planners and writers that ask a model: one module for each topic.

mod byte_encoder;
mod flow_execute;
mod flow_generation;
mod plan_model;
mod plan_model_rows;
mod procedure_progress;
mod procedure_sessions;
mod procedure_turns;
mod retrieval_queries;
mod retrieval_writer;

#[path = "../../../agents/tests/suite/flow_vocabulary.rs"]
mod flow_vocabulary;

#[path = "../../../decode/tests/suite/models.rs"]
#[allow(dead_code)] // the tests of decoding use more of this file
mod models;

/// Arms of the laboratory: named options that restrict an agent, as the FlowAgent paper did.
#[path = "../../../../labs/src/procedures/arm.rs"]
#[allow(dead_code, unreachable_pub)] // the test uses only a part of the file
mod arm;

/// The laboratory's judge of sessions, which serves as an oracle.
#[path = "../../../../labs/src/procedures/judge.rs"]
#[allow(dead_code, unreachable_pub)] // the test uses only a part of the file
mod judge;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
