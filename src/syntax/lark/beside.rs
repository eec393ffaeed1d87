//! Computes which lazy rules may begin at the same place as another part.

use super::bytes::{Bytes, Facts};
use super::tree::{Body, Definition, Item, Name, Parsed, Part};
use super::worklist::{size, until_nothing_changes, users};
use crate::error::Result;
use crate::grammar::ExprId;
use crate::work::Budget;
use rustc_hash::FxHashMap;

/// A lazy rule, with which other lexemes compete. `at` is the offset of its name.
pub(super) struct Lazy<'s> {
    pub(super) at: usize,
    pub(super) name: Name<'s>,
    /// The expression of the rule's words and of all longer texts that its body and end allow.
    pub(super) part: ExprId,
    /// The string up to which the rule is any text; `None` for other rules.
    pub(super) trigger: Option<String>,
    /// The bytes of the rule's words.
    pub(super) bytes: Bytes,
}

/// The form of a lexeme with which a lazy rule may compete.
pub(super) enum Lexeme<'t> {
    /// The lexeme matches every text.
    AnyText,
    /// The lexeme matches only this text.
    Text(&'t str),
    Other,
}

/// Numbers of lazy rules, in ascending order without duplicates.
pub(super) type Set = Vec<u32>;

/// The union of two sets.
pub(super) fn union(one: &[u32], other: &[u32]) -> Set {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The lazy rules with which a part may begin, and whether the part may be empty.
type First = (Set, bool);

/// The lazy rules that may begin at the end of a word of a part because the part may continue there: `always` after
/// each word, `sometimes` after at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) always: Set,
    pub(super) sometimes: Set,
}

impl Ends {
    /// Adds lazy rules that may begin after each word.
    fn with(mut self, begun: &[u32]) -> Ends {
        self.always = union(&self.always, begun);
        self.sometimes = union(&self.sometimes, begun);
        self
    }

    /// Combines the sets of two alternatives. `None` is an alternative that has no words or is not known yet.
    fn either(one: Option<Ends>, other: Option<Ends>) -> Option<Ends> {
        match (one, other) {
            (Some(mut one), Some(other)) => {
                one.always.retain(|lazy| other.always.contains(lazy));
                one.sometimes = union(&one.sometimes, &other.sometimes);
                Some(one)
            }
            (one, other) => one.or(other),
        }
    }
}

/// The lazy rules with which each rule may begin, and those that may begin at its end. Empty for a grammar without lazy
/// rules that have numbers.
#[derive(Default)]
pub(super) struct Firsts<'s, 'p> {
    /// By the name of a rule: the lazy rules with which it may begin, and whether it may be empty.
    of: FxHashMap<Name<'s>, First>,
    /// By the name of a rule: the lazy rules that may begin at its end; `None` while that is not known.
    ends: FxHashMap<Name<'s>, Option<Ends>>,
    /// The numbers of the lazy rules, by name.
    numbers: FxHashMap<Name<'s>, u32>,
    pub(super) facts: Facts<'s, 'p>,
}

impl<'s, 'p> Firsts<'s, 'p> {
    pub(super) fn new(
        parsed: &'p Parsed<'s>,
        numbers: FxHashMap<Name<'s>, u32>,
        facts: Facts<'s, 'p>,
        work: &Budget,
    ) -> Result<Firsts<'s, 'p>> {
        if numbers.is_empty() {
            return Ok(Firsts::default());
        }
        let (of, ends) = Default::default();
        let mut firsts = Firsts { of, ends, numbers, facts };
        let rules: Vec<&Definition<'s>> =
            parsed.definitions.iter().filter(|it| !it.name.is_terminal() && !it.attributes.is_lazy).collect();
        let users = users(&rules);
        // the iteration ends, since sets only grow, or only shrink once they are known
        let most = 1 + firsts.numbers.len() / 8;
        let sizes: Vec<usize> = rules.iter().map(|it| size(&it.body).saturating_mul(most)).collect();
        until_nothing_changes(
            &users,
            work,
            |rule| sizes[rule],
            |rule| {
                let Definition { name, body, .. } = rules[rule];
                let first = firsts.body(body);
                firsts.of.insert(*name, first.clone()) != Some(first)
            },
        )?;
        until_nothing_changes(
            &users,
            work,
            |rule| sizes[rule],
            |rule| {
                let Definition { name, body, .. } = rules[rule];
                let ends = firsts.ends_of_body(body);
                firsts.ends.insert(*name, ends.clone()) != Some(ends)
            },
        )?;
        Ok(firsts)
    }

    /// Whether no lazy rule has a number. Lazy rules whose words end in a token have none.
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(super) fn body(&self, body: &Body<'s>) -> First {
        let mut all = (Set::new(), false);
        if self.is_empty() {
            return all;
        }
        for parts in body {
            let mut may_be_empty = true;
            for part in parts {
                let (first, is_empty) = self.part(part);
                all.0 = union(&all.0, &first);
                if !is_empty {
                    may_be_empty = false;
                    break;
                }
            }
            all.1 |= may_be_empty;
        }
        all
    }

    pub(super) fn part(&self, part: &Part<'s>) -> First {
        let (first, is_empty) = self.item(&part.item);
        match part.max {
            Some(0) => (Set::new(), true),
            _ => (first, is_empty || part.min == 0),
        }
    }

    pub(super) fn item(&self, item: &Item<'s>) -> First {
        match item {
            Item::Group(body) => self.body(body),
            Item::Beside(body) => (self.body(body).0, false),
            Item::Name(name) => match (self.numbers.get(name), self.of.get(name)) {
                (Some(&number), _) => (vec![number], false),
                (None, Some(first)) => first.clone(),
                (None, None) => (Set::new(), self.facts.name(*name).is_empty),
            },
            _ => (Set::new(), self.facts.item(item).is_empty),
        }
    }

    /// The lazy rules that may begin at the end of a non-empty word of a part, because the part may continue there.
    /// `None` if the part has no word or that is not known yet.
    pub(super) fn ends(&self, part: &Part<'s>) -> Option<Ends> {
        let ends = match &part.item {
            Item::Group(body) => self.ends_of_body(body),
            Item::Beside(_) => None,
            Item::Name(name) if self.of.contains_key(name) => self.ends.get(name).cloned().flatten(),
            _ => Some(Ends::default()),
        }?;
        let (first, _) = self.item(&part.item);
        Some(match part.max {
            None => ends.with(&first),
            Some(1) => ends,
            Some(_) => Ends { sometimes: union(&ends.sometimes, &first), ..ends },
        })
    }

    fn ends_of_body(&self, body: &Body<'s>) -> Option<Ends> {
        body.iter().fold(None, |all, parts| {
            let ends = parts.iter().fold(None, |before: Option<Ends>, part| {
                let (first, is_empty) = self.part(part);
                let missing = before.filter(|_| is_empty).map(|before| before.with(&first));
                Ends::either(self.ends(part), missing)
            });
            Ends::either(all, ends)
        })
    }
}
