//! The errors of the matcher.

use super::explanation::{Explanation, show_byte};
use crate::diagnostic::{Diagnostic, Place, excerpt, excerpt_bytes};
use crate::error::{Error, ErrorKind};
use crate::mask::Distance;
use crate::vocabulary::{TokenId, Vocabulary};

pub(super) fn rejected(explanation: &Explanation) -> Error {
    rejected_as(found(explanation), explanation)
}

fn found(explanation: &Explanation) -> String {
    match explanation.found() {
        Some(byte) => format!("{} after {:?}", show_byte(byte), excerpt_bytes(explanation.accepted_tail())),
        None => "the end of the text".into(),
    }
}

grammata_base::errors! {
    Rejected;

    rejected_as(found: String, explanation: &Explanation) = "matcher/rejected", "the text leaves the grammar"
        at(Place::Byte(explanation.position()))
        found(found)
        allowed(explanation.expected_text())
        help("offer only tokens that the mask allows");
}

grammata_base::errors! {
    pub(super) Rejected;

    after_end(length: usize) = "matcher/ended", "the sequence has ended: nothing may follow"
        at(Place::Byte(length)) help("start a new matcher, or roll back the end-of-sequence token");

    not_text(vocabulary: &Vocabulary, token: TokenId, length: usize) =
        "matcher/not-text", "the token has no bytes: it cannot be part of a text"
        at(Place::Byte(length))
        found(show_token(vocabulary, token))
        allowed("ordinary tokens, and end-of-sequence tokens where the text may end")
        help("offer only tokens that the mask allows");

    /// `matcher/part-bound`: after a token or text, a part could not end within its bound. `part` is the name of the
    /// open part, its bound in tokens, and how many tokens are left for it; `None` if no part is open.
    part_bound(part: Option<(&str, u32, usize)>, length: usize) =
        "matcher/part-bound", "a part of the grammar could not end within its bound of tokens"
        at(Place::Byte(length))
        allowed(match part {
            Some((name, most, left)) => {
                format!("tokens after which `{}` can end: {left} of its {most} tokens are left", excerpt(name))
            }
            None => "tokens after which a part that begins can end within its bound".into(),
        })
        help("offer only tokens that the mask allows");

    /// `events/not-json`: a text whose events are asked for is no JSON text. `at` is the position of the byte `found`.
    not_json(at: usize, found: u8, allowed: &str) =
        Grammar "events/not-json", "the text is not JSON, so its values cannot be reported"
        at(Place::Byte(at))
        found(show_byte(found))
        allowed("{allowed}")
        help("ask for events of JSON only with grammars whose words are JSON texts, such as JSON Schemas");

    text_too_long(length: usize) = Limit "events/too-long", "the text is too long for events"
        at(Place::Byte(length))
        allowed("texts of less than 4 GiB");

    unknown_rule(name: &str) = Grammar "events/unknown-rule", ("the grammar has no rule `{}`", excerpt(name))
        help("name rules as in the source of the grammar");

    tokens_beside_rules() =
        Grammar "events/token-terminals", "rules cannot be reported in a grammar with token terminals"
        help("write the tokens as text, or read the rules from the output afterwards");

    too_many_readings(most: usize, length: usize) =
        Limit "events/too-many-readings", "the text can be read in too many ways to report its rules"
        at(Place::Byte(length))
        found("more than {most} readings")
        help("a rule that can begin with itself cannot be reported: rewrite it with a repetition");

    too_many_kept(most: usize, length: usize) =
        Limit "events/too-long", "the text is too long for events of rules"
        at(Place::Byte(length))
        allowed("at most {most} readings of all steps together; a text that can be read in one way has one each step")
        help("follow a shorter text, or rewrite rules that can be read in several ways");

    moved(known: usize, steps: usize) =
        Usage "events/moved", "the matcher was moved without its events"
        found("{steps} steps, of which {known} were taken by the methods of `EventMatcher`")
        help("accept, roll back and reset with the methods of `EventMatcher`; use its matcher for masks");

    draft_lengths(first_child: usize, next_sibling: usize, tokens: usize) =
        Usage "matcher/draft-tree", "the arrays of a draft tree have no nodes, or not the same number"
        found("`first_child` {first_child}, `next_sibling` {next_sibling}, `tokens` {tokens}")
        allowed("three arrays with an entry for each node, at least for the root")
        help("give the root an entry in each, too; its token is not read");

    draft_rows(found: usize, nodes: usize, row_words: usize) =
        Usage "matcher/draft-rows", "the buffer is too short for a mask of each node of the draft"
        found("{found} words of 32 bits")
        allowed("at least {nodes} rows of {row_words} words")
        help("a draft has a row for each of its tokens, and one before the first");
}

grammata_base::errors! {
    pub Rejected;

    /// `matcher/rollback-too-far`: `wanted` steps were to be rolled back, but only `steps` were accepted. Other state
    /// machines that count steps as a [`Matcher`](crate::Matcher) does use this error too.
    rollback_too_far(wanted: usize, steps: usize) =
        Usage "matcher/rollback-too-far", "more steps to roll back than were taken"
        found("{wanted} steps")
        allowed("at most {steps}")
        help("count one step for each accepted token or byte string");
}

/// The error of a rejected token. A token with bytes is reported as rejected text, with its id and its text.
pub(super) fn rejected_token(vocabulary: &Vocabulary, token: TokenId, explanation: &Explanation) -> Error {
    if let Some(bytes) = vocabulary.bytes(token) {
        let found = format!("token {token} ({:?}): {}", excerpt_bytes(bytes), found(explanation));
        return rejected_as(found, explanation);
    }
    Error::new(
        ErrorKind::Rejected,
        Diagnostic::new("matcher/rejected", "the token leaves the grammar")
            .at(Place::Byte(explanation.position()))
            .found(show_token(vocabulary, token))
            .allowed(explanation.expected_text())
            .help("offer only tokens that the mask allows"),
    )
}

/// A token without bytes, for a message: its id, and its name if it is a special token.
fn show_token(vocabulary: &Vocabulary, token: TokenId) -> String {
    match vocabulary.special(token) {
        Some(name) => format!("token {token}, the special token `{name}`"),
        None => format!("token {token}, which the tokenizer does not use"),
    }
}

/// `matcher/budget`: no completion of at most `budget` tokens is known after `length` accepted bytes. Every completion
/// has at least `least` tokens.
pub(super) fn budget(budget: usize, distance: Distance, least: usize, length: usize) -> Error {
    let tokens = |count: usize| format!("{count} token{}", if count == 1 { "" } else { "s" });
    let needed = match distance {
        Distance::Exact(least) => format!("a budget of at least {}", tokens(least)),
        Distance::AtMost(known) => format!("a budget of {}, the least known to suffice", tokens(known)),
        Distance::Unreachable => "none: no tokens of the vocabulary spell a completion".into(),
        Distance::Unknown if least > budget => {
            format!("a budget of at least {}; which budget suffices is not known", tokens(least))
        }
        Distance::Unknown => "none that is known: no completion was found within the limits".into(),
    };
    Error::new(
        ErrorKind::Rejected,
        Diagnostic::new("matcher/budget", "no complete text is known within the budget of tokens")
            .at(Place::Byte(length))
            .found(tokens(budget))
            .allowed(needed)
            .help("raise the budget (or `Limits::completion_search`), or let the output be cut"),
    )
}

/// `matcher/draft-tree`: the link `to` at index `from` of `array` is invalid; `what` says why.
pub(super) fn draft_link(what: &'static str, (array, from, to): (&str, usize, i64), nodes: usize) -> Error {
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new("matcher/draft-tree", what)
            .found(format!("`{array}[{from}]` is {to}"))
            .allowed(format!("-1 for none, or a node from 1 to {} that nothing else links to", nodes - 1))
            .help("link each node once: as the first child of its parent, or as the next sibling of another child"),
    )
}
