//! Compares answers about random lists with the answers found by trying all subsets of their entries.

use super::clauses::Clauses;
use super::search::{Search, Weights};
use super::*;
use grammata_testing::generate::Choices;
use proptest::prelude::*;
use std::cell::Cell;

/// A list of members. `groups` has, for each entry with a key, the first entry with that key; `required` says whether a
/// member with that key is required.
#[derive(Debug, Default)]
struct List {
    groups: Vec<u32>,
    required: Vec<bool>,
    entries: usize,
    conditions: Vec<Condition>,
}

/// The entries that are present, the entries that are still possible, and the bounds on the number of members.
#[derive(Debug)]
struct Question {
    came: FixedBitSet,
    open: FixedBitSet,
    count: (u32, Option<u32>),
    keyless: Option<u32>,
    rest: bool,
}

impl List {
    fn random(choices: &mut Choices<'_>) -> List {
        let mut list = List::default();
        for _ in 0..choices.below(7) {
            let (first, required) = (list.groups.len() as u32, choices.chance(15));
            let variants = if choices.chance(40) { 1 + choices.below(3) } else { 1 };
            list.groups.extend(std::iter::repeat_n(first, variants));
            list.required.extend(std::iter::repeat_n(required, variants));
        }
        list.groups.truncate(10);
        list.required.truncate(10);
        list.entries = list.groups.len() + choices.below(3);
        let entries = list.entries.max(1);
        for _ in 0..choices.below(8) {
            let alternatives = (0..1 + choices.below(3)).map(|_| alternative(choices, entries));
            list.conditions.push(Condition(alternatives.collect()));
        }
        list.conditions.retain(|_| list.entries > 0);
        list
    }

    fn key(&self, entry: usize) -> usize {
        self.groups.get(entry).map_or(entry, |&group| group as usize)
    }

    fn question(&self, choices: &mut Choices<'_>) -> Question {
        let mut came = FixedBitSet::with_capacity(self.entries + 1);
        let mut open = FixedBitSet::with_capacity(self.entries);
        for entry in 0..self.entries {
            let is_new = !came.ones().any(|other| self.key(other) == self.key(entry));
            came.set(entry, is_new && choices.chance(20));
        }
        for entry in 0..self.entries {
            let is_new = !came.ones().any(|other| self.key(other) == self.key(entry));
            open.set(entry, is_new && choices.chance(75));
        }
        // in declared order, the bit after the entries says that the keys have been passed
        came.set(self.entries, choices.chance(20));
        let min = if choices.chance(50) { choices.below(5) as u32 } else { 0 };
        let max = choices.chance(40).then(|| choices.below(6) as u32);
        let keyless = choices.chance(30).then(|| choices.below(3) as u32);
        Question { came, open, count: (min, max), keyless, rest: choices.chance(30) }
    }

    /// Whether a set of entries has all required keys and satisfies the conditions.
    fn admits(&self, there: &FixedBitSet) -> bool {
        let keys = (0..self.groups.len()).filter(|&entry| self.key(entry) == entry);
        let mut required = keys.filter(|&entry| self.required[entry]);
        required.all(|key| there.ones().any(|entry| entry < self.groups.len() && self.key(entry) == key))
            && hold(&self.conditions, there)
    }

    /// Whether some set of open entries completes the list: the oracle.
    fn is_satisfiable(&self, question: &Question) -> bool {
        let open: Vec<usize> = question.open.ones().collect();
        (0..1_u32 << open.len()).any(|subset| {
            let chosen: Vec<usize> =
                (0..open.len()).filter(|place| subset >> place & 1 == 1).map(|place| open[place]).collect();
            let mut keys: Vec<usize> = chosen.iter().map(|&entry| self.key(entry)).collect();
            keys.dedup();
            let mut there = question.came.clone();
            there.set(self.entries, false);
            there.extend(chosen.iter().copied());
            let keyless = chosen.iter().filter(|&&entry| entry >= self.groups.len()).count() as u32;
            let further = if question.rest { 0..=20 } else { 0..=0 };
            let is_counted = |more: u32| {
                let count = chosen.len() as u32 + more;
                count >= question.count.0
                    && question.count.1.is_none_or(|max| count <= max)
                    && question.keyless.is_none_or(|most| keyless + more <= most)
            };
            keys.len() == chosen.len() && self.admits(&there) && further.into_iter().any(is_counted)
        })
    }
}

fn alternative(choices: &mut Choices<'_>, entries: usize) -> Alternative {
    let mut set = |most: usize| -> Box<[u32]> {
        (0..choices.below(most + 1)).map(|_| choices.below(entries) as u32).collect()
    };
    let some = [set(3), set(2), set(1)].into_iter().filter(|set| !set.is_empty()).collect();
    Alternative { some, none: set(2) }
}

/// The decisions that the search takes for an answer, with or without counting members.
fn decisions(clauses: &Clauses, is_counted: bool, question: &Question) -> usize {
    let mut search = Search::new(clauses, is_counted.then_some(Weights { keyed: 1, keyless: 1 }));
    let known = (0..clauses.entries).filter(|&entry| question.came[entry] || !question.open[entry]);
    if search.assume(known.map(|entry| (entry as u32, question.came[entry]))) {
        search.sums(&question.came);
    }
    search.decisions
}

#[test]
fn answers_are_those_of_all_subsets_and_take_no_more_decisions_than_checked() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let (yes, no, hard) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let judge = |bytes: Vec<u8>| {
        let mut choices = Choices::new(&bytes);
        let list = List::random(&mut choices);
        let clauses = Clauses::new(&list.conditions, &list.groups, &list.required, list.entries);
        // a quarter of the answers are yes: with five questions a case, the number of such answers is far above the
        // bound
        for _ in 0..5 {
            let question = list.question(&mut choices);
            let &Question { ref came, ref open, count, keyless, rest } = &question;
            let answer = Constraints { clauses: &clauses, came, open, count, keyless, rest }.is_satisfiable();
            prop_assert_eq!(answer, list.is_satisfiable(&question), "{:?} of {:?}", question, list);
            for is_counted in [false, true] {
                let taken = decisions(&clauses, is_counted, &question);
                let bounded = taken == 0 || clauses.all_decisions(is_counted, taken - 1).is_none();
                prop_assert!(bounded, "{} decisions for {:?} of {:?}", taken, question, list);
                hard.set(hard.get() + u32::from(taken > 2));
            }
            let count = if answer { &yes } else { &no };
            count.set(count.get() + 1);
        }
        Ok(())
    };
    let outcome = proptest::test_runner::TestRunner::new(config)
        .run(&prop::collection::vec(any::<u8>(), 0..300), judge);
    outcome.unwrap_or_else(|e| panic!("{e}"));
    let counts = format!("{} can be finished, {} cannot, {} hard", yes.get(), no.get(), hard.get());
    assert!(yes.get() > cases && no.get() > cases && hard.get() > cases / 40, "{counts}");
    eprintln!("{counts}");
}

#[test]
fn what_takes_too_many_decisions_is_refused() {
    // of each three neighbours on a torus at least one is present, but not all: there are many lists, with little in
    // common
    let side = 12;
    let at = |x: usize, y: usize| ((x % side) * side + y % side) as u32;
    let either = |entries: [u32; 3]| {
        let some = entries.map(|entry| Alternative { some: [[entry].into()].into(), none: [].into() });
        let none = entries.map(|entry| Alternative { some: [].into(), none: [entry].into() });
        [Condition(some.into()), Condition(none.into())]
    };
    let corners = (0..side * side).map(|place| (place / side, place % side));
    let conditions: Vec<Condition> =
        corners.flat_map(|(x, y)| either([at(x, y), at(x + 1, y), at(x, y + 1)])).collect();
    let keys: Vec<u32> = (0..(side * side) as u32).collect();
    let clauses = Clauses::new(&conditions, &keys, &vec![false; keys.len()], keys.len());
    assert!(!clauses.is_decidable(false, 1 << 14));
}
