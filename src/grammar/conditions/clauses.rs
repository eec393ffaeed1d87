//! The conditions of a member list as a propositional formula in conjunctive normal form.
//!
//! Its variables are the entries of the list, each true if the entry is present, and auxiliary variables for compound
//! alternatives (Plaisted and Greenbaum's translation: an auxiliary variable implies its alternative, not the reverse).
//! The entries with one key are a group; at most one variable of a group is true.

use super::super::expression::{Alternative, Condition};
use super::search::{Search, Weights};
use rustc_hash::FxHashMap;

/// The most literals that may be copied to write a condition with one compound alternative without an auxiliary
/// variable.
const MAX_COPIES: usize = 256;

/// A variable or its negation, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal(u32);

impl Literal {
    pub(super) fn new(variable: u32, holds: bool) -> Literal {
        Literal(variable << 1 | u32::from(!holds))
    }

    pub(super) fn variable(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn holds(self) -> bool {
        self.0 & 1 == 0
    }
}

/// Lists stored consecutively in one vector.
#[derive(Clone, Debug)]
pub(super) struct Lists<T> {
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists { ends: Vec::new(), items: Vec::new() }
    }
}

impl<T> Lists<T> {
    fn push(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.ends.push(self.items.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn range(&self, list: usize) -> std::ops::Range<usize> {
        let start = list.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[list] as usize
    }

    pub(super) fn get(&self, list: usize) -> &[T] {
        &self.items[self.range(list)]
    }

    fn heap_bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>() + self.items.capacity() * size_of::<T>()
    }
}

/// The conditions of a list over its entries, including the required keys, in conjunctive normal form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clauses {
    /// The literals of each clause; at least one of them holds.
    pub(super) clauses: Lists<Literal>,
    /// Per variable, the clauses that contain it, each with whether it is a positive literal there.
    pub(super) occurrences: Lists<(u32, bool)>,
    /// The variables of each group, which are consecutive numbers.
    pub(super) groups: Lists<u32>,
    /// Per variable, the index of its group in `groups`.
    pub(super) group_of: Vec<u32>,
    /// The number of entries with a key; they are the first entries.
    pub(super) keyed: usize,
    /// The number of entries; they are the first variables.
    pub(super) entries: usize,
    /// Per variable, its rank in the order in which the search decides variables.
    pub(super) rank: Vec<u32>,
    /// Per variable, whether at least half of its literals are positive: the value that the search tries first.
    pub(super) is_positive: Vec<bool>,
    /// The number of variables that are positive literals of clauses with several positive literals. Once these
    /// variables are decided, the formula is a Horn formula.
    pub(super) branching: usize,
    /// Whether a clause is empty, so that nothing satisfies the conditions.
    pub(super) is_never: bool,
}

impl Clauses {
    /// The number of bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.clauses.heap_bytes()
            + self.occurrences.heap_bytes()
            + self.groups.heap_bytes()
            + (self.group_of.capacity() + self.rank.capacity()) * size_of::<u32>()
            + self.is_positive.capacity()
    }

    /// Translates the conditions over `entries` entries. `groups` has, for each entry with a key, the first entry with
    /// that key; `required` says whether a member with that key is required.
    pub(crate) fn new(
        conditions: &[Condition],
        groups: &[u32],
        required: &[bool],
        entries: usize,
    ) -> Clauses {
        let mut made = Clauses { keyed: groups.len(), entries, ..Clauses::default() };
        let mut next = entries as u32;
        for (first, &group) in groups.iter().enumerate() {
            if first == group as usize {
                let members = first..groups.len();
                let members = members.take_while(|&other| groups[other] == group).map(|entry| entry as u32);
                if required[first] {
                    made.add_clause(members.clone().map(|entry| Literal::new(entry, true)).collect());
                }
                made.groups.push(members);
            }
        }
        made.add_conditions(conditions, &mut next);
        (groups.len() as u32..next).for_each(|variable| made.groups.push([variable]));
        made.group_of = vec![0; next as usize];
        for group in 0..made.groups.len() {
            for place in made.groups.range(group) {
                made.group_of[made.groups.items[place] as usize] = group as u32;
            }
        }
        made.find_occurrences(next as usize);
        made.order(next as usize);
        made
    }

    /// Whether `limit` decisions suffice to tell if the list can be finished, whichever entries are present or still
    /// possible. `is_counted` says whether the number of members is bounded.
    pub(crate) fn is_decidable(&self, is_counted: bool, limit: usize) -> bool {
        self.work(is_counted, limit).is_some()
    }

    /// The steps of work to find out that the list [is decidable](Clauses::is_decidable): literals times decisions, or
    /// 0 if it has too few variables to exceed `limit`. `None` if the list is not decidable.
    pub(crate) fn work(&self, is_counted: bool, limit: usize) -> Option<usize> {
        let is_in_clause = |&variable: &usize| !self.occurrences.range(variable).is_empty();
        let deciding = match is_counted {
            true => (0..self.occurrences.len()).filter(is_in_clause).count(),
            false => self.branching,
        };
        if 1_usize.checked_shl(deciding as u32).is_some_and(|most| most <= limit) {
            return Some(0);
        }
        let decisions = self.all_decisions(is_counted, limit)?;
        Some(decisions * self.clauses.items.len())
    }

    /// The number of decisions of an exhaustive search without assumptions. `None` if it exceeds `limit`.
    pub(super) fn all_decisions(&self, is_counted: bool, limit: usize) -> Option<usize> {
        let mut search = Search::new(self, is_counted.then(Weights::default));
        let is_done = !search.assume(std::iter::empty()) || search.exhaust(limit);
        is_done.then_some(search.decisions)
    }

    fn add_conditions(&mut self, conditions: &[Condition], next: &mut u32) {
        let mut auxiliary: FxHashMap<&Alternative, u32> = FxHashMap::default();
        for Condition(alternatives) in conditions {
            let possible = || alternatives.iter().filter(|one| one.some.iter().all(|set| !set.is_empty()));
            if possible().any(|one| one.some.is_empty() && one.none.is_empty()) {
                continue;
            }
            let is_compound = |one: &&Alternative| one.some.len() + one.none.len() > 1;
            let mut clause: Vec<Literal> =
                possible().filter(|one| !is_compound(one)).flat_map(parts).flatten().collect();
            let mut compound = possible().filter(is_compound);
            if let (Some(only), None) = (compound.next(), compound.next())
                && clause.len() * (only.some.len() + only.none.len()) <= MAX_COPIES
            {
                for part in parts(only) {
                    self.add_clause(clause.iter().copied().chain(part).collect());
                }
                continue;
            }
            for one in possible().filter(is_compound) {
                let variable = *auxiliary.entry(one).or_insert_with(|| {
                    let variable = *next;
                    *next += 1;
                    for part in parts(one) {
                        self.add_clause(part.chain([Literal::new(variable, false)]).collect());
                    }
                    variable
                });
                clause.push(Literal::new(variable, true));
            }
            self.add_clause(clause);
        }
    }

    /// Adds a clause unless it is a tautology. An empty clause sets `is_never`.
    fn add_clause(&mut self, mut clause: Vec<Literal>) {
        clause.sort_unstable();
        clause.dedup();
        self.is_never |= clause.is_empty();
        if !clause.windows(2).any(|pair| pair[0].variable() == pair[1].variable()) {
            self.clauses.push(clause);
        }
    }

    fn find_occurrences(&mut self, variables: usize) {
        let mut ends = vec![0; variables];
        self.clauses.items.iter().for_each(|literal| ends[literal.variable()] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut items = vec![(0, false); self.clauses.items.len()];
        for clause in 0..self.clauses.len() {
            for literal in self.clauses.get(clause) {
                // the start of a list moves to its end while the list is filled
                let at = &mut ends[literal.variable()];
                items[*at as usize] = (clause as u32, literal.holds());
                *at += 1;
            }
        }
        self.occurrences = Lists { ends, items };
    }

    /// Orders the variables for the search: first the variables that keep the formula from being a Horn formula, then
    /// the others, each part by falling frequency. Sets `branching`, `is_positive` and `rank`.
    fn order(&mut self, variables: usize) {
        let mut is_branching = vec![false; variables];
        for clause in 0..self.clauses.len() {
            let positive = || self.clauses.get(clause).iter().filter(|literal| literal.holds());
            if positive().nth(1).is_some() {
                positive().for_each(|literal| is_branching[literal.variable()] = true);
            }
        }
        self.branching = is_branching.iter().filter(|&&is| is).count();
        let mut order: Vec<u32> = (0..variables as u32).collect();
        order.sort_by_key(|&variable| {
            let place = variable as usize;
            (!is_branching[place], std::cmp::Reverse(self.occurrences.range(place).len()))
        });
        let is_positive = |variable| {
            let all = self.occurrences.get(variable);
            2 * all.iter().filter(|&&(_, positive)| positive).count() >= all.len()
        };
        self.is_positive = (0..variables).map(is_positive).collect();
        self.rank = vec![0; variables];
        order.iter().zip(0..).for_each(|(&variable, rank)| self.rank[variable as usize] = rank);
    }
}

/// The clauses of an alternative: the alternative holds if at least one literal of each of the returned sets holds.
fn parts(alternative: &Alternative) -> impl Iterator<Item = impl Iterator<Item = Literal> + '_> + '_ {
    let some = alternative.some.iter().map(|set| (&**set, true));
    let none = alternative.none.chunks(1).map(|entry| (entry, false));
    some.chain(none).map(|(set, holds)| set.iter().map(move |&entry| Literal::new(entry, holds)))
}
