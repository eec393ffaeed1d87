//! The errors and warnings of automaton specs.

use super::kind::Kind;
use super::parameter::{Parameter, ParameterType};
use super::place::pointer;
use crate::diagnostic::{Diagnostic, Place, did_you_mean, did_you_mean_field, excerpt};
use crate::error::{Error, ErrorKind};
use crate::limits::{LimitKind, Limits};

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// Up to 12 names in backquotes, and the number of the other names; if there are no names, words that say so.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(SHOWN).map(|name| format!("`{}`", excerpt(name))).collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => "none: there are no such names here".to_owned(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The name of the kind with its indefinite article.
fn a(kind: Kind) -> String {
    format!("{} `{kind}`", if kind == Kind::Nfa { "an" } else { "a" })
}

grammata_base::errors! {
    Grammar;

    unreadable(notation: &str, cause: &str, place: Place) =
        "automaton-spec/unreadable", "the {notation} cannot be read"
        at(place)
        cause(cause)
        help(did_you_mean_field(
            cause,
            "correct it there; the documentation of `automaton_spec` lists the fields",
        ));
}

grammata_base::errors! {
    pub(super) Grammar;

    missing(field: &str, kind: Kind) = "automaton-spec/missing", ("{} needs `{field}`", a(kind))
        at(Place::Pointer(String::new()))
        help(match kind {
            Kind::Cfg => "name the head with which derivations start",
            _ => "name the state in which the automaton starts",
        });

    misplaced_field(field: &str, kind: Kind, allowed: &[&str]) =
        "automaton-spec/misplaced", ("{} has no `{field}`", a(kind))
        at(Place::Pointer(format!("/{field}")))
        allowed("for this kind: {}", list(allowed.iter().copied()))
        help("take the field out, or change `kind`");

    stack_without_stack(field: &str, kind: Kind, transition: usize) =
        "automaton-spec/misplaced", ("{} has no stack, so no `{field}`", a(kind))
        at(Place::Pointer(format!("/transitions/{transition}/{field}")))
        help("take the field out, or make it a `pda`");

    state_twice(name: &str, index: usize) =
        "automaton-spec/twice", ("the state `{}` is listed twice", excerpt(name))
        at(Place::Pointer(format!("/states/{index}"))) help("list each state once");

    no_input(transition: usize) =
        "automaton-spec/no-input", "a transition whose list of inputs is empty is never taken"
        at(Place::Pointer(format!("/transitions/{transition}/input")))
        help("list symbols; or leave `input` out, for a transition that reads nothing");

    reads_nothing(transition: usize, from: &str) =
        "automaton-spec/nondeterministic", ("a transition from `{}` reads nothing, which a `dfa` does not allow", excerpt(from))
        at(Place::Pointer(format!("/transitions/{transition}")))
        help("give it an `input`, or make it an `nfa`");

    nothing_accepts(kind: Kind) = "automaton-spec/no-accepting-state", "no state of the `{kind}` accepts"
        at(Place::Pointer("/accepting".to_owned()))
        help(match kind {
            Kind::Pda => "list the states in `accepting`, or set `accept_by = \"empty-stack\"`",
            _ => "list the states in `accepting`",
        });

    accepting_of_no_use() =
        "automaton-spec/misplaced", "`accepting` has no effect: the automaton accepts by empty stack in every state"
        at(Place::Pointer("/accepting".to_owned()))
        allowed("`accept_by` of `final-state`, `both` or `either` with accepting states")
        help("take `accepting` out, or change `accept_by`");

    head_is_symbol(name: &str, place: &str) =
        "automaton-spec/twice", ("`{}` is both a symbol and the head of a rule", excerpt(name))
        at(Place::Pointer(place.to_owned())) help("give one of them another name");

    unproductive(head: &str) =
        "automaton-spec/unproductive", ("`{}` derives no word: every body of it needs something that never ends", excerpt(head))
        at(Place::Rule(head.to_owned())) help("give it a body of symbols, or of heads that derive some word");

    empty_language() =
        "automaton-spec/empty-language", "no word is accepted: no path leads from the start to an end"
        at(Place::Pointer("/start".to_owned()))
        help("add the missing transitions or rules; with parameters, check that their values leave a path");

    unreachable_states<'a>(names: impl IntoIterator<Item = &'a str>) =
        Diagnostic "automaton-spec/unreachable", "no transitions lead from the start to some of the states"
        at(Place::Pointer("/transitions".to_owned()))
        found(list(names))
        help("they are left out; add transitions to them, or take them away");

    unreachable_rules<'a>(heads: impl IntoIterator<Item = &'a str>) =
        Diagnostic "automaton-spec/unreachable", "no derivation from the start reaches some of the heads"
        at(Place::Pointer("/rules".to_owned()))
        found(list(heads))
        help("their rules are left out; name them in a body, or take them away");

    states_without_end<'a>(names: impl IntoIterator<Item = &'a str>) =
        Diagnostic "automaton-spec/no-end", "no transitions lead from some of the states to an accepting state"
        at(Place::Pointer("/transitions".to_owned()))
        found(list(names))
        help("they are left out; add transitions from them, list them in `accepting`, or take them away");

    unused_symbols<'a>(names: impl IntoIterator<Item = &'a str>) =
        Diagnostic "automaton-spec/unused", "some symbols are in no word"
        at(Place::Pointer("/symbols".to_owned()))
        found(list(names))
        help("name them in a transition or a rule that is reached from the start, or take them away");

    unmade_input(symbol: &str, input: &str, number: usize) =
        Diagnostic "automaton-spec/unmade-input", ("no symbol makes `{}`, an input of `{}`", excerpt(input), excerpt(symbol))
        at(Place::Pointer(pointer(["symbols", symbol, "inputs", &number.to_string()])))
        help("list it among the `outputs` of the symbol that makes it, or take it out of `inputs`");

    limited_twice(name: &str, place: String) =
        "automaton-spec/twice", ("`{}` has two limits that do not combine", excerpt(name))
        at(Place::Pointer(place))
        allowed("one of `at_most_once`, `exactly_once` and `at_most`; `at_least` with `at_most_once` or `at_most`")
        help("list it once");

    required_but_unused(name: &str, place: String) =
        "automaton-spec/empty-language", ("`{}` must be in every word once, but is in none", excerpt(name))
        at(Place::Pointer(place))
        help("use the symbol on some way from the start to an end, or take the limit away");

    empty_text(name: &str) =
        "automaton-spec/ambiguous-texts", ("the symbol `{}` spells nothing, so `limits` cannot be checked", excerpt(name))
        at(Place::Pointer(pointer(["symbols", name]))) help("give it a text, or take `limits` out");

    equal_texts(first: &str, second: &str, text: &str) =
        "automaton-spec/ambiguous-texts", ("the symbols `{}` and `{}` spell the same, so `limits` cannot be checked", excerpt(first), excerpt(second))
        at(Place::Pointer(pointer(["symbols", second])))
        found(text)
        help("give them different texts, or use one symbol");

    header_without_end() = "automaton-spec/header", "the header with parameters has no end"
        at(Place::LineColumn { line: 1, column: 1 })
        allowed("a line `# ---` after the `[parameters]` table")
        help("put the line `# ---` between the parameters and the spec");

    parameter_name(name: &str) = "automaton-spec/parameter", "the name of a parameter is not an identifier"
        at(Place::Pointer(pointer(["parameters", name])))
        found(name)
        allowed("letters of ASCII, digits and `_`, not beginning with a digit")
        help("rename the parameter");

    parameter_default(name: &str, kind: Option<ParameterType>, value: &toml::Value) =
        "automaton-spec/parameter", "the default of a parameter has the wrong type"
        at(Place::Pointer(pointer(["parameters", name, "default"])))
        found(value.to_string())
        allowed(match kind {
            Some(kind) => format!("a value of type {kind}"),
            None => "an integer, a boolean, a string or a list of strings".to_owned(),
        })
        help("change the default, or `type`");

    parameter_bounds(name: &str, kind: ParameterType) =
        "automaton-spec/parameter", "a parameter of type {kind} has `min` or `max`"
        at(Place::Pointer(pointer(["parameters", name])))
        allowed("`min` and `max` for integers")
        help("list the values in `allowed` instead");

    parameter_allowed(name: &str, kind: ParameterType) =
        "automaton-spec/parameter", "an allowed value of a parameter has the wrong type"
        at(Place::Pointer(pointer(["parameters", name, "allowed"])))
        allowed("values of type {kind}")
        help("change the values, or the default's type");

    parameter_value(parameter: &Parameter, found: &str) =
        "automaton-spec/parameter", ("invalid value for the parameter `{}`", parameter.name)
        at(Place::Pointer(format!("/parameters/{}", parameter.name)))
        found(found)
        allowed(parameter.describe_allowed())
        help("choose a value that is allowed");

    unknown_parameter(name: &str, parameters: &[Parameter]) =
        "automaton-spec/parameter", ("no such parameter: `{}`", excerpt(name))
        at(Place::Pointer("/parameters".to_owned()))
        allowed(list(parameters.iter().map(|parameter| parameter.name.as_str())))
        help("correct the name, or declare the parameter in the header");

    template(found: &str, place: Place) = "automaton-spec/template", "the template cannot be rendered"
        at(place)
        cause(found)
        help("correct the tag on that line; `{{{{`, `{{%` and `{{#` begin tags everywhere after the header");

    crossed_limits(name: &str, place: String) =
        "automaton-spec/empty-language", ("`{}` must occur more often than it may", excerpt(name))
        at(Place::Pointer(place))
        help("let the number under `at_least` be at most that under `at_most`, and at most 1 under `at_most_once`");

    group_is_symbol(name: &str) = "automaton-spec/twice", ("`{}` is both a symbol and a group", excerpt(name))
        at(Place::Pointer(pointer(["symbols", name])))
        help("give the group another name: limits name symbols and groups alike");

    bad_set(name: &str, wrong: &str) = "automaton-spec/set", (wrong)
        at(Place::Pointer(pointer(["symbols", name, "set"])))
        allowed("`{{ of = [texts], min = 0, max = all, separator = \", \", empty = \"none\", aliases = {{ ELEMENT = [texts] }} }}`")
        help("correct the set, or the symbol's `text`");

    bad_phrase(wrong: &str, place: String) = "automaton-spec/phrase", (wrong)
        at(Place::Pointer(place))
        allowed("`{{ text = TEXT, steps = [symbols] }}`, with `{{}}` in the text if one step is set-valued")
        help("correct the text or the steps; without steps, the phrase is a note");

    set_under_limits(name: &str) =
        "automaton-spec/plans-only", ("the symbol `{}` is set-valued, so `limits` cannot be checked on texts", excerpt(name))
        at(Place::Pointer(pointer(["symbols", name, "set"])))
        allowed("sets, or limits and `requires`; plans may have both")
        help("use the spec with `grammata plan`, or take one of them out");

    token_under_limits(name: &str) =
        "automaton-spec/token-under-limits", ("the symbol `{}` is a token, so `limits` and `requires`, which read texts, cannot be checked", excerpt(name))
        at(Place::Pointer(pointer(["symbols", name, "token"])))
        allowed("tokens, or limits and `requires`")
        help("say it with states, or give the symbol a text");

    token_in_plan(name: &str) =
        "automaton-spec/token-in-plan", ("the action `{}` is a token: plans are made of texts", excerpt(name))
        at(Place::Pointer(pointer(["symbols", name, "token"])))
        help("give the action a text, or use the spec as a grammar");

    free_text_under_limits(name: &str) =
        "automaton-spec/free-text-under-limits", ("the symbol `{}` is free text, which may contain other symbols, so `limits` and `requires` cannot be checked", excerpt(name))
        at(free_text_of(name))
        allowed("free text, or limits and `requires`")
        help("say it with states, or give the symbol a text");

    free_text_in_plan(name: &str) =
        "automaton-spec/free-text-in-plan", ("the action `{}` is free text: plans are made of known texts", excerpt(name))
        at(free_text_of(name)) help("give the action a text, or use the spec as a grammar");

    cost_in_text() = "automaton-spec/plans-only", "a bound on the cost of plans cannot be checked on texts"
        at(Place::Pointer("/limits/max_cost".to_owned()))
        help("use the spec with `grammata plan`, or take `max_cost` out");

    misplaced_templates() = "automaton-spec/misplaced", "templates belong in the header, if there is one"
        at(Place::Pointer("/templates".to_owned())) help("move `[templates]` before the line `# ---`");

    too_many_actions(found: usize, most: usize) =
        "automaton-spec/too-many-actions", "there are too many actions for a plan"
        at(Place::Pointer("/symbols".to_owned()))
        found(found.to_string())
        allowed("at most {most} in use")
        help("split the spec, or put actions that are alike into a set");
}

pub(super) fn toml(text: &str, cause: &toml::de::Error) -> Error {
    let place = Place::in_text(text, cause.span().map_or(0, |span| span.start));
    unreadable("TOML", cause.message(), place)
}

pub(super) fn json(text: &str, cause: &serde_json::Error) -> Error {
    let message = cause.to_string();
    let place = match (cause.line(), cause.column()) {
        (0, _) => Place::in_text(text, 0),
        (line, column) => {
            // serde_json counts columns in bytes from 1, and reports the end of a line as column 0 of the next line
            let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let end = start + column.saturating_sub(1);
            // for an unknown field, serde_json reports the end of its name; the error points to its start
            let name = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
            let begin =
                name.and_then(|name| end.checked_sub(name.len() + 1).filter(|&at| is_quoted(text, at, name)));
            Place::in_text(text, begin.unwrap_or(end))
        }
    };
    let message = message.split(" at line ").next().unwrap_or_default();
    unreadable("JSON", message, place)
}

/// Whether `name` in double quotes begins at byte `at` of `text`.
fn is_quoted(text: &str, at: usize, name: &str) -> bool {
    let rest = text.get(at..).and_then(|rest| rest.strip_prefix('"'));
    rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('"'))
}

pub(super) fn undefined<'a>(
    what: &str,
    name: &str,
    place: String,
    known: impl IntoIterator<Item = &'a str>,
) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let otherwise = match what {
        "symbol" => "add it to `symbols`, or correct the name",
        "state" => "a state must accept, have a transition that leaves it, or be listed in `states`",
        "stack symbol" => "a stack symbol is `stack_start`, or is pushed by a transition",
        "head" => "write rules for it, or correct the name",
        "action, group, flag or fact" => {
            "correct the name; a flag is set by `effects` or an outcome, or declared in `facts`"
        }
        _ if place.starts_with("/limits") => "a name in `limits` is a symbol or a group",
        _ => "a name in a body is a symbol or the head of a rule",
    };
    error(
        Diagnostic::new("automaton-spec/undefined", format!("no such {what}: `{}`", excerpt(name)))
            .at(Place::Pointer(place))
            .help(did_you_mean(name, known.iter().copied(), otherwise))
            .allowed(list(known)),
    )
}

pub(super) fn nondeterministic(from: &str, symbol: &str, transitions: [usize; 2], to: [&str; 2]) -> Error {
    let message = format!("two transitions of a `dfa` leave `{}` on `{}`", excerpt(from), excerpt(symbol));
    let [first, second] = transitions;
    error(
        Diagnostic::new("automaton-spec/nondeterministic", message)
            .at(Place::Pointer(format!("/transitions/{second}")))
            .found(format!("/transitions/{first} to `{}`, /transitions/{second} to `{}`", to[0], to[1]))
            .allowed("one transition for each state and symbol")
            .help("take one of them out, or make it an `nfa`"),
    )
}

pub(super) fn ambiguous_texts(readings: &[Vec<&str>; 2]) -> Error {
    let [first, second] = readings.each_ref().map(|names| list(names.iter().copied()));
    let message = "a text can be read as symbols in two ways, so `limits` cannot be checked";
    error(
        Diagnostic::new("automaton-spec/ambiguous-texts", message)
            .at(Place::Pointer("/symbols".to_owned()))
            .found(format!("{first}; or {second}"))
            .allowed("texts that, with the separator, can be read in one way only")
            .help("choose a `separator` that is in no text, or change the texts"),
    )
}

pub(super) fn free_text_of(name: &str) -> Place {
    Place::Pointer(pointer(["symbols", name, "free_text"]))
}

/// Places an error about an exceeded limit at the field `limits` of a spec. The error was caused by checking those
/// limits.
pub(super) fn at_limits(cause: &Error) -> Error {
    Error::new(cause.kind(), cause.diagnostic().clone().at(Place::Pointer("/limits".to_owned())))
}

pub(super) fn long_bodies(head: &str, limit: usize) -> Error {
    let found = format!(
        "more items of bodies, each counted once for each symbol in its body, up to `{}`",
        excerpt(head)
    );
    let error = Limits::exceeded(LimitKind::GrammarNodes, limit, found);
    Error::new(error.kind(), error.diagnostic().clone().at(Place::Pointer("/rules".to_owned())))
}
