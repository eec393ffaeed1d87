//! Tables of bounds on the length of completions.

use super::lists::ListCosts;
use super::measure::Measure;
use crate::automaton::run::configuration::{ConfigurationId, StackSetId};
use crate::collections::heap::map_bytes;
use crate::grammar::Unit;
use rustc_hash::FxHashMap;

/// Bounds on the length of completions, computed on demand. All bounds belong to one automaton. The bounds of stacks
/// and configurations belong to one generation of tables.
#[derive(Debug)]
pub(crate) struct Estimates {
    pub(in crate::automaton) measure: Measure,
    /// The least lengths of all expressions, for bounds of parts of the grammar that are lowered later; `None` until
    /// they are needed.
    pub(in crate::automaton) lengths: Option<Vec<u32>>,
    /// Per block, by its first state: the bound from each state to the return of its callable.
    pub(in crate::automaton) blocks: FxHashMap<u32, Box<[u32]>>,
    pub(in crate::automaton) lists: FxHashMap<u32, ListCosts>,
    /// Per set of stacks: the bound along the shortest and along the longest stack.
    pub(in crate::automaton) stacks: FxHashMap<StackSetId, (u32, u32)>,
    pub(in crate::automaton) configurations: FxHashMap<ConfigurationId, u32>,
    pub(in crate::automaton) bytes: usize,
}

impl Default for Estimates {
    /// Lower bounds in bytes.
    fn default() -> Estimates {
        Estimates::new(Measure::AtLeast(Unit::Bytes))
    }
}

impl Estimates {
    pub(crate) fn new(measure: Measure) -> Estimates {
        Estimates {
            measure,
            lengths: None,
            blocks: FxHashMap::default(),
            lists: FxHashMap::default(),
            stacks: FxHashMap::default(),
            configurations: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// Drops the bounds of stacks and configurations. Called when the tables with their ids are dropped.
    pub(crate) fn forget_tables(&mut self) {
        self.stacks = FxHashMap::default();
        self.configurations = FxHashMap::default();
    }

    /// Bytes on the heap, approximately.
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes + map_bytes(&self.stacks) + map_bytes(&self.configurations)
    }
}

/// Lower bounds in both units, for searches of bounded parts.
#[derive(Debug)]
pub(in crate::automaton) struct Bounds {
    bytes: Estimates,
    chars: Estimates,
}

impl Default for Bounds {
    fn default() -> Bounds {
        let of = |unit| Estimates::new(Measure::AtLeast(unit));
        Bounds { bytes: of(Unit::Bytes), chars: of(Unit::Chars) }
    }
}

impl Bounds {
    pub(in crate::automaton) fn of_unit(&mut self, unit: Unit) -> &mut Estimates {
        match unit {
            Unit::Bytes => &mut self.bytes,
            Unit::Chars => &mut self.chars,
        }
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.bytes.memory_usage() + self.chars.memory_usage()
    }
}
