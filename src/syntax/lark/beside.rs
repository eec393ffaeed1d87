//! The lazy rules that may begin at the same place as something else.

use super::bytes::{Bytes, Facts};
use super::tree::{Body, Definition, Item, Parsed, Part, is_terminal};
use super::worklist::{until_nothing_changes, users};
use crate::grammar::ExprId;
use rustc_hash::FxHashMap;

/// A lazy rule, which may prevent other lexemes from continuing.
pub(super) struct Lazy<'s> {
    pub(super) at: usize,
    pub(super) name: &'s str,
    /// The expression of its words and of all longer texts.
    pub(super) part: ExprId,
    /// The ending string, if the rule is any text up to it.
    pub(super) trigger: Option<String>,
    pub(super) bytes: Bytes,
}

/// A lexeme that a lazy rule may compete with.
pub(super) enum Lexeme<'t> {
    AnyText,
    Text(&'t str),
    Other,
}

/// Numbers of lazy rules, ascending.
pub(super) type Set = Vec<u32>;

/// The union of two sets.
pub(super) fn union(one: &[u32], other: &[u32]) -> Set {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The lazy rules that something may begin with, and whether it may be empty.
type First = (Set, bool);

/// The lazy rules that may begin at the end of something that may continue: in all cases, and in some cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) always: Set,
    pub(super) sometimes: Set,
}

impl Ends {
    /// Adds rules that may begin in all cases.
    fn with(mut self, begun: &[u32]) -> Ends {
        self.always = union(&self.always, begun);
        self.sometimes = union(&self.sometimes, begun);
        self
    }

    /// Combines two cases; `None` is a case that is not known yet.
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

/// What each rule may begin with, and what may begin at its end. Empty for grammars without numbered lazy rules.
#[derive(Default)]
pub(super) struct Firsts<'s, 'p> {
    of: FxHashMap<&'s str, First>,
    ends: FxHashMap<&'s str, Option<Ends>>,
    numbers: FxHashMap<&'s str, u32>,
    pub(super) facts: Facts<'s, 'p>,
}

impl<'s, 'p> Firsts<'s, 'p> {
    pub(super) fn new(
        parsed: &'p Parsed<'s>,
        numbers: FxHashMap<&'s str, u32>,
        facts: Facts<'s, 'p>,
    ) -> Firsts<'s, 'p> {
        if numbers.is_empty() {
            return Firsts::default();
        }
        let (of, ends) = Default::default();
        let mut firsts = Firsts { of, ends, numbers, facts };
        let rules: Vec<&Definition<'s>> =
            parsed.definitions.iter().filter(|it| !is_terminal(it.name) && !it.attributes.is_lazy).collect();
        let users = users(&rules);
        // sets only grow, or only shrink after they become known, so this ends
        until_nothing_changes(&users, |rule| {
            let Definition { name, body, .. } = rules[rule];
            let first = firsts.body(body);
            firsts.of.insert(*name, first.clone()) != Some(first)
        });
        until_nothing_changes(&users, |rule| {
            let Definition { name, body, .. } = rules[rule];
            let ends = firsts.ends_of_body(body);
            firsts.ends.insert(*name, ends.clone()) != Some(ends)
        });
        firsts
    }

    /// Whether the grammar has no lazy rules with a number. Lazy rules whose words end in a token have none.
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
                (None, None) => (Set::new(), self.facts.name(name).is_empty),
            },
            _ => (Set::new(), self.facts.item(item).is_empty),
        }
    }

    /// The lazy rules that may begin at the end of a non-empty part.
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
