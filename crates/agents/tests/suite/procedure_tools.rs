//! Procedures whose APIs are tools of documents: their arguments, conflicts with the tools, and sessions in call
//! formats.

use crate::judge::judge;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::Grammar;
use grammata::mask::Compiler;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Limits, Result};
use grammata_agents::procedures::{
    Act, Event, Format, Mode, Offer, Procedure, StepOptions, Turns, Workflow, check_in, format_in, verify,
};
use grammata_agents::tools::session::{ToolCompiler, TurnOptions};
use grammata_agents::tools::{CallFormat, Choice, GrammarOptions, ToolSet};
use grammata_agents_drive::procedures::{
    Agent, AgentOptions, DecisionRequest, Mask, RuleAgent, RunOptions, ScriptedUser, Simulation, Situation,
    run,
};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(crate::ROOT).join("grammars/procedures/tools")
}

fn ferry() -> Procedure {
    let text = std::fs::read_to_string(folder().join("ferry.yaml")).unwrap();
    Procedure::read_in(&text, Format::Yaml, Some(&folder()), &Limits::default()).unwrap()
}

fn simulation() -> Simulation {
    let text = std::fs::read_to_string(folder().join("ferry.simulation.json")).unwrap();
    Simulation::read(&text, &Limits::default()).unwrap()
}

/// The call formats in which a turn may also be text.
const FORMATS: [&str; 9] =
    ["hermes", "json", "json-array", "llama3", "mistral-args", "react", "python", "qwen-coder", "http"];

#[test]
fn an_api_takes_request_response_and_schemas_from_its_tool() {
    let procedure = ferry();
    let mut outline = String::new();
    for node in procedure.nodes().iter().filter(|node| node.tool.is_some()) {
        let request = node.request.join(", ");
        let _ = writeln!(
            outline,
            "{}({request}) -> {}, optional {:?}, writes {}: {}",
            node.name,
            node.response.join(", "),
            node.optional,
            node.writes,
            node.description
        );
    }
    for slot in procedure.slots() {
        let schema = slot.schema.as_ref().map_or_else(String::new, Value::to_string);
        let _ = writeln!(outline, "{} {schema} {:?}", slot.name, slot.source);
    }
    let expected = r#"findSailings(origin, destination, date, passengers) -> sailing_count, sailings, optional [], writes false: Finds the sailings of a day that have room.
book(sailing, passengers) -> booking_state, reference, optional [], writes true: Books a sailing.
date {"type":"string","format":"date"} Some(User)
sailing {"type":"string","pattern":"^[A-Z]{2}[0-9]{3}$"} Some(Result { api: "findSailings", slot: "sailings" })
origin {"enum":["Ardmore","Bayle","Corran","Dunvane"]} None
destination {"enum":["Ardmore","Bayle","Corran","Dunvane"]} None
passengers {"type":"integer","minimum":1,"maximum":9} None
sailing_count {"type":"integer","minimum":0} None
sailings {"type":"array","items":{"type":"string"}} None
booking_state {"enum":["held","full"]} None
reference {"type":"string"} None
"#;
    assert_eq!(outline, expected);

    let book = procedure.nodes()[procedure.node("book").unwrap()].tool.as_ref().unwrap();
    let slots = json!({"sailing": "AB101", "passengers": 2});
    let request = book.request(slots.as_object().unwrap()).unwrap().unwrap();
    assert_eq!(
        (request.method.as_str(), request.url.as_str()),
        ("POST", "https://ferries.example/v1/bookings")
    );
    let body: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
    assert_eq!(body, json!({"sailing_id": "AB101", "passengers": 2}));
    let wrong = json!({"sailing": "AB101", "passengers": 10});
    assert_eq!(book.request(wrong.as_object().unwrap()).unwrap_err().code(), "tools/call-arguments");

    let raw = json!({"state": "held", "booking": {"reference": "F7"}});
    let result = book.result(raw.as_object().unwrap().clone());
    assert_eq!((&result["booking_state"], &result["reference"]), (&json!("held"), &json!("F7")));
    let own = json!({"booking_state": "full", "state": "held"});
    assert_eq!(book.result(own.as_object().unwrap().clone())["booking_state"], "full");

    let text = std::fs::read_to_string(folder().join("ferry.yaml")).unwrap();
    let limits = Limits::default();
    let formatted = format_in(&text, Format::Yaml, Some(&folder()), &limits).unwrap();
    assert_eq!(format_in(&formatted, Format::Yaml, Some(&folder()), &limits).unwrap(), formatted);
    let report = check_in(&formatted, Format::Yaml, Some(&folder()), &limits).unwrap();
    assert!(report.procedure.is_some() && report.size.is_some(), "{:?}", report.findings);
}

/// Returns the code and the found text of each error of a procedure with the given slots and APIs.
fn errors(slots: &str, apis: &str, folder: Option<&Path>) -> Vec<String> {
    let text = format!("Name: n\nSLOTs: [{slots}]\nAPIs: [{apis}]\nProcedure: |\n  done\n");
    let report = check_in(&text, Format::Yaml, folder, &Limits::default()).unwrap();
    let errors = report.findings.iter().filter(|finding| format!("{:?}", finding.severity) == "Error");
    let shown = errors.map(|finding| {
        let diagnostic = &finding.diagnostic;
        assert!(diagnostic.help_text().is_some() && diagnostic.allowed_text().is_some(), "{diagnostic:?}");
        format!("{} {}", diagnostic.code(), diagnostic.found_text().unwrap_or_default())
    });
    shown.collect()
}

#[test]
fn what_contradicts_a_tool_is_an_error() {
    let tools = json!({"tools": [
        {"name": "find", "inputSchema": {"type": "object", "required": ["day"], "properties": {
            "day": {"enum": ["Mon", "Tue"]}, "size": {"type": "integer", "minimum": 1}}},
         "outputSchema": {"type": "object", "properties": {"count": {"type": "integer"}, "day": {"type": "string"}}}},
        {"name": "late", "inputSchema": {"type": "object", "properties": {"day": {"enum": ["Sat"]}}}},
        {"name": "either", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
        {"name": "needs", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "dependentRequired": {"a": ["b"]}}},
        {"name": "tree", "inputSchema": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}},
            "$defs": {"t": {"type": "object", "properties": {"l": {"$ref": "#/$defs/t"}}}}}},
        {"name": "never", "inputSchema": {"type": "object", "properties": {"n": false}, "required": ["n"]}},
    ]});
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    std::fs::write(folder.path().join("inner/t.json"), tools.to_string()).unwrap();
    std::fs::write(folder.path().join("text"), "no tools").unwrap();
    std::fs::write(folder.path().join("bytes"), [0xff, 0xfe]).unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(outside.path(), tools.to_string()).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
    let find = "tool: 'inner/t.json#find'";
    for (slots, api, expected) in [
        ("", find.to_owned(), &[][..]),
        ("", format!("{find}, name: f, request: [day], optional: []"), &[]),
        ("", format!("{find}, request: {{d: day}}, response: {{n: count, other: /a/b}}"), &[]),
        ("{name: size, schema: {type: number, maximum: 4}}", find.to_owned(), &[]),
        ("{name: size, source: agent}", find.to_owned(), &[]),
        // conflicts between an API and its tool
        ("", format!("{find}, request: [size]"), &["pdl/tool-conflict no `day`"]),
        ("", format!("{find}, request: [day, hour]"), &["pdl/tool-conflict hour"]),
        ("", format!("{find}, request: [day, day]"), &["pdl/tool-conflict day"]),
        ("", format!("{find}, optional: [day]"), &["pdl/tool-conflict day"]),
        ("", format!("{find}, response: [total]"), &["pdl/tool-conflict total"]),
        ("", format!("{find}, request: {{x: day, X: size}}, response: {{x: count}}"), &[]),
        (
            "{name: day, schema: {type: integer}}",
            find.to_owned(),
            &[r#"pdl/slot-conflict day: {"type":"integer"} and {"enum":["Mon","Tue"]}"#],
        ),
        (
            "{name: size, schema: {type: integer, maximum: 0}}",
            find.to_owned(),
            &["pdl/tool-arguments inner/t.json#find"],
        ),
        (
            "",
            format!("{find}}}, {{tool: 'inner/t.json#late'"),
            &[r#"pdl/slot-conflict day: {"enum":["Mon","Tue"]} and {"enum":["Sat"]}"#],
        ),
        ("", format!("{find}}}, {{tool: 'inner/t.json#late', request: {{late_day: day}}"), &[]),
        ("", "tool: 'inner/t.json#either'".to_owned(), &["pdl/tool-arguments inner/t.json#either"]),
        ("", "tool: 'inner/t.json#needs'".to_owned(), &["pdl/tool-arguments inner/t.json#needs"]),
        ("", "tool: 'inner/t.json#needs', optional: [a]".to_owned(), &[]),
        ("", "tool: 'inner/t.json#needs', request: [b]".to_owned(), &[]),
        ("", "tool: 'inner/t.json#tree'".to_owned(), &["pdl/tool-arguments inner/t.json#tree"]),
        ("", "tool: 'inner/t.json#never'".to_owned(), &["pdl/tool-refused inner/t.json#never"]),
        // wrong references to documents and tools
        ("", "tool: 'inner/t.json#fnd'".to_owned(), &["pdl/unknown-tool fnd"]),
        ("", "tool: 'inner/t.json'".to_owned(), &["pdl/tool-file inner/t.json"]),
        ("", "tool: '#find'".to_owned(), &["pdl/tool-file #find"]),
        ("", "tool: ''".to_owned(), &["pdl/tool-file nothing"]),
        ("", "tool: null".to_owned(), &["pdl/tool-file nothing"]),
        ("", "tool: 'none.json#find'".to_owned(), &["pdl/tool-file none.json"]),
        ("", "tool: 'inner/../inner/t.json#find'".to_owned(), &["pdl/tool-file inner/../inner/t.json"]),
        ("", "tool: '../t.json#find'".to_owned(), &["pdl/tool-file ../t.json"]),
        ("", "tool: '/etc/passwd#find'".to_owned(), &["pdl/tool-file /etc/passwd"]),
        ("", "tool: 'inner#find'".to_owned(), &["pdl/tool-file inner"]),
        ("", "tool: 'text#find'".to_owned(), &["pdl/tool-file text"]),
        ("", "tool: 'bytes#find'".to_owned(), &["pdl/tool-file bytes"]),
        #[cfg(unix)]
        ("", "tool: 'link#find'".to_owned(), &["pdl/tool-file link"]),
        // the tool of a server needs no document
        (
            "",
            "tool: 'get-sum', request: {a: 'number a', b: b}, optional: [b], response: [sum]".to_owned(),
            &[],
        ),
        ("", "name: x, tool: find".to_owned(), &[]),
        ("", "tool: find, request: {a: x, b: x}".to_owned(), &["pdl/tool-conflict x"]),
        ("", "tool: 't.JSON'".to_owned(), &["pdl/tool-file t.JSON"]),
        ("", "tool: [a]".to_owned(), &["pdl/yaml a list or a mapping"]),
    ] {
        assert_eq!(errors(slots, &format!("{{{api}}}"), Some(folder.path())), expected, "{slots} {api}");
    }
    assert_eq!(errors("", &format!("{{{find}}}"), None), ["pdl/tool-file inner/t.json"], "no folder");
    let many: Vec<String> = (0..40).map(|at| format!("{{name: n{at}, tool: '{at}.json#x'}}")).collect();
    assert_eq!(errors("", &many.join(", "), Some(folder.path())).len(), 40);
    let mut few = Limits::default();
    few.source_bytes = 200;
    let text = format!("Name: n\nAPIs: [{{{find}}}]\nProcedure: x\n");
    let error = Procedure::read_in(&text, Format::Yaml, Some(folder.path()), &few).unwrap_err();
    assert_eq!(error.code(), "pdl/tool-file");
}

/// Returns whether a text is a word of a grammar.
fn accepts(grammar: &Grammar, text: &str) -> bool {
    let automaton = Automaton::new(grammar, &Limits::default()).unwrap();
    let mut cache = Cache::new();
    let mut run = Lazy::new(&automaton, &mut cache);
    let mut at = run.start().unwrap();
    for &byte in text.as_bytes() {
        at = run.step(at, byte).unwrap();
        if at == ConfigurationId::DEAD {
            return false;
        }
    }
    run.is_accepting(at)
}

/// The reference agent. Each of its turns must be a word of the grammar of the offered tools. Calls must also be
/// accepted by a tool session that is compiled once and restricted to the open tools.
struct Checked {
    agent: RuleAgent,
    tools: grammata_agents::tools::session::CompiledTools,
    calls: usize,
}

impl Checked {
    fn new(
        procedure: &Procedure,
        format: &CallFormat,
        script: &grammata_agents_drive::procedures::UserScript,
    ) -> Checked {
        let tools = procedure.nodes().iter().filter_map(|node| {
            let mut tool = node.tool.as_ref()?.tool.clone();
            tool.name.clone_from(&node.name);
            Some(tool)
        });
        let set = Arc::new(ToolSet::of(tools, &Limits::default()).unwrap());
        let bytes = (0..=255_u8).map(|byte| vec![byte]);
        let vocabulary = Arc::new(VocabularyBuilder::from_tokens(bytes).build().unwrap());
        let compiler = Compiler::new(vocabulary).without_token_bounds();
        let options = GrammarOptions::default().markers(grammata_agents::tools::Markers::Text);
        let tools = ToolCompiler::new(compiler).compile(set, format.clone(), &options).unwrap();
        Checked { agent: RuleAgent::new(script.slots.clone(), script.prose.clone()), tools, calls: 0 }
    }
}

impl Agent for Checked {
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String> {
        let text = self.agent.write(situation)?;
        let format = situation.binding.calls.as_ref().unwrap();
        let procedure = situation.conversation.session().procedure();
        let options = StepOptions::default();
        let turns = Turns::new(procedure, situation.offers, format, &options)?;
        let grammar = turns.grammar()?;
        assert!(accepts(&grammar, &text), "{text}\n{:?}", situation.offers);
        let act = turns.read(&text)?.unwrap();
        assert_eq!(turns.write(&act)?, text);
        let open = situation.offers.iter().filter_map(|offer| match offer {
            Offer::Call { api, .. } => Some(api.as_str()),
            _ => None,
        });
        let open: Vec<&str> = open.collect();
        for node in procedure.nodes().iter().filter(|node| node.tool.is_some()) {
            // a call that is not open cannot be written
            let arguments = json!({"passengers": 2}).as_object().unwrap().clone();
            let call = Act::Call { name: node.name.clone(), arguments };
            if !open.contains(&node.name.as_str()) {
                assert!(turns.write(&call).is_err(), "{}", node.name);
            }
        }
        if matches!(act, Act::Call { .. }) {
            self.calls += 1;
            let subset = self.tools.subset(open.iter().copied())?;
            let turn =
                TurnOptions { choice: Choice::Required, subset: Some(subset), ..TurnOptions::default() };
            let mut matcher = self.tools.turn(&turn)?;
            matcher.accept_bytes(text.as_bytes())?;
            assert!(matcher.is_accepting()?, "{text}");
        }
        Ok(text)
    }

    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>> {
        self.agent.decide(request)
    }
}

#[test]
fn a_session_is_written_in_the_format_of_a_tool_session() {
    let procedure = ferry();
    let simulation = simulation();
    for name in FORMATS {
        let format = CallFormat::named(name).unwrap();
        let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
        let binding = AgentOptions::default().calls(Some(format.clone()));
        for script in &simulation.users {
            let mut agent = Checked::new(&procedure, &format, script);
            let (mut user, mut apis) = (ScriptedUser::new(script), simulation.apis());
            let record =
                run(&workflows, &binding, &mut agent, &mut user, &mut apis, &RunOptions::default()).unwrap();
            assert!(record.is_complete, "{name} {} {:?}", script.id, record.entries);
            assert!(agent.calls > 0 && record.refusals == 0);
            let judged = judge(&procedure, script, &record);
            assert!(judged.success, "{name} {} {judged:?}", script.id);
            let events: Vec<Event> = record.events().iter().filter_map(Event::of).collect();
            assert_eq!(verify(&procedure, Mode::Guarded, &events, true).0.violations, []);
        }
    }
}

/// Without a mask an agent may write anything, and its calls are still read with the tools of the procedure.
#[test]
fn calls_in_a_format_are_read_without_a_mask() {
    let procedure = ferry();
    let simulation = simulation();
    let format = CallFormat::named("hermes").unwrap();
    let workflows = [Workflow::new(&procedure, Mode::Guarded, &Limits::default()).unwrap()];
    let binding = AgentOptions::default().mask(Mask::None).calls(Some(format));
    let script = &simulation.users[0];
    let mut agent = RuleAgent::new(script.slots.clone(), script.prose.clone());
    let (mut user, mut apis) = (ScriptedUser::new(script), simulation.apis());
    let record = run(&workflows, &binding, &mut agent, &mut user, &mut apis, &RunOptions::default()).unwrap();
    let calls = record.events().iter().filter(|event| event[0] == "call").count();
    assert!(record.is_complete && record.refusals == 0 && calls > 0, "{record:?}");
}

#[test]
fn formats_without_text_can_say_nothing() {
    let procedure = ferry();
    for name in ["relation", "endpoint"] {
        let format = CallFormat::named(name).unwrap();
        let error = Turns::new(&procedure, &[], &format, &StepOptions::default()).unwrap_err();
        assert_eq!(error.code(), "procedure/call-format", "{name}");
    }
}
