//! The errors of flows.

use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt};
use crate::error::{Error, ErrorKind};

fn at(pointer: String, diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic.at(Place::Pointer(pointer)))
}

pub(super) fn toml(text: &str, cause: &toml::de::Error) -> Error {
    let place = cause.span().map_or(Place::Whole, |span| Place::in_text(text, span.start));
    let diagnostic = Diagnostic::new("flow/unreadable", "the domain cannot be read")
        .at(place)
        .cause(cause.message())
        .allowed("`kind`, `name`, `prelude`, `end`, `[apis.NAME]`, `[steps]` and `[[flows]]`")
        .help("correct it there; `grammars/flows` has domains to compare with");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn value(pointer: String, cause: &toml::de::Error) -> Error {
    at(
        pointer,
        Diagnostic::new("flow/value", "an API or a step is not as it should be")
            .cause(cause.message())
            .allowed("of an API `inputs`, `outputs`, `returns`, `description`, `aliases`; of a step `text`, `apis`")
            .help("correct it there; `grammars/flows` has domains to compare with"),
    )
}

pub(super) fn unknown<'k>(
    what: &str,
    name: &str,
    pointer: String,
    known: impl IntoIterator<Item = &'k str>,
) -> Error {
    let help = did_you_mean(name, known, format!("declare the {what}, or correct its name"));
    let diagnostic = Diagnostic::new("flow/unknown-name", format!("there is no such {what}"));
    at(pointer, diagnostic.found(name).help(help))
}

pub(super) fn name(name: &str, pointer: String) -> Error {
    at(
        pointer,
        Diagnostic::new("flow/name", "an API cannot have this name")
            .found(excerpt(name))
            .allowed("a letter, then up to 63 letters, digits and `_`")
            .help("calls are written `Name()`: choose such a name"),
    )
}

pub(super) fn twice(what: &str, name: &str, pointer: String) -> Error {
    at(
        pointer,
        Diagnostic::new("flow/twice", format!("{what} is there twice"))
            .found(name)
            .help("leave one out, or rename one"),
    )
}

pub(super) fn empty_alternatives(api: &str, pointer: String) -> Error {
    at(
        pointer,
        Diagnostic::new("flow/empty-alternatives", format!("an input of `{api}` has no alternatives"))
            .found("`[]`")
            .allowed("a name, or a list of names any of which serves")
            .help("name what serves the input, or leave the input out"),
    )
}

pub(super) fn end(found: &str, pointer: String) -> Error {
    at(
        pointer,
        Diagnostic::new("flow/end", "a flow ends with the API `end`, which comes nowhere else")
            .found(found)
            .allowed("`end` as the last API of the last step, once")
            .help("move the API to the end of the flow, or name another one as `end`"),
    )
}

pub(super) fn prelude(flow: &str, pointer: String) -> Error {
    at(
        pointer,
        Diagnostic::new("flow/prelude", format!("the flow `{flow}` does not begin with the prelude"))
            .allowed("the step `prelude` first, and steps after it")
            .help("put the prelude before the other steps"),
    )
}

/// An input that nothing before makes. `maker` says who could.
pub(super) fn unprovided(flow: &str, api: &str, input: &str, maker: Maker<'_>, pointer: String) -> Error {
    let help = match maker {
        Maker::Nobody => "no API makes it: add one, or list it under the flow's `assumes`".to_owned(),
        Maker::Elsewhere(api) => format!("`{api}` makes it: put it into an earlier step of the flow"),
        Maker::Later(api) => format!("`{api}` makes it, but comes after it: change the order of the steps"),
    };
    at(
        pointer,
        Diagnostic::new(
            "flow/unprovided-input",
            format!("in the flow `{flow}` nothing makes an input of `{api}`"),
        )
        .found(input)
        .help(help),
    )
}

/// Who makes an input.
pub(super) enum Maker<'a> {
    Nobody,
    /// An API that the flow does not have.
    Elsewhere(&'a str),
    /// An API that comes later in the flow.
    Later(&'a str),
}

pub(super) fn cycle(flow: &str, cycle: &str, pointer: String) -> Error {
    at(
        pointer,
        Diagnostic::new("flow/cyclic-dependency", format!("APIs of the flow `{flow}` need each other"))
            .found(cycle)
            .allowed("APIs whose inputs are made before them")
            .help("let another API make one of the inputs, or list it under the flow's `assumes`"),
    )
}

pub(super) fn empty_step(step: &str) -> Diagnostic {
    Diagnostic::new("flow/empty-step", format!("the step `{step}` has no APIs: plans do not show it"))
        .at(Place::Pointer(format!("/steps/{step}/apis")))
        .help("add the API that carries it out")
}

pub(super) fn infinite(level: u8) -> Error {
    let diagnostic =
        Diagnostic::new("flow/infinite-level", "plans of this level have no bound on their length")
            .found(format!("level {level}"))
            .allowed("levels 3 to 6")
            .help("take a level whose automaton is finite");
    Error::new(ErrorKind::Usage, diagnostic)
}
