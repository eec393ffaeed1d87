//! Events: which values of a JSON output begin and end, as tokens are accepted.
//!
//! The text so far determines where its values begin and end, except for a number at its end: another digit may follow.
//! So an [`EventMatcher`] reads the accepted bytes next to a matcher, and asks the automaton only after a token that
//! ends in a number. A matcher that reports no events has no part in this.

use super::state::Matcher;
use super::{errors, steps};
use crate::error::Result;
use crate::json::reader::{Failure, Mark, Reader, Step};
use crate::mask::CompiledGrammar;
use crate::vocabulary::TokenId;
use std::fmt::{self, Write};
use std::ops::{Deref, Range};

pub use crate::json::reader::JsonKind;

/// The bytes that can continue a number which could end; the most likely ones first.
const CONTINUATIONS: &[u8] = b"0.123456789eE";

/// A matcher that reports the values of a JSON output as they begin and end.
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
#[derive(Clone, Default)]
struct Log {
    reader: Reader,
    /// The place of the reader before each step.
    marks: Vec<Mark>,
    /// The number of bytes read. The matcher must have as many.
    bytes: usize,
    /// The number of events that [`EventMatcher::new_events`] has returned.
    returned: usize,
}

/// The beginning or the end of a value. It belongs to the matcher that reported it.
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
        EventMatcher { matcher: self.matcher(), log: Some(Box::default()) }
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
        let next = std::mem::replace(&mut log.returned, log.reader.entries().len());
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
            *log = Log::default();
        }
    }

    /// Takes a step of the matcher and reads its bytes. Returns whether the step was taken.
    fn step(&mut self, step: impl FnOnce(&mut Matcher) -> Result<bool>, input: Input<'_>) -> Result<bool> {
        let Some(log) = self.log.as_deref_mut() else { return step(&mut self.matcher) };
        log.check_place(&self.matcher)?;
        if !step(&mut self.matcher)? {
            return Ok(false);
        }
        log.marks.push(log.reader.mark());
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
        if let Some(&mark) = self.marks.get(matcher.steps()) {
            self.reader.return_to(mark);
        }
        self.marks.truncate(matcher.steps());
        self.bytes = matcher.byte_count();
        self.returned = self.returned.min(self.reader.entries().len());
    }

    /// Reads the bytes of the last step.
    fn read(&mut self, matcher: &mut Matcher, input: Input<'_>) -> Result<()> {
        // a token that ends the text adds no bytes, also if it has some
        if matcher.byte_count() > self.bytes {
            let bytes = match input {
                Input::Bytes(bytes) => bytes,
                Input::Token(token) => matcher.compiled.vocabulary().bytes(token).unwrap_or_default(),
            };
            self.reader.read(bytes).map_err(|failure| match failure {
                Failure::NotJson { at, found, allowed } => errors::not_json(at, found, allowed),
                Failure::TooLong => errors::text_too_long(self.bytes),
            })?;
        }
        if self.reader.is_in_number() && !may_continue_number(matcher)? {
            self.reader.end_number();
        }
        Ok(())
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
        let left = self.log.map_or(0, |log| log.reader.entries().len() - self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Events<'_> {}

impl<'m> Event<'m> {
    /// Whether the value ends. Otherwise it begins.
    pub fn is_end(self) -> bool {
        self.log.reader.entries()[self.index].is_end
    }

    /// The kind of the value.
    pub fn kind(self) -> JsonKind {
        self.log.reader.kind(self.value())
    }

    /// The JSON Pointer (RFC 6901) of the value, with the names of members as they are read, without escapes. The
    /// pointer of the whole text is empty.
    pub fn pointer(self) -> String {
        let steps: Vec<Step<'m>> = self.log.reader.steps(self.value()).collect();
        let mut pointer = String::new();
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

    /// The number of values that contain the value.
    pub fn depth(self) -> usize {
        self.log.reader.steps(self.value()).count()
    }

    /// The bytes of the value. They end where the event does: those of a beginning are empty.
    pub fn bytes(self) -> Range<usize> {
        let entry = self.log.reader.entries()[self.index];
        self.log.reader.start(entry.value)..entry.at as usize
    }

    /// The step that reports the event, counted from 0. A step is a token, or bytes accepted in one call.
    pub fn step(self) -> usize {
        // marks are sorted by their number of entries
        self.log.marks.partition_point(|mark| mark.entries() <= self.index) - 1
    }

    fn value(self) -> u32 {
        self.log.reader.entries()[self.index].value
    }
}

/// `begin` or `end`, the kind and the pointer.
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = if self.is_end() { "end" } else { "begin" };
        write!(f, "{change} {} `{}`", self.kind().name(), self.pointer())
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
