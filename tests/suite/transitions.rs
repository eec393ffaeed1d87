//! Algorithms on transition systems, compared with brute force over small random tables.
//!
//! A table has symbols with several letters each, and a pool of letters, each of which may occur once. A state of the
//! system knows only how many letters of the pool occurred. The brute force distinguishes which ones occurred, and does
//! not use classes.

mod properties;

use grammata::Result;
use grammata::transitions::{
    Alignment, Bounds, Completable, Count, Counts, Distances, Graph, Indexed, Letters, List, Measure,
    PathLength, Repaired, Sample, Transition, TransitionSystem, Walk, Word, WordVerdict, costs_from_start,
    repair, sample, shortest, verify, verify_reversed,
};
use num_bigint::BigUint;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// A letter: a symbol, and a number that distinguishes the letters of one symbol.
type Letter = (usize, usize);
const SYMBOLS: usize = 3;
const BASES: usize = 4;
/// The symbol whose letters may each occur once; [`POOLED`] is the number of these letters.
const POOL: usize = SYMBOLS;
const POOLED: usize = 2;
/// The greatest length of the words that brute force lists.
const LONGEST: usize = 4;

#[derive(Clone, Debug)]
struct Table {
    /// The next base for each base and symbol.
    to: [[Option<usize>; SYMBOLS + 1]; BASES],
    accepting: [bool; BASES],
    letters: [usize; SYMBOLS + 1],
    costs: [u64; SYMBOLS + 1],
    /// Whether the symbols 0 and 1 are two outcomes of one action.
    outcomes: bool,
}

impl Table {
    fn random(random: &mut ChaCha8Rng, outcomes: bool) -> Table {
        let density = random.random_range(0.2..0.8);
        let mut table = Table {
            to: [[None; SYMBOLS + 1]; BASES],
            accepting: std::array::from_fn(|_| random.random_bool(0.3)),
            letters: std::array::from_fn(|_| random.random_range(1..=2)),
            costs: std::array::from_fn(|_| random.random_range(0..3)),
            outcomes,
        };
        table.letters[POOL] = POOLED;
        // transitions lead only forward, so the language is finite
        let is_acyclic = random.random_bool(0.4);
        for base in 0..BASES {
            for symbol in 0..=SYMBOLS {
                let first = if is_acyclic { base + 1 } else { 0 };
                if first < BASES && random.random_bool(density) {
                    table.to[base][symbol] = Some(random.random_range(first..BASES));
                }
            }
        }
        table
    }
}

// ---- the system

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct State {
    base: usize,
    /// The number of letters of the pool that occurred.
    used: usize,
}

impl Indexed for State {
    fn index(self) -> usize {
        self.base * (POOLED + 1) + self.used
    }
}

/// A symbol, and how many of its letters are left.
type Label = (usize, usize);

impl TransitionSystem for Table {
    type State = State;
    type Label = Label;

    fn start(&self) -> State {
        State { base: 0, used: 0 }
    }

    fn successors(
        &mut self,
        &State { base, used }: &State,
        into: &mut Vec<Transition<State, Label>>,
    ) -> Result<()> {
        // symbols come in reverse order, so an algorithm that lists words must sort them
        for symbol in (0..=SYMBOLS).rev() {
            let used_after = used + usize::from(symbol == POOL);
            if let Some(to) = self.to[base][symbol].filter(|_| used_after <= POOLED) {
                let left = if symbol == POOL { POOLED - used } else { self.letters[symbol] };
                into.push(Transition { label: (symbol, left), to: State { base: to, used: used_after } });
            }
        }
        Ok(())
    }

    fn is_accepting(&self, state: &State) -> bool {
        self.accepting[state.base]
    }

    fn cost(&self, &(symbol, _): &Label) -> u64 {
        self.costs[symbol]
    }

    fn has_outcomes(&self) -> bool {
        self.outcomes
    }

    fn action(&self, &(symbol, _): &Label) -> Option<usize> {
        (self.outcomes && symbol < 2).then_some(7)
    }
}

/// The table with the known distances of its states.
struct System {
    table: Table,
    distances: Distances,
}

impl System {
    fn new(table: &Table) -> System {
        System { table: table.clone(), distances: Distances::new(Measure::Letters, bounds(1_000)) }
    }
}

fn bounds(reachable: usize) -> Bounds {
    Bounds { reachable, search: 1_000, searches: 1_000, outcomes: 10_000 }
}

impl TransitionSystem for System {
    type State = State;
    type Label = Label;

    fn start(&self) -> State {
        self.table.start()
    }

    fn successors(&mut self, state: &State, into: &mut Vec<Transition<State, Label>>) -> Result<()> {
        self.table.successors(state, into)
    }

    fn is_accepting(&self, state: &State) -> bool {
        self.table.is_accepting(state)
    }

    fn times(&self, &(_, left): &Label, count: &BigUint) -> BigUint {
        count * left
    }

    fn completable(&mut self, state: &State) -> Result<Completable> {
        Ok(match self.distances.distance(&mut self.table, *state)? {
            PathLength::Exactly(_) => Completable::Yes,
            PathLength::Never => Completable::No,
            PathLength::Unknown => Completable::Unknown,
        })
    }
}

impl Letters for System {
    type Letter = Letter;
    /// A symbol with its letters, or one letter of the pool.
    type Choice = (usize, usize, usize);
    type Used = BTreeSet<usize>;

    fn choices(
        &self,
        &(symbol, left): &Label,
        used: &BTreeSet<usize>,
        into: &mut Vec<(usize, usize, usize)>,
    ) {
        match symbol == POOL {
            true => {
                into.extend((0..POOLED).filter(|letter| !used.contains(letter)).map(|l| (symbol, l, l + 1)))
            }
            false => into.push((symbol, 0, left)),
        }
    }

    fn use_up(&self, &(symbol, letter, _): &(usize, usize, usize), used: &mut BTreeSet<usize>) {
        if symbol == POOL {
            used.insert(letter);
        }
    }

    fn size(&self, &(_, first, end): &(usize, usize, usize)) -> BigUint {
        (end - first).into()
    }

    fn first(&self, &(symbol, first, _): &(usize, usize, usize)) -> Letter {
        (symbol, first)
    }

    fn next(&self, &(symbol, _, end): &(usize, usize, usize), &(_, letter): &Letter) -> Option<Letter> {
        (letter + 1 < end).then_some((symbol, letter + 1))
    }

    fn draw<R: RngCore>(&self, &(symbol, first, end): &(usize, usize, usize), random: &mut R) -> Letter {
        (symbol, random.random_range(first..end))
    }
}

/// A word in which letters of one symbol may be omitted.
struct Written<'a> {
    word: &'a [Letter],
    implied: Option<usize>,
}

impl Word<System> for Written<'_> {
    fn len(&self) -> usize {
        self.word.len()
    }

    fn readings(
        &self,
        _: &System,
        place: usize,
        &(symbol, first, end): &(usize, usize, usize),
    ) -> Vec<Letter> {
        let letter = self.word[place];
        Vec::from_iter((letter.0 == symbol && (first..end).contains(&letter.1)).then_some(letter))
    }

    fn implied(&self, _: &System, &(symbol, first, _): &(usize, usize, usize)) -> Option<Letter> {
        (self.implied == Some(symbol)).then_some((symbol, first))
    }
}

// ---- brute force

/// A base, and the letters of the pool that occurred.
type Concrete = (usize, BTreeSet<usize>);

impl Table {
    fn read(&self, (base, used): &Concrete, (symbol, letter): Letter) -> Option<Concrete> {
        if symbol > SYMBOLS || letter >= self.letters[symbol] || symbol == POOL && used.contains(&letter) {
            return None;
        }
        let mut used = used.clone();
        if symbol == POOL {
            used.insert(letter);
        }
        Some((self.to[*base][symbol]?, used))
    }

    fn alphabet(&self) -> Vec<Letter> {
        (0..=SYMBOLS)
            .flat_map(|symbol| (0..self.letters[symbol]).map(move |letter| (symbol, letter)))
            .collect()
    }

    /// Returns all words up to [`LONGEST`], in order of length and letters.
    fn words(&self) -> Vec<Vec<Letter>> {
        let mut words = Vec::new();
        let mut level = vec![((0, BTreeSet::new()), Vec::new())];
        for _ in 0..=LONGEST {
            let mut next = Vec::new();
            for (at, word) in level {
                if self.accepting[at.0] {
                    words.push(word.clone());
                }
                for letter in self.alphabet() {
                    let Some(to) = self.read(&at, letter) else { continue };
                    let mut longer = word.clone();
                    longer.push(letter);
                    next.push((to, longer));
                }
            }
            level = next;
        }
        words
    }

    /// Returns all reachable concrete states, and those of them that can reach acceptance.
    fn concrete(&self) -> (BTreeSet<Concrete>, BTreeSet<Concrete>) {
        let mut all = BTreeSet::from([(0, BTreeSet::new())]);
        loop {
            let next: Vec<Concrete> = all
                .iter()
                .flat_map(|at| self.alphabet().into_iter().filter_map(|l| self.read(at, l)))
                .collect();
            let size = all.len();
            all.extend(next);
            if all.len() == size {
                break;
            }
        }
        let mut live: BTreeSet<Concrete> = all.iter().filter(|at| self.accepting[at.0]).cloned().collect();
        loop {
            let leads = |at: &&Concrete| {
                self.alphabet().into_iter().any(|l| self.read(at, l).is_some_and(|to| live.contains(&to)))
            };
            let next: Vec<Concrete> = all.iter().filter(leads).cloned().collect();
            let size = live.len();
            live.extend(next);
            if live.len() == size {
                return (all, live);
            }
        }
    }

    /// Returns the number of words of each length below twice the number of concrete states.
    fn lengths(&self) -> Vec<u128> {
        let mut ways: BTreeMap<Concrete, u128> = BTreeMap::from([((0, BTreeSet::new()), 1)]);
        let mut lengths = Vec::new();
        for _ in 0..2 * BASES * (1 << POOLED) {
            lengths.push(ways.iter().filter(|(at, _)| self.accepting[at.0]).map(|(_, n)| n).sum());
            let mut next = BTreeMap::new();
            for (at, n) in ways {
                for to in self.alphabet().into_iter().filter_map(|letter| self.read(&at, letter)) {
                    *next.entry(to).or_default() += n;
                }
            }
            ways = next;
        }
        lengths
    }
}

fn tables(seed: u64, count: usize) -> impl Iterator<Item = (Table, ChaCha8Rng)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(move |_| {
        let table = Table::random(&mut random, false);
        (table, ChaCha8Rng::seed_from_u64(random.next_u64()))
    })
}

fn random_word(table: &Table, random: &mut ChaCha8Rng, longest: usize) -> Vec<Letter> {
    let alphabet = table.alphabet();
    let length = random.random_range(0..=longest);
    (0..length).map(|_| alphabet[random.random_range(0..alphabet.len())]).collect()
}
