//! Events: which parts of an output begin and end, as tokens are accepted.
//!
//! The text so far determines where its JSON values begin and end, except for a number at its end: another digit may
//! follow. So an [`EventMatcher`] reads the accepted bytes next to a matcher, and asks the automaton only after a token
//! that ends in a number. Where the texts of rules begin and end depends on how the text is read; `captures` follows
//! all ways. A matcher that reports no events has no part in this.

use super::captures::{Marked, Marker, Tracker};
use super::state::Matcher;
use super::{errors, steps};
use crate::error::Result;
use crate::json::reader::{self as json, Failure, Reader, Step};
use crate::mask::CompiledGrammar;
use crate::vocabulary::TokenId;
use std::fmt::{self, Write};
use std::ops::{Deref, Range};
use std::sync::Arc;

pub use crate::json::reader::JsonKind;

/// The bytes that can continue a number which could end; the most likely ones first.
const CONTINUATIONS: &[u8] = b"0.123456789eE";

/// A matcher that reports the parts of an output as they begin and end: the values of a JSON text, or the texts of
/// chosen rules ([`RuleEvents`]).
///
/// An event is reported with the first step after which its bytes are read and every continuation has it: a beginning
/// with the first byte of the value; the end of a string, an array or an object with its last byte, and that of `true`,
/// `false` and `null` too. A number ends with its last byte if the grammar allows no byte that would continue it, and
/// otherwise with the next byte, or with the end of the text.
///
/// Events belong to the path: a rollback removes those of the steps that it undoes, and a fork has a copy of the
/// events. They do not depend on how the text is split into tokens, except for the step that reports them.
///
/// ```
/// use grammata::syntax::json_schema;
/// use grammata::vocabulary::{LoadOptions, Vocabulary};
/// use grammata::Compiler;
/// use std::sync::Arc;
///
/// let vocabulary = Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &LoadOptions::default())?;
/// let schema = r#"{"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}"#;
/// let schema = json_schema::compile(schema, &json_schema::Options::default())?;
/// let mut matcher = Compiler::new(Arc::new(vocabulary)).compile(&schema.grammar)?.json_events();
///
/// matcher.accept_bytes(br#"{"name": "Ada", "age": 3"#)?;
/// let events: Vec<String> = matcher.new_events().map(|event| event.to_string()).collect();
/// assert_eq!(events, ["begin object ``", "begin string `/name`", "end string `/name`", "begin number `/age`"]);
/// matcher.accept_bytes(b"6}")?;
/// let ends: Vec<_> = matcher.new_events().map(|event| (event.pointer(), event.bytes())).collect();
/// assert_eq!(ends, [("/age".to_owned(), 23..25), (String::new(), 0..26)]);
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Clone)]
pub struct EventMatcher {
    matcher: Matcher,
    /// `None` if no events were asked for.
    log: Option<Box<Log>>,
}

/// The events of a path.
#[derive(Clone)]
struct Log {
    source: Source,
    /// For each step, the number of events before it and the state of the source.
    marks: Vec<(usize, Mark)>,
    /// The number of bytes read. The matcher must have as many.
    bytes: usize,
    /// The number of events that [`EventMatcher::new_events`] has returned.
    returned: usize,
}

/// What finds the events.
#[derive(Clone)]
enum Source {
    Json(Reader),
    Rules(RuleLog),
}

/// A place of the text to which a source can return.
#[derive(Clone)]
enum Mark {
    Json(json::Mark),
    Rules(Tracker),
}

/// The certain markers of a tracker.
#[derive(Clone)]
struct RuleLog {
    marked: Arc<Marked>,
    tracker: Tracker,
    /// Each with the index of the marker that begins the enclosing capture, if it begins one, and otherwise with that
    /// of its own beginning.
    markers: Vec<(Marker, Option<usize>)>,
}

/// Chosen rules of a grammar, whose texts are reported. Matchers share it.
#[derive(Clone, Debug)]
pub struct RuleEvents {
    compiled: CompiledGrammar,
    marked: Arc<Marked>,
}

/// A part of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'m> {
    /// A value of a JSON text.
    Json(JsonKind),
    /// A text of the rule of this name.
    Rule(&'m str),
}

impl Part<'_> {
    /// `object`, `array`, `string`, `number`, `boolean`, `null` or `rule`.
    pub fn kind(self) -> &'static str {
        match self {
            Part::Json(kind) => kind.name(),
            Part::Rule(_) => "rule",
        }
    }
}

/// The beginning or the end of a part. It belongs to the matcher that reported it.
#[derive(Clone, Copy)]
pub struct Event<'m> {
    log: &'m Log,
    /// The index of the event among all of the path.
    index: usize,
}

impl CompiledGrammar {
    /// Creates a matcher at the beginning of a text, which reports the values of the text. The words of the grammar
    /// must be JSON texts, as those of a JSON Schema are.
    pub fn json_events(&self) -> EventMatcher {
        EventMatcher::new(self, Source::Json(Reader::default()))
    }

    /// Prepares events of the texts of rules, which are named as in the source of the grammar. A second grammar is
    /// compiled for it; the masks of this one do not change.
    ///
    /// # Errors
    /// `events/unknown-rule` if the grammar has no rule of a name; `events/token-terminals` if it has token terminals;
    /// those of compiling a grammar, also if a rule is used in an intersection, a complement, a name or a list of
    /// different items, where rules cannot be followed.
    pub fn rule_events(&self, rules: &[&str]) -> Result<RuleEvents> {
        Ok(RuleEvents { compiled: self.clone(), marked: Arc::new(Marked::new(self, rules)?) })
    }
}

impl RuleEvents {
    /// Creates a matcher at the beginning of a text, which reports the texts of the rules.
    ///
    /// If a text can be read in several ways, all are followed, and only what they have in common is certain. Of two
    /// readings that continue in the same way one counts. Their first difference decides: a rule that begins earlier
    /// comes before one that begins later or not at all; of texts with the same beginning the longer one counts; then
    /// the rule that the grammar lists first.
    ///
    /// # Errors
    /// `limit/exceeded` if the empty text has too many readings.
    pub fn matcher(&self) -> Result<EventMatcher> {
        let tracker = Tracker::new(Arc::clone(&self.marked))?;
        let mut log = RuleLog { marked: Arc::clone(&self.marked), tracker, markers: Vec::new() };
        log.gather();
        Ok(EventMatcher::new(&self.compiled, Source::Rules(log)))
    }
}

/// A matcher that reports no events, for callers that do not know whether events are asked for.
impl From<Matcher> for EventMatcher {
    fn from(matcher: Matcher) -> EventMatcher {
        EventMatcher { matcher, log: None }
    }
}

/// The matcher, for questions that do not compute anything.
impl Deref for EventMatcher {
    type Target = Matcher;

    fn deref(&self) -> &Matcher {
        &self.matcher
    }
}

impl AsMut<Matcher> for EventMatcher {
    fn as_mut(&mut self) -> &mut Matcher {
        &mut self.matcher
    }
}

impl EventMatcher {
    fn new(compiled: &CompiledGrammar, source: Source) -> EventMatcher {
        let log = Log { source, marks: Vec::new(), bytes: 0, returned: 0 };
        EventMatcher { matcher: compiled.matcher(), log: Some(Box::new(log)) }
    }

    /// The matcher, for masks and other questions. Its steps must be taken by the methods of this type: if it has moved
    /// otherwise, the next step is an error.
    pub fn matcher(&mut self) -> &mut Matcher {
        &mut self.matcher
    }

    /// An independent matcher with the same accepted steps and events. The events are copied.
    pub fn fork(&self) -> EventMatcher {
        self.clone()
    }

    /// Whether events were asked for.
    pub fn has_events(&self) -> bool {
        self.log.is_some()
    }

    /// All events of the accepted steps, in the order of the text.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event<'_>> {
        self.log.as_deref().map_or(Events::NONE, |log| Events { log: Some(log), next: 0 })
    }

    /// The events of the accepted steps that this method has not returned before, in the order of the text. A rollback
    /// takes events back: those of the steps that replace the undone ones are new again.
    pub fn new_events(&mut self) -> impl ExactSizeIterator<Item = Event<'_>> {
        let Some(log) = self.log.as_deref_mut() else { return Events::NONE };
        let next = std::mem::replace(&mut log.returned, log.source.count());
        Events { log: Some(log), next }
    }

    /// Accepts a token, as [`Matcher::accept_token`] does.
    ///
    /// # Errors
    /// Those of [`Matcher::accept_token`]; `events/not-json` if the text is no longer the beginning of a JSON text;
    /// `events/too-long` beyond 4 GiB; `events/moved` if the matcher was moved by other methods. After an error the
    /// matcher has not moved.
    pub fn accept_token(&mut self, token: TokenId) -> Result<()> {
        self.step(|matcher| matcher.accept_token(token).map(|()| true), Input::Token(token)).map(|_| ())
    }

    /// Accepts bytes as one step, as [`Matcher::accept_bytes`] does.
    ///
    /// # Errors
    /// Those of [`Matcher::accept_bytes`], and of [`accept_token`](EventMatcher::accept_token). After an error the
    /// matcher has not moved.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.step(|matcher| matcher.accept_bytes(bytes).map(|()| true), Input::Bytes(bytes)).map(|_| ())
    }

    /// Accepts a token if the mask allows it, and returns whether it does.
    ///
    /// # Errors
    /// Those of [`Matcher::try_accept`], and of [`accept_token`](EventMatcher::accept_token). After an error the
    /// matcher has not moved.
    pub fn try_accept(&mut self, token: TokenId) -> Result<bool> {
        self.step(|matcher| matcher.try_accept(token), Input::Token(token))
    }

    /// Accepts bytes as one step if some completion begins with them, and returns whether one does.
    ///
    /// # Errors
    /// Those of [`Matcher::try_accept_bytes`], and of [`accept_token`](EventMatcher::accept_token). After an error the
    /// matcher has not moved.
    pub fn try_accept_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        self.step(|matcher| matcher.try_accept_bytes(bytes), Input::Bytes(bytes))
    }

    /// Accepts the longest allowed prefix of `tokens` and returns its length.
    ///
    /// # Errors
    /// Those of [`try_accept`](EventMatcher::try_accept). The matcher is then where it was before the first token.
    pub fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<usize> {
        if self.log.is_none() {
            return self.matcher.accept_tokens(tokens);
        }
        for (count, &token) in tokens.iter().enumerate() {
            match self.try_accept(token) {
                Ok(true) => {}
                Ok(false) => return Ok(count),
                Err(error) => {
                    self.rollback(count)?;
                    return Err(error);
                }
            }
        }
        Ok(tokens.len())
    }

    /// Undoes the last `steps` steps and their events.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if fewer steps were accepted; `events/moved` if the matcher was moved by other
    /// methods. The matcher has then not moved.
    pub fn rollback(&mut self, steps: usize) -> Result<()> {
        let Some(log) = self.log.as_deref_mut() else { return self.matcher.rollback(steps) };
        log.check_place(&self.matcher)?;
        self.matcher.rollback(steps)?;
        log.return_to(&self.matcher);
        Ok(())
    }

    /// Forgets all steps and events, and returns to the beginning of the text.
    pub fn reset(&mut self) {
        self.matcher.reset();
        if let Some(log) = self.log.as_deref_mut() {
            log.bytes = 0;
            log.return_to(&self.matcher);
            log.returned = 0;
        }
    }

    /// Takes a step of the matcher and reads its bytes. Returns whether the step was taken.
    fn step(&mut self, step: impl FnOnce(&mut Matcher) -> Result<bool>, input: Input<'_>) -> Result<bool> {
        let Some(log) = self.log.as_deref_mut() else { return step(&mut self.matcher) };
        log.check_place(&self.matcher)?;
        if !step(&mut self.matcher)? {
            return Ok(false);
        }
        log.marks.push((log.source.count(), log.source.mark()));
        if let Err(error) = log.read(&mut self.matcher, input) {
            // the step was taken, so it can be undone
            self.matcher.rollback(1)?;
            log.return_to(&self.matcher);
            return Err(error);
        }
        log.bytes = self.matcher.byte_count();
        Ok(true)
    }
}

/// What a step reads.
#[derive(Clone, Copy)]
enum Input<'b> {
    Bytes(&'b [u8]),
    Token(TokenId),
}

impl Log {
    fn check_place(&self, matcher: &Matcher) -> Result<()> {
        match matcher.steps() == self.marks.len() && matcher.byte_count() == self.bytes {
            true => Ok(()),
            false => Err(errors::moved(self.marks.len(), matcher.steps())),
        }
    }

    /// Takes back what was read in the steps that a matcher no longer has.
    fn return_to(&mut self, matcher: &Matcher) {
        if let Some((count, mark)) = self.marks.get(matcher.steps()) {
            self.source.return_to(*count, mark);
        }
        self.marks.truncate(matcher.steps());
        self.bytes = matcher.byte_count();
        self.returned = self.returned.min(self.source.count());
    }

    /// Reads the bytes of the last step.
    fn read(&mut self, matcher: &mut Matcher, input: Input<'_>) -> Result<()> {
        // a token that ends the text adds no bytes, also if it has some
        let bytes = match input {
            _ if matcher.byte_count() == self.bytes => &[],
            Input::Bytes(bytes) => bytes,
            Input::Token(token) => matcher.compiled.vocabulary().bytes(token).unwrap_or_default(),
        };
        match &mut self.source {
            Source::Json(reader) => {
                reader.read(bytes).map_err(|failure| match failure {
                    Failure::NotJson { at, found, allowed } => errors::not_json(at, found, allowed),
                    Failure::TooLong => errors::text_too_long(self.bytes),
                })?;
                if reader.is_in_number() && !may_continue_number(matcher)? {
                    reader.end_number();
                }
            }
            Source::Rules(log) => {
                log.tracker.read(bytes)?;
                if matcher.path.has_ended() {
                    log.tracker.end();
                }
                log.gather();
            }
        }
        Ok(())
    }
}

impl Source {
    /// The number of events.
    fn count(&self) -> usize {
        match self {
            Source::Json(reader) => reader.entries().len(),
            Source::Rules(log) => log.markers.len(),
        }
    }

    fn mark(&self) -> Mark {
        match self {
            Source::Json(reader) => Mark::Json(reader.mark()),
            Source::Rules(log) => Mark::Rules(log.tracker.clone()),
        }
    }

    fn return_to(&mut self, count: usize, mark: &Mark) {
        match (self, mark) {
            (Source::Json(reader), Mark::Json(mark)) => reader.return_to(*mark),
            (Source::Rules(log), Mark::Rules(tracker)) => {
                log.tracker = tracker.clone();
                log.markers.truncate(count);
            }
            _ => {}
        }
    }
}

impl RuleLog {
    /// Appends the markers that have become certain.
    fn gather(&mut self) {
        for marker in self.tracker.certain_from(self.markers.len()) {
            // the innermost capture that is open: captures are nested as rules are
            let open = match self.markers.last() {
                Some((Marker { is_end: true, .. }, begin)) => begin.and_then(|begin| self.markers[begin].1),
                Some(_) => Some(self.markers.len() - 1),
                None => None,
            };
            self.markers.push((marker, open));
        }
    }
}

fn may_continue_number(matcher: &mut Matcher) -> Result<bool> {
    for byte in CONTINUATIONS {
        if steps::accepts_prefix(matcher, std::slice::from_ref(byte))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An iterator over the events of a log from an index on.
struct Events<'m> {
    log: Option<&'m Log>,
    next: usize,
}

impl Events<'_> {
    const NONE: Events<'static> = Events { log: None, next: 0 };
}

impl<'m> Iterator for Events<'m> {
    type Item = Event<'m>;

    fn next(&mut self) -> Option<Event<'m>> {
        let log = self.log.filter(|_| self.len() > 0)?;
        self.next += 1;
        Some(Event { log, index: self.next - 1 })
    }

    fn nth(&mut self, count: usize) -> Option<Event<'m>> {
        self.next += count.min(self.len());
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.log.map_or(0, |log| log.source.count() - self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Events<'_> {}

impl<'m> Event<'m> {
    /// Whether the part ends. Otherwise it begins.
    pub fn is_end(self) -> bool {
        match &self.log.source {
            Source::Json(reader) => reader.entries()[self.index].is_end,
            Source::Rules(log) => log.markers[self.index].0.is_end,
        }
    }

    /// The part that begins or ends.
    pub fn part(self) -> Part<'m> {
        match &self.log.source {
            Source::Json(reader) => Part::Json(reader.kind(reader.entries()[self.index].value)),
            Source::Rules(log) => Part::Rule(log.marked.name(log.markers[self.index].0.capture)),
        }
    }

    /// The JSON Pointer (RFC 6901) of a value, with the names of members as they are read, without escapes. It is
    /// empty for the whole text, and for texts of rules.
    pub fn pointer(self) -> String {
        let mut pointer = String::new();
        let Source::Json(reader) = &self.log.source else { return pointer };
        let steps: Vec<Step<'m>> = reader.steps(reader.entries()[self.index].value).collect();
        for step in steps.into_iter().rev() {
            pointer.push('/');
            match step {
                Step::Index(index) => {
                    let _ = write!(pointer, "{index}");
                }
                Step::Name(name) => {
                    let name = String::from_utf8_lossy(name);
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        pointer
    }

    /// The index of the event among all events of the accepted steps.
    pub fn index(self) -> usize {
        self.index
    }

    /// The number of parts that contain the part.
    pub fn depth(self) -> usize {
        match &self.log.source {
            Source::Json(reader) => reader.steps(reader.entries()[self.index].value).count(),
            Source::Rules(log) => {
                let outer = |&index: &usize| log.markers[index].1;
                let begin = if self.is_end() { outer(&self.index) } else { Some(self.index) };
                std::iter::successors(begin, outer).count().saturating_sub(1)
            }
        }
    }

    /// The bytes of the part. They end where the event does: those of a beginning are empty.
    pub fn bytes(self) -> Range<usize> {
        match &self.log.source {
            Source::Json(reader) => {
                let entry = reader.entries()[self.index];
                reader.start(entry.value)..entry.at as usize
            }
            Source::Rules(log) => match log.markers[self.index] {
                (Marker { is_end: true, at, .. }, Some(begin)) => log.markers[begin].0.at..at,
                (Marker { at, .. }, _) => at..at,
            },
        }
    }

    /// The step that reports the event, counted from 0. A step is a token, or bytes accepted in one call. The rules
    /// that begin with every text of the grammar count for the first step.
    pub fn step(self) -> usize {
        self.log.marks.partition_point(|(count, _)| *count <= self.index).saturating_sub(1)
    }
}

/// `begin` or `end`, the kind, and the pointer or the name of the rule.
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = if self.is_end() { "end" } else { "begin" };
        match self.part() {
            Part::Json(kind) => write!(f, "{change} {} `{}`", kind.name(), self.pointer()),
            Part::Rule(name) => write!(f, "{change} rule `{name}`"),
        }
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} bytes {:?} step {}", self.bytes(), self.step())
    }
}

impl fmt::Debug for EventMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventMatcher")
            .field("events", &self.events().len())
            .field("matcher", &self.matcher)
            .finish_non_exhaustive()
    }
}
