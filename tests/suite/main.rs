//! The test suite: one module a topic, data under `tests/cases` and `tests/diagnostics`.

mod automaton_spec;
mod bounded_parts;
mod bounds;
mod budget_bounds;
mod budget_walks;
mod chat_template;
mod counters;
mod decode_batches;
mod decode_drivers;
mod decode_ort;
mod decode_searches;
mod decode_special_tokens;
mod diagnostics;
mod different_items;
mod distances;
mod earley;
mod embedder;
mod engine_properties;
mod evaluation;
mod experiments;
mod figures;
mod flow_arguments;
mod flow_cases;
mod flow_execute;
mod flow_flap;
mod flow_merge;
mod flow_outcomes;
mod flow_texts;
mod flows;
mod formats;
mod free_text;
mod fuzz_regressions;
mod gbnf;
mod generation;
mod grammar_analysis;
mod grammars;
mod hostile;
mod hostile_flows;
mod hostile_templates;
mod imports;
mod json_schema;
mod json_schema_conditions;
mod json_schema_differential;
mod json_schema_numbers;
mod json_schema_policies;
mod json_schema_properties;
mod json_schema_test_suite;
mod json_schema_unevaluated;
mod language;
mod mask_archives;
mod mask_files;
mod maskbench;
mod masks;
mod matcher_limits;
mod memory_bound;
mod model_folder;
mod models;
mod names;
mod places;
mod plan_arguments;
mod plan_conflicts;
mod plan_data;
mod plan_model;
mod plan_model_rows;
mod plan_rules;
mod plan_search;
mod plan_specs;
mod planner;
mod plans;
mod procedure_files;
mod procedure_sessions;
mod procedure_steps;
mod procedure_turns;
mod procedure_walks;
mod procedures;
mod properties;
mod qdrant_stand_in;
mod real_tokenizers;
mod regex;
mod regex_look;
mod retrieval;
mod retrieval_catalogue;
mod retrieval_drafts;
mod retrieval_figures;
mod retrieval_index;
mod retrieval_qdrant;
mod retrieval_queries;
mod retrieval_store;
mod retrieval_training;
mod retrieval_writer;
mod sampler;
mod serialized;
mod serve;
mod strategies;
mod tables;
mod text_stream;
mod texts;
mod tidy;
mod token_terminals;
mod tools;
mod tools_formats;
mod tools_hard;
mod tools_requests;
mod tools_round_trips;
mod tools_sessions;
mod transitions;
mod travel;
mod vocabulary;
mod vocabulary_load;
mod word_graphs;

/// The example `travel`, which is tested here.
#[path = "../../examples/travel/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // written for a program of its own
mod trips;

/// The words of the OpenAGI tasks, from the example `openagi`.
#[path = "../../examples/openagi/modalities.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // written for a program of its own
mod openagi;

/// The figures of the documentation, from the example `figures`.
#[path = "../../examples/figures/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // written for a program of its own
mod drawings;
