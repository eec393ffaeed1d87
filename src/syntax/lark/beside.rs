//! Which lazy rules may begin where something else may.

use super::tree::{Body, Definition, Item, Part, is_terminal};
use crate::grammar::ExprId;
use rustc_hash::FxHashMap;

/// A lazy rule that may keep others from going on.
pub(super) struct Lazy<'s> {
    pub(super) name: &'s str,
    /// All of its words, and longer ones.
    pub(super) part: ExprId,
    /// The string that ends any text.
    pub(super) trigger: Option<String>,
}

/// What a lazy rule may stand beside.
pub(super) enum Lexeme<'t> {
    AnyText,
    Text(&'t str),
    Other,
}

/// Lazy rules by their numbers, sorted.
pub(super) type Set = Vec<u32>;

/// The members of either set.
pub(super) fn union(one: &[u32], other: &[u32]) -> Set {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The lazy rules that something may begin with, and whether it may be empty.
type First = (Set, bool);

/// The lazy rules that may begin where something has ended that may go on: in every case, and in some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) always: Set,
    pub(super) sometimes: Set,
}

impl Ends {
    /// With rules that may begin in every case.
    fn with(mut self, begun: &[u32]) -> Ends {
        self.always = union(&self.always, begun);
        self.sometimes = union(&self.sometimes, begun);
        self
    }

    /// In either of two cases; none is a case that is not known yet.
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

/// What each rule may begin with, and what may begin at its end. Nothing is known of grammars without lazy rules.
#[derive(Default)]
pub(super) struct Firsts<'s> {
    of: FxHashMap<&'s str, First>,
    ends: FxHashMap<&'s str, Option<Ends>>,
    numbers: FxHashMap<&'s str, u32>,
}

impl<'s> Firsts<'s> {
    pub(super) fn new(definitions: &[Definition<'s>], numbers: FxHashMap<&'s str, u32>) -> Firsts<'s> {
        let (of, ends) = Default::default();
        let mut firsts = Firsts { of, ends, numbers };
        if firsts.is_empty() {
            return firsts;
        }
        let rules: Vec<&Definition<'s>> =
            definitions.iter().filter(|it| !is_terminal(it.name) && !it.attributes.is_lazy).collect();
        let users = users(&rules);
        // sets only grow, or only shrink once they are known
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

    /// Whether there is no lazy rule.
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
            Item::Name(name) => match (self.numbers.get(name), self.of.get(name)) {
                (Some(&number), _) => (vec![number], false),
                (None, Some(first)) => first.clone(),
                (None, None) => (Set::new(), false),
            },
            Item::Text { text, .. } => (Set::new(), text.is_empty()),
            _ => (Set::new(), false),
        }
    }

    /// What may begin where a part has ended that is not empty.
    pub(super) fn ends(&self, part: &Part<'s>) -> Option<Ends> {
        let ends = match &part.item {
            Item::Group(body) => self.ends_of_body(body),
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

/// By rule, those that name it.
fn users(rules: &[&Definition<'_>]) -> Vec<Vec<usize>> {
    let numbers: FxHashMap<&str, usize> =
        rules.iter().enumerate().map(|(rule, it)| (it.name, rule)).collect();
    let mut users = vec![Vec::new(); rules.len()];
    for (user, definition) in rules.iter().enumerate() {
        let mut open: Vec<&Part<'_>> = definition.body.iter().flatten().collect();
        while let Some(part) = open.pop() {
            match &part.item {
                Item::Group(body) => open.extend(body.iter().flatten()),
                Item::Name(name) => {
                    if let Some(&named) = numbers.get(name) {
                        users[named].push(user);
                    }
                }
                _ => {}
            }
        }
    }
    for users in &mut users {
        users.sort_unstable();
        users.dedup();
    }
    users
}

/// Looks at each rule, and again at those that name one which has changed. `look` says whether a rule has.
fn until_nothing_changes(users: &[Vec<usize>], mut look: impl FnMut(usize) -> bool) {
    // the last is looked at first: rules are often named before they are defined
    let mut open: Vec<usize> = (0..users.len()).collect();
    let mut is_open = vec![true; users.len()];
    while let Some(rule) = open.pop() {
        is_open[rule] = false;
        if look(rule) {
            for &user in &users[rule] {
                if !std::mem::replace(&mut is_open[user], true) {
                    open.push(user);
                }
            }
        }
    }
}
