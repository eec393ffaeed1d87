//! Patterns that list the strings they match, as `enum` would: `^a$`, `^(a|b)$`, `^[0-9]$`.

use super::formats::Side;
use super::string_test::{self, StringTest};
use crate::grammar::{CharClass, ExprId, Expression, GrammarBuilder};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Greatest number of strings that are listed.
const MOST: usize = 128;

/// A list of strings without duplicates.
pub(in crate::syntax::json_schema) type Strings = Rc<[Box<str>]>;

/// Cache of the strings that patterns list; `None` for patterns that do not.
#[derive(Debug, Default)]
pub(in crate::syntax::json_schema) struct Listed<'a>(RefCell<FxHashMap<&'a str, Option<Strings>>>);

impl<'a> Listed<'a> {
    /// Returns all strings that pass a test; `None` if there may be too many, or if the test is not a pattern of this
    /// form.
    pub(in crate::syntax::json_schema) fn by(&self, test: StringTest<'a>) -> Option<Strings> {
        let StringTest::Pattern(pattern) = test else { return None };
        if !pattern.starts_with('^') || !pattern.ends_with('$') || pattern.contains(['*', '+']) {
            return None;
        }
        self.0.borrow_mut().entry(pattern).or_insert_with(|| strings(pattern)).clone()
    }
}

fn strings(pattern: &str) -> Option<Strings> {
    let mut g = GrammarBuilder::default();
    let spell = &mut |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
    let root = string_test::lower(&mut g, StringTest::Pattern(pattern), Side::Within, "", spell).ok()??;
    let mut known: FxHashMap<ExprId, Vec<String>> = FxHashMap::default();
    for id in g.within(root) {
        let of = |id: ExprId| known.get(&id).cloned().unwrap_or_default();
        let words: Vec<String> = match g.expression(id) {
            Expression::Empty => vec![String::new()],
            Expression::Never => Vec::new(),
            Expression::Bytes(bytes) => vec![String::from_utf8(bytes.to_vec()).ok()?],
            Expression::Class(class) => {
                let all = class.ranges().iter().flat_map(|&(low, high)| low..=high);
                all.take(MOST + 1).map(String::from).collect()
            }
            Expression::Sequence(parts) => {
                parts.iter().try_fold(vec![String::new()], |all, &part| followed(&all, &of(part)))?
            }
            Expression::Choice(parts) => parts.iter().flat_map(|&part| of(part)).collect(),
            &Expression::Repeat { body, min, max: Some(max) } if max as usize <= MOST => {
                let body = of(body);
                let (mut all, mut round) = (Vec::new(), vec![String::new()]);
                for count in 0..=max {
                    if count >= min {
                        all.extend(round.iter().cloned());
                    }
                    round = followed(&round, &body)?;
                    if all.len() > MOST {
                        return None;
                    }
                }
                all
            }
            _ => return None,
        };
        if words.len() > MOST {
            return None;
        }
        known.insert(id, words);
    }
    let mut words = known.remove(&root)?;
    words.sort_unstable();
    words.dedup();
    Some(words.into_iter().map(String::into_boxed_str).collect())
}

/// Returns the concatenations of each of some words with each of others; `None` if there are too many.
fn followed(words: &[String], others: &[String]) -> Option<Vec<String>> {
    let few = words.len() * others.len() <= MOST;
    few.then(|| {
        words.iter().flat_map(|word| others.iter().map(move |other| format!("{word}{other}"))).collect()
    })
}
