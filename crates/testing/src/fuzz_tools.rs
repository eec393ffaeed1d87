//! The body of the fuzz target for tool documents.

use super::fuzz_limits::limits;
use grammata_agents::tools::{
    CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, ToolSet, read,
};

/// Documents with more tools than this are read and checked, but their turns are not built.
const TOOLS: usize = 20;

/// Reads bytes as a document of tools, and builds grammars of their turns in some formats. A grammar must have only
/// tools of the document; one of calls in JSON must have as many tools as can be called.
pub fn tools(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let options = ReadOptions::default().limits(limits());
    let Ok(mut set) = read([Document { label: "fuzz", text: &text }], &options) else { return };
    let schema = GrammarOptions::arguments(limits());
    set.check(&schema);
    if set.tools().len() > TOOLS {
        return;
    }
    turns(&set, GrammarOptions::default().choice(Choice::Required).markers(Markers::Text).schema(schema));
}

fn turns(set: &ToolSet, options: GrammarOptions) {
    for name in ["json", "hermes", "react", "endpoint"] {
        let Some(format) = CallFormat::named(name) else { continue };
        let Ok(made) = format.grammar(set, &options) else { continue };
        if name == "json" {
            assert_eq!(made.tools.len(), set.callable().count());
        }
        assert!(made.tools.iter().all(|name| set.tool(name).is_some()));
    }
}
