//! Detection of patterns that exclude each other: by the strings that they list (`^(a|b)$` and `^c$`), or by the
//! prefixes of all their words (`^table ` and `^view `).

use super::cubes::Outcomes;
use super::shape::Test;
use crate::grammar::{CharClass, ExprId, Expression, GrammarBuilder};
use crate::syntax::json_schema::strings::formats::Side;
use crate::syntax::json_schema::strings::listed::Listed;
use crate::syntax::json_schema::strings::string_test::{self, StringTest};
use rustc_hash::FxHashMap;

/// Greatest number of combinations that are examined.
pub(super) const MOST: usize = 256;

/// Cache of the common prefix of the words of each pattern.
#[derive(Debug, Default)]
pub(super) struct Beginnings<'a>(FxHashMap<&'a str, Box<[u8]>>);

impl<'a> Beginnings<'a> {
    /// Returns the sets of patterns that may match a string that the other patterns do not match, as bit sets. `None`
    /// if there are more than [`MOST`] sets or more patterns than bits.
    pub(super) fn combinations(
        &mut self,
        patterns: &[&'a str],
        listed: &Listed<'a>,
    ) -> Option<Vec<Outcomes>> {
        if patterns.len() > Outcomes::BITS as usize {
            return None;
        }
        let mut all: Vec<Outcomes> = vec![0];
        for (at, pattern) in patterns.iter().enumerate() {
            let compatible = |(before, other): (usize, &&'a str)| {
                let agrees = self.agree(pattern, other, listed);
                Outcomes::from(agrees) << before
            };
            let allowed = patterns[..at].iter().enumerate().map(compatible).fold(0, |all, bit| all | bit);
            let more: Vec<Outcomes> =
                all.iter().filter(|&&set| set & !allowed == 0).map(|set| set | 1 << at).collect();
            all.extend(more);
            if all.len() > MOST {
                return None;
            }
        }
        Some(all)
    }

    /// Whether surely no string passes some tests: a test must hold and fail, or patterns that must match exclude each
    /// other.
    pub(super) fn exclude_each_other(&mut self, tests: &[Test<'a>], listed: &Listed<'a>) -> bool {
        tests.iter().enumerate().any(|(at, one)| {
            tests[..at].iter().any(|other| match (one.test, other.test) {
                (test, known) if test == known => one.holds != other.holds,
                (StringTest::Pattern(pattern), StringTest::Pattern(known)) => {
                    one.holds && other.holds && !self.agree(pattern, known, listed)
                }
                _ => false,
            })
        })
    }

    /// Whether a string may match both patterns, judging by the strings that they list or by their prefixes.
    fn agree(&mut self, one: &'a str, other: &'a str, listed: &Listed<'a>) -> bool {
        let strings = |pattern| listed.by(StringTest::Pattern(pattern));
        if let (Some(ones), Some(others)) = (strings(one), strings(other)) {
            return ones.iter().any(|string| others.contains(string));
        }
        let one = self.of(one).to_vec();
        let other = self.of(other);
        one.iter().zip(other).all(|(one, other)| one == other)
    }

    /// Returns a prefix of all strings that match a pattern.
    fn of(&mut self, pattern: &'a str) -> &[u8] {
        self.0.entry(pattern).or_insert_with(|| match pattern.starts_with('^') {
            true => beginning(pattern).unwrap_or_default(),
            false => Box::default(),
        })
    }
}

fn beginning(pattern: &str) -> Option<Box<[u8]>> {
    let mut g = GrammarBuilder::default();
    let spell = &mut |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
    let root = string_test::lower(&mut g, StringTest::Pattern(pattern), Side::Around, "", spell).ok()??;
    let mut beginning = Vec::new();
    let mut next: Option<ExprId> = Some(root);
    while let Some(id) = next.take() {
        match g.expression(id) {
            Expression::Bytes(bytes) => beginning.extend_from_slice(bytes),
            Expression::Sequence(parts) => {
                for &part in parts {
                    let Expression::Bytes(bytes) = g.expression(part) else {
                        next = Some(part);
                        break;
                    };
                    beginning.extend_from_slice(bytes);
                }
            }
            &Expression::Label(_, body) => next = Some(body),
            _ => {}
        }
    }
    Some(beginning.into())
}
