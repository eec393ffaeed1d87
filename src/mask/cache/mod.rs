//! Caches of masks: one per compiled grammar, and those of residuals that grammars share.

pub(in crate::mask) mod mask_cache;
mod reentry;
pub(in crate::mask) mod shape_cache;
pub(in crate::mask) mod shared;
