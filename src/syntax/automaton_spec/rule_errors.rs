//! The errors and warnings of `requires`, `effects`, `outcomes`, `facts` and `arguments`.

use super::formula::Fault;
use super::place::pointer;
use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt};
use crate::error::{Error, ErrorKind};

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

fn at(code: &'static str, message: impl Into<String>, place: String) -> Diagnostic {
    Diagnostic::new(code, message).at(Place::Pointer(place))
}

pub(super) fn formula(fault: &Fault, place: String) -> Error {
    let message = format!("the formula is wrong at character {}", fault.character);
    error(at("automaton-spec/formula", message, place).found(&fault.found).allowed(fault.wanted).help(
        "a formula has names, `and`, `or`, `not`, parentheses, `fact == value`; quote names with spaces",
    ))
}

pub(super) fn any_of_nothing(place: String) -> Error {
    error(
        at("automaton-spec/formula", "any of no names never holds", place)
            .help("put names into the inner list, or take it out"),
    )
}

pub(super) fn compared_action(name: &str, value: &str, character: usize, place: String) -> Error {
    let message = format!("`{}` is an action or a group, which has no values", excerpt(name));
    error(
        at("automaton-spec/formula", message, place)
            .found(format!("`{} {}` at character {character}", excerpt(name), excerpt(value)))
            .allowed("the name alone: it holds once the action, or one of the group, was carried out")
            .help("leave the comparison out, or compare a fact"),
    )
}

pub(super) fn no_such_value(name: &str, value: &str, values: &[String], place: String) -> Error {
    let known = values.iter().map(String::as_str).filter(|value| !value.is_empty());
    error(
        at("automaton-spec/undefined", format!("`{}` has no such value", excerpt(name)), place)
            .found(value)
            .allowed(super::errors::list(known.clone()))
            .help(did_you_mean(value, known, "list the value in `facts`, or correct it")),
    )
}

pub(super) fn fact_is_symbol(name: &str, place: String) -> Error {
    let message = format!("`{}` is both a fact and an action or a group", excerpt(name));
    error(
        at("automaton-spec/twice", message, place)
            .help("give the fact another name: formulas name them alike"),
    )
}

pub(super) fn bad_fact(name: &str, found: &str, place: String) -> Error {
    error(
        at("automaton-spec/fact", format!("the fact `{}` is not one", excerpt(name)), place)
            .found(found)
            .allowed("`true` or `false`, a list of values, or `{ values = [texts], initial = text }`")
            .help("correct its values, or its value at the start"),
    )
}

pub(super) fn set_twice(name: &str, place: String) -> Error {
    let message = format!("`{}` is given two values at once", excerpt(name));
    error(
        at("automaton-spec/effects", message, place)
            .allowed("each name once in `set` and `clear` together")
            .help("keep one of them; an outcome's effects come after those of its action"),
    )
}

pub(super) fn sets_action(name: &str, place: String) -> Error {
    let message = format!("`{}` is an action or a group, which no effect can set", excerpt(name));
    error(
        at("automaton-spec/effects", message, place)
            .allowed("names of flags and facts")
            .help("set a flag instead, and name the flag in formulas"),
    )
}

pub(super) fn clears_group(name: &str, place: String) -> Error {
    error(
        at(
            "automaton-spec/effects",
            format!("`{}` is a group, which no effect can clear", excerpt(name)),
            place,
        )
        .allowed("names of flags, facts and actions")
        .help("name the actions of the group"),
    )
}

pub(super) fn not_backward(id: &str, field: &'static str) -> Error {
    let message = format!("the `{field}` of `{}` cannot be kept in a spec that plans backwards", excerpt(id));
    error(
        at("automaton-spec/backward", message, pointer(["symbols", id, field]))
            .allowed("`requires` as a list of actions, or actions with `and` between them")
            .help("write the spec forwards (without `direction = \"backward\"`), which allows all of it"),
    )
}

pub(super) fn contradiction(formula: &str, place: String) -> Error {
    error(
        at("automaton-spec/contradiction", "the formula never holds, so its action is in no plan", place)
            .found(formula)
            .help("take one of the parts that exclude each other out, or take the action out"),
    )
}

pub(super) fn cost_of_outcomes() -> Error {
    error(
        at(
            "automaton-spec/plans-only",
            "`max_cost` and `outcomes` do not go together",
            "/limits/max_cost".into(),
        )
        .help("take `max_cost` out; or limit how often costly actions may occur, with `at_most`"),
    )
}

pub(super) fn outcomes_in_text(id: &str) -> Error {
    let message = format!(
        "the action `{}` has outcomes, which the world chooses, so no text is a whole plan",
        excerpt(id)
    );
    error(
        at("automaton-spec/plans-only", message, pointer(["symbols", id, "outcomes"]))
            .help("use the spec with `grammata plan`, or take the outcomes out"),
    )
}

pub(super) fn never_given(name: &str, value: Option<&str>, place: String) -> Diagnostic {
    let message = match value {
        None => format!("no effect sets `{}`", excerpt(name)),
        Some(value) => format!("no effect gives `{}` the value `{}`", excerpt(name), excerpt(value)),
    };
    at("automaton-spec/never-set", message, place)
        .help("set it in the `effects` or `outcomes` of an action, give it in `facts`, or take it out of the formula")
}

pub(super) fn unused_fact(name: &str) -> Diagnostic {
    let message = format!("no formula and no effect names the fact `{}`", excerpt(name));
    at("automaton-spec/unused", message, pointer(["facts", name]))
        .help("name it in a `requires`, or take it away")
}

fn arguments(code: &'static str, id: &str, message: impl Into<String>) -> Diagnostic {
    at(code, message, pointer(["symbols", id, "arguments"]))
}

pub(super) fn brace_in_text(id: &str) -> Error {
    let message =
        format!("the text of `{}` has a `{{`, so `limits` and `requires` cannot be checked", excerpt(id));
    error(
        at("automaton-spec/ambiguous-texts", message, pointer(["symbols", id, "text"]))
            .allowed("texts without `{`, if some symbol has arguments and some `limits` or `requires`")
            .help("take the `{` out of the text and the `separator`"),
    )
}

pub(super) fn arguments_under_limits(id: &str) -> Error {
    let message = format!(
        "the arguments of `{}` need not be an object, so `limits` and `requires` cannot be checked",
        excerpt(id)
    );
    error(
        arguments("automaton-spec/ambiguous-texts", id, message)
            .help("give the schema `\"type\": \"object\"`"),
    )
}

pub(super) fn open_arguments(id: &str) -> Error {
    let message = format!(
        "the arguments of `{}` have members or items that must differ, so `limits` and `requires` cannot be checked",
        excerpt(id)
    );
    error(
        arguments("automaton-spec/arguments", id, message)
            .allowed("objects without further members, and arrays without `uniqueItems`")
            .help(
                "add `\"additionalProperties\": false` to the objects of the schema; plans take it as it is",
            ),
    )
}

pub(super) fn text_of_arguments(id: &str) -> Error {
    let message = format!("the text of `{}` does not say where its arguments are", excerpt(id));
    error(
        at("automaton-spec/arguments", message, pointer(["symbols", id, "text"]))
            .allowed("one `{}`, for the JSON of the arguments; and no `set` next to `arguments`")
            .help("leave `text` out: then the arguments follow the name; or put one `{}` into it"),
    )
}

pub(super) fn arguments_schema(id: &str, cause: &Error) -> Error {
    let diagnostic = cause.diagnostic();
    let inner = match diagnostic.place() {
        Place::Pointer(pointer) => pointer.clone(),
        _ => String::new(),
    };
    let place = format!("{}{inner}", pointer(["symbols", id, "arguments"]));
    Error::new(cause.kind(), diagnostic.clone().at(Place::Pointer(place)))
}

/// The cause of an error about a file, for another error: the operating system's message, if there is one, otherwise
/// the message and what was found.
pub(super) fn why_unreadable(error: &Error) -> String {
    let diagnostic = error.diagnostic();
    let found = || format!("{}: {}", diagnostic.message(), diagnostic.found_text().unwrap_or_default());
    diagnostic.cause_text().map_or_else(found, str::to_owned)
}

pub(super) fn arguments_file(id: &str, path: &str, cause: impl std::fmt::Display) -> Error {
    let message = format!("the schema of the arguments of `{}` cannot be read", excerpt(id));
    error(
        arguments("automaton-spec/arguments", id, message)
            .found(path)
            .cause(cause)
            .allowed("a JSON Schema as a table, or the path of a file in the folder of the spec")
            .help("correct the path, or write the schema into the spec"),
    )
}
