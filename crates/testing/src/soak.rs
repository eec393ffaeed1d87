//! A soak test: many threads on few compiled grammars with little room for tables, compared with a twin with unlimited
//! room.
//!
//! Each thread follows its grammar with matchers that are forked, rolled back, reset and dropped, and does the same
//! with its own twin, whose tables are never dropped. Every difference is counted. In addition, finished texts are read
//! as JSON, in which no object may have a name twice and items that must differ may not be equal.

use super::names::has_repeated_name;
use grammata::syntax::{gbnf, json_schema};
use grammata::vocabulary::{Vocabulary, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, Error, ErrorKind, Limits, Matcher, TokenId};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most matchers that one thread has at a time.
const MATCHERS: usize = 12;

/// The steps after which a text is restarted.
const STEPS: usize = 120;

/// The size in bytes above which a twin is replaced.
const TWIN_BYTES: usize = 48 << 20;

/// Grammars that differ in the state that the tables must hold: exhausted names, items that differ, both, recursion,
/// conditions on members, and an intersection.
const GRAMMARS: [&str; 6] = [
    r#"{"type":"object","patternProperties":{"^(a|b|ab|ba|abc)$":{"anyOf":[{"const":1},{"type":"array","items":{
        "type":"object","patternProperties":{"^[xy]{1,2}$":{"type":"integer"}},"additionalProperties":false}}]}},
        "additionalProperties":false}"#,
    r#"{"type":"object","patternProperties":{"^(alpha|beta|gamma|delta)$":{"type":"array","uniqueItems":true,
        "items":{"type":"integer"}}},"additionalProperties":false,"minProperties":2}"#,
    r#"{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":{"type":"array",
        "uniqueItems":true,"items":{"type":["string","integer","null"]}}}"#,
    "root ::= sum\nsum ::= term ((\"+\" | \"-\") term)*\nterm ::= [0-9]+ | \"(\" sum \")\" | \"[\" (sum (\",\" sum)*)? \"]\"\n",
    r##"{"type":"object","properties":{"kind":{"enum":["a","b"]},"a":{"type":"integer"},"b":{"type":"string"}},
        "required":["kind"],"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["a"]},
        "else":{"required":["b"]},"additionalProperties":{"$ref":"#"}}"##,
    r#"{"type":"array","items":{"allOf":[{"type":"string","pattern":"^[a-f]+[0-9]{2}"},{"pattern":"[3-9]$"},
        {"maxLength":20}]},"uniqueItems":true}"#,
];

/// How long a soak test runs, on how many threads, and with how much room for tables.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The duration of the test.
    pub time: Duration,
    /// The number of threads.
    pub threads: usize,
    /// [`Limits::cache_bytes`] of the grammars under test.
    pub cache_bytes: usize,
}

/// The results of a soak test.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of masks compared.
    pub masks: u64,
    /// How often tables were dropped, over all grammars.
    pub resets: u64,
    /// The number of errors that reported too small tables.
    pub limits: u64,
    /// The number of texts that were finished and read.
    pub texts: u64,
    /// The number of differences in masks or acceptance, and of finished texts that are not words.
    pub differences: u64,
    /// The number of threads that panicked.
    pub panics: u64,
    /// Descriptions of the first differences.
    pub examples: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { masks, resets, limits, texts, differences, panics, examples } = self;
        write!(f, "{masks} masks, {texts} finished texts, {resets} resets, {limits} limit errors: ")?;
        write!(f, "{differences} differences, {panics} panics")?;
        examples.iter().try_for_each(|example| write!(f, "\n  {example}"))
    }
}

impl Report {
    fn add(&mut self, other: Report) {
        self.masks += other.masks;
        self.limits += other.limits;
        self.texts += other.texts;
        self.differences += other.differences;
        self.examples.extend(other.examples);
        self.examples.truncate(10);
    }

    fn differs(&mut self, what: &str, matcher: &Matcher) {
        self.differences += 1;
        if self.examples.len() < 3 {
            self.examples.push(format!("{what} after {}", String::from_utf8_lossy(&matcher.bytes())));
        }
    }
}

/// Runs the test.
///
/// # Errors
/// The errors of compiling the grammars. Failures of the tested code are counted in the report instead.
pub fn soak(settings: &Settings) -> grammata::Result<Report> {
    let vocabulary = Arc::new(vocabulary()?);
    let limits = Limits::default().cache_bytes(settings.cache_bytes);
    let tested = GRAMMARS.iter().map(|source| {
        let compiled = compile(source, &vocabulary, limits.clone())?;
        Ok((*source, compiled))
    });
    let tested = tested.collect::<grammata::Result<Vec<_>>>()?;
    let end = Instant::now() + settings.time;
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..settings.threads)
            .map(|thread| {
                let (source, compiled) = &tested[thread % tested.len()];
                scope.spawn(move || Soaking::new(source, compiled, thread as u64)?.run(end))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    let mut report = Report::default();
    for result in results {
        match result {
            Ok(thread) => report.add(thread?),
            Err(_) => report.panics += 1,
        }
    }
    report.resets = tested.iter().map(|(_, compiled)| compiled.statistics().resets).sum();
    Ok(report)
}

/// A vocabulary of all bytes, and longer pieces of JSON that begin and end names, items and numbers.
fn vocabulary() -> grammata::Result<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let pieces =
        ["\"a", "\"b", "ab\"", "\":", "\":1", "\",\"", ",\"", "{\"", "\"}", "1,", "12", "345", "null", "],"];
    let more = [
        "[1",
        "[[",
        "\"alpha\"",
        "\"be",
        "ta\":[",
        "\\u00",
        "xy",
        "\":{\"",
        "(((",
        ")+(",
        "0,1",
        "f0",
        "],\"b",
    ];
    tokens.extend(pieces.iter().chain(&more).map(|piece| piece.as_bytes().to_vec()));
    let eos = TokenId::new(tokens.len() as u32);
    VocabularyBuilder::from_tokens(tokens).special(eos, "<end>").eos([eos]).build()
}

fn compile(source: &str, vocabulary: &Arc<Vocabulary>, limits: Limits) -> grammata::Result<CompiledGrammar> {
    let grammar = match source.starts_with('{') {
        true => json_schema::compile(source, &json_schema::Options::default())?.grammar,
        false => gbnf::compile(source, &gbnf::Options::default())?.grammar,
    };
    Compiler::new(Arc::clone(vocabulary)).limits(limits).compile(&grammar)
}

/// The state of one thread.
struct Soaking<'a> {
    source: &'a str,
    tested: &'a CompiledGrammar,
    twin: CompiledGrammar,
    /// Matchers of the tested grammar, each with a matcher of the twin at the same position.
    pairs: Vec<(Matcher, Matcher)>,
    random: StdRng,
    report: Report,
}

impl<'a> Soaking<'a> {
    fn new(source: &'a str, tested: &'a CompiledGrammar, seed: u64) -> grammata::Result<Soaking<'a>> {
        let limits = Limits::default().cache_bytes(usize::MAX);
        let twin = compile(source, tested.vocabulary(), limits)?;
        let pairs = vec![(tested.matcher(), twin.matcher())];
        Ok(Soaking {
            source,
            tested,
            twin,
            pairs,
            random: StdRng::seed_from_u64(seed),
            report: Report::default(),
        })
    }

    fn run(mut self, end: Instant) -> grammata::Result<Report> {
        while Instant::now() < end {
            for _ in 0..100 {
                self.operation()?;
            }
            if self.twin.memory_usage() > TWIN_BYTES {
                let limits = Limits::default().cache_bytes(usize::MAX);
                self.twin = compile(self.source, self.tested.vocabulary(), limits)?;
                self.pairs = vec![(self.tested.matcher(), self.twin.matcher())];
            }
        }
        Ok(self.report)
    }

    fn operation(&mut self) -> grammata::Result<()> {
        let place = self.random.random_range(0..self.pairs.len());
        let count = self.pairs.len();
        let (tested, twin) = &mut self.pairs[place];
        match self.random.random_range(0..24) {
            0 if count < MATCHERS => {
                let forks = (tested.fork(), twin.fork());
                self.pairs.push(forks);
            }
            1 if count > 1 => drop(self.pairs.swap_remove(place)),
            2 => {
                let back = self.random.random_range(0..=twin.steps().min(30));
                tested.rollback(back)?;
                twin.rollback(back)?;
            }
            _ if twin.steps() > STEPS || twin.is_finished() => self.begin_again(place)?,
            3 => {
                let (ours, theirs) = (tested.forced_bytes(), twin.forced_bytes()?);
                match ours {
                    Ok(ours) if ours != theirs => self.report.differs("forced bytes", twin),
                    Ok(_) => {}
                    Err(error) => self.failed(&error, place),
                }
            }
            _ => self.go_on(place)?,
        }
        Ok(())
    }

    fn failed(&mut self, error: &Error, place: usize) {
        match error.kind() {
            ErrorKind::Limit => self.report.limits += 1,
            _ => self.report.differs(&error.to_string(), &self.pairs[place].1),
        }
    }

    /// Compares masks, and accepts one of the tokens on both sides.
    fn go_on(&mut self, place: usize) -> grammata::Result<()> {
        let (tested, twin) = &mut self.pairs[place];
        let expected = twin.mask()?;
        match tested.mask() {
            Ok(mask) if mask != expected => self.report.differs("the mask", twin),
            Ok(_) => {}
            Err(error) => {
                self.failed(&error, place);
                return Ok(());
            }
        }
        self.report.masks += 1;
        let allowed: Vec<TokenId> = expected.iter().collect();
        if allowed.is_empty() {
            self.report.differs("an empty mask of the twin", twin);
            return self.begin_again(place);
        }
        let token = allowed[self.random.random_range(0..allowed.len())];
        let bytes = self.tested.vocabulary().bytes(token);
        let accepted = match bytes.filter(|_| self.random.random_bool(0.3)) {
            Some(bytes) => tested.accept_bytes(bytes),
            None => tested.accept_token(token),
        };
        match accepted {
            Ok(()) => twin.accept_token(token),
            Err(error) => {
                self.failed(&error, place);
                Ok(())
            }
        }
    }

    /// Checks a text that is finished or long, and begins another.
    fn begin_again(&mut self, place: usize) -> grammata::Result<()> {
        let (tested, twin) = &mut self.pairs[place];
        if twin.is_accepting() {
            self.report.texts += 1;
            let text = tested.bytes();
            let is_json = self.source.starts_with('{');
            if text != twin.bytes() || is_json && !is_fine(self.source, &text) {
                self.report.differs("a finished text that is no word", tested);
            }
        }
        tested.reset();
        twin.reset();
        Ok(())
    }
}

/// Whether a text is JSON in which no object has a name twice, and no array has equal items if the schema forbids them.
fn is_fine(schema: &str, text: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return false };
    let mut open = vec![&value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => {
                let is_seen = |place: usize| items[..place].contains(&items[place]);
                if schema.contains("uniqueItems") && (1..items.len()).any(is_seen) {
                    return false;
                }
                open.extend(items);
            }
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    !has_repeated_name(text)
}
