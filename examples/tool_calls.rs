//! From a document of tools to the grammar of the turns that call them, and back from a turn to its calls.

use grammata_agents::tools::{CallFormat, Choice, Document, GrammarOptions, ReadOptions, read};

fn main() -> grammata::Result<()> {
    let text = r#"{"tools": [{"name": "add", "inputSchema": {"type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}]}"#;
    let mut set = read([Document { label: "math", text }], &ReadOptions::default())?;
    let options = GrammarOptions::default().choice(Choice::Required);
    set.check(&options.schema);
    let format = CallFormat::named("hermes").expect("a name of CallFormat::names");
    let turns = format.grammar(&set, &options)?;
    assert_eq!(turns.tools, ["add"]);

    // a `Compiler` compiles `turns.grammar`; a turn that a model writes under its masks is read back as calls
    let turn = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n</tool_call>";
    let turn = format.read(turn, &set)?;
    assert_eq!(turn.calls[0].arguments["b"], 2);
    Ok(())
}
