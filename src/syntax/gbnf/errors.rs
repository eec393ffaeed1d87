//! Errors and warnings of the GBNF front end.

use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt, excerpt_bytes, similar};
use crate::error::{Error, ErrorKind};

const TOKEN_FORMS: &str =
    "`<name>`, `<[id]>`, `<[first-last]>`, lists `<[1,5-7],\"name\">`, and `!` before one of these";

fn at(source: &str, offset: usize, code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message).at(Place::in_text(source, offset))
}

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

fn written(source: &str, start: usize, end: usize) -> &str {
    source.get(start..end).unwrap_or("")
}

/// The rest of the line after `offset`, or words that say that the line or the grammar ends there.
fn next(source: &str, offset: usize) -> String {
    let rest = source.get(offset..).unwrap_or("");
    match rest.lines().next() {
        None => "the end of the grammar".to_owned(),
        Some("") => "the end of the line".to_owned(),
        Some(line) => line.to_owned(),
    }
}

fn line_column(source: &str, offset: usize) -> String {
    Place::in_text(source, offset).to_string()
}

pub(super) fn not_utf8(source: &[u8], offset: usize) -> Error {
    let (before, rest) = source.split_at(offset.min(source.len()));
    let text = String::from_utf8_lossy(before);
    error(
        at(&text, text.len(), "gbnf/not-utf8", "the grammar is not UTF-8")
            .found(excerpt_bytes(&rest[..rest.len().min(4)]))
            .help("save the file as UTF-8; write other bytes' characters as `\\xNN`"),
    )
}

pub(super) fn no_root<'s>(
    source: &str,
    name: &str,
    first: Option<(usize, &'s str)>,
    known: impl Iterator<Item = &'s str>,
) -> Error {
    let near = similar(name, known);
    let shown = excerpt(name);
    let other = near.first().copied().or(first.map(|(_, first)| first));
    let help = match other {
        Some(other) => format!(
            "rename the rule from which texts start to `{shown}`, or set `Options::root`, for instance to `{}`",
            excerpt(other)
        ),
        None => format!("add a rule `{shown} ::= …` that describes the whole text"),
    };
    let offset = first.map_or(source.len(), |(offset, _)| offset);
    error(at(source, offset, "gbnf/no-root", format!("there is no rule `{shown}`")).help(help))
}

pub(super) fn undefined_rule<'s>(
    source: &str,
    offset: usize,
    name: &str,
    known: impl Iterator<Item = &'s str>,
) -> Error {
    let shown = excerpt(name);
    let help = did_you_mean(name, known, format!("add a rule `{shown} ::= …`"));
    error(at(source, offset, "gbnf/undefined-rule", format!("the rule `{shown}` is not defined")).help(help))
}

grammata_base::errors! {
    pub(super) Grammar(source: &str, offset: usize) at(Place::in_text(source, offset));

    unknown_function() = "gbnf/unknown-function", "unknown function after `@`"
        found(excerpt(&next(source, offset)))
        allowed("`@text(…)`, `@regex(\"…\")`, `@substring(\"…\", …)`, `@max_chars(n, part)`, `@max_bytes(n, part)` and `@max_tokens(n, part)`")
        help("`@text($, \"<call>\" call)` is text that may end anywhere, or at `<call>`, where `call` follows");

    expected_text(function: &str) = "gbnf/expected-text", "`@{function}` takes texts in quotes"
        found(excerpt(&next(source, offset)))
        allowed("`@regex(\"pattern\")`, `@regex(\"pattern\", \"flags\")` and `@substring(\"chunk\", \"chunk\")`")
        help("write a text in quotes, and `,` or `)` after it");

    regex_flag(flag: char) = "gbnf/regex-flag", "unsupported flag of a pattern"
        found(flag.to_string())
        allowed("i (letters in either case), s (`.` is every character), u (no effect), j (nothing that a JSON string escapes)")
        help("write the pattern without it");

    no_match() = "gbnf/regex-without-text", "no text matches the pattern"
        found(excerpt(&next(source, offset)))
        help("look for an anchor in the middle (`a^b`), a look-ahead that contradicts what follows, or a class without characters");

    attribute_twice(name: &str) = "gbnf/attribute-twice", "a rule has this attribute already"
        found(excerpt(name)) help("keep one of the two");

    attribute_value(name: &str, allowed: &str) =
        "gbnf/attribute-value", "the value of `{name}` cannot be read"
        found(excerpt(&next(source, offset)))
        allowed(allowed)
        help("write the value after `=`, and `,` or `]` after it");

    bad_most() = "gbnf/bad-bound", "the bound of a part cannot be read"
        found(excerpt(&next(source, offset)))
        allowed("a number, a comma and the part: `@max_chars(300, part)`")
        help("write the greatest number of characters, bytes or tokens before the part");

    expected_clause() = "gbnf/expected-clause", "a clause of `@text` is expected"
        found(excerpt(&next(source, offset)))
        allowed("a trigger in quotes or a token, and what follows it; `$` and what follows the end; or `!` and a string in quotes")
        help("`@text(\"</think>\" answer)` is text up to `</think>`, after which `answer` comes");

    choice_in_clause() = "gbnf/choice-in-clause", "a clause of `@text` is divided by `|`"
        allowed("a sequence after the trigger")
        help("put the alternatives into parentheses, or separate two triggers by a comma");

    after_forbidden() = "gbnf/after-forbidden", "something follows a forbidden string of `@text`"
        allowed("a comma or `)` after the string")
        help("without `!` the string is a trigger, which something may follow");

    duplicate_rule(name: &str, first: usize) =
        "gbnf/duplicate-rule", ("the rule `{}` is defined twice", excerpt(name))
        found("the first definition is at {}", line_column(source, first))
        help("llama.cpp takes the last definition; remove the other, or join them with `|`");

    unproductive_rule(name: &str) =
        "gbnf/unproductive-rule", ("the rule `{}` describes no text", excerpt(name))
        found("every alternative leads back to a rule that never ends")
        help("add an alternative that does not lead back to the rule");

    unreachable_rule(name: &str) =
        Diagnostic "gbnf/unreachable-rule", ("the rule `{}` is not used", excerpt(name))
        help("use it in a rule that the root reaches, or remove it");

    unclosed_group() = "gbnf/unclosed-group", "a group is not closed"
        found(next(source, offset)) help("close it with `)`; to mean the character, write `\"(\"`");

    unopened_group() = "gbnf/unopened-group", "a group is closed that was not opened"
        found(next(source, offset)) help("open it with `(`; to mean the character, write `\")\"`");

    unclosed_literal() = "gbnf/unclosed-literal", "a literal is not closed"
        found(next(source, offset)) help("close it with `\"`; to mean the character, write `\\\"`");

    unclosed_class() = "gbnf/unclosed-class", "a class is not closed"
        found(next(source, offset)) help("close it with `]`; to mean the character, write `\\]`");

    big_number(digits: &str) = "gbnf/bad-repeat", "a bound is too big"
        found(digits) allowed("at most 4294967295") help("leave it out for no bound: `{{n,}}`");

    nothing_to_repeat() = "gbnf/nothing-to-repeat", "there is nothing before this to repeat"
        found(next(source, offset))
        help("put it after what it repeats; to mean the character, write it in double quotes");

    not_a_token() = "gbnf/bad-token", "`!` needs a token after it"
        found(next(source, offset))
        allowed("`!<name>` or `!<[id]>`: any token but this one")
        help("to leave characters out, write a class: `[^a]`");

    unclosed_token() = "gbnf/unclosed-token", "a token is not closed"
        found(next(source, offset)) help("close it with `>`; to mean the character, write `\"<\"`");
}

grammata_base::errors! {
    pub(super) Grammar;

    more_unreachable_rules(count: usize) =
        Diagnostic "gbnf/unreachable-rule", "{count} more rules are not used"
        help("use them in rules that the root reaches, or remove them");

    empty_class(source: &str, start: usize, end: usize) = "gbnf/empty-class", "a class has no characters"
        at(Place::in_text(source, start))
        found(written(source, start, end))
        help("put characters in it; for the empty text, write `\"\"`");

    crossed_range(source: &str, start: usize, end: usize) =
        "gbnf/crossed-range", "the ends of a range are crossed"
        at(Place::in_text(source, start))
        found(written(source, start, end))
        help("swap them; to mean the character `-`, write `\\-`");

    crossed_bounds(source: &str, start: usize, end: usize) =
        "gbnf/crossed-bounds", "the bounds of a repeat are crossed"
        at(Place::in_text(source, start))
        found(written(source, start, end))
        allowed("a minimum that is not above the maximum")
        help("swap them");

    bad_bounds(source: &str, start: usize, end: usize) =
        "gbnf/bad-repeat", "the bounds of a repeat cannot be read"
        at(Place::in_text(source, start))
        found(written(source, start, source.get(end..).and_then(|rest| rest.chars().next()).map_or(end, |c| end + c.len_utf8())))
        allowed("`{{n}}`, `{{n,}}` or `{{n,m}}`")
        help("for at most n times write `{{0,n}}`; to mean the character, write `\"{{\"`");

    bad_escape(source: &str, start: usize, end: usize) = "gbnf/bad-escape", "unknown escape"
        at(Place::in_text(source, start))
        found(written(source, start, end))
        allowed("\\n \\r \\t \\\\ \\\" \\[ \\] \\- \\xNN \\uNNNN \\UNNNNNNNN")
        help("write `\\\\` for a backslash; other characters need none before them");

    short_escape(source: &str, start: usize, end: usize, digits: usize) =
        "gbnf/bad-escape", "an escape has too few hexadecimal digits"
        at(Place::in_text(source, start))
        found(written(source, start, end))
        allowed("{digits} digits")
        help("fill up with zeros in front");

    no_character(source: &str, start: usize, end: usize) = "gbnf/bad-escape", "no character has this number"
        at(Place::in_text(source, start))
        found(written(source, start, end))
        allowed("0 to 10FFFF without D800 to DFFF, the surrogates")
        help("write a character beyond FFFF as one `\\UNNNNNNNN`, not as two halves");

    bad_token(source: &str, start: usize, end: usize) = "gbnf/bad-token", "a token cannot be read"
        at(Place::in_text(source, start))
        found(written(source, start, source.get(end..).and_then(|rest| rest.chars().next()).map_or(end, |c| end + c.len_utf8())))
        allowed(TOKEN_FORMS)
        help("to mean the text, write it in double quotes");

    bad_token_id(source: &str, start: usize, offset: usize) =
        "gbnf/bad-token", "the id of a token cannot be read"
        at(Place::in_text(source, start))
        found(next(source, offset))
        allowed("ids and ranges of ids, each at most 4294967295, with commas between them: `<[1,5-7]>`")
        help("write the id as the tokenizer's file has it, without spaces");

    crossed_token_ids(source: &str, start: usize, end: usize) =
        "gbnf/crossed-range", "the ends of a range of ids are crossed"
        at(Place::in_text(source, start)) found(written(source, start, end)) help("swap them");
}

/// Moves an error in a pattern to `offset`, where the pattern begins in the grammar. The place in the pattern becomes
/// the cause.
pub(super) fn in_pattern(cause: Error, source: &str, offset: usize) -> Error {
    cause.map(|diagnostic| {
        let within = format!("at {} of this pattern", diagnostic.place());
        Diagnostic::cause(diagnostic.at(Place::in_text(source, offset)), within)
    })
}

pub(super) fn unknown_attribute(source: &str, offset: usize, name: &str) -> Error {
    let known = ["lazy", "max_chars", "max_tokens", "capture", "temperature"];
    error(
        at(source, offset, "gbnf/unknown-attribute", "unsupported attribute of a rule")
            .found(excerpt(name))
            .allowed("lazy, max_chars=N, max_tokens=N, capture, capture=\"name\", temperature=N")
            .help(did_you_mean(name, known, "take it out, if its effect is not needed")),
    )
}

pub(super) fn expected_rule(source: &str, offset: usize) -> Error {
    let mut help = "a rule is `name ::= …`; names are made of ASCII letters, digits, `-` and `_`";
    if source.get(offset..).is_some_and(|rest| rest.starts_with('|')) {
        help = "put the `|` at the end of the line before, or the alternatives in parentheses";
    }
    error(
        at(source, offset, "gbnf/expected-rule", "a rule should begin here")
            .found(next(source, offset))
            .help(help),
    )
}

pub(super) fn expected_definition(source: &str, offset: usize, name: &str) -> Error {
    let rest = source.get(offset..).unwrap_or("");
    let sign = [":=", "=", "->", "→", ":"].into_iter().find(|sign| rest.starts_with(sign));
    let help = match sign {
        Some(sign) => format!("did you mean `::=`? GBNF does not define rules with `{sign}`"),
        None => {
            "a rule is `name ::= …`; to continue a rule on a new line, use parentheses or end the line in `|`"
                .to_owned()
        }
    };
    error(
        at(source, offset, "gbnf/expected-rule", format!("`::=` should follow the name `{}`", excerpt(name)))
            .found(next(source, offset))
            .help(help),
    )
}

pub(super) fn unexpected(source: &str, offset: usize) -> Error {
    let rest = source.get(offset..).unwrap_or("");
    let help = match quoted(rest) {
        Some(literal) => format!("write text in double quotes: `{literal}`"),
        None if rest.starts_with("::=") => {
            "every rule begins on a new line, and none may have an empty body over a line end: write `\"\"`"
                .to_owned()
        }
        None => "separate rules by line ends; write text in double quotes".to_owned(),
    };
    error(
        at(source, offset, "gbnf/unexpected", "this is not allowed in a rule")
            .found(next(source, offset))
            .allowed("a literal, a class, `.`, a token, a rule name, a group, `|` or a repeat")
            .help(help),
    )
}

/// The literal of GBNF for the text in quotes with which `rest` begins. `None` if GBNF has these quotes, if they are
/// not closed in the same line, or if the literal has more than 80 characters.
fn quoted(rest: &str) -> Option<String> {
    let line = rest.lines().next()?;
    let quotes = [('\'', '\''), ('“', '”'), ('‘', '’'), ('„', '“'), ('`', '`')];
    let (inner, close) =
        quotes.into_iter().find_map(|(open, close)| Some((line.strip_prefix(open)?, close)))?;
    let mut literal = String::from("\"");
    let mut chars = inner.chars().peekable();
    for _ in 0..80 {
        match chars.next()? {
            c if c == close => {
                literal.push('"');
                return Some(literal);
            }
            '"' => literal.push_str("\\\""),
            '\\' => match chars.next_if(|c| *c == close || "\"\\nrt[]-".contains(*c)) {
                Some(c) if c == close => literal.push(c),
                Some(c) => literal.extend(['\\', c]),
                None if is_number(chars.clone()) => literal.push('\\'),
                None => literal.push_str("\\\\"),
            },
            c => literal.push(c),
        }
    }
    None
}

/// Whether characters after a backslash are the rest of an escape of a character by its number.
fn is_number(mut chars: impl Iterator<Item = char>) -> bool {
    let digits = match chars.next() {
        Some('x') => 2,
        Some('u') => 4,
        Some('U') => 8,
        _ => return false,
    };
    chars.take(digits).filter(char::is_ascii_hexdigit).count() == digits
}
