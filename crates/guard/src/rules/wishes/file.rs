//! The file of wishes: what is read from it, and its patterns.

use crate::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use serde::Deserialize;
use std::time::Duration;

/// Maximum number of calls of a limit. The bound is needed because the times of these calls are kept.
const MOST_CALLS: usize = 10_000;

/// What happens to the calls of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wish {
    /// Calls are passed on.
    Pass,
    /// The person is asked before each call.
    Ask,
    /// The tool is not listed, and its calls are refused.
    Hide,
}

/// The period of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Period {
    Second,
    Minute,
    Hour,
    Day,
}

impl Period {
    pub(super) fn time(self) -> Duration {
        Duration::from_secs(match self {
            Period::Second => 1,
            Period::Minute => 60,
            Period::Hour => 60 * 60,
            Period::Day => 24 * 60 * 60,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Period::Second => "second",
            Period::Minute => "minute",
            Period::Hour => "hour",
            Period::Day => "day",
        }
    }
}

/// A maximum number of calls in any period of a length.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    pub(super) calls: usize,
    pub(super) per: Period,
    /// Patterns of the tools whose calls count; by default all.
    pub(super) tools: Option<Vec<String>>,
    /// Whether the calls of each tool are counted apart.
    #[serde(default)]
    pub(super) each: bool,
}

/// Wishes about the tools of a server, read from a short file in TOML.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wishes {
    /// The wish for tools that no pattern matches.
    pub(super) rest: Wish,
    #[serde(default)]
    pub(super) hide: Vec<String>,
    #[serde(default)]
    pub(super) ask: Vec<String>,
    #[serde(default)]
    pub(super) pass: Vec<String>,
    #[serde(default)]
    pub(super) limit: Vec<Limit>,
}

impl Wishes {
    /// Reads wishes in TOML.
    ///
    /// # Errors
    /// `guard/wishes` for a text that is not TOML, an unknown key or value, an empty pattern, a missing `rest`, or a limit
    /// that is not of 1 to 10,000 calls; `limit/exceeded` for a text longer than the limits allow.
    pub fn read(text: &str, limits: &Limits) -> Result<Wishes> {
        limits.check_source(text)?;
        let wishes: Wishes = toml::from_str(text).map_err(|cause| errors::wishes(cause.message()))?;
        if wishes.patterns().any(str::is_empty) {
            return Err(errors::wishes("an empty name of tools"));
        }
        if let Some(limit) = wishes.limit.iter().find(|limit| !(1..=MOST_CALLS).contains(&limit.calls)) {
            return Err(errors::wishes(&format!(
                "a limit of {} calls, not of 1 to {MOST_CALLS}",
                limit.calls
            )));
        }
        match wishes.limit.iter().any(|limit| limit.tools.as_ref().is_some_and(Vec::is_empty)) {
            true => Err(errors::wishes("a limit of no tools")),
            false => Ok(wishes),
        }
    }

    /// Returns all patterns of the file.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &str> {
        let limits = self.limit.iter().filter_map(|limit| limit.tools.as_ref()).flatten();
        self.hide.iter().chain(&self.ask).chain(&self.pass).chain(limits).map(String::as_str)
    }

    /// Returns the wish for a tool. If patterns of several lists match, the strictest wish counts.
    pub(super) fn of(&self, tool: &str) -> Wish {
        let lists = [(Wish::Hide, &self.hide), (Wish::Ask, &self.ask), (Wish::Pass, &self.pass)];
        lists.into_iter().find(|(_, list)| any(list, tool)).map_or(self.rest, |(wish, _)| wish)
    }
}

impl Limit {
    /// Returns whether the calls of a tool count.
    pub(super) fn counts(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|list| any(list, tool))
    }
}

fn any(patterns: &[String], tool: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, tool))
}

/// Returns whether a pattern matches a whole name. `*` matches any text, also an empty one; all else matches itself.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        // the leftmost place leaves the most for the pieces that follow
        let Some(place) = rest.find(piece) else { return false };
        rest = &rest[place + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_a_search_over_all_splits() {
        fn naive(pattern: &[char], name: &[char]) -> bool {
            match pattern.split_first() {
                None => name.is_empty(),
                Some(('*', rest)) => (0..=name.len()).any(|place| naive(rest, &name[place..])),
                Some((letter, rest)) => name.first() == Some(letter) && naive(rest, &name[1..]),
            }
        }
        let words = |letters: &[char], most: u32| {
            let mut words = vec![String::new()];
            let mut last = words.clone();
            for _ in 0..most {
                let longer = |word: &String| {
                    letters.iter().map(|letter| format!("{word}{letter}")).collect::<Vec<_>>()
                };
                last = last.iter().flat_map(longer).collect();
                words.extend(last.clone());
            }
            words
        };
        let mut matching = 0;
        for pattern in words(&['a', 'é', '*'], 4) {
            for name in words(&['a', 'é'], 5) {
                let letters = |text: &str| text.chars().collect::<Vec<_>>();
                let expected = naive(&letters(&pattern), &letters(&name));
                assert_eq!(matches(&pattern, &name), expected, "{pattern} {name}");
                matching += usize::from(expected);
            }
        }
        assert!(matching > 500, "{matching}");
    }
}
