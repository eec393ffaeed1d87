//! What the grammars compiled for one vocabulary share.

use super::shape_cache::ShapeCache;
use crate::mask::compute::record::ResidualTokens;
use crate::mask::partition::TokenPartition;

/// What grammars for one vocabulary share.
#[derive(Debug, Default)]
pub(in crate::mask) struct Shared {
    pub(in crate::mask) records: ShapeCache<ResidualTokens>,
    pub(in crate::mask) partitions: ShapeCache<TokenPartition>,
}

impl Shared {
    /// Drops everything. It is computed again when needed.
    pub(in crate::mask) fn clear(&self) {
        self.records.clear();
        self.partitions.clear();
    }
}
