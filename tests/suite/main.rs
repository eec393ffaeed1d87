//! The test suite: one module for each topic, with data under `tests/cases` and `tests/diagnostics`.

mod argument_styles;
mod automaton_spec;
mod bare_names;
mod bounded_parts;
mod bounds;
mod budget_bounds;
mod budget_items;
mod budget_names;
mod budget_walks;
mod compile_work;
mod control_characters;
mod counters;
mod debug_lines;
mod diagnostics;
mod different_items;
mod distances;
mod drafts;
mod earley;
mod end_tokens;
mod engine_properties;
mod events;
mod experiments;
mod figures;
mod formats;
mod free_text;
mod gbnf;
mod grammar_analysis;
mod grammar_imports;
mod greedy_tokens;
mod hostile;
mod imports;
mod json_schema;
mod json_schema_conditions;
mod json_schema_differential;
mod json_schema_exclusive;
mod json_schema_numbers;
mod json_schema_passes;
mod json_schema_policies;
mod json_schema_properties;
mod json_schema_sets;
mod json_schema_spellings;
mod json_schema_test_suite;
mod json_schema_unevaluated;
mod language;
mod lark;
mod lark_files;
mod lark_lazy;
mod mask_archives;
mod mask_files;
mod maskbench;
mod masks;
mod matcher_limits;
mod memory_bound;
mod names;
mod places;
mod properties;
mod random;
mod real_tokenizers;
mod regex;
mod regex_look;
mod rule_events;
mod samples;
mod serve;
mod shipped;
mod strategies;
mod structural_tag_ends;
mod structural_tag_syntax;
mod structural_tags;
mod tables;
mod texts;
mod tidy;
mod token_terminals;
mod transitions;
mod vocabulary;
mod vocabulary_decoders;
mod vocabulary_load;
mod word_graphs;

/// The figures of the documentation, from the example `figures`.
#[path = "../../examples/figures/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // the test uses only a part of the example
mod drawings;

/// The root of the repository.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
