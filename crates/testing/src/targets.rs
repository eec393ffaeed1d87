//! The fuzz targets by name, shared by the programs in `fuzz/` and the tests.

use super::differential::json_schema_differential;
use super::{fuzz, mask_files, token_indices};
#[cfg(feature = "agents")]
use super::{
    fuzz_endpoint, fuzz_flows, fuzz_guard, fuzz_procedures, fuzz_server, fuzz_templates, fuzz_tools,
    round_trips, tool_sessions,
};

/// The body of a fuzz target.
pub type Target = fn(&[u8]);

/// The targets of the engine, by name.
pub const TARGETS: [(&str, Target); 12] = [
    ("regex", fuzz::regex),
    ("gbnf", fuzz::gbnf),
    ("automaton_spec", fuzz::automaton_spec),
    ("structural_tag", fuzz::structural_tag),
    ("lark", fuzz::lark),
    ("json_schema", fuzz::json_schema),
    ("json_schema_differential", json_schema_differential),
    ("vocabulary", fuzz::vocabulary),
    ("matcher_operations", fuzz::matcher_operations),
    ("bounded_parts", fuzz::bounded_parts),
    ("mask_file", mask_files::mask_file),
    ("token_index", token_indices::token_index),
];

/// The targets of agents and templates, by name.
#[cfg(feature = "agents")]
pub const AGENTS: [(&str, Target); 12] = [
    ("chat_template", fuzz_templates::chat_template),
    ("spec_template", fuzz_templates::spec_template),
    ("plan_spec", fuzz_templates::plan_spec),
    ("model_settings", fuzz_templates::model_settings),
    ("procedure", fuzz_procedures::procedure),
    ("tools", fuzz_tools::tools),
    ("tool_sessions", tool_sessions::session),
    ("tools_round_trip", round_trips::tools_round_trip),
    ("flow", fuzz_flows::flow),
    ("guard", fuzz_guard::guard),
    ("endpoint", fuzz_endpoint::endpoint),
    ("server", fuzz_server::server),
];
