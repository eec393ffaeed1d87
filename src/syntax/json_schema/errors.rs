//! Constructors of the errors and warnings of the JSON Schema front end.

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

pub(super) fn too_deep(limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new("limit/exceeded", "the schema is nested too deep")
            .limit(LimitKind::SourceDepth)
            .found(format!("more than {limit} levels of arrays and objects"))
            .allowed(format!("at most {limit}"))
            .help("move inner schemas to `$defs` and refer to them with `$ref`"),
    )
}

pub(super) fn evaluation_too_deep(pointer: &str, limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new("limit/exceeded", "a value of `enum` or `const` passes through too many schemas")
            .at(at(pointer))
            .allowed(format!("at most {limit} schemas, one inside the other or referred to by the other"))
            .help("shorten the chain of `$ref`, `allOf` and `anyOf` next to the listed values"),
    )
}

pub(super) fn not_a_schema(pointer: &str, found: &Value<'_>) -> Error {
    error(
        Diagnostic::new("json-schema/not-a-schema", "a schema is neither an object nor a boolean")
            .at(at(pointer))
            .found(found.to_string())
            .allowed("an object, true or false")
            .help("see JSON Schema Core, section 4.3"),
    )
}

/// Returns the error for a document of another kind that contains schemas. `inside` is an example of a pointer to one
/// of them: the user replaces its `NAME` or index.
pub(super) fn other_document(kind: &str, found: &str, inside: &str) -> Error {
    error(
        Diagnostic::new("json-schema/other-document", format!("{kind} is not a JSON Schema"))
            .at(at(""))
            .found(found)
            .allowed("one of the schemas in it")
            .help(format!(
                "give the schema `{{\"$ref\": \"file.json#{inside}\"}}`, and this file as the document `file.json` \
                 (`json_schema::Options::documents`)"
            )),
    )
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

pub(super) fn invalid_keyword(pointer: &str, keyword: &str, found: &Value<'_>, allowed: &str) -> Error {
    error(
        Diagnostic::new("json-schema/invalid-keyword", format!("invalid value for `{keyword}`"))
            .at(at(pointer))
            .found(found.to_string())
            .allowed(allowed)
            .help("check the schema against the meta-schema of its draft"),
    )
}

/// Returns the error with the place `pointer`, unless it already has one.
pub(super) fn placed(error: Error, pointer: &str) -> Error {
    match error.diagnostic().place() {
        Place::Whole => Error::new(error.kind(), error.diagnostic().clone().at(at(pointer))),
        _ => error,
    }
}

fn combination(pointer: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new("json-schema/unsupported-combination", message).at(at(pointer))
}

pub(super) fn negated_unique_items(pointer: &str) -> Error {
    error(
        combination(pointer, "`uniqueItems` is not supported where it is negated")
            .allowed("`uniqueItems` outside of `not`, `oneOf`, `if` and the like")
            .help("leave out the `not`, `oneOf` or `if` around it"),
    )
}

pub(super) fn too_many_contains(pointer: &str, few: usize, classes: usize) -> Error {
    error(
        combination(pointer, "too many different `contains` apply to one array")
            .allowed(format!(
                "at most {few}, or more if an item can satisfy at most {classes} different sets of them"
            ))
            .help("let them exclude each other, join those with the same counts, or leave some out"),
    )
}

pub(super) fn too_many_cases(pointer: &str, keyword: &str, limit: usize) -> Error {
    error(
        combination(pointer, format!("the effect of `{keyword}` depends on too many alternatives"))
            .allowed(format!("at most {limit} cases of what is evaluated"))
            .help("declare the members or items next to the keyword, or use fewer `anyOf`, `oneOf` and `if`"),
    )
}

pub(super) fn undecided_test(pointer: &str, keyword: &str, text: &str) -> Error {
    error(
        combination(pointer, format!("whether a listed value or name passes `{keyword}` is not known"))
            .found(text)
            .help(format!("leave out the value or name, or the `{keyword}`")),
    )
}

pub(super) fn too_many_alternatives(pointer: &str, reason: &str) -> Error {
    error(
        Diagnostic::new(
            "json-schema/unsupported-combination",
            "alternatives that hold together have too many combinations",
        )
        .at(at(pointer))
        .found(reason)
        .help("require a member whose value distinguishes the alternatives, or merge them into one `anyOf`"),
    )
}

pub(super) fn undecidable_conditions(pointer: &str, limit: usize) -> Error {
    let limited = conditions::undecidable(limit);
    let diagnostic = limited.diagnostic();
    Error::new(limited.kind(), diagnostic.clone().at(at(pointer)))
}

pub(super) fn pattern(pointer: &str, pattern: &str, cause: &Error) -> Error {
    let inner = cause.diagnostic();
    let mut diagnostic =
        Diagnostic::new(inner.code(), format!("`pattern` cannot be used: {}", inner.message()))
            .at(at(pointer))
            .found(inner.found_text().unwrap_or(pattern));
    if let Some(allowed) = inner.allowed_text() {
        diagnostic = diagnostic.allowed(allowed);
    }
    if let Some(help) = inner.help_text() {
        diagnostic = diagnostic.help(help);
    }
    Error::new(cause.kind(), diagnostic)
}

pub(super) fn complement_of_format(pointer: &str, name: &str) -> Error {
    error(
        Diagnostic::new(
            "json-schema/unsupported-combination",
            "the strings that do not have this format cannot be described",
        )
        .at(at(pointer))
        .found(name)
        .help("say with `pattern` which strings are meant"),
    )
}

pub(super) fn unknown_format(pointer: &str, name: &str) -> Diagnostic {
    Diagnostic::new(
        "json-schema/unknown-format",
        "this format is in no draft of JSON Schema, or sets no rule",
    )
    .at(at(pointer))
    .found(excerpt(name))
    .help("it is read as an annotation, which restricts nothing; check its spelling, or use `pattern`")
}

/// Returns the note on the formats that code generators write for numbers.
pub(super) fn number_format(pointer: &str, name: &str) -> Diagnostic {
    Diagnostic::new("json-schema/number-format", "formats of numbers restrict nothing")
        .at(at(pointer))
        .found(name)
        .help("JSON Schema does not define them; bound numbers with `minimum` and `maximum`")
}

/// Returns the note on `discriminator`, which OpenAPI defines.
pub(super) fn discriminator(pointer: &str) -> Diagnostic {
    Diagnostic::new("json-schema/discriminator", "`discriminator` restricts nothing")
        .at(at(pointer))
        .help(
            "JSON Schema does not define it; `required` and a `const` in each alternative tell the alternatives apart",
        )
}

/// Returns the warning for elements that close by name, if their names are not declared.
pub(super) fn free_ends(pointer: &str) -> Diagnostic {
    Diagnostic::new("json-schema/free-ends", "the end of an element may have another name than its beginning")
        .at(at(pointer))
        .allowed("undeclared names at both ends of an element; no grammar ties them to each other")
        .help("declare the members in `properties`, or set `additionalProperties` to false")
}

/// Returns the warning for a pattern that is written as a literal of JavaScript.
pub(super) fn pattern_literal(pointer: &str, pattern: &str) -> Diagnostic {
    Diagnostic::new("json-schema/pattern-literal", "the slashes around this pattern are part of it")
        .at(at(pointer))
        .found(excerpt(pattern))
        .help("`pattern` has the text between the slashes of a JavaScript literal, and no flags: `^a$` for `/^a$/`")
}

/// Returns the error for a pattern that subtracts classes of characters, as only the flag `v` allows.
pub(super) fn subtracted_class(pointer: &str, pattern: &str) -> Error {
    error(
        Diagnostic::new("json-schema/pattern-sets", "this pattern needs the flag `v`")
            .at(at(pointer))
            .found(excerpt(pattern))
            .allowed(
                "patterns of ECMA-262 with the flag `u`, which have no operations on classes of characters",
            )
            .help("write `[A--B]` as `(?!B)A`: a letter that is not lower case ASCII is `(?![a-z])\\p{L}`"),
    )
}

/// Returns the warning for a pattern that has another meaning with the flag `v`.
pub(super) fn pattern_of_sets(pointer: &str, pattern: &str) -> Diagnostic {
    Diagnostic::new(
        "json-schema/pattern-sets",
        "this class of characters is a set operation only with the flag `v`, which JSON Schema does not have",
    )
    .at(at(pointer))
    .found(excerpt(pattern))
    .help("`&&`, `--` and `[` inside of a class stand for themselves; write the set as one class, or with a look-ahead: `(?=[a-z])[aeiou]`")
}

pub(super) fn bound_too_long(pointer: &str, keyword: &str, found: &str) -> Error {
    error(
        Diagnostic::new("json-schema/bound-too-long", format!("`{keyword}` has too many digits"))
            .at(at(pointer))
            .found(found)
            .allowed(format!("{} digits, written without exponent", super::values::decimal::MAX_PLAIN_DIGITS))
            .help("round the bound, or leave it out"),
    )
}

pub(super) fn too_many_remainders(pointer: &str, found: &str, limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new(
            "limit/exceeded",
            "`multipleOf` needs too many remainders, here with its bounds and with other divisors",
        )
        .at(at(pointer))
        .found(found)
        .allowed(format!("at most {limit} states"))
        .help("leave out the bounds, or use divisors with fewer digits or more zeros at the end"),
    )
}

pub(super) fn count_too_large(pointer: &str, keyword: &str, found: &Value<'_>) -> Error {
    error(
        Diagnostic::new("json-schema/count-too-large", format!("`{keyword}` is too large to be met"))
            .at(at(pointer))
            .found(found.to_string())
            .allowed(format!("at most {}", u32::MAX))
            .help("lower the count"),
    )
}

pub(super) fn count_without_effect(pointer: &str, keyword: &str, found: &Value<'_>) -> Diagnostic {
    Diagnostic::new("json-schema/count-without-effect", format!("`{keyword}` is too large to be counted to"))
        .at(at(pointer))
        .found(found.to_string())
        .allowed(format!("at most {}, or the keyword has no effect", u32::MAX))
        .help("remove the keyword")
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
            .at(at(pointer))
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

pub(super) fn remote_reference(pointer: &str, uri: &str) -> Error {
    error(
        Diagnostic::new("json-schema/remote-reference", "a reference names a document that was not given")
            .at(at(pointer))
            .found(uri)
            .allowed("schemas in this document, and documents that are given; nothing is fetched")
            .help("give the document with `json_schema::Options::documents`"),
    )
}

pub(super) fn document_unavailable(pointer: &str, uri: &str, reason: &str) -> Error {
    error(
        Diagnostic::new(
            "json-schema/remote-reference",
            format!("the document `{}` is not available", crate::diagnostic::excerpt(uri)),
        )
        .at(at(pointer))
        .found(reason)
        .help("check that the resolver returns the document"),
    )
}

pub(super) fn dangling_reference(pointer: &str, keyword: &str, reference: &str) -> Error {
    error(
        Diagnostic::new("json-schema/dangling-reference", format!("`{keyword}` points to nothing"))
            .at(at(pointer))
            .found(reference)
            .help("add the schema there, or correct the reference (`~1` is `/` and `~0` is `~` in a name)"),
    )
}

pub(super) fn duplicate_identifier(pointer: &str, name: &str, first: &str) -> Diagnostic {
    Diagnostic::new("json-schema/duplicate-identifier", "two schemas have the same identifier")
        .at(at(pointer))
        .found(name)
        .allowed(format!("an identifier that is not taken by `{}`", shown(first)))
        .help("references mean the first one; rename the other")
}

pub(super) fn too_many_documents(pointer: &str, limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new("limit/exceeded", "the schema refers to too many documents")
            .at(at(pointer))
            .allowed(format!("at most {limit}"))
            .help("put the schemas that belong together into one document"),
    )
}

pub(super) fn too_many_schemas(pointer: &str, limits: &Limits) -> Error {
    let found = "too many schemas, each of which counts as four nodes";
    placed(Limits::exceeded(LimitKind::GrammarNodes, limits.grammar_nodes, found), pointer)
}

pub(super) fn pointers_too_long(pointer: &str, limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new("limit/exceeded", "the JSON Pointers of the schemas are too long together")
            .at(at(pointer))
            .allowed(format!("at most {limit} bytes"))
            .help("use shorter names for what contains many schemas"),
    )
}

pub(super) fn too_many_scopes(pointer: &str, limit: usize) -> Error {
    Error::new(
        ErrorKind::Limit,
        Diagnostic::new("limit/exceeded", "`$dynamicRef` has too many dynamic scopes")
            .at(at(pointer))
            .allowed(format!("at most {limit} different ones"))
            .help("use `$ref`, or fewer resources with `$dynamicAnchor`"),
    )
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

pub(super) fn unsatisfiable(pointer: &str, reason: &str) -> Error {
    error(
        Diagnostic::new("json-schema/unsatisfiable", "no value satisfies the schema")
            .at(at(pointer))
            .found(reason)
            .help("change the keywords that contradict each other"),
    )
}

pub(super) fn no_object(pointer: &str) -> Error {
    error(
        Diagnostic::new(
            "json-schema/no-object",
            "no value of the schema is an object, and a style of elements writes objects",
        )
        .at(at(pointer))
        .allowed("a schema that some object satisfies")
        .help("describe the arguments with `\"type\": \"object\"`, or use the style `json`"),
    )
}

pub(super) fn element_name(pointer: &str, name: &str) -> Error {
    error(
        Diagnostic::new("json-schema/element-name", "the style of elements cannot write this name")
            .at(at(pointer))
            .found(excerpt(name))
            .allowed("a name that is not blank, without what ends a name in that style")
            .help("rename the property, or use the style `json`"),
    )
}

pub(super) fn dead_schema(pointer: &str, reason: &str) -> Diagnostic {
    Diagnostic::new("json-schema/unsatisfiable", "no value satisfies this part of the schema")
        .at(at(pointer))
        .found(reason)
        .help("change the keywords that contradict each other, or write `false`")
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
        .at(at(pointer))
        .help(format!("it is read as an annotation, which restricts nothing; {advice}"))
}

pub(super) fn beside_ref(pointer: &str, keyword: &str) -> Diagnostic {
    Diagnostic::new("json-schema/beside-ref", format!("`{keyword}` has no effect next to `$ref`"))
        .at(at(pointer))
        .help(
            "drafts up to 7 ignore keywords next to `$ref`; name a newer draft in `$schema`, or use `allOf`",
        )
}

pub(super) fn duplicate_key(pointer: &str) -> Diagnostic {
    Diagnostic::new("json-schema/duplicate-key", "a key occurs twice in the same object")
        .at(at(pointer))
        .help("the last one counts; remove the others")
}

pub(super) fn too_many_patterns(pointer: &str, limit: usize) -> Error {
    error(
        Diagnostic::new(
            "json-schema/unsupported-combination",
            "too many different patterns of `patternProperties` apply to one object",
        )
        .at(at(pointer))
        .allowed(format!("at most {limit} combinations of patterns that match one name"))
        .help("join patterns whose schemas are the same with `|`, or let them begin with different text: `^a`, `^b`"),
    )
}

pub(super) fn too_many_members(pointer: &str, limit: usize) -> Error {
    error(
        Diagnostic::new(
            "json-schema/unsupported-combination",
            "too many members of undeclared names are required in one object",
        )
        .at(at(pointer))
        .allowed(format!("at most {limit}"))
        .help("declare the names in `properties`"),
    )
}

pub(super) fn too_many_counts(pointer: &str, limit: usize) -> Error {
    error(
        Diagnostic::new(
            "json-schema/unsupported-combination",
            "the bounds of `contains` and of the number of items are too large together",
        )
        .at(at(pointer))
        .allowed(format!("at most {limit} states of counting"))
        .help("lower the bounds"),
    )
}

pub(super) fn unique_items(pointer: &str, reason: &str) -> Error {
    error(
        Diagnostic::new(
            "json-schema/unsupported-keyword",
            format!("`uniqueItems` is not supported {reason}"),
        )
        .at(at(pointer))
        .help("list the items in `enum`, or bound the array with `maxItems`: 1"),
    )
}
