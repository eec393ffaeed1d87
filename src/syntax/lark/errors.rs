//! The errors of the Lark front end.

use super::common;
use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt};
use crate::error::{Error, ErrorKind};
use crate::syntax::regex;

fn error(
    source: &str,
    offset: usize,
    code: &'static str,
    message: impl Into<String>,
    with: impl FnOnce(Diagnostic) -> Diagnostic,
) -> Error {
    Error::new(ErrorKind::Grammar, with(Diagnostic::new(code, message).at(Place::in_text(source, offset))))
}

/// The rest of the line after `offset`, as an excerpt, or words that say that the line or the grammar ends there.
fn next(source: &str, offset: usize) -> String {
    match source.get(offset..).unwrap_or("").lines().next() {
        None => "the end of the grammar".to_owned(),
        Some("") => "the end of the line".to_owned(),
        Some(line) => excerpt(line),
    }
}

grammata_base::errors! {
    pub(super) Grammar(source: &str, offset: usize) at(Place::in_text(source, offset));

    unexpected(allowed: &str) = "lark/unexpected", "something else is expected here"
        found(next(source, offset))
        allowed(allowed)
        help("a rule is `name: body` on a line, and further alternatives on lines that begin with `|`");

    unclosed(open: &str, close: &str) = "lark/unclosed", "`{open}` is not closed"
        found(next(source, offset)) help("add `{close}`");

    unclosed_pattern() = "lark/unclosed", "`/` is not closed on its line"
        found(next(source, offset))
        help("add `/`; a pattern may have several lines with the flag `x`: `/a # comment`, `b/x`");

    /// The warning about priorities in a grammar, at the first of `count`.
    priorities(written: &str, count: usize) = Diagnostic "lark/priority", "priorities have no effect"
        found("`{}`{}", excerpt(written), if count > 1 { format!(", and {} more", count - 1) } else { String::new() })
        allowed("no lexer chooses between terminals here: a text is a word if any division into terminals fits")
        help("take them out; if a name must not be a keyword, exclude keywords in its pattern: docs/syntax.md#lark");

    declare() = "lark/declare", "a terminal without a text cannot be read"
        found(next(source, offset))
        allowed("terminals with a definition: here no plugin adds tokens, such as those of indentation")
        help("define the names, or describe the text of their tokens in the rules");

    not_json(cause: &serde_json::Error) = "lark/not-json", "what follows the directive is not JSON"
        cause(cause.to_string())
        help("write a JSON Schema after `%json`, and an object in braces after `%regex` and `%llguidance`");

    guidance(option: String) = "lark/schema-option", "unsupported option in `x-guidance`"
        found(option)
        allowed("whitespace_flexible, whitespace_pattern, item_separator and key_separator (`,` and `:`, or `, ` and \
        `: ` without flexible white space); coerce_one_of and lenient without effect")
        help("take it out, or correct its value");

    unknown_option(name: &str) = "lark/unknown-option", "unsupported option of the grammar"
        found(excerpt(name))
        allowed("allow_initial_skip and no_forcing, each true or false")
        help("take it out, if its effect is not needed");

    number() = "lark/number", "the number is too large"
        found(next(source, offset)) allowed("0 to 4294967295") help("write a smaller one");

    escape() = "lark/escape", "unknown escape"
        found(next(source, offset))
        allowed("\\b \\n \\r \\t \\f \\v \\\" \\\\ \\/ \\xNN \\uNNNN \\UNNNNNNNN")
        help("write a backslash as `\\\\`");

    unknown_import(file: &str, reason: String) = "lark/unknown-import", "an imported grammar is not there"
        found(excerpt(file))
        cause(reason)
        allowed("terminals of `common`, and grammars that are given")
        help("give the file (`lark::Options::files`), or copy what you need into the grammar");

    import_cycle() = "lark/import-cycle", "a file imports itself, directly or through others"
        found(next(source, offset))
        help("move what both files need into a third one");

    unknown_terminal(name: &str) = "lark/unknown-import", "`common` has no terminal of that name"
        found(excerpt(name))
        help(did_you_mean(name, common::names(), "take one of these, or define it here"))
        allowed(common::names().collect::<Vec<_>>().join(", "));

    unknown_attribute(name: &str, allowed: &'static str) = "lark/unknown-attribute", "unsupported attribute"
        found(excerpt(name))
        allowed(allowed)
        help("take it out, if its effect is not needed");

    attribute_twice(name: &str) = "lark/attribute-twice", "a rule has this attribute already"
        found(excerpt(name)) help("keep one of the two");

    attribute_value(name: &str, allowed: &str) =
        "lark/attribute-value", "the value of `{name}` cannot be read"
        found(next(source, offset))
        allowed(allowed)
        help("write the value after `=`, and `,` or `]` after it");

    attributes_together(name: &str, why: &'static str) = "lark/attributes-together", (why)
        found(excerpt(name))
        allowed("one of `suffix` and `stop`, and `stop_capture` only with one of them")
        help("take this attribute out");

    lazy_ambiguous(lazy: &str) =
        "lark/lazy-ambiguous", "this part may begin where a lazy rule may, and cannot be distinguished from it"
        found("the rule `{}` and {}", excerpt(lazy), next(source, offset))
        allowed("literals, patterns, terminals and tokens where a lazy rule may begin")
        help("put a literal before it");

    lazy_crossed(lazy: &str) =
        "lark/lazy-crossed", "a lazy rule could begin in this part and end in the next one, and would not be recognised"
        found("the rule `{}` and {}", excerpt(lazy), next(source, offset))
        allowed("parts next to each other whose characters cannot form the beginning and the rest of the lazy rule")
        help("write the calls and then the text: `call* TEXT?`");

    lazy_ignored(lazy: &str) = "lark/lazy-ignored", "`%ignore` could take the text of this lazy rule"
        found(excerpt(lazy))
        allowed("lazy rules with a character that is not ignored")
        help("ignore other characters, or name them in the rules that allow them");

    substring() = "lark/regex-directive", "`%regex` has unsupported fields"
        found(next(source, offset))
        allowed("`{{\"substring_chunks\": [\"…\", …]}}` or `{{\"substring_chars\": \"…\"}}`")
        help("write a pattern as `/pattern/`");

    template_terminal(name: &str) = "lark/template-terminal", "a terminal cannot be a template"
        found(excerpt(name))
        allowed("parameters after the name of a rule, which is in small letters")
        help("write the name in small letters, or a terminal for each use");

    template_argument() = "lark/template-argument", "not an argument of a template"
        found(next(source, offset))
        allowed("names, literals, patterns, ranges, tokens and uses of templates")
        help("give the argument a rule of its own, and write its name here");

    template_arguments(name: &str, found: usize, expected: usize) =
        "lark/template-arguments", "wrong number of arguments for this rule"
        found("`{}` with {found}", excerpt(name))
        allowed("{expected}")
        help("write as many arguments as the rule has parameters: `name{{first, second}}`, and no braces if it has none");

    parameter_twice(name: &str) = "lark/parameter-twice", "a template has this parameter already"
        found(excerpt(name)) help("give each parameter a name of its own");

    too_many_parameters(most: usize) = "lark/too-many-parameters", "a template has too many parameters"
        allowed("at most {most}") help("split the rule into several");

    extend_attributes(name: &str) = "lark/extend", "`%extend` cannot set attributes"
        found(excerpt(name))
        allowed("alternatives, which are added to those of the rule")
        help("take the attributes out, or use `%override`");

    extend_parameters(name: &str) = "lark/extend", "`%extend` has other parameters than the rule"
        found(excerpt(name))
        allowed("the same parameters in the same order")
        help("write the parameters as in the rule that you extend");

    operator_in_rule(operator: &str) = "lark/operator-in-rule", "`{operator}` is allowed in terminals only"
        found(next(source, offset))
        allowed("`&` and `~` in terminals, which are in capitals, and in lazy rules")
        help("give this part a terminal of its own, and write its name here");

    too_deep(most: usize) = "lark/too-deep", "groups are nested too deeply"
        allowed("{most} levels") help("give an inner group a rule of its own");

    range() = "lark/range", "not a range of characters"
        found(next(source, offset))
        allowed("`\"a\"..\"z\"`: one character each, the smaller one first")
        help("exchange the two, or write a pattern");

    flag(flag: char, dialect: regex::Dialect) = "lark/flag", "unsupported flag of a pattern"
        found(flag.to_string())
        allowed(match dialect {
            regex::Dialect::Ecma262 => "i, m, s, u; in Rust's dialect also x",
            _ => "i, m, s, u, x",
        })
        help("write the pattern without it");

    ids() = "lark/token-ids", "not ids of tokens"
        found(next(source, offset))
        allowed("numbers and ranges: `<[5,7-9]>`; all others: `<[^5,7-9]>`; all: `<[*]>`")
        help("separate ids with commas, the smaller one of a range first");

    defined_twice(name: &str) = "lark/defined-twice", "the name is defined already"
        found(excerpt(name)) help("write the alternatives in one rule, with `|`");

    rule_in_terminal(name: &str) = "lark/rule-in-terminal", "a terminal cannot refer to a rule"
        found(excerpt(name))
        allowed("names of terminals, which are in capitals")
        help("write one of the two names in the other case");
}

pub(super) fn unknown_directive(source: &str, offset: usize, name: &str) -> Error {
    let known = [
        "%ignore",
        "%import",
        "%override",
        "%extend",
        "%json",
        "%lark",
        "%regex",
        "%llguidance",
        "%grammar_options",
    ];
    error(source, offset, "lark/unknown-directive", "unsupported directive", |diagnostic| {
        diagnostic.found(excerpt(name)).allowed(known.join(", ")).help(did_you_mean(
            name,
            known,
            "describe it with rules and terminals",
        ))
    })
}

pub(super) fn crossed(source: &str, offset: usize, min: u32, max: u32) -> Error {
    error(source, offset, "lark/crossed-bounds", "the bounds of a repeat are crossed", |d| {
        d.found(format!("{min}..{max}")).allowed("the smaller number first").help("exchange the two")
    })
}

pub(super) fn undefined<'s>(
    source: &str,
    offset: usize,
    name: &str,
    known: impl Iterator<Item = &'s str>,
) -> Error {
    let is_common = common::pattern(name).is_some();
    let help = match is_common {
        true => format!("add the line `%import common.{name}`"),
        false => did_you_mean(name, known, format!("add a rule `{}: …`", excerpt(name))),
    };
    error(source, offset, "lark/undefined", "the name is not defined", |diagnostic| {
        diagnostic.found(excerpt(name)).help(help)
    })
}

/// The error of `%override` or `%extend` with a name that is not defined.
pub(super) fn nothing_to_change<'s>(
    source: &str,
    offset: usize,
    name: &str,
    known: impl Iterator<Item = &'s str>,
) -> Error {
    let help =
        did_you_mean(name, known, "import the name in a line of its own, or define it without a directive");
    error(
        source,
        offset,
        "lark/nothing-to-change",
        "there is no rule or terminal of that name to change",
        |d| d.found(excerpt(name)).allowed("names that are imported or defined in this grammar").help(help),
    )
}

/// The error of an import of a name that the file does not have.
pub(super) fn not_in_file<'s>(
    source: &str,
    offset: usize,
    name: &str,
    known: impl Iterator<Item = &'s str>,
) -> Error {
    let help = did_you_mean(name, known, "take a name that the file defines or imports");
    error(
        source,
        offset,
        "lark/unknown-import",
        "the file has no rule or terminal of that name",
        |diagnostic| diagnostic.found(excerpt(name)).help(help),
    )
}

/// The error of a grammar that ends at `end` and has no start rule.
pub(super) fn no_start<'s>(
    source: &str,
    end: usize,
    name: &str,
    known: impl Iterator<Item = &'s str>,
) -> Error {
    let help =
        did_you_mean(name, known, format!("add a rule `{}: …`, or set `Options::start`", excerpt(name)));
    error(source, end, "lark/no-start", "there is no start rule", |diagnostic| {
        diagnostic.found(excerpt(name)).help(help)
    })
}

/// Moves an error in a schema or a pattern to `offset`, where the schema or pattern begins in the grammar. The place
/// within it becomes the cause.
pub(super) fn inside(cause: Error, source: &str, offset: usize, what: &str) -> Error {
    cause.map(|diagnostic| {
        let within = format!("at {} of {what}", diagnostic.place());
        Diagnostic::cause(diagnostic.at(Place::in_text(source, offset)), within)
    })
}

/// Gives an error that has no place the place `offset`.
pub(super) fn at_place(cause: Error, source: &str, offset: usize) -> Error {
    cause.or_at(&Place::in_text(source, offset))
}
