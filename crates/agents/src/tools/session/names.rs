//! The names of a set in sorted order, and positions among them: a virtual trie.

use super::bits::Bits;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Names as written in calls, sorted by bytes, without duplicates.
#[derive(Clone, Debug)]
pub(super) struct Names {
    bytes: Box<[u8]>,
    /// The end of each name in `bytes`, preceded by a zero.
    ends: Box<[u32]>,
    /// The tool of each name, as an index into the set.
    tools: Box<[u32]>,
    /// A hash table with open addressing: each name is in one of the [`PROBES`] slots from its hash on. A name is
    /// missing if all of these slots were occupied.
    slots: Box<[Slot]>,
}

/// A slot of the hash table. It has the range of its name, so that a lookup reads only two places in memory.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// A part of the name's hash.
    mark: u32,
    rank: u32,
    /// The range of the name in the bytes.
    start: u32,
    end: u32,
}

impl Slot {
    const FREE: Slot = Slot { mark: 0, rank: NO_RANK, start: 0, end: 0 };
}

/// The number of slots in which a name may be. A name for which none is free is found by binary search, so that names
/// constructed to have equal hashes cost little.
const PROBES: usize = 16;

/// The number of names that are looked up together.
const AHEAD: usize = 16;

/// The rank of a slot without a name.
const NO_RANK: u32 = u32::MAX;

fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    hasher.finish()
}

/// Returns the slots in which a name of this hash may be. `slots`, the size of the table, is a power of two.
fn probes(hash: u64, slots: usize) -> impl Iterator<Item = usize> {
    (0..PROBES.min(slots)).map(move |probe| (hash as usize).wrapping_add(probe) & (slots - 1))
}

/// Returns the part of a hash that a slot stores: other bits than those that select the slot.
fn mark(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// A position in the virtual trie of the names: the names of the ranks `low..high` share their first `depth` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Spot {
    low: u32,
    high: u32,
    depth: u32,
}

/// A byte with which a name may continue, and the position after the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) byte: u8,
    pub(super) spot: Spot,
}

impl Names {
    /// Builds the table from pairs of a name and its tool.
    pub(super) fn new(mut names: Vec<(String, u32)>) -> Names {
        names.sort_unstable();
        let mut bytes = Vec::with_capacity(names.iter().map(|(name, _)| name.len()).sum());
        let mut ends = Vec::with_capacity(names.len() + 1);
        ends.push(0);
        for (name, _) in &names {
            bytes.extend_from_slice(name.as_bytes());
            ends.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        }
        let mut slots = vec![Slot::FREE; (2 * names.len()).next_power_of_two()];
        for (rank, (name, _)) in (0..NO_RANK).zip(&names) {
            let hash = hash(name.as_bytes());
            let free = probes(hash, slots.len()).find(|&slot| slots[slot].rank == NO_RANK);
            if let Some(slot) = free {
                let (start, end) = (ends[rank as usize], ends[rank as usize + 1]);
                slots[slot] = Slot { mark: mark(hash), rank, start, end };
            }
        }
        Names {
            bytes: bytes.into(),
            ends: ends.into(),
            tools: names.into_iter().map(|(_, tool)| tool).collect(),
            slots: slots.into(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns the tool of a rank, as an index into the set.
    pub(super) fn tool(&self, rank: u32) -> usize {
        self.tools[rank as usize] as usize
    }

    /// Returns the name of a rank, as written in calls.
    pub(super) fn name(&self, rank: u32) -> &[u8] {
        &self.bytes[self.ends[rank as usize] as usize..self.ends[rank as usize + 1] as usize]
    }

    /// Returns the rank of a name as written in calls; `None` if it is unknown.
    pub(super) fn rank(&self, name: &[u8]) -> Option<u32> {
        self.rank_of(name, hash(name))
    }

    /// Returns the ranks of names as written in calls, in order; `None` for unknown names. The slots of several names
    /// are read before bytes are compared, so that their memory accesses overlap.
    pub(super) fn ranks<'n, N: AsRef<[u8]> + 'n>(&self, names: &'n [N]) -> impl Iterator<Item = Option<u32>> {
        let mut hashes = [0; AHEAD];
        names.chunks(AHEAD).flat_map(move |chunk| {
            let mut first = [Slot::FREE; AHEAD];
            for ((name, own), slot) in chunk.iter().zip(&mut hashes).zip(&mut first) {
                *own = hash(name.as_ref());
                *slot = self.slots[*own as usize & (self.slots.len() - 1)];
            }
            let mut ranks = [None; AHEAD];
            for (((name, own), slot), rank) in chunk.iter().zip(hashes).zip(first).zip(&mut ranks) {
                let is_it =
                    slot.mark == mark(own) && slot.rank != NO_RANK && self.bytes_of(slot) == name.as_ref();
                *rank = if is_it { Some(slot.rank) } else { self.rank_of(name.as_ref(), own) };
            }
            ranks.into_iter().take(chunk.len())
        })
    }

    fn bytes_of(&self, slot: Slot) -> &[u8] {
        &self.bytes[slot.start as usize..slot.end as usize]
    }

    fn rank_of(&self, name: &[u8], hash: u64) -> Option<u32> {
        for slot in probes(hash, self.slots.len()) {
            let slot = self.slots[slot];
            if slot.rank == NO_RANK {
                return None;
            }
            if slot.mark == mark(hash) && self.bytes_of(slot) == name {
                return Some(slot.rank);
            }
        }
        let at = self.partition(0, self.tools.len() as u32, |rank| self.name(rank) < name);
        (at < self.tools.len() as u32 && self.name(at) == name).then_some(at)
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.bytes.len() + (self.ends.len() + self.tools.len() + 4 * self.slots.len()) * 4
    }

    /// Returns the position before the first byte of a name.
    pub(super) fn start(&self) -> Spot {
        Spot { low: 0, high: self.tools.len() as u32, depth: 0 }
    }

    /// Returns the rank of the allowed name that ends at a position, if there is one.
    pub(super) fn complete(&self, at: Spot, allowed: &Bits) -> Option<u32> {
        let ends = at.low < at.high && self.name(at.low).len() == at.depth as usize;
        (ends && allowed.has(at.low)).then_some(at.low)
    }

    /// Returns the position after one more byte, if an allowed name continues with the byte.
    pub(super) fn step(&self, at: Spot, byte: u8, allowed: &Bits) -> Option<Spot> {
        let depth = at.depth as usize;
        // a name that ends here sorts first
        let low = self.partition(at.low, at.high, |rank| self.name(rank).get(depth) < Some(&byte));
        let high = self.partition(low, at.high, |rank| self.name(rank).get(depth) <= Some(&byte));
        let next = Spot { low, high, depth: at.depth + 1 };
        allowed.first(low, high).map(|_| next)
    }

    /// Returns the bytes with which allowed names continue, in ascending order.
    pub(super) fn branches<'n>(&'n self, at: Spot, allowed: &'n Bits) -> impl Iterator<Item = Branch> + 'n {
        let depth = at.depth as usize;
        let mut from = at.low;
        std::iter::from_fn(move || {
            loop {
                let rank = allowed.first(from, at.high)?;
                let Some(&byte) = self.name(rank).get(depth) else {
                    from = rank + 1;
                    continue;
                };
                let high = self.gallop(rank, at.high, |rank| self.name(rank).get(depth) == Some(&byte));
                from = high;
                // the range begins at an allowed name; names before it are not allowed
                return Some(Branch { byte, spot: Spot { low: rank, high, depth: at.depth + 1 } });
            }
        })
    }

    /// Returns the longest common continuation of all allowed names at a position, and the rank of the allowed name if
    /// there is only one.
    pub(super) fn forced(&self, at: Spot, allowed: &Bits) -> (&[u8], Option<u32>) {
        let Some(first) = allowed.first(at.low, at.high) else { return (&[], None) };
        let Some(last) = allowed.last(at.low, at.high) else { return (&[], None) };
        let rest = |rank: u32| self.name(rank).get(at.depth as usize..).unwrap_or_default();
        let (first_rest, last_rest) = (rest(first), rest(last));
        let common = first_rest.iter().zip(last_rest).take_while(|(a, b)| a == b).count();
        (&first_rest[..common], (first == last).then_some(first))
    }

    /// Returns the ranks of the allowed names at a position, in ascending order.
    pub(super) fn within<'n>(&self, at: Spot, allowed: &'n Bits) -> impl Iterator<Item = u32> + 'n {
        let mut from = at.low;
        std::iter::from_fn(move || {
            let found = allowed.first(from, at.high)?;
            from = found + 1;
            Some(found)
        })
    }

    fn partition(&self, mut low: u32, mut high: u32, is_before: impl Fn(u32) -> bool) -> u32 {
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the first rank after `low` for which `holds` is false, at most `high`. The search gallops, because that
    /// rank is usually near. `holds` must be true for `low`.
    fn gallop(&self, low: u32, high: u32, holds: impl Fn(u32) -> bool) -> u32 {
        let (mut known, mut step) = (low, 1);
        while high - known > step && holds(known + step) {
            known += step;
            step *= 2;
        }
        self.partition(known, (known.saturating_add(step).saturating_add(1)).min(high), holds)
    }
}
