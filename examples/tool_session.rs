//! A conversation with tools: one compiled set, a subset for each turn, and the events of a turn as they occur.

use grammata::Compiler;
use grammata::vocabulary::Vocabulary;
use grammata_agents::tools::session::{Event, Session, ToolCompiler, TurnOptions};
use grammata_agents::tools::{CallFormat, Choice, Document, GrammarOptions, ReadOptions, read};
use std::sync::Arc;

fn main() -> grammata::Result<()> {
    let text = r#"[{"name": "find_album", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}}},
                   {"name": "play_album", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}]"#;
    let set = Arc::new(read([Document { label: "music", text }], &ReadOptions::default())?);
    let vocabulary = Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &Default::default())?;

    // once for each vocabulary, set and format: the names of tools and the texts around calls are compiled
    let compiler = ToolCompiler::new(Compiler::new(Arc::new(vocabulary)));
    let format = CallFormat::named("hermes").expect("a name of CallFormat::names");
    let tools = compiler.compile(set, format, &GrammarOptions::default())?;
    assert!(compiler.is_empty());

    // once for each request: the tools that may be called
    let subset = tools.subset(["play_album"])?;
    let options = TurnOptions { choice: Choice::Required, subset: Some(subset), ..TurnOptions::default() };
    let mut session = Session::new(&tools, options)?;

    // a model's tokens would go to `accept_token` under the masks of `mask`; here the host writes bytes instead
    assert_eq!(session.accept_bytes(b"Here.<tool_call>\n")?, [Event::Text("Here.".to_owned())]);
    let forced = session.forced_bytes()?;
    assert_eq!(forced, br#"{"#);
    session.accept_bytes(br#"{"name": "play_album""#)?;
    assert_eq!(compiler.len(), 1); // arguments are compiled on demand, and kept for other sets
    session.accept_bytes(br#", "arguments": {"id": "7"}}"#)?;
    session.accept_bytes(b"\n</tool_call>")?;
    let events = session.finish()?;
    assert!(matches!(events.last(), Some(Event::Finished(_))));
    assert_eq!(session.turns()[0].calls[0].arguments["id"], "7");

    // a text of the host is never a call, even if it looks like one
    session.observe(r#"{"playing": "<tool_call>"}"#)?;
    Ok(())
}
