//! The tests of tools, plans, retrieval, procedures and flows: one module for each topic.

mod custom_tools;
mod flow_arguments;
mod flow_cases;
mod flow_merge;
mod flow_outcomes;
mod flow_texts;
mod flow_vocabulary;
mod flows;
mod grammars;
mod hostile_flows;
mod hostile_templates;
mod plan_arguments;
mod plan_conflicts;
mod plan_costs;
mod plan_data;
mod plan_orders;
mod plan_refusals;
mod plan_rules;
mod plan_search;
mod plan_specs;
mod planner;
mod plans;
mod procedure_files;
mod procedure_owners;
mod procedure_scaffold;
mod procedure_steps;
mod procedure_told;
mod procedure_tools;
mod procedure_walks;
mod procedures;
mod retrieval;
mod retrieval_catalogue;
mod retrieval_index;
mod retrieval_store;
mod serialized;
mod tag_answers;
mod tag_presets;
mod tag_reader;
mod tools;
mod tools_dialects;
mod tools_formats;
mod tools_hard;
mod tools_requests;
mod tools_round_trips;
mod tools_sessions;
mod tools_written;
mod travel;

#[path = "../../../../tests/suite/language.rs"]
#[allow(dead_code)] // other test programs that include the file use more of it
mod language;
#[path = "../../../../tests/suite/properties.rs"]
#[allow(dead_code)] // other test programs that include the file use more of it
mod properties;
#[path = "../../../../tests/suite/shipped.rs"]
#[allow(dead_code)] // other test programs that include the file use more of it
mod shipped;

#[path = "../../../agents-drive/tests/suite/byte_encoder.rs"]
mod byte_encoder;

#[path = "../../../decode/tests/suite/models.rs"]
#[allow(dead_code)] // the tests of decoding use more of this file
mod models;

/// The example `travel`, whose parts are tested here.
#[path = "../../../../examples/travel/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // the test uses only a part of the example
mod trips;

/// The words of the OpenAGI tasks, from the example `openagi`.
#[path = "../../../../examples/openagi/modalities.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // the test uses only a part of the example
mod openagi;

/// The laboratory's judge of sessions, which serves as an oracle.
#[path = "../../../../labs/src/procedures/judge.rs"]
#[allow(dead_code, unreachable_pub)] // the test uses only a part of the file
mod judge;

/// The laboratory's measures of plans, which serve as an oracle. The file is included because the product does not
/// depend on the laboratory.
#[path = "../../../../labs/src/flow_metrics.rs"]
#[allow(dead_code, unreachable_pub)] // the test uses only a part of the file
mod flow_metrics;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
