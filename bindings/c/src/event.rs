//! Events: which parts of an output begin and end.

use crate::error::GrammataError;
use crate::failure::{self, GrammataStatus, Result};
use crate::grammar::GrammataGrammar;
use crate::matcher::GrammataMatcher;
use crate::raw::{make, run};
use engine::matcher::{Event, EventMatcher, JsonKind, Part};
use std::ffi::c_char;

/// The kind of a part of an output: a JSON value, or a text of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum GrammataPart {
    /// `{}`
    Object = 0,
    /// `[]`
    Array = 1,
    /// `""`
    String = 2,
    /// A number.
    Number = 3,
    /// `true` or `false`
    Boolean = 4,
    /// `null`
    Null = 5,
    /// A text of a rule.
    Rule = 6,
}

/// The beginning or the end of a part.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GrammataEvent {
    /// The kind of the part.
    pub kind: GrammataPart,
    /// Whether the part ends. Otherwise it begins.
    pub is_end: bool,
    /// The position of the first byte of the part in the text.
    pub start: usize,
    /// The position after its last byte; `start` if the part begins.
    pub end: usize,
    /// The step that reports the event, counted from 0.
    pub step: usize,
}

impl GrammataEvent {
    fn of(event: Event<'_>) -> GrammataEvent {
        let kind = match event.part() {
            Part::Json(JsonKind::Object) => GrammataPart::Object,
            Part::Json(JsonKind::Array) => GrammataPart::Array,
            Part::Json(JsonKind::String) => GrammataPart::String,
            Part::Json(JsonKind::Number) => GrammataPart::Number,
            Part::Json(JsonKind::Boolean) => GrammataPart::Boolean,
            Part::Json(JsonKind::Null) => GrammataPart::Null,
            Part::Rule(_) => GrammataPart::Rule,
        };
        let bytes = event.bytes();
        GrammataEvent { kind, is_end: event.is_end(), start: bytes.start, end: bytes.end, step: event.step() }
    }
}

/// The event of an index.
fn event(matcher: &EventMatcher, index: usize) -> Result<Event<'_>> {
    let count = matcher.events().len();
    matcher.events().nth(index).ok_or_else(|| failure::event_range(index, count))
}

/// Makes a matcher at the beginning of a text, which reports the JSON values of the text as they begin and end. The
/// texts of the grammar must be JSON, as those of a JSON Schema are: a step that leaves JSON fails with
/// GRAMMATA_STATUS_GRAMMAR, and the matcher does not move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_new_with_events(
    grammar: *const GrammataGrammar,
    out: *mut *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let grammar = call.handle(grammar, "grammar")?;
        Ok(GrammataMatcher::new(grammar.compiled.json_events()))
    })
}

/// Makes a matcher at the beginning of a text, which reports the texts of rules as they begin and end. `rules` has
/// `count` names of rules, each ending with NUL. A second grammar is compiled for the call: to get more matchers, fork
/// the first. GRAMMATA_STATUS_GRAMMAR if the grammar has no such rule, or it cannot be reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_new_with_rule_events(
    grammar: *const GrammataGrammar,
    rules: *const *const c_char,
    count: usize,
    out: *mut *mut GrammataMatcher,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let grammar = call.handle(grammar, "grammar")?;
        let names = call.list(rules, count, "rules")?.iter();
        let names = names.map(|&name| Ok(call.maybe_text(name, "rules")?.unwrap_or_default()));
        let names: Vec<&str> = names.collect::<Result<_>>()?;
        Ok(GrammataMatcher::new(grammar.compiled.rule_events(&names)?.matcher()?))
    })
}

/// The events of the accepted steps that this function has not returned before: those of the indices from `*first` on,
/// `*count` of them, in the order of the text. A rollback takes events back: those of the steps that replace the undone
/// ones are new again. A fork has returned what its matcher had. There are none if the matcher was made without events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_new_events(
    matcher: *mut GrammataMatcher,
    first: *mut usize,
    count: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.set(first, 0, "first")?;
        call.set(count, 0, "count")?;
        let mut matcher = GrammataMatcher::acquire(&call, matcher)?;
        let new = matcher.new_events().len();
        call.set(first, matcher.events().len() - new, "first")?;
        call.set(count, new, "count")
    })
}

/// An event of the accepted steps. GRAMMATA_STATUS_USAGE if there is none of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_event(
    matcher: *mut GrammataMatcher,
    index: usize,
    out: *mut GrammataEvent,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let matcher = GrammataMatcher::acquire(&call, matcher)?;
        call.set(out, GrammataEvent::of(event(&matcher, index)?), "out")
    })
}

/// The JSON Pointer of a value, which is empty for the whole text, or the name of a rule, in UTF-8.
/// GRAMMATA_STATUS_USAGE if there is no event of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_matcher_event_name(
    matcher: *mut GrammataMatcher,
    index: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let matcher = GrammataMatcher::acquire(&call, matcher)?;
        let event = event(&matcher, index)?;
        let name = match event.part() {
            Part::Json(_) => event.pointer(),
            Part::Rule(name) => name.to_owned(),
        };
        call.copy(name.as_bytes(), buffer.cast(), capacity, length)
    })
}
