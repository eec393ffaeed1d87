//! Constructors of the errors and warnings of the JSON Schema front end.

use super::grammars::GRAMMAR;
use super::values::json::Value;
use super::values::pointer::shown;
use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt};
use crate::error::{Error, ErrorKind};
use crate::grammar::conditions;
use crate::limits::{LimitKind, Limits};

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

fn at(pointer: &str) -> Place {
    Place::Pointer(pointer.to_owned())
}

/// Whether a text that is not JSON looks like the path of a file.
fn is_path(text: &str) -> bool {
    let is_named = [".json", ".jsonc", ".yaml", ".yml"].iter().any(|end| text.ends_with(end));
    is_named && text.len() <= 1024 && !text.contains(|c: char| c.is_control() || "{}[]\"".contains(c))
}

/// The error of a text that is not JSON. A user may have given the name of a file instead of its content.
pub(super) fn not_json(cause: &serde_json::Error, schema: &str) -> Error {
    let place = match cause.line() {
        0 => Place::Whole,
        line => Place::LineColumn { line, column: cause.column().max(1) },
    };
    let text = cause.to_string();
    let found = text.split(" at line ").next().unwrap_or(&text);
    error(Diagnostic::new("json-schema/not-json", "the schema is not JSON").at(place).cause(found).help(
        match is_path(schema.trim()) {
            true => "this looks like the name of a file: pass the file's content",
            false => "correct the JSON text (RFC 8259)",
        },
    ))
}

grammata_base::errors! {
    pub(super) Grammar(pointer: &str) at(Place::Pointer(pointer.to_owned()));

    evaluation_too_deep(limit: usize) =
        Limit "limit/exceeded", "a value of `enum` or `const` passes through too many schemas"
        allowed("at most {limit} schemas, one inside the other or referred to by the other")
        help("shorten the chain of `$ref`, `allOf` and `anyOf` next to the listed values");

    not_a_schema(found: &Value<'_>) =
        "json-schema/not-a-schema", "a schema is neither an object nor a boolean"
        found(found.to_string())
        allowed("an object, true or false")
        help("see JSON Schema Core, section 4.3");

    invalid_keyword(keyword: &str, found: &Value<'_>, allowed: &str) =
        "json-schema/invalid-keyword", "invalid value for `{keyword}`"
        found(found.to_string())
        allowed(allowed)
        help("check the schema against the meta-schema of its draft");

    negated_unique_items() =
        "json-schema/unsupported-combination", "`uniqueItems` is not supported where it is negated"
        allowed("`uniqueItems` outside of `not`, `oneOf`, `if` and the like")
        help("leave out the `not`, `oneOf` or `if` around it");

    too_many_contains(few: usize, classes: usize) =
        "json-schema/unsupported-combination", "too many different `contains` apply to one array"
        allowed("at most {few}, or more if an item can satisfy at most {classes} different sets of them")
        help("let them exclude each other, join those with the same counts, or leave some out");

    too_many_cases(keyword: &str, limit: usize) =
        "json-schema/unsupported-combination", "the effect of `{keyword}` depends on too many alternatives"
        allowed("at most {limit} cases of what is evaluated")
        help("declare the members or items next to the keyword, or use fewer `anyOf`, `oneOf` and `if`");

    undecided_test(keyword: &str, text: &str) =
        "json-schema/unsupported-combination", "whether a listed value or name passes `{keyword}` is not known"
        found(text) help("leave out the value or name, or the `{keyword}`");

    too_many_alternatives(reason: &str) =
        "json-schema/unsupported-combination", "alternatives that hold together have too many combinations"
        found(reason)
        help("require a member whose value distinguishes the alternatives, or merge them into one `anyOf`");

    complement_of_format(name: &str) =
        "json-schema/unsupported-combination", "the strings that do not have this format cannot be described"
        found(name) help("say with `pattern` which strings are meant");

    unknown_format(name: &str) =
        Diagnostic "json-schema/unknown-format", "this format is in no draft of JSON Schema, or sets no rule"
        found(excerpt(name))
        help("it is read as an annotation, which restricts nothing; check its spelling, or use `pattern`");

    /// Returns the note on the formats that code generators write for numbers.
    number_format(name: &str) = Diagnostic "json-schema/number-format", "formats of numbers restrict nothing"
        found(name) help("JSON Schema does not define them; bound numbers with `minimum` and `maximum`");

    /// Returns the note on `discriminator`, which OpenAPI defines.
    discriminator() = Diagnostic "json-schema/discriminator", "`discriminator` restricts nothing"
        help("JSON Schema does not define it; `required` and a `const` in each alternative tell the alternatives apart");

    /// Returns the warning for elements that close by name, if their names are not declared.
    free_ends() =
        Diagnostic "json-schema/free-ends", "the end of an element may have another name than its beginning"
        allowed("undeclared names at both ends of an element; no grammar ties them to each other")
        help("declare the members in `properties`, or set `additionalProperties` to false");

    /// Returns the warning for a pattern that is written as a literal of JavaScript.
    pattern_literal(pattern: &str) =
        Diagnostic "json-schema/pattern-literal", "the slashes around this pattern are part of it"
        found(excerpt(pattern))
        help("`pattern` has the text between the slashes of a JavaScript literal, and no flags: `^a$` for `/^a$/`");

    /// Returns the error for a pattern that subtracts classes of characters, as only the flag `v` allows.
    subtracted_class(pattern: &str) = "json-schema/pattern-sets", "this pattern needs the flag `v`"
        found(excerpt(pattern))
        allowed("patterns of ECMA-262 with the flag `u`, which have no operations on classes of characters")
        help("write `[A--B]` as `(?!B)A`: a letter that is not lower case ASCII is `(?![a-z])\\p{{L}}`");

    /// Returns the warning for a pattern that has another meaning with the flag `v`.
    pattern_of_sets(pattern: &str) =
        Diagnostic "json-schema/pattern-sets", "this class of characters is a set operation only with the flag `v`, which JSON Schema does not have"
        found(excerpt(pattern))
        help("`&&`, `--` and `[` inside of a class stand for themselves; write the set as one class, or with a look-ahead: `(?=[a-z])[aeiou]`");

    bound_too_long(keyword: &str, found: &str) =
        "json-schema/bound-too-long", "`{keyword}` has too many digits"
        found(found)
        allowed("{} digits, written without exponent", super::values::decimal::MAX_PLAIN_DIGITS)
        help("round the bound, or leave it out");

    too_many_remainders(found: &str, limit: usize) =
        Limit "limit/exceeded", "`multipleOf` needs too many remainders, here with its bounds and with other divisors"
        found(found)
        allowed("at most {limit} states")
        help("leave out the bounds, or use divisors with fewer digits or more zeros at the end");

    count_too_large(keyword: &str, found: &Value<'_>) =
        "json-schema/count-too-large", "`{keyword}` is too large to be met"
        found(found.to_string()) allowed("at most {}", u32::MAX) help("lower the count");

    count_without_effect(keyword: &str, found: &Value<'_>) =
        Diagnostic "json-schema/count-without-effect", "`{keyword}` is too large to be counted to"
        found(found.to_string())
        allowed("at most {}, or the keyword has no effect", u32::MAX)
        help("remove the keyword");

    remote_reference(uri: &str) =
        "json-schema/remote-reference", "a reference names a document that was not given"
        found(uri)
        allowed("schemas in this document, and documents that are given; nothing is fetched")
        help("give the document with `json_schema::Options::documents`");

    document_unavailable(uri: &str, reason: &str) =
        "json-schema/remote-reference", ("the document `{}` is not available", crate::diagnostic::excerpt(uri))
        found(reason) help("check that the resolver returns the document");

    dangling_reference(keyword: &str, reference: &str) =
        "json-schema/dangling-reference", "`{keyword}` points to nothing"
        found(reference)
        help("add the schema there, or correct the reference (`~1` is `/` and `~0` is `~` in a name)");

    duplicate_identifier(name: &str, first: &str) =
        Diagnostic "json-schema/duplicate-identifier", "two schemas have the same identifier"
        found(name)
        allowed("an identifier that is not taken by `{}`", shown(first))
        help("references mean the first one; rename the other");

    too_many_documents(limit: usize) = Limit "limit/exceeded", "the schema refers to too many documents"
        allowed("at most {limit}") help("put the schemas that belong together into one document");

    pointers_too_long(limit: usize) =
        Limit "limit/exceeded", "the JSON Pointers of the schemas are too long together"
        allowed("at most {limit} bytes") help("use shorter names for what contains many schemas");

    too_many_scopes(limit: usize) = Limit "limit/exceeded", "`$dynamicRef` has too many dynamic scopes"
        allowed("at most {limit} different ones")
        help("use `$ref`, or fewer resources with `$dynamicAnchor`");

    unsatisfiable(reason: &str) = "json-schema/unsatisfiable", "no value satisfies the schema"
        found(reason) help("change the keywords that contradict each other");

    no_object() =
        "json-schema/no-object", "no value of the schema is an object, and this style writes objects"
        allowed("a schema that some object satisfies")
        help("describe the arguments with `\"type\": \"object\"`, or use the style `json`");

    element_name(name: &str) = "json-schema/element-name", "the style of elements cannot write this name"
        found(excerpt(name))
        allowed("a name that is not blank, without what ends a name in that style")
        help("rename the property, or use the style `json`");

    bare_name(name: &str) = "json-schema/bare-name", "this style cannot write the name, which has no quotes there"
        found(excerpt(name))
        allowed("`gemma`: a name without `: , {{ }} [ ]`, `<|\"|>`, control characters and outer white space; \
                 `python_keywords`: an identifier of Python")
        help("rename the property, or use the style `json`");

    dead_schema(reason: &str) =
        Diagnostic "json-schema/unsatisfiable", "no value satisfies this part of the schema"
        found(reason) help("change the keywords that contradict each other, or write `false`");

    beside_ref(keyword: &str) =
        Diagnostic "json-schema/beside-ref", "`{keyword}` has no effect next to `$ref`"
        help("drafts up to 7 ignore keywords next to `$ref`; name a newer draft in `$schema`, or use `allOf`");

    duplicate_key() = Diagnostic "json-schema/duplicate-key", "a key occurs twice in the same object"
        help("the last one counts; remove the others");

    too_many_patterns(limit: usize) =
        "json-schema/unsupported-combination", "too many different patterns of `patternProperties` apply to one object"
        allowed("at most {limit} combinations of patterns that match one name")
        help("join patterns whose schemas are the same with `|`, or let them begin with different text: `^a`, `^b`");

    too_many_members(limit: usize) =
        "json-schema/unsupported-combination", "too many members of undeclared names are required in one object"
        allowed("at most {limit}") help("declare the names in `properties`");

    too_many_counts(limit: usize) =
        "json-schema/unsupported-combination", "the bounds of `contains` and of the number of items are too large together"
        allowed("at most {limit} states of counting") help("lower the bounds");

    unique_items(reason: &str) = "json-schema/unsupported-keyword", "`uniqueItems` is not supported {reason}"
        help("list the items in `enum`, or bound the array with `maxItems`: 1");
}

grammata_base::errors! {
    pub(super) Grammar;

    too_deep(limit: usize) = Limit "limit/exceeded", "the schema is nested too deep"
        limit(LimitKind::SourceDepth)
        found("more than {limit} levels of arrays and objects")
        allowed("at most {limit}")
        help("move inner schemas to `$defs` and refer to them with `$ref`");

    /// Returns the error for a document of another kind that contains schemas. `inside` is an example of a pointer to
    /// one of them: the user replaces its `NAME` or index.
    other_document(kind: &str, found: &str, inside: &str) =
        "json-schema/other-document", "{kind} is not a JSON Schema"
        at(at(""))
        found(found)
        allowed("one of the schemas in it")
        help("give the schema `{{\"$ref\": \"file.json#{inside}\"}}`, and this file as the document `file.json` \
        (`json_schema::Options::documents`)");
}

/// Returns the error for a wrapper given in place of the schema in it, which is at `path`.
pub(super) fn wrapped_schema(kind: &str, path: &[&str]) -> Error {
    let pointer =
        path.iter().fold(String::new(), |pointer, member| super::values::pointer::join(&pointer, member));
    let members: Vec<String> = path.iter().map(|member| format!("`{member}`")).collect();
    let member = match &members[..] {
        [inner @ .., last] if !inner.is_empty() => format!("the member {last} of {}", inner.join(", ")),
        all => format!("the member {}", all.concat()),
    };
    error(
        Diagnostic::new("json-schema/other-document", format!("{kind} is not a JSON Schema"))
            .at(at(&pointer))
            .found("no keyword that restricts values, and a schema inside")
            .allowed(format!("{member}, which is the schema"))
            .help(format!("give {member} in place of the whole")),
    )
}

/// Returns the error with the place `pointer`, unless it already has one.
pub(super) fn placed(error: Error, pointer: &str) -> Error {
    match error.diagnostic().place() {
        Place::Whole => {
            Error::new(error.kind(), error.diagnostic().clone().at(Place::Pointer(pointer.to_owned())))
        }
        _ => error,
    }
}

pub(super) fn undecidable_conditions(pointer: &str, limit: usize) -> Error {
    let limited = conditions::undecidable(limit);
    let diagnostic = limited.diagnostic();
    Error::new(limited.kind(), diagnostic.clone().at(Place::Pointer(pointer.to_owned())))
}

pub(super) fn pattern(pointer: &str, pattern: &str, cause: &Error) -> Error {
    let inner = cause.diagnostic();
    let mut diagnostic =
        Diagnostic::new(inner.code(), format!("`pattern` cannot be used: {}", inner.message()))
            .at(Place::Pointer(pointer.to_owned()))
            .found(inner.found_text().unwrap_or(pattern));
    if let Some(allowed) = inner.allowed_text() {
        diagnostic = diagnostic.allowed(allowed);
    }
    if let Some(help) = inner.help_text() {
        diagnostic = diagnostic.help(help);
    }
    Error::new(cause.kind(), diagnostic)
}

/// Returns a diagnostic about a grammar in a schema at `pointer`, whose place is in the grammar, with the place of the
/// grammar.
pub(super) fn in_definition(pointer: &str, inner: &Diagnostic) -> Diagnostic {
    let place = Place::Pointer(format!("{pointer}/{GRAMMAR}/definition"));
    let within = match inner.place() {
        Place::Whole => None,
        place => Some(format!("at {place} of the grammar")),
    };
    let causes: Vec<&str> = inner.cause_text().into_iter().chain(within.as_deref()).collect();
    let mut diagnostic = Diagnostic::new(inner.code(), inner.message()).at(place).limit(inner.limit_kind());
    if let Some(found) = inner.found_text() {
        diagnostic = diagnostic.found(found);
    }
    if !causes.is_empty() {
        diagnostic = diagnostic.cause(causes.join("; "));
    }
    if let Some(allowed) = inner.allowed_text() {
        diagnostic = diagnostic.allowed(allowed);
    }
    match inner.help_text() {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Returns the error for an invalid grammar in a schema at `pointer`.
pub(super) fn definition(pointer: &str, cause: &Error) -> Error {
    Error::new(cause.kind(), in_definition(pointer, cause.diagnostic()))
}

/// Returns the error for a grammar in a notation without a reader. `reads_lark` says whether Lark has one.
pub(super) fn no_reader(pointer: &str, syntax: &str, reads_lark: bool) -> Error {
    let (allowed, help) = match reads_lark {
        true => ("lark, regex", did_you_mean(syntax, ["lark", "regex"], "write the grammar in one of these")),
        false => (
            "regex",
            "set the option `grammars` to `lark::IN_STRINGS`, or write a regular expression".to_owned(),
        ),
    };
    error(
        Diagnostic::new("json-schema/grammar-syntax", "grammars of strings in this notation are not read")
            .at(Place::Pointer(format!("{pointer}/{GRAMMAR}/syntax")))
            .found(excerpt(syntax))
            .allowed(allowed)
            .help(help),
    )
}

/// Returns the error for a grammar of strings with parts that strings cannot have.
pub(super) fn unspelled(pointer: &str, part: &str) -> Error {
    error(
        Diagnostic::new("json-schema/grammar-part", "the grammar of a string has a part that no string has")
            .at(Place::Pointer(format!("{pointer}/{GRAMMAR}/definition")))
            .found(part)
            .allowed("rules and terminals of text")
            .help("write the part as rules, or leave it out"),
    )
}

pub(super) fn unknown_policy(pointer: &str, found: &Value<'_>, allowed: &str) -> Error {
    policy(pointer, "unknown option in `x-grammata`", found, allowed)
}

pub(super) fn invalid_policy(pointer: &str, name: &str, found: &Value<'_>, allowed: &str) -> Error {
    policy(pointer, format!("invalid value for `{name}`"), found, allowed)
}

fn policy(pointer: &str, message: impl Into<String>, found: &Value<'_>, allowed: &str) -> Error {
    error(
        Diagnostic::new("json-schema/invalid-policy", message)
            .at(Place::Pointer(pointer.to_owned()))
            .found(found.to_string())
            .allowed(allowed)
            .help("correct it, or leave it out"),
    )
}

pub(super) fn whitespace_pattern(pattern: &str, cause: &Error) -> Error {
    let inner = cause.diagnostic();
    let message = format!("the pattern of white space cannot be used: {}", inner.message());
    let diagnostic = Diagnostic::new("json-schema/whitespace-pattern", message)
        .found(pattern)
        .help("write a regular expression of white space, for instance ` ?`");
    Error::new(cause.kind(), diagnostic)
}

pub(super) fn too_many_schemas(pointer: &str, limits: &Limits) -> Error {
    let found = "too many schemas, each of which counts as four nodes";
    placed(Limits::exceeded(LimitKind::GrammarNodes, limits.grammar_nodes, found), pointer)
}

pub(super) fn cyclic_reference(cycle: &[&str]) -> Error {
    let path: Vec<String> = cycle.iter().map(|pointer| format!("`{}`", shown(pointer))).collect();
    let shown = if path.len() > 8 {
        format!("{} -> … -> {}", path[..4].join(" -> "), path[path.len() - 1])
    } else {
        path.join(" -> ")
    };
    error(
        Diagnostic::new("json-schema/cyclic-reference", "a schema applies itself to the same value")
            .at(at(cycle.first().copied().unwrap_or("")))
            .found(shown)
            .help("put the reference inside `properties`, `items` or another keyword that goes deeper"),
    )
}

/// Returns the warning for a word that is not a keyword of the draft; `is_other_draft` says whether another draft has
/// it. The warning names those of `keywords` that are similar.
pub(super) fn unknown_keyword(
    pointer: &str,
    keyword: &str,
    is_other_draft: bool,
    keywords: impl Iterator<Item = &'static str>,
) -> Diagnostic {
    let plain = "check its spelling, and `$schema`";
    let advice = if is_other_draft {
        "it is a keyword of other drafts, which `$schema` may name".to_owned()
    } else {
        did_you_mean(keyword, keywords, plain)
    };
    Diagnostic::new("json-schema/unknown-keyword", format!("`{keyword}` is not a keyword of this draft"))
        .at(Place::Pointer(pointer.to_owned()))
        .help(format!("it is read as an annotation, which restricts nothing; {advice}"))
}
