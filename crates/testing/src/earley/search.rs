//! A search over bytes that decides whether an intersection or complement in progress can be completed.

use super::Recogniser;
use super::chart::{Chart, Head, Item, Lock, Piece};
use grammata::grammar::ExprId;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Everything that the future of a chart depends on, with the columns renumbered: charts with equal keys accept the
/// same completions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    accepting: bool,
    readers: BTreeSet<Item>,
    waiting: BTreeMap<(usize, Head), BTreeSet<Item>>,
    locks: Vec<(ExprId, usize, Vec<Key>)>,
}

impl Chart {
    pub(super) fn key(&self) -> Key {
        let last = self.last();
        // what may complete, and where it began: every item that waits for it counts
        let mut needed: BTreeSet<(usize, Head)> = BTreeSet::new();
        let mut work: Vec<(usize, Head)> = last.readers.iter().map(|item| (item.origin, item.head)).collect();
        work.extend(last.locks.iter().map(|(id, start, _)| (*start, Head::Lock(*id))));
        while let Some(pair) = work.pop() {
            if needed.insert(pair) {
                work.extend(self.waiting(pair).map(|item| (item.origin, item.head)));
            }
        }
        let columns: BTreeSet<usize> = needed.iter().map(|(column, _)| *column).collect();
        let renumbered: BTreeMap<usize, usize> =
            columns.into_iter().enumerate().map(|(n, c)| (c, n)).collect();
        let rename = |item: &Item| Item { origin: renumbered[&item.origin], ..item.clone() };
        let mut locks: Vec<(ExprId, usize, &Lock)> =
            last.locks.iter().map(|(id, start, lock)| (*id, renumbered[start], lock)).collect();
        locks.sort_by_key(|(id, start, _)| (*id, *start));
        Key {
            accepting: self.is_accepting(),
            readers: last.readers.iter().map(rename).collect(),
            waiting: needed
                .iter()
                .map(|&(column, head)| {
                    ((renumbered[&column], head), self.waiting((column, head)).map(rename).collect())
                })
                .collect(),
            locks: locks.into_iter().map(|(id, start, lock)| (id, start, lock.key())).collect(),
        }
    }

    fn waiting(&self, (column, head): (usize, Head)) -> impl Iterator<Item = &Item> {
        self.columns[column].waiting.get(&head).into_iter().flatten()
    }
}

impl Lock {
    fn key(&self) -> Vec<Key> {
        self.charts().iter().map(Chart::key).collect()
    }
}

impl Recogniser<'_> {
    pub(super) fn is_chart_viable(&self, chart: &Chart) -> Option<bool> {
        let column = chart.last();
        if chart.is_accepting() || !column.readers.is_empty() {
            return Some(true);
        }
        let mut undecided = false;
        for (id, start, lock) in &column.locks {
            let begun_here = *start + 1 == chart.columns.len();
            let known = begun_here && self.least_piece(&Piece::Call(Head::Lock(*id))).is_some();
            match if known { Some(true) } else { self.completable(*id, lock) } {
                Some(true) => return Some(true),
                Some(false) => {}
                None => undecided = true,
            }
        }
        (!undecided).then_some(false)
    }

    /// Whether some bytes make the operand charts accept; `None` if the search gave up.
    pub(super) fn completable(&self, id: ExprId, lock: &Lock) -> Option<bool> {
        if lock.is_accepting() {
            return Some(true);
        }
        if lock.is_dead() {
            return Some(false);
        }
        let key = (id, lock.key());
        if let Some(&known) = self.completable.borrow().get(&key) {
            return known;
        }
        let begun = self.work.get();
        let answer = match self.searched.get() {
            0..Recogniser::ALL_SEARCH_WORK => self.search(lock),
            _ => None,
        };
        self.searched.set(self.searched.get() + self.work.get() - begun);
        self.completable.borrow_mut().insert(key, answer);
        answer
    }

    fn search(&self, lock: &Lock) -> Option<bool> {
        let begun = self.work.get();
        let mut seen = FxHashSet::from_iter([lock.key()]);
        let mut queue = VecDeque::from([lock.clone()]);
        while let Some(lock) = queue.pop_front() {
            for &byte in &self.alphabet {
                let next = self.advance_lock(&lock, byte);
                if next.is_accepting() {
                    return Some(true);
                }
                if next.is_dead() || !seen.insert(next.key()) {
                    continue;
                }
                let spent = self.work.get() - begun;
                if seen.len() > Recogniser::BUDGET || spent > Recogniser::SEARCH_WORK {
                    return None;
                }
                queue.push_back(next);
            }
        }
        Some(false)
    }

    pub(super) fn least_piece(&self, piece: &Piece) -> Option<u64> {
        self.least.piece(self.grammar, piece)
    }

    /// A lower bound on the bytes of a completion. `None` if there obviously is none.
    pub(super) fn least_completion(&self, chart: &Chart) -> Option<u64> {
        if chart.is_accepting() {
            return Some(0);
        }
        // propagate from the ends of heads outwards, cheapest first
        let column = chart.last();
        let mut queue: BTreeSet<(u64, usize, Head)> = BTreeSet::new();
        let left = |item: &Item| item.rest.iter().map(|p| self.least_piece(p).unwrap_or(0)).sum::<u64>();
        queue.extend(column.readers.iter().map(|item| (left(item), item.origin, item.head)));
        for (id, start, lock) in &column.locks {
            let least = match lock {
                Lock::All(charts) => charts
                    .iter()
                    .try_fold(0, |most: u64, chart| Some(most.max(self.least_completion(chart)?))),
                Lock::Not(_) => Some(0),
            };
            queue.extend(least.map(|least| (least, *start, Head::Lock(*id))));
        }
        let mut done: FxHashSet<(usize, Head)> = FxHashSet::default();
        while let Some((cost, origin, head)) = queue.pop_first() {
            if head == Head::Root {
                return Some(cost);
            }
            if done.insert((origin, head)) {
                queue.extend(chart.waiting((origin, head)).map(|item| {
                    let after = left(item) - self.least_piece(&Piece::Call(head)).unwrap_or(0);
                    (cost + after, item.origin, item.head)
                }));
            }
        }
        None
    }
}
