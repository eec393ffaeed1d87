//! Compares tool sessions with the grammar of the whole turn: the masks must be the same at each step, however the
//! session is assembled from parts.

use super::fuzz_limits::limits;
use grammata::mask::Compiler;
use grammata::matcher::Matcher;
use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};
use grammata_agents::tools::session::{Event, Session, ToolCompiler, TurnOptions};
use grammata_agents::tools::{
    CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, ToolSet, Turn, read,
};
use serde_json::Value;
use std::sync::Arc;

/// Draws numbers below a bound, from any source.
pub type Draw<'d> = dyn FnMut(usize) -> usize + 'd;

/// Sets of tools whose names share prefixes and suffixes, or continue like the text after a name; with arguments of
/// several kinds.
const SETS: [&str; 4] = [
    r#"[{"name": "get", "inputSchema": {"type": "object"}},
        {"name": "get_user", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
        {"name": "get_users", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}, "n": {"enum": ["a", "ab"]}}}}]"#,
    r#"[{"name": "a", "inputSchema": {"type": "object", "properties": {"e": {"enum": ["x", "y"]}, "b": {"type": "boolean"}}, "required": ["e"]}},
        {"name": "a t", "inputSchema": {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "number"}, "maxItems": 3}}}},
        {"name": "a to", "inputSchema": {"type": "object", "properties": {"p": {"type": "string", "pattern": "^[ab]+$"}}}},
        {"name": " a", "inputSchema": {"type": "object"}}]"#,
    r#"[{"name": "né \"q\"", "inputSchema": {"type": "object", "properties": {"o": {"type": "object"}}}},
        {"name": "né", "inputSchema": {"type": "object", "properties": {"u": {"type": "array", "uniqueItems": true, "items": {"enum": [1, 2]}}}}},
        {"name": "\\", "inputSchema": {"type": "object", "additionalProperties": {"type": "integer"}}},
        {"name": "{\"name\": \"", "inputSchema": {"type": "object", "properties": {"x": {"type": "null"}}}}]"#,
    r##"[{"name": "only", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}}]"##,
];

/// Formats with short delimiters, so that many tokens cross them.
const OWN: [&str; 3] = [
    "description = 'd'\ntext = 'before'\ncall = [{ text = '<' }, { name = true }, { text = ' to ' }, { arguments = true }, { text = '>' }]",
    "description = 'd'\ntext = 'none'\nbegin = [{ gap = true }]\ncall = [{ name = true }, { text = ' ' }, { gap = true }, { arguments = true }]\nseparator = [{ text = ';' }, { gap = true }]",
    "description = 'd'\ntext = 'opening'\nbegin = [{ text = '[' }]\ncall = [{ object = ['n', 'a'] }]\nseparator = [{ text = ',' }]\nend = [{ text = ']' }]",
];

fn pick<'t, T>(draw: &mut Draw<'_>, list: &'t [T]) -> &'t T {
    &list[draw(list.len())]
}

fn format(draw: &mut Draw<'_>) -> CallFormat {
    let presets: Vec<CallFormat> =
        CallFormat::names().filter_map(CallFormat::named).filter(CallFormat::names_come_first).collect();
    match draw(presets.len() + OWN.len()) {
        at if at < presets.len() => presets[at].clone(),
        at => CallFormat::from_toml(OWN[at - presets.len()]).unwrap_or_else(|error| panic!("{error}")),
    }
}

fn set(draw: &mut Draw<'_>) -> ToolSet {
    let text = pick(draw, &SETS);
    let read = read([Document { label: "t", text }], &ReadOptions::default());
    let mut set = read.unwrap_or_else(|error| panic!("{error}"));
    set.check(&GrammarOptions::arguments(limits()));
    set
}

/// A vocabulary of all bytes, the markers of formats, an end token, and pieces of turns whose tokens cross all
/// delimiters.
fn vocabulary(draw: &mut Draw<'_>, format: &CallFormat, set: &ToolSet) -> Vocabulary {
    let mut tokens: Vec<Vec<u8>> = (0..=255_u8).map(|byte| vec![byte]).collect();
    let gaps = ["", " "];
    for _ in 0..120 {
        let call = |draw: &mut Draw<'_>| grammata_agents::tools::Call {
            tool: pick(draw, set.tools()).name.clone(),
            arguments: match draw(4) {
                0 => [("id".to_owned(), Value::from(draw(200)))].into_iter().collect(),
                1 => [("q".to_owned(), Value::from("b\"}"))].into_iter().collect(),
                _ => serde_json::Map::new(),
            },
        };
        let calls = match draw(3) {
            0 => vec![call(draw), call(draw)],
            _ => vec![call(draw)],
        };
        let text = if draw(2) == 0 { "" } else { "t\n" };
        let turn = Turn { text: text.to_owned(), calls, ..Turn::default() };
        let Ok(mut text) = format.render(&turn, set) else { continue };
        if draw(2) == 0 {
            text = text.replace(':', &format!(":{}", pick(draw, &gaps))).replace(',', ", ");
        }
        let start = draw(text.len());
        let end = (start + 1 + draw(14)).min(text.len());
        tokens.push(text.as_bytes()[start..end].to_vec());
    }
    tokens.extend([b"\"\xFF".to_vec(), b"get\xFF".to_vec(), vec![0xFF, b'a']]);
    tokens.sort();
    tokens.dedup();
    tokens.retain(|token| !token.is_empty());
    let markers = [
        "[TOOL_CALLS]",
        "[ARGS]",
        "<|channel|>",
        "<|constrain|>",
        "<|message|>",
        "<\u{ff5c}tool\u{2581}calls\u{2581}begin\u{ff5c}>",
        "<\u{ff5c}tool\u{2581}call\u{2581}begin\u{ff5c}>",
        "<\u{ff5c}tool\u{2581}sep\u{ff5c}>",
        "<\u{ff5c}tool\u{2581}call\u{2581}end\u{ff5c}>",
        "<\u{ff5c}tool\u{2581}calls\u{2581}end\u{ff5c}>",
        "<end>",
    ];
    let first = tokens.len() as u32;
    let mut builder = VocabularyBuilder::from_tokens(tokens);
    for (id, marker) in (first..).zip(markers) {
        builder = builder.special(TokenId::new(id), marker);
    }
    builder = builder.eos([TokenId::new(first + markers.len() as u32 - 1)]);
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// The same turn as a session and as the grammar of the whole turn.
struct Pair {
    session: Session,
    whole: Matcher,
}

impl Pair {
    fn new(draw: &mut Draw<'_>) -> Option<Pair> {
        let format = format(draw);
        let set = Arc::new(set(draw));
        let vocabulary = Arc::new(vocabulary(draw, &format, &set));
        let compiler = Compiler::new(vocabulary).limits(limits());
        let markers = if draw(4) == 0 { Markers::Text } else { Markers::Tokens };
        let schema = GrammarOptions::arguments(limits());
        let base = GrammarOptions::default().markers(markers).schema(schema);
        let tools = ToolCompiler::new(compiler.clone()).compile(Arc::clone(&set), format.clone(), &base);
        let tools = tools.unwrap_or_else(|error| panic!("{error}"));
        let all: Vec<String> = tools.names(tools.all()).map(str::to_owned).collect();
        let mut chosen: Vec<String> = all.iter().filter(|_| draw(3) > 0).cloned().collect();
        if chosen.is_empty() {
            chosen = all;
        }
        let subset = tools.subset(chosen.iter().map(String::as_str));
        let subset = subset.unwrap_or_else(|error| panic!("{error}"));
        let choice = *pick(draw, &[Choice::Auto, Choice::Auto, Choice::Required, Choice::None]);
        let (min_calls, max_calls) = *pick(draw, &[(1, Some(1)), (1, Some(2)), (2, Some(3)), (1, None)]);
        let turn = TurnOptions { choice, subset: Some(subset), min_calls, max_calls, limited: Vec::new() };
        let session = Session::new(&tools, turn);
        let whole = base.choice(choice).tools(chosen).min_calls(min_calls).max_calls(max_calls);
        let (session, whole) = match (session, format.grammar(&set, &whole)) {
            (Ok(session), Ok(whole)) => (session, whole),
            (Err(one), Err(other)) => {
                assert_eq!(one.code(), other.code());
                return None;
            }
            (one, other) => panic!("{one:?}\n{other:?}"),
        };
        let whole = compiler.compile(&whole.grammar).unwrap_or_else(|error| panic!("{error}")).matcher();
        Some(Pair { session, whole })
    }

    fn compare(&mut self) -> Vec<TokenId> {
        let expected = self.whole.mask().unwrap_or_else(|error| panic!("{error}"));
        let found = self.session.mask().unwrap_or_else(|error| panic!("{error}"));
        let text = String::from_utf8_lossy(self.session.text()).into_owned();
        if *found != *expected {
            let vocabulary = self.whole.compiled().vocabulary();
            let show = |token: TokenId| match vocabulary.bytes(token) {
                Some(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
                None => format!("{:?}", vocabulary.special(token)),
            };
            let more: Vec<String> = found.iter().filter(|&t| !expected.contains(t)).map(show).collect();
            let less: Vec<String> = expected.iter().filter(|&t| !found.contains(t)).map(show).collect();
            panic!(
                "after {text:?}: too many {more:?}, missing {less:?}\n{:?}",
                self.session.tools().format()
            );
        }
        let ends = (self.session.is_accepting(), Ok::<bool, grammata::Error>(self.whole.is_accepting()));
        assert!(matches!(ends, (Ok(one), Ok(other)) if one == other), "after {text:?}: {ends:?}");
        expected.iter().collect()
    }
}

/// Walks through one turn of a session and of the whole grammar, and compares their masks at each step, including after
/// undone steps. The events of the session must match what the text of the turn reads as.
///
/// # Panics
/// If they differ.
pub fn session_agrees(draw: &mut Draw<'_>) {
    let Some(mut pair) = Pair::new(draw) else { return };
    let mut events: Vec<Vec<Event>> = Vec::new();
    for step in 0..60 {
        let allowed = pair.compare();
        let text = String::from_utf8_lossy(pair.session.text()).into_owned();
        if allowed.is_empty() {
            assert!(pair.whole.is_finished(), "dead end after {text:?}");
            break;
        }
        let forced = (pair.session.forced_bytes(), pair.whole.forced_bytes());
        let (Ok(one), Ok(other)) = forced else { panic!("{forced:?}") };
        assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&other), "forced after {text:?}");
        if draw(8) == 0 && !events.is_empty() {
            let back = 1 + draw(events.len().min(3));
            pair.session.rollback(back).unwrap_or_else(|error| panic!("{error}"));
            pair.whole.rollback(back).unwrap_or_else(|error| panic!("{error}"));
            events.truncate(events.len() - back);
            continue;
        }
        let vocabulary = Arc::clone(pair.whole.compiled().vocabulary());
        // long tokens cross delimiters
        let longest = |tokens: &[TokenId]| {
            tokens.iter().copied().max_by_key(|&token| vocabulary.bytes(token).map_or(1, <[u8]>::len))
        };
        let few: Vec<TokenId> = (0..1 + draw(6)).map(|_| *pick(draw, &allowed)).collect();
        let end = allowed.iter().copied().find(|&token| vocabulary.is_eos(token));
        let Some(token) = end.filter(|_| step > 20 || draw(6) == 0).or_else(|| longest(&few)) else { break };
        pair.whole.accept_token(token).unwrap_or_else(|error| panic!("{error}"));
        let told = pair.session.accept_token(token);
        events.push(told.unwrap_or_else(|error| panic!("after {text:?}: {error}")));
        if vocabulary.is_eos(token) {
            told_is_read(&events.concat(), pair.session.turns());
            break;
        }
        let refused = TokenId::new(draw(vocabulary.width()) as u32);
        if !allowed.contains(&refused) {
            let mut elsewhere = pair.session.clone();
            let mut whole = pair.whole.clone();
            let (one, other) = (elsewhere.accept_token(refused).is_ok(), whole.accept_token(refused).is_ok());
            let bytes = vocabulary.bytes(refused).map(String::from_utf8_lossy);
            assert_eq!(one, other, "{refused:?} {bytes:?} after {text:?} and a step");
        }
    }
}

/// Checks that the events of a turn match what its text reads as.
fn told_is_read(events: &[Event], turns: &[Turn]) {
    let Some(turn) = turns.last() else { panic!("no turn has ended") };
    let (mut text, mut begun, mut arguments, mut calls) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Text(piece) => text += piece,
            Event::Call { tool, .. } => {
                begun.push(tool.clone());
                arguments.push(String::new());
            }
            Event::Arguments { index, text } => arguments[*index] += text,
            Event::Called { call, .. } => calls.push(call.clone()),
            Event::Finished(finished) => assert_eq!(finished, turn),
        }
    }
    assert_eq!(text, turn.text);
    assert_eq!(calls, turn.calls);
    assert!(begun.iter().eq(calls.iter().map(|call| &call.tool)));
    let read = arguments.iter().map(|text| serde_json::from_str::<Value>(text));
    let given = calls.iter().map(|call| Value::Object(call.arguments.clone()));
    assert_eq!(read.filter_map(|value| value.ok()).collect::<Vec<_>>(), given.collect::<Vec<_>>());
}

/// The body of a fuzz target: [`session_agrees`] with numbers drawn from bytes.
pub fn session(bytes: &[u8]) {
    let mut bytes = bytes.chunks(2);
    let mut left = 2_000_usize;
    session_agrees(&mut |bound| {
        left = left.saturating_sub(1);
        let number =
            bytes.next().map_or(left, |pair| pair.iter().fold(0, |n, &byte| n << 8 | usize::from(byte)));
        number % bound.max(1)
    });
}
