//! The errors of the automaton module: a constructor for each condition.

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};

/// Constructs that cannot contain token terminals and parts bounded in tokens.
#[derive(Clone, Copy)]
pub(in crate::automaton) enum Surroundings {
    Product,
    UniqueItems,
    Name,
    /// An object whose names must be distinct.
    NamedMembers,
}

grammata_base::errors! {
    pub(super) Grammar(place: Place) at(place);

    empty_language() = "automaton/empty-language", "the grammar has no words: nothing could ever be generated"
        help("give each recursive rule an alternative that ends, and check that constraints do not contradict");

    too_few_different(min: u32, most: u32) =
        "automaton/too-few-different", "a list needs more items than there are different ones"
        found("at least {min} items")
        allowed("at most {most}")
        help("lower the least number of items, or admit more values");

    too_few_names(min: u32, most: u32) =
        "automaton/too-few-names", "an object needs more members than there are names"
        found("at least {min} members")
        allowed("at most {most}")
        help("lower the least number of members, or admit more names");

    few_names_for_one(names: u32) =
        "automaton/few-names-for-one", "an object needs a member of few possible names, which further members might use up"
        found("{names} names")
        allowed("infinitely many names")
        help("list the names as members of their own");
}

grammata_base::errors! {
    pub(super) Grammar;

    cyclic_lockstep(rule: &str) = "automaton/cyclic-lockstep", "an intersection or complement contains itself"
        at(Place::Rule(rule.into()))
        allowed("operands that do not refer back to the intersection or complement")
        help("move the recursion outside of the intersection");

    left_recursive_rest() =
        "automaton/left-recursive-rest", "the rest of a member list begins with the list itself"
        help("let each further member begin with at least one byte");

    left_calls_remain() = "automaton/left-recursion", "left recursion was left over after lowering"
        help("this is a defect of this library; please report the grammar");

    not_lowered() = "automaton/not-lowered", "a part of the grammar was left for later and then not lowered"
        help("this is a defect of this library; please report the grammar");

    few_names_in_distinct(root: &str) =
        "automaton/few-names-in-items", "items that must differ contain objects whose further members have few possible names"
        at(Place::Rule(root.into())) help("list the names as members of their own");

    distinct_in_lockstep(root: &str) =
        "automaton/distinct-in-lockstep", "a list of different items, or an object whose names differ, is inside an intersection or complement"
        at(Place::Rule(root.into())) help("intersect the items or members instead");
}

grammata_base::errors! {
    Grammar;

    bounded_part(place: Place, message: String, help: &str) = "automaton/bounded-part", (message)
        at(place) help(help);
}

pub(super) fn token_terminal_within(place: Place, within: Surroundings, terminal: &str) -> Error {
    let (message, help) = match within {
        Surroundings::Product => (
            "a token terminal is inside an intersection or complement, whose operands read only bytes",
            "put it before or after the intersection, or intersect the parts that are text",
        ),
        Surroundings::UniqueItems => (
            "a token terminal is inside a list of different items, which are compared by their bytes",
            "put it before or after the list, or let items repeat",
        ),
        Surroundings::Name => (
            "a token terminal is inside a name of an object, and names are compared by their bytes",
            "let the name be text: any tokenisation of it is allowed",
        ),
        Surroundings::NamedMembers => (
            "a token terminal is inside an object whose names must differ, which are compared by their bytes",
            "put it before or after the object, or list the names of the object's members",
        ),
    };
    Error::new(
        ErrorKind::Grammar,
        Diagnostic::new("automaton/token-terminal", message).at(place).found(terminal).help(help),
    )
}

/// The error of a part bounded in tokens that is in a place where it is not allowed.
pub(super) fn bounded_part_within(place: Place, within: Surroundings) -> Error {
    let what = match within {
        Surroundings::Product => "an intersection or complement",
        Surroundings::UniqueItems => "a list of different items",
        Surroundings::Name => "a name of an object",
        Surroundings::NamedMembers => "an object whose names must differ",
    };
    bounded_part(
        place,
        format!("a part that is bounded in tokens is inside {what}"),
        "put it before or after that",
    )
}

/// The error of a part bounded in tokens that contains `has`, which is not allowed in it.
pub(super) fn within_bounded_part(place: Place, has: &str) -> Error {
    bounded_part(
        place,
        format!("a part that is bounded in tokens has {has} inside"),
        "put these before or after the part",
    )
}
