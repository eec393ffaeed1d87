//! The errors of the grammar module: a constructor for each condition.

use crate::diagnostic::{Diagnostic, Place, excerpt};
use crate::error::{Error, ErrorKind};

/// The message of a violation of invariant G8.
pub(super) const UNSOUND_GRAPH: &str = "a word graph that is not in order";

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

grammata_base::errors! {
    pub(super) Grammar;

    undefined_rule(name: &str) = "grammar/undefined-rule", "the rule `{name}` has no definition"
        at(Place::Rule(name.into())) help("define it with `GrammarBuilder::define`");

    crossed_bounds(min: u32, max: u32) = "grammar/crossed-bounds", "a repeat has its bounds crossed"
        found("at least {min}, at most {max}")
        allowed("a minimum that is not above the maximum")
        help("swap the bounds");

    no_tokens_for_part() = "grammar/no-tokens-for-part", "a part is bounded to no tokens"
        found("at most 0 tokens")
        allowed("at most 1 token or more")
        help("raise the bound, or leave the part out");

    empty_token_terminal() = "grammar/empty-token-terminal", "a set of tokens is empty"
        allowed("a name, an id, or a range of ids whose last is not below its first")
        help("list the allowed tokens, or leave the alternative out");

    invariant(name: &'static str, what: &str, place: Place) =
        "grammar/invariant", "invariant {name} does not hold: {what}"
        at(place) help("build grammars with `GrammarBuilder`; if you did, this is a defect of the front end");

    empty_trigger() = "grammar/empty-trigger", "a trigger or a forbidden string of free text is empty"
        found("\"\"")
        allowed("strings of at least one character")
        help("remove it; if text may end without a trigger, give what follows its end");

    trigger_twice(trigger: &str) = "grammar/trigger-twice", "a trigger of free text is given twice"
        found("`{}`", excerpt(trigger)) help("give it once, followed by a choice of its continuations");
}

pub(super) fn unsound_word_graph() -> Error {
    invariant("G8", UNSOUND_GRAPH, Place::Whole)
}

pub(super) fn trigger_never_comes(trigger: &str, kind: &str, earlier: &str) -> Error {
    let (trigger, earlier) = (excerpt(trigger), excerpt(earlier));
    error(
        Diagnostic::new("grammar/trigger-never-comes", format!("the trigger `{trigger}` can never occur"))
            .found(format!("the {kind} `{earlier}`, which ends inside it"))
            .allowed("triggers in which no other ends earlier, and that contain no forbidden string")
            .help("remove one of them, or let a choice of continuations follow the shorter one"),
    )
}
