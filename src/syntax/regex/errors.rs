//! The errors of the regex front end.

use super::source::Source;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::limits::{LimitKind, Limits};
use regex_syntax::ast::{self, Span};
use regex_syntax::hir;

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

fn at_span(source: &Source<'_>, span: &Span, code: &'static str, message: impl Into<String>) -> Diagnostic {
    let found = source.written(span);
    let diagnostic = Diagnostic::new(code, message).at(source.place(span.start.offset));
    if found.is_empty() { diagnostic } else { diagnostic.found(found) }
}

/// An error with the code `code` at a byte offset of the original pattern. The error shows `length` bytes from there,
/// and the rest of the last character.
pub(super) fn at_offset(
    pattern: &str,
    offset: usize,
    length: usize,
    code: &'static str,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Error {
    let end = (offset + length..pattern.len()).find(|&end| pattern.is_char_boundary(end));
    let found = pattern.get(offset..end.unwrap_or(pattern.len())).unwrap_or("");
    let mut diagnostic = Diagnostic::new(code, message).at(Place::in_text(pattern, offset)).help(help);
    if !found.is_empty() {
        diagnostic = diagnostic.found(found);
    }
    error(diagnostic)
}

const LOOK_AROUND: &str = "look-ahead and look-behind are not in this dialect";
const LOOK_AROUND_HELP: &str = "say what the text is, not what it is next to: spell out the alternatives, use JSON Schema's `allOf` and `not`, or read the pattern as ECMA-262 (`Options::dialect`)";
const BACKREFERENCE: &str = "backreferences are not supported";
const BACKREFERENCE_HELP: &str =
    "a group cannot be repeated verbatim; list the possible texts, or repeat the group's pattern";

/// Whether an error code means that the pattern uses something unsupported, rather than that it is invalid.
pub(super) fn is_unsupported(code: &str) -> bool {
    ["regex/look-around", "regex/backreference", "regex/word-boundary", "regex/line-anchor"].contains(&code)
}

pub(super) fn ahead_in_behind(pattern: &str) -> Error {
    let message = "look-ahead, `$` and word boundaries are not supported inside look-behind";
    let help = "move assertions about the following text behind the look-behind";
    error(Diagnostic::new("regex/look-around", message).found(pattern).help(help))
}

/// The error for an embedded pattern that depends on the text around the match. `offset` is the byte offset of the
/// pattern's first assertion.
pub(super) fn looks_outside(pattern: &str, offset: usize) -> Error {
    let message = "look-around or a word boundary depends on the text around the match";
    let diagnostic = Diagnostic::new("regex/looks-outside", message)
        .at(Place::in_text(pattern, offset))
        .found(pattern.get(offset..).unwrap_or(pattern))
        .allowed("look-around that sees only the match, whose ends are `^` and `$`")
        .help("end a look-ahead with `$`, as in `(?!(?:and|or)$)[a-z]+`; say in the rule what may follow");
    error(diagnostic)
}

/// The error for a pattern whose program or automaton needs more than `limit` of `what`, for example `states`. `offset`
/// is the byte offset of the pattern's first assertion.
pub(super) fn too_complex(pattern: &str, offset: usize, what: &str, limit: usize) -> Error {
    let message = format!("the pattern's look-around, word boundaries or line anchors need too many {what}");
    let diagnostic = Diagnostic::new("limit/exceeded", message)
        .at(Place::in_text(pattern, offset))
        .found(pattern.get(offset..).unwrap_or(pattern))
        .allowed(format!("at most {limit}"))
        .help("use smaller repeats, or fewer assertions");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn backreference(pattern: &str, offset: usize, length: usize) -> Error {
    at_offset(pattern, offset, length, "regex/backreference", BACKREFERENCE, BACKREFERENCE_HELP)
}

pub(super) fn word_boundary(source: &Source<'_>, span: &Span) -> Error {
    error(
        at_span(source, span, "regex/word-boundary", "this kind of word boundary is not supported")
            .allowed("`\\b` and `\\B`, with Unicode")
            .help("list the characters that are allowed on both sides"),
    )
}

pub(super) fn line_anchor(source: &Source<'_>, span: &Span) -> Error {
    error(
        at_span(source, span, "regex/line-anchor", "anchors to lines are not supported with the flag `R`")
            .allowed("`^` and `$` with the flag `m` alone, which knows line feeds")
            .help("spell out the line breaks, for instance `(^|\\n)`"),
    )
}

pub(super) fn look_over_bytes(source: &Source<'_>, span: &Span) -> Error {
    error(
        at_span(source, span, "regex/look-around-over-bytes", "look-around needs a pattern over characters")
            .allowed("look-around with Unicode")
            .help("leave Unicode on, or write the pattern without look-around"),
    )
}

pub(super) fn empty_language(pattern: &str) -> Error {
    error(
        Diagnostic::new("regex/empty-language", "no text matches the pattern")
            .found(pattern)
            .help("look for an anchor in the middle (`a^b`) or a class of no characters"),
    )
}

pub(super) fn not_utf8(source: &Source<'_>, span: &Span) -> Error {
    error(
        at_span(source, span, "regex/not-utf8", "the pattern matches bytes that are not characters")
            .allowed("characters: this text is UTF-8")
            .help("turn Unicode on again with `(?u)`"),
    )
}

pub(super) fn unknown_leaf(source: &Source<'_>, span: &Span) -> Error {
    error(
        at_span(source, span, "regex/syntax", "this part of the pattern has no known meaning")
            .help("this is a defect of the front end; please report the pattern"),
    )
}

fn too_big(diagnostic: Diagnostic, allowed: usize, what: &str, help: &str) -> Error {
    Error::new(ErrorKind::Limit, diagnostic.allowed(format!("at most {allowed} {what}")).help(help))
}

pub(super) fn too_many_names(found: usize, allowed: usize) -> Error {
    let diagnostic = Diagnostic::new("limit/exceeded", "the pattern has too many named groups")
        .found(format!("{found} named groups"));
    too_big(diagnostic, allowed, "named groups", "use groups without a name, `(?:…)`")
}

pub(super) fn nested_class_too_big(source: &Source<'_>, span: &Span, found: usize, allowed: usize) -> Error {
    let diagnostic = Diagnostic::new("limit/exceeded", "a class with classes inside it is too big")
        .at(source.place(span.start.offset))
        .found(format!("{found} bytes"));
    too_big(diagnostic, allowed, "bytes", "write the class as one list of characters and ranges")
}

pub(super) fn from_ast(source: &Source<'_>, cause: &ast::Error, limits: &Limits) -> Error {
    use ast::ErrorKind as Kind;
    let (code, help) = match cause.kind() {
        Kind::NestLimitExceeded(_) => {
            let exceeded =
                Limits::exceeded(LimitKind::SourceDepth, limits.source_depth, "groups nested deeper");
            let diagnostic = exceeded.diagnostic().clone().at(source.place(cause.span().start.offset));
            return Error::new(ErrorKind::Limit, diagnostic);
        }
        Kind::CaptureLimitExceeded => ("limit/exceeded", "use groups without capture, `(?:…)`"),
        Kind::UnsupportedBackreference => {
            return error(
                at_span(source, cause.span(), "regex/backreference", BACKREFERENCE).help(BACKREFERENCE_HELP),
            );
        }
        Kind::UnsupportedLookAround => {
            return error(
                at_span(source, cause.span(), "regex/look-around", LOOK_AROUND).help(LOOK_AROUND_HELP),
            );
        }
        Kind::ClassUnclosed => {
            ("regex/unclosed-class", "close the class with `]`, or write `\\[` for the character")
        }
        Kind::GroupUnclosed => {
            ("regex/unclosed-group", "close the group with `)`, or write `\\(` for the character")
        }
        Kind::GroupUnopened => {
            ("regex/unopened-group", "open a group with `(`, or write `\\)` for the character")
        }
        Kind::ClassRangeInvalid => ("regex/crossed-range", "swap the ends of the range"),
        Kind::ClassRangeLiteral | Kind::ClassEscapeInvalid => (
            "regex/bad-class",
            "put single characters at both ends of a range; write `\\-` for the character",
        ),
        Kind::RepetitionCountInvalid => ("regex/crossed-bounds", "swap the bounds of the repeat"),
        Kind::RepetitionMissing => (
            "regex/nothing-to-repeat",
            "put something before it, or write a backslash before it for the character",
        ),
        Kind::DecimalEmpty
        | Kind::DecimalInvalid
        | Kind::RepetitionCountDecimalEmpty
        | Kind::RepetitionCountUnclosed => {
            ("regex/bad-repeat", "write `{n}`, `{n,}` or `{n,m}` with numbers up to 4294967295")
        }
        Kind::EscapeUnrecognized if source.written(cause.span()) == "\\Z" => {
            ("regex/bad-escape", "write `\\z` or `$` for the end of the text")
        }
        Kind::EscapeHexEmpty
        | Kind::EscapeHexInvalid
        | Kind::EscapeHexInvalidDigit
        | Kind::EscapeUnexpectedEof
        | Kind::EscapeUnrecognized => {
            ("regex/bad-escape", "write `\\\\` for a backslash, `\\x{…}` for a character by its number")
        }
        Kind::UnicodeClassInvalid => ("regex/unknown-property", "write `\\p{Name}` or `\\p{Name=Value}`"),
        Kind::FlagDanglingNegation
        | Kind::FlagDuplicate { .. }
        | Kind::FlagRepeatedNegation { .. }
        | Kind::FlagUnexpectedEof
        | Kind::FlagUnrecognized => ("regex/bad-flag", "the flags are i, m, s, R, U, u and x"),
        Kind::GroupNameDuplicate { .. }
        | Kind::GroupNameEmpty
        | Kind::GroupNameInvalid
        | Kind::GroupNameUnexpectedEof => {
            ("regex/bad-group-name", "give every group a name of its own, of letters, digits and `_`")
        }
        Kind::SpecialWordBoundaryUnclosed
        | Kind::SpecialWordBoundaryUnrecognized
        | Kind::SpecialWordOrRepetitionUnexpectedEof => {
            ("regex/bad-boundary", "write `\\b` for either end of a word, with no brace after it")
        }
        _ => ("regex/syntax", "see the syntax of Rust's regex crate"),
    };
    error(at_span(source, cause.span(), code, cause.kind().to_string()).help(help))
}

pub(super) fn from_hir(source: &Source<'_>, cause: &hir::Error) -> Error {
    use hir::ErrorKind as Kind;
    let span = cause.span();
    match cause.kind() {
        Kind::InvalidUtf8 => not_utf8(source, span),
        Kind::UnicodePropertyNotFound | Kind::UnicodePropertyValueNotFound => error(
            at_span(source, span, "regex/unknown-property", "unknown Unicode property")
                .help("the properties are general categories (`\\p{L}`), scripts (`\\p{Script=Greek}`) and binary properties (`\\p{Alphabetic}`)"),
        ),
        kind => error(
            at_span(source, span, "regex/unicode-off", kind.to_string()).help("turn Unicode on again with `(?u)`"),
        ),
    }
}
