//! Computes short completions of plans, as texts, from any prefix of a plan.

use super::domain::FlowDomain;
use super::letters::{self, Letter};
use super::options::{FlowOptions, Level};
use super::text::{Thoughts, now_line, stated_text};
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};

/// A shortest thought, used in completions.
const SHORT: &str = "ok";

/// A call that is allowed in a state, as text.
#[derive(Debug)]
struct Turn {
    /// The text before the thought.
    lead: String,
    /// The call `Name()`, possibly with makers in the brackets, and the answer.
    call: String,
    to: usize,
}

/// The texts of a domain's plans, by the states of their minimal automaton.
#[derive(Debug)]
pub(super) struct Completions {
    thoughts: Thoughts,
    turns: Vec<Vec<Turn>>,
    is_accepting: Vec<bool>,
    /// For each state, a short end of a plan that begins with a turn in the state; `None` for accepting states, and if
    /// no plan can be finished.
    rest: Vec<Option<String>>,
}

impl Completions {
    /// Creates the texts of the plans of a level of at least 3.
    ///
    /// # Errors
    /// Those of [`letters::graph`]; the limit `source_bytes` bounds the total size of the ends.
    pub(super) fn new(domain: &FlowDomain, options: &FlowOptions, thoughts: Thoughts) -> Result<Completions> {
        let by_step = thoughts == Thoughts::Stated && options.level == Level::Steps;
        let graph = letters::graph(domain, FlowOptions { by_step, ..options.clone() })?;
        let mut turns: Vec<Vec<Turn>> = graph.nodes.iter().map(|_| Vec::new()).collect();
        let mut calls: Vec<Vec<Letter>> = vec![Vec::new(); graph.nodes.len()];
        graph.edges.iter().for_each(|edge| calls[edge.from].extend(edge.labels.iter().cloned()));
        calls.iter_mut().for_each(|calls| calls.sort_unstable());
        for edge in &graph.edges {
            let Some(to) = edge.to else { continue };
            for letter in &edge.labels {
                let lead = match thoughts {
                    Thoughts::None | Thoughts::Free | Thoughts::After => " ".to_owned(),
                    Thoughts::Stated => format!(" {}: ", stated_text(domain, letter.call)),
                    Thoughts::Guided => now_line(domain, &calls[edge.from]),
                };
                let call = letter.text.to_string();
                turns[edge.from].push(Turn { lead, call, to });
            }
        }
        let is_accepting = graph.nodes.iter().map(|node| node.is_accepting).collect();
        let rest = vec![None; turns.len()];
        let mut completions = Completions { thoughts, turns, is_accepting, rest };
        completions.find_rests();
        let (bytes, limit) = (completions.bytes(), options.limits.source_bytes);
        match bytes > limit {
            true => Err(Limits::exceeded(
                LimitKind::SourceBytes,
                limit,
                format!("ends of plans of {bytes} bytes"),
            )),
            false => Ok(completions),
        }
    }

    /// Finds the shortest ends, in bytes, backwards from accepting states (Bellman and Ford). The number of rounds is
    /// at most the number of calls of the longest of these ends, plus one.
    fn find_rests(&mut self) {
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for state in (0..self.turns.len()).rev() {
                for turn in &self.turns[state] {
                    let Some(tail) = self.tail(turn.to) else { continue };
                    let text = self.whole_turn(turn) + &tail;
                    if self.rest[state].as_ref().is_none_or(|rest| text.len() < rest.len()) {
                        self.rest[state] = Some(text);
                        has_changed = true;
                    }
                }
            }
        }
    }

    fn whole_turn(&self, turn: &Turn) -> String {
        let Turn { lead, call, .. } = turn;
        match self.thoughts {
            Thoughts::None => format!("{lead}{call}"),
            Thoughts::After => format!("{lead}{call} [thought] {SHORT}"),
            _ => format!("{lead}{SHORT} [API] {call}"),
        }
    }

    /// Returns the text after a turn that leads to a state; `None` if no plan can be finished from that state.
    fn tail(&self, to: usize) -> Option<String> {
        match self.is_accepting[to] {
            true => Some(String::new()),
            false => Some(format!("{}{}", self.thoughts.separator(), self.rest[to].as_ref()?)),
        }
    }

    fn bytes(&self) -> usize {
        self.rest.iter().flatten().map(String::len).sum()
    }

    /// Returns, for each state that is not accepting and from which a plan can be finished, a short end of a plan that
    /// begins with a turn in the state.
    pub(super) fn ends(&self) -> impl Iterator<Item = &str> {
        self.rest.iter().flatten().map(String::as_str)
    }

    /// Returns the length of the longest turn with a shortest thought, in bytes.
    pub(super) fn longest_turn(&self) -> usize {
        self.turns.iter().flatten().map(|turn| self.whole_turn(turn).len()).max().unwrap_or(0)
    }

    /// Returns a short text that completes `text`, a prefix of a plan; `None` if there is none. The prefix may end
    /// within a character.
    pub(super) fn of(&self, text: &[u8]) -> Option<Vec<u8>> {
        let (whole, character, written) = whole_characters(text)?;
        let filled = whole + std::str::from_utf8(&character).ok()?;
        let mut end = character.get(written..)?.to_vec();
        end.extend_from_slice(self.of_text(&filled)?.as_bytes());
        Some(end)
    }

    fn of_text(&self, text: &str) -> Option<String> {
        let (mut state, mut rest) = (0, text);
        loop {
            match self.after_turn(state, rest) {
                Ok((to, after)) => {
                    if self.is_accepting[to] {
                        return Some(String::new());
                    }
                    let separator = self.thoughts.separator();
                    match after.strip_prefix(separator) {
                        Some(next) => (state, rest) = (to, next),
                        None => {
                            let missing = separator.strip_prefix(after)?;
                            return Some(format!("{missing}{}", self.rest[to].as_ref()?));
                        }
                    }
                }
                Err(ends) => return ends.into_iter().min_by_key(String::len),
            }
        }
    }

    /// Returns the state and the remaining text after a complete turn at the start of a text. If there is no such turn,
    /// returns as the error the completions of the plan from the turns that begin with the text; none if no turn does.
    fn after_turn<'t>(&self, state: usize, text: &'t str) -> Result<(usize, &'t str), Vec<String>> {
        let mut ends = Vec::new();
        for turn in &self.turns[state] {
            let Some(after) = text.strip_prefix(turn.lead.as_str()) else {
                if let (Some(_), Some(tail)) = (turn.lead.strip_prefix(text), self.tail(turn.to)) {
                    ends.push(format!("{}{tail}", &self.whole_turn(turn)[text.len()..]));
                }
                continue;
            };
            match self.thoughts {
                Thoughts::None => match after.strip_prefix(turn.call.as_str()) {
                    Some(after) => return Ok((turn.to, after)),
                    None => ends.extend(self.rest_of(&turn.call, after, turn.to)),
                },
                Thoughts::After => {
                    let marked = format!("{} [thought] ", turn.call);
                    match after.strip_prefix(marked.as_str()) {
                        None => ends.extend(self.rest_of(&format!("{marked}{SHORT}"), after, turn.to)),
                        Some(thought) => match thought.find('\n') {
                            Some(end) => return Ok((turn.to, &thought[end..])),
                            None => {
                                let more = if is_thought(thought) { "" } else { "." };
                                ends.extend(self.tail(turn.to).map(|tail| format!("{more}{tail}")));
                            }
                        },
                    }
                }
                _ => match after.find('[') {
                    Some(bracket) => {
                        let (marked, after) = (format!("[API] {}", turn.call), &after[bracket..]);
                        match after.strip_prefix(marked.as_str()) {
                            Some(after) => return Ok((turn.to, after)),
                            None => ends.extend(self.rest_of(&marked, after, turn.to)),
                        }
                    }
                    None => {
                        let more = match after.strip_suffix(' ') {
                            Some(thought) if is_thought(thought) => "",
                            _ if is_thought(after) => " ",
                            _ => ". ",
                        };
                        let tail = self.tail(turn.to);
                        ends.extend(tail.map(|tail| format!("{more}[API] {}{tail}", turn.call)));
                    }
                },
            }
        }
        Err(ends)
    }

    /// Returns the part of `whole` after its prefix `written`, followed by the end of the plan from the state `to`;
    /// `None` if `written` is not a prefix, or if no plan can be finished from the state.
    fn rest_of(&self, whole: &str, written: &str, to: usize) -> Option<String> {
        Some(format!("{}{}", whole.strip_prefix(written)?, self.tail(to)?))
    }
}

fn is_thought(text: &str) -> bool {
    let is_blank = |end: Option<char>| end.is_none_or(char::is_whitespace);
    !is_blank(text.chars().next()) && !is_blank(text.chars().next_back())
}

/// Returns the complete characters of a text; the last character with its missing bytes filled in, if it is cut; and
/// the number of its bytes that are in the text. If the text is not a prefix of valid UTF-8, the result is `None` or
/// its second part is not valid UTF-8.
fn whole_characters(text: &[u8]) -> Option<(String, Vec<u8>, usize)> {
    let cut = match std::str::from_utf8(text) {
        Ok(text) => return Some((text.to_owned(), Vec::new(), 0)),
        Err(cut) => cut.valid_up_to(),
    };
    let (whole, last) = text.split_at_checked(cut)?;
    let length = match last.first()? {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 4,
    };
    let mut character = last.to_vec();
    while character.len() < length {
        // choose neither a blank nor an invalid code point
        character.push(match character.as_slice() {
            [0xED] => 0x9F,
            [0xF4] => 0x8F,
            _ => 0xBF,
        });
    }
    Some((String::from_utf8(whole.to_vec()).ok()?, character, last.len()))
}
