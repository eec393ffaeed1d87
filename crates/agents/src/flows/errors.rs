//! The errors of flows.

use grammata::diagnostic::{Diagnostic, Place, did_you_mean, did_you_mean_field, excerpt};
use grammata::error::Error;

/// The API that could make an input.
pub(super) enum Maker<'a> {
    Nobody,
    /// An API outside of the flow.
    Elsewhere(&'a str),
    /// An API that occurs later in the flow.
    Later(&'a str),
}

grammata_base::errors! {
    pub(super) Grammar;

    toml(text: &str, cause: &toml::de::Error) = "flow/unreadable", "the domain cannot be read"
        at(cause.span().map_or(Place::Whole, |span| Place::in_text(text, span.start)))
        cause(cause.message())
        allowed("`kind`, `name`, `prelude`, `end`, `given`, `allow`, `[apis.NAME]`, `[steps]` and `[[flows]]`")
        help(did_you_mean_field(cause.message(), "correct it there"));

    value(pointer: String, cause: &toml::de::Error) =
        "flow/value", "an API, a step or an entry of a flow cannot be read"
        cause(cause.message())
        allowed("of an API `inputs`, `outputs`, `outcomes`, `returns`, `description`, `aliases`; of a step `text`, `apis`; of an \
        entry of a flow the id of a step, `step` with `optional`, `repeat`, `after`, or `either`")
        help(did_you_mean_field(cause.message(), "correct it there"))
        at(Place::Pointer(pointer));

    unknown<'k>(what: &str, name: &str, pointer: String, known: impl IntoIterator<Item = &'k str>) =
        "flow/unknown-name", "unknown {what}"
        found(name)
        help(did_you_mean(name, known, format!("declare the {what}, or correct its name")))
        at(Place::Pointer(pointer));

    name(name: &str, pointer: String) = "flow/name", "invalid name of an API"
        found(excerpt(name))
        allowed("a letter, then up to 63 letters, digits and `_`")
        help("calls are written `Name()`: choose such a name")
        at(Place::Pointer(pointer));

    outcome_name(name: &str, pointer: String) = "flow/outcome-name", "invalid name of an outcome"
        found(excerpt(name))
        allowed("a letter, then up to 63 letters, digits and `_`")
        help("answers are written `Name()=outcome`: choose such a name")
        at(Place::Pointer(pointer));

    fixed_outcomes(api: &str) = "flow/fixed-outcomes", "an API of the prelude or the end has outcomes"
        found("`{api}`")
        allowed("outcomes of APIs after the prelude and before the end")
        help("leave the outcomes out, or move the API to a step of its own")
        at(Place::Pointer(format!("/apis/{api}/outcomes")));

    /// Returns the error that no plan can be finished whatever the APIs answer.
    unanswered(api: &str, outcome: &str) =
        "flow/unanswered", "some answer of an API leaves no plan that can be finished"
        found("no plan that ends has `{api}()={outcome}`")
        allowed("for each outcome of a required API, steps that its data allow")
        help("add an alternative (`either`) or an optional step for that answer, or leave the outcome out")
        at(Place::Pointer(format!("/apis/{api}/outcomes/{outcome}")));

    /// Returns the error for an invalid answer that is given in advance.
    answer(found: &str, known: &[String]) = Usage "flow/answer", "unknown answer of an API"
        found(excerpt(found))
        allowed(if known.is_empty() { "none: no API has outcomes".to_owned() } else { known.join(", ") })
        help(did_you_mean(found, known.iter().map(String::as_str), "name an API and one of its outcomes"));

    twice(what: &str, name: &str, pointer: String) = "flow/twice", "{what} occurs twice"
        found(name) help("leave one out, or rename one") at(Place::Pointer(pointer));

    /// Returns the error for calls that name makers at a level at which an input may have no maker.
    arguments(level: u8) =
        Usage "flow/arguments", "calls can name the makers of their inputs only if each input has one"
        found("level {level}")
        allowed("level 4, 5 or 6")
        help("raise the level, or leave the brackets empty");

    /// Returns the error for a name of data that calls cannot contain.
    data_name(name: &str) = Usage "flow/arguments", "calls cannot name these data in their brackets"
        found(excerpt(name))
        allowed("letters, digits, `_`, `-` and `.`")
        help("rename the data, or leave the brackets empty");

    /// Returns the error for a name that merged domains declare differently.
    redefined(what: &str, name: &str, domain: &str, pointer: String) =
        "flow/api-redefined", "{what} is declared differently by two domains"
        found("`{}` of `{}`", excerpt(name), excerpt(domain))
        allowed("equal declarations, one prelude, and ends that each need one thing")
        help("keep the names of the domains separate (`--apart`), or rename one")
        at(Place::Pointer(pointer));

    empty_alternatives(api: &str, pointer: String) =
        "flow/empty-alternatives", "an input of `{api}` has no alternatives"
        found("`[]`")
        allowed("a name, or a list of alternative names")
        help("name the data for the input, or leave the input out")
        at(Place::Pointer(pointer));

    end(found: &str, pointer: String) =
        "flow/end", "a flow must end with the API `end`, and use it nowhere else"
        found(found)
        allowed("`end` as the last API of the last step, once")
        help("move the API to the end of the flow, or name another one as `end`")
        at(Place::Pointer(pointer));

    prelude(flow: &str, pointer: String) = "flow/prelude", "the flow `{flow}` does not begin with the prelude"
        allowed("the step `prelude` first, and steps after it")
        help("put the prelude before the other steps")
        at(Place::Pointer(pointer));

    /// Returns the error for an input that no earlier call makes. `maker` says which API could make it.
    unprovided(flow: &str, api: &str, input: &str, maker: Maker<'_>, pointer: String) =
        "flow/unprovided-input", "in the flow `{flow}` nothing makes an input of `{api}`"
        found(input)
        help(match maker {
            Maker::Nobody => "no API makes it: add one, or list it under the flow's `assumes`".to_owned(),
            Maker::Elsewhere(api) => format!("`{api}` makes it: put it into an earlier step of the flow"),
            Maker::Later(api) => format!("`{api}` makes it, but comes after it: change the order of the steps"),
        })
        at(Place::Pointer(pointer));

    cycle(flow: &str, cycle: &str, pointer: String) =
        "flow/cyclic-dependency", "cyclic dependency of APIs in the flow `{flow}`"
        found(cycle)
        allowed("APIs whose inputs are made before them")
        help("let another API make one of the inputs, or list it under the flow's `assumes`")
        at(Place::Pointer(pointer));

    empty_step(step: &str) =
        Diagnostic "flow/empty-step", "the step `{step}` has no APIs: plans do not show it"
        at(Place::Pointer(format!("/steps/{step}/apis"))) help("add the API that carries it out");

    level(level: u8) = Usage "flow/level", "plans of this level are not sequences of the domain's APIs"
        found("level {level}") allowed("levels 2 to 6, and 1 for texts") help("take a level from 2 to 6");

    intents(found: usize, flows: usize) = Usage "flow/intents", "a plan cannot serve this number of intents"
        found(found.to_string())
        allowed("from 1 to {flows}, the number of flows")
        help("each intent is served by another flow: take fewer intents");

    stated() = Usage "flow/stated", "thoughts that state a step need plans that keep steps"
        allowed("`stated` at level 6") help("take level 6, or thoughts that are `free`");

    line_break(what: &str, name: &str) = "flow/line", "{what} of `{name}` is not one line without brackets"
        allowed("at least one character, none of line break, `[` and `]`")
        help("thoughts quote it on a line between `[thought]` and `[API]`: rewrite it");

    rounds(pointer: String) = "flow/repeat", "a step cannot be repeated so often"
        allowed("`min` from 0 (1 by default), and `max` not less than `min` and at least 1, or none")
        help("correct the bounds")
        at(Place::Pointer(pointer));

    too_deep(most: usize, pointer: String) = "flow/depth", "alternatives are nested too deeply"
        allowed("at most {most} levels of `either`")
        help("put the inner alternatives into flows of their own")
        at(Place::Pointer(pointer));

    no_alternatives(pointer: String) = "flow/no-alternatives", "`either` has no alternatives"
        found("`[]`")
        allowed("a list of lists of entries")
        help("list the alternatives, or leave the entry out")
        at(Place::Pointer(pointer));

    nested_after(pointer: String) =
        "flow/nested-after", "`after` orders the entries of a flow, not those of an alternative"
        help("leave `after` out: the entries of an alternative come in the order of the list")
        at(Place::Pointer(pointer));

    cyclic_steps(flow: &str, circle: &str, pointer: String) =
        "flow/cyclic-steps", "cyclic order of steps in the flow `{flow}`"
        found(circle)
        allowed("lists `after` without a cycle")
        help("take one of these steps out of the other's `after`")
        at(Place::Pointer(pointer));

    infeasible(flow: &str, pointer: String) = "flow/infeasible", "no plan follows the flow `{flow}`"
        help("whatever is chosen, an API lacks data: add a step that makes them, or list them under `assumes`")
        at(Place::Pointer(pointer));

    never_left_out(flow: &str, step: &str, pointer: String) =
        Diagnostic "flow/never-left-out", "no plan of the flow `{flow}` leaves the step `{step}` out: later APIs need its data"
        at(Place::Pointer(pointer)) help("leave `optional` out, or let another step make the data");

    never_taken(flow: &str, pointer: String) =
        Diagnostic "flow/never-taken", "no plan of the flow `{flow}` takes this alternative: it leaves an API without data"
        at(Place::Pointer(pointer)) help("let the alternative make the data, or leave it out");

    budget(found: usize, least: Option<usize>) =
        Usage "flow/budget", "no plan ends within this number of tokens"
        found("{found} tokens")
        allowed(least.map_or("a vocabulary that spells plans".to_owned(), |least| format!("at least {least}")))
        help("allow more tokens");
}

/// Returns the error for the number of a flow that the domain does not have.
pub fn unknown_flow(flow: usize) -> Error {
    unknown("flow", &flow.to_string(), "/flows".to_owned(), [])
}

/// Returns the error for a call of an API that the domain does not have.
pub fn unknown_api<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Error {
    unknown("API", name, "/apis".to_owned(), known)
}

pub(super) fn same_words((first, second): (&str, &str), pointer: String) -> Diagnostic {
    Diagnostic::new("flow/same-plans", format!("the flows `{first}` and `{second}` have the same plans"))
        .at(Place::Pointer(pointer))
        .help("a plan cannot show which of them it follows: merge them if that matters")
}
