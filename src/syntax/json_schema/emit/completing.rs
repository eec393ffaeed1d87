//! Finds the bytes that can complete a match: a text that fails a pattern still fails it after any other byte.

use crate::grammar::{ByteSet, ExprId, Expression, GrammarBuilder};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The bytes with which a text can enter a language: the last bytes of the texts in it, except where every extension of
/// the text before the last byte is also in it.
#[derive(Clone, Copy)]
struct Completing {
    whole: ByteSet,
    /// The same for the language followed by any text.
    with_any: ByteSet,
    /// Whether the empty text is in the language.
    nullable: bool,
}

impl Completing {
    fn by(bytes: ByteSet, nullable: bool) -> Completing {
        Completing { whole: bytes, with_any: if nullable { ByteSet::EMPTY } else { bytes }, nullable }
    }

    /// Returns the bytes for the union of some languages.
    fn union(all: &[Completing]) -> Completing {
        let union =
            |of: fn(&Completing) -> &ByteSet| all.iter().map(of).fold(ByteSet::EMPTY, |a, b| a.union(b));
        let (whole, with_any) = (union(|one| &one.whole), union(|one| &one.with_any));
        Completing { whole, with_any, nullable: all.iter().any(|one| one.nullable) }
    }
}

/// Returns a set of bytes with this property: if a text followed by a byte outside the set is in the language, then so
/// is every extension of that text. `None` if no such set is known. `any` is the expression of all texts.
pub(super) fn completing(g: &GrammarBuilder, language: ExprId, any: ExprId) -> Option<ByteSet> {
    let mut known: FxHashMap<ExprId, Completing> = FxHashMap::default();
    for id in g.within(language) {
        let of = |id: &ExprId| known.get(id).copied();
        let all_of = |parts: &[ExprId]| parts.iter().map(of).collect::<Option<SmallVec<[_; 8]>>>();
        let completing = match g.expression(id) {
            Expression::Empty => Completing::by(ByteSet::EMPTY, true),
            Expression::Bytes(text) => {
                let last = text.last().map_or(ByteSet::EMPTY, |&last| ByteSet::range(last, last));
                Completing::by(last, text.is_empty())
            }
            Expression::ByteSet(set) => Completing::by(*set, false),
            Expression::Class(class) => {
                let ascii = class.ranges().iter().filter(|range| range.0.is_ascii());
                let ascii = ascii.map(|&(low, high)| ByteSet::range(low as u8, high.min('\x7F') as u8));
                Completing::by(ascii.fold(ByteSet::EMPTY, |all, range| all.union(&range)), false)
            }
            Expression::Sequence(parts) => {
                let all = all_of(parts)?;
                let one_by_one = |all: &[Completing]| {
                    let last = all.iter().rposition(|part| !part.nullable);
                    let whole = Completing::union(&all[last.unwrap_or(0)..]).whole;
                    (whole, last.map_or(ByteSet::EMPTY, |last| all[last].with_any))
                };
                let (mut whole, with_any) = one_by_one(&all);
                if parts.last() == Some(&any) {
                    whole = one_by_one(&all[..all.len() - 1]).1;
                }
                Completing { whole, with_any, nullable: all.iter().all(|part| part.nullable) }
            }
            Expression::Choice(parts) => Completing::union(&all_of(parts)?),
            Expression::Intersection(parts) => {
                let all = all_of(parts)?;
                Completing::by(Completing::union(&all).whole, all.iter().all(|part| part.nullable))
            }
            &Expression::Repeat { body, min, .. } => {
                let body = of(&body)?;
                if min == 0 { Completing::by(body.whole, true) } else { body }
            }
            Expression::Label(_, body) => of(body)?,
            _ => return None,
        };
        known.insert(id, completing);
    }
    known.get(&language).map(|completing| completing.whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::CharClass;
    use crate::limits::Limits;
    use crate::syntax::json_schema::strings;
    use crate::syntax::json_schema::strings::formats::Side;
    use crate::syntax::json_schema::strings::string_test::{self, Matcher, StringTest};

    /// Patterns, with those bytes of `_xy:` that can complete a match.
    const PATTERNS: [(&str, &str); 18] = [
        ("^_", "_"),
        ("x", "x"),
        ("xy:.*", ":"),
        ("xy.*:?.*$", "_xy:"),
        ("^x$", "x"),
        ("^xy?$", "xy"),
        ("^(x|y:)", "x:"),
        ("^x*y*$", "xy"),
        ("(x:){2}", ":"),
        ("^(x(y|)){2,3}_?", "x"),
        ("^[^x]", "_y:"),
        ("^(?=.*x)y", "x"),
        (".*", ""),
        ("", ""),
        ("^$", ""),
        ("y$", "y"),
        ("^(x.*|y)$", "_xy:"),
        ("^(x.*)*_", "_"),
    ];

    fn texts(longest: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..longest {
            let to = all.len();
            for place in from..to {
                "_xy:".chars().for_each(|c| all.push(format!("{}{c}", all[place])));
            }
            from = to;
        }
        all
    }

    #[test]
    fn other_bytes_lead_to_nothing_new() {
        for (pattern, expected) in PATTERNS {
            let mut g = GrammarBuilder::new();
            let any = strings::canonical(&mut g, &CharClass::any());
            let any = g.star(any);
            let test = StringTest::Pattern(pattern);
            let content = string_test::content(&mut g, test, Side::Within, "").unwrap();
            let Some(bytes) = completing(&g, content, any) else {
                assert_eq!(expected, "-", "{pattern}: nothing is known");
                continue;
            };
            let found: String = "_xy:".chars().filter(|&c| bytes.contains(c as u8)).collect();
            assert_eq!(found, expected, "{pattern}");
            let matcher = Matcher::new(test, "", &Limits::default()).unwrap();
            let matches = |text: &str| matcher.matches(text).0.unwrap();
            for text in texts(4) {
                for c in "_xy:".chars().filter(|c| !found.contains(*c)) {
                    if matches(&format!("{text}{c}")) {
                        let fails = texts(2).into_iter().find(|more| !matches(&format!("{text}{more}")));
                        assert_eq!(fails, None, "{pattern}: {text:?} and {c:?}");
                    }
                }
            }
        }
    }
}
