//! The errors of masks.

use super::distance::Distance;
use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt};
use crate::error::{Error, ErrorKind};
use crate::grammar::TokenTerminal;
use crate::vocabulary::{TokenId, Vocabulary};

grammata_base::errors! {
    pub(super) Usage;

    /// `mask/stale-configuration`: a configuration id of dropped tables was used with the tables that replaced them.
    stale_configuration() =
        "mask/stale-configuration", "a configuration of tables that were dropped was about to be used"
        help("this is a defect of this library; please report the grammar");

    token_range(first: u32, last: u32, width: usize) =
        Grammar "mask/token-range", "a token terminal has ids that the vocabulary does not have"
        found(if first == last { format!("the id {last}") } else { format!("the ids {first} to {last}") })
        allowed("ids below {width}, the number of the model's logits")
        help("ids belong to one tokenizer: name special tokens by their names where you can");

    part_too_short(most: u32, distance: Distance, place: Place) =
        Grammar "mask/part-bound", "a part may not be able to end within its bound of tokens"
        at(place)
        found("at most {most} tokens")
        allowed(match distance {
            Distance::Exact(least) => format!("a bound of at least {least}"),
            Distance::AtMost(known) => format!("a bound of {known}, the least known to suffice"),
            Distance::Unreachable => "none: no tokens of the vocabulary spell the part".into(),
            Distance::Unknown => "a part whose completion is found within `completion_search`".into(),
        })
        help("raise the bound of the part");

    no_tokens(terminal: &TokenTerminal) =
        Grammar "mask/no-tokens", "a token terminal has no token of the vocabulary"
        found(terminal.to_string())
        help("end-of-sequence tokens are in a set only if it lists them; list fewer tokens to leave out");

    no_end_tokens() = "mask/no-end-tokens", "no end tokens are given"
        found("an empty list")
        allowed("one token id or more")
        help("leave the list out to end texts with the vocabulary's end-of-sequence tokens");

    end_token_range(token: TokenId, width: usize) =
        "mask/end-token-range", "an end token lies outside the vocabulary"
        found(token.to_string())
        allowed("ids below {width}, the number of the model's logits")
        help("ids belong to one tokenizer: check that the request is meant for this model");
}

pub(super) fn unknown_token(name: &str, vocabulary: &Vocabulary) -> Error {
    let specials = vocabulary.specials().map(|(_, name)| name);
    let help = did_you_mean(name, specials, "`grammata vocab` lists the special tokens of a tokenizer");
    Error::new(
        ErrorKind::Grammar,
        Diagnostic::new("mask/unknown-token", format!("the vocabulary has no token `{}`", excerpt(name)))
            .allowed("the name of a special token, or the text of an ordinary one")
            .help(help),
    )
}
