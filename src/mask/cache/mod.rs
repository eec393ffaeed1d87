//! Caches of masks: one per compiled grammar, and one of residual records that grammars share.

pub(in crate::mask) mod mask_cache;
mod reentry;
pub(in crate::mask) mod shape_cache;
