//! Round trips between calls, texts and requests. Each word of a call grammar is read as a call that conforms, renders
//! as a word and has one request. A call that is written and read again has the same request.

use super::fuzz_limits::limits;
use super::generate::Choices;
use super::requests::random_api;
use super::tool_sessions::Draw;
use grammata::error::ErrorKind;
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::syntax::json_schema::{Numbers, Options, PropertyOrder, Whitespace};
use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};
use grammata_agents::tools::{
    Binding, Call, CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, Tool, ToolSet, Turn,
    read,
};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// All bytes, an end token, and pieces with a meaning in requests.
static BYTES: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let longer = [
        "%2F", "%2E", "%3F", "%26", "%C3%A9", "%20", "..", "--", ".json", "\", \"", "true", "1.5", ",,",
        "%2C",
    ];
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain(longer.map(|text| text.into()));
    let end = TokenId::new(256 + longer.len() as u32);
    let built = VocabularyBuilder::from_tokens(tokens).special(end, "</s>").eos([end]).build();
    Arc::new(built.unwrap_or_else(|error| unreachable!("a good vocabulary: {error}")))
});

/// Grammars of the arguments of a tool as JSON; `None` where a limit was met.
#[derive(Debug)]
pub struct Arguments {
    /// With numbers in any notation.
    any: Option<CompiledGrammar>,
    /// With numbers in the notation of calls.
    plain: Option<CompiledGrammar>,
}

impl Arguments {
    /// Compiles the grammars of a tool's arguments.
    pub fn of(tool: &Tool, limits: &Limits) -> Arguments {
        let compiled = |numbers| {
            let options = Options::default()
                .whitespace(Whitespace::Compact)
                .property_order(PropertyOrder::Any)
                .numbers(numbers)
                .limits(limits.clone());
            let grammar = tool.grammar(&options).ok()?.grammar;
            Compiler::new(Arc::clone(&BYTES)).limits(limits.clone()).compile(&grammar).ok()
        };
        Arguments { any: compiled(Numbers::Any), plain: compiled(Numbers::Plain) }
    }

    /// Draws a call; `None` if a limit was met.
    pub fn call(&self, tool: &str, draw: &mut Draw<'_>) -> Option<Call> {
        let arguments = serde_json::from_str(&word(self.plain.as_ref()?, draw)?).ok()?;
        Some(Call { tool: tool.to_owned(), arguments })
    }

    /// Whether the arguments of a call conform; also true if a limit was met.
    fn allow(&self, call: &Call) -> bool {
        self.any.as_ref().and_then(|any| is_word(any, &json(call))) != Some(false)
    }
}

/// A tool in one call format.
#[derive(Debug)]
pub struct Written<'s> {
    name: &'s str,
    format: CallFormat,
    set: &'s ToolSet,
    tool: &'s Tool,
    arguments: &'s Arguments,
    turns: CompiledGrammar,
    limits: Limits,
}

impl<'s> Written<'s> {
    /// A tool in the named format; `None` if there is no such format, it cannot express the tool, or a limit was met.
    pub fn new(
        name: &'s str,
        set: &'s ToolSet,
        (tool, arguments): (&'s Tool, &'s Arguments),
        limits: Limits,
    ) -> Option<Written<'s>> {
        let format = CallFormat::named(name)?;
        let options = GrammarOptions::default()
            .choice(Choice::Required)
            .tools(vec![tool.name.clone()])
            .markers(Markers::Text)
            .schema(GrammarOptions::arguments(limits.clone()));
        let made = format.grammar(set, &options).ok()?;
        let compiler = Compiler::new(Arc::clone(&BYTES)).limits(limits.clone());
        let turns = compiler.compile(&made.grammar).ok()?;
        Some(Written { name, format, set, tool, arguments, turns, limits })
    }

    /// Draws a word under masks; `None` if a limit was met.
    pub fn word(&self, draw: &mut Draw<'_>) -> Option<String> {
        word(&self.turns, draw)
    }

    /// Checks a word and returns the call that it reads as. It must read as one call with conforming arguments, and the
    /// call must render as a word that reads the same.
    ///
    /// # Errors
    /// A description of the failure.
    pub fn word_agrees(&self, text: &str) -> Result<Call, String> {
        let wrong = |what: String| format!("{} in {}: {text:?}: {what}", self.tool.name, self.name);
        let turn = self.format.read(text, self.set).map_err(|error| wrong(error.to_string()))?;
        let [call] = turn.calls.as_slice() else { return Err(wrong(format!("{} calls", turn.calls.len()))) };
        let rendered = self.format.render(&turn, self.set).map_err(|error| wrong(error.to_string()))?;
        let again = self.format.read(&rendered, self.set);
        if again.as_ref().ok() != Some(&turn) {
            return Err(wrong(format!("is rendered as {rendered:?}, which reads as {again:?}")));
        }
        if call.tool == self.tool.name && is_word(&self.turns, &rendered) == Some(false) {
            return Err(wrong(format!("is rendered as {rendered:?}, which is no word")));
        }
        let Some(tool) = self.set.tool(&call.tool) else { return Err(wrong("no tool".to_owned())) };
        let allows = match tool.name == self.tool.name {
            true => self.arguments.allow(call),
            false => Arguments::of(tool, &self.limits).allow(call),
        };
        // a selector contains only the path, so arguments may be missing
        if self.name != "endpoint" && !allows {
            return Err(wrong(format!("reads as {}, which does not conform", json(call))));
        }
        self.request_agrees(call, &rendered).map_err(wrong)?;
        Ok(call.clone())
    }

    /// Checks that a call written as a message stands for the request in that text.
    fn request_agrees(&self, call: &Call, text: &str) -> Result<(), String> {
        let Some(Binding::Http(http)) = self.set.tool(&call.tool).map(|tool| &tool.binding) else {
            return Ok(());
        };
        let Some(server) = &http.server else { return Ok(()) };
        if self.name != "http" {
            return Ok(());
        }
        let request = self.set.request(call).map_err(|error| format!("no request: {error}"))?;
        let target = request.url.strip_prefix(server.as_str()).unwrap_or_default();
        let headers = request.headers.iter().filter(|(name, _)| name != "Content-Type");
        let headers: String = headers.map(|(name, value)| format!("\n{name}: {value}")).collect();
        let body = request.body.map_or_else(String::new, |body| format!("\n\n{body}"));
        let message = format!("{} {target}{headers}{body}", request.method);
        if message != text {
            return Err(format!("is rendered as {text:?}, and stands for {message:?}"));
        }
        Ok(())
    }

    /// Whether the format can write a call so that it reads back. If so, the result must stand for the same request, or
    /// be the same call.
    ///
    /// # Errors
    /// The text of the call reads as another call, or is a word that cannot be read.
    pub fn call_agrees(&self, call: &Call) -> Result<bool, String> {
        let turn = Turn { calls: vec![call.clone()], ..Turn::default() };
        let Ok(text) = self.format.render(&turn, self.set) else { return Ok(false) };
        if is_word(&self.turns, &text) != Some(true) {
            return Ok(false);
        }
        let read = self.word_agrees(&text)?;
        if read == *call || self.name == "endpoint" {
            return Ok(true);
        }
        let wrong = || {
            format!(
                "{} in {}: {} reads as {} of {text:?}",
                self.tool.name,
                self.name,
                json(call),
                json(&read)
            )
        };
        let rendered = self.format.render(&Turn { calls: vec![read.clone()], ..Turn::default() }, self.set);
        match (self.set.request(call), self.set.request(&read)) {
            (Ok(one), Ok(other)) if one != other => Err(wrong()),
            _ if rendered.as_deref().ok() != Some(text.as_str()) => Err(wrong()),
            _ => Ok(true),
        }
    }
}

fn json(call: &Call) -> String {
    Value::Object(call.arguments.clone()).to_string()
}

/// Whether a text is a word; `None` if a limit was met.
fn is_word(compiled: &CompiledGrammar, text: &str) -> Option<bool> {
    let mut matcher = compiled.matcher();
    match matcher.accept_bytes(text.as_bytes()) {
        Ok(()) => Some(matcher.is_accepting()),
        Err(error) if error.kind() == ErrorKind::Rejected => Some(false),
        Err(_) => None,
    }
}

fn word(compiled: &CompiledGrammar, draw: &mut Draw<'_>) -> Option<String> {
    let mut matcher = compiled.matcher();
    let budget = matcher.distance().ok()?.known()? + draw(40);
    let vocabulary = Arc::clone(&BYTES);
    while !matcher.is_finished() {
        let mask = matcher.mask_within(budget - matcher.steps()).ok()?;
        let end = mask.iter().find(|&token| vocabulary.is_eos(token));
        let longer = mask.len() - mask.iter().take_while(|token| token.index() < 256).count();
        let token = match end {
            Some(end) if mask.len() == 1 || draw(4) == 0 => end,
            // prefer longer tokens in half of the cases, since bytes are more numerous
            _ if longer > 0 && draw(2) == 0 => mask.iter().nth(mask.len() - longer + draw(longer))?,
            _ => mask.iter().nth(draw(mask.len()))?,
        };
        matcher.accept_token(token).ok()?;
    }
    String::from_utf8(matcher.bytes().to_vec()).ok()
}

/// The body of a fuzz target: checks the tools of a document with [`documents_agree`], each in one format. The bytes
/// are the document if they begin with `{`; otherwise they choose a random one.
///
/// # Panics
/// If a word or a call does not read back.
pub fn tools_round_trip(bytes: &[u8]) {
    let (document, mut choices) = match bytes.starts_with(b"{") {
        // the end of the document also serves as random numbers
        true => {
            let tail = &bytes[bytes.len().saturating_sub(64)..];
            (String::from_utf8_lossy(bytes).into_owned(), Choices::new(tail))
        }
        false => {
            let mut choices = Choices::new(bytes);
            (random_api(&mut choices).to_string(), choices)
        }
    };
    let mut left = 1_000_usize;
    let mut draw = |bound: usize| {
        left = left.saturating_sub(1);
        if choices.is_exhausted() { left % bound.max(1) } else { choices.below(bound) }
    };
    documents_agree(&document, &limits(), false, &mut draw)
        .unwrap_or_else(|wrong| panic!("{wrong}\n{document}"));
}

/// Reads a document, and checks a word and a call of each of its tools: in all formats that write requests and one
/// other, or in a single one of them. Documents that cannot be read or have more than 8 tools pass.
///
/// # Errors
/// A description of a word or a call that does not read back.
pub fn documents_agree(
    document: &str,
    limits: &Limits,
    in_all: bool,
    draw: &mut Draw<'_>,
) -> Result<(), String> {
    let options = ReadOptions::default().limits(limits.clone());
    let Ok(mut set) = read([Document { label: "t", text: document }], &options) else { return Ok(()) };
    if set.tools().len() > 8 {
        return Ok(());
    }
    set.check(&GrammarOptions::arguments(limits.clone()));
    let others: Vec<&str> = CallFormat::names().filter(|name| !REQUESTS.contains(name)).collect();
    for tool in set.callable() {
        let arguments = Arguments::of(tool, limits);
        let other = others[draw(others.len())];
        let mut names = [REQUESTS.as_slice(), &[other]].concat();
        if !in_all {
            names = vec![names[draw(names.len())]];
        }
        for name in names {
            let Some(written) = Written::new(name, &set, (tool, &arguments), limits.clone()) else {
                continue;
            };
            if let Some(text) = written.word(draw) {
                written.word_agrees(&text)?;
            }
            if let Some(call) = arguments.call(&tool.name, draw) {
                written.call_agrees(&call)?;
            }
        }
    }
    Ok(())
}

/// The names of the formats that write requests.
pub const REQUESTS: [&str; 3] = ["endpoint", "restgpt", "http"];
