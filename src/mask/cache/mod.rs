//! What is kept of masks: one cache per compiled grammar, and one of residuals that grammars share.

pub(in crate::mask) mod mask_cache;
mod reentry;
pub(in crate::mask) mod shape_cache;
