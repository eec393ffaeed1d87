//! The fingerprint: SHA-256 over a serialisation of the vocabulary.
//!
//! The serialisation, version 1; all numbers are little-endian `u32`:
//! - the label, 22 bytes: `grammata vocabulary 1` and a zero byte;
//! - the width;
//! - for each id below the width one byte and, except for padding, a string: `0` for padding, `1` and the
//!   bytes for an ordinary token, `2` and the name for a special one. A string is its length, then its
//!   bytes;
//! - the number of end-of-sequence ids, then these ids in rising order.
//!
//! Nothing else is hashed, so vocabularies that differ only in where the tokenizer's ids end and the padding begins are
//! equal.

use super::{TokenId, Vocabulary};
use sha2::{Digest, Sha256};

const LABEL: &[u8; 22] = b"grammata vocabulary 1\0";

/// Computes the fingerprint with the given width and end-of-sequence ids (sorted) instead of the vocabulary's.
pub(super) fn fingerprint(vocabulary: &Vocabulary, width: usize, eos: &[TokenId]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(LABEL);
    hasher.update((width as u32).to_le_bytes());
    // one `update` for a few thousand tokens is several times faster than three per token
    let mut buffer = Vec::with_capacity(1 << 16);
    for id in (0..width as u32).map(TokenId::new) {
        let (tag, content) = match (vocabulary.bytes(id), vocabulary.special(id)) {
            (Some(bytes), _) => (1, Some(bytes)),
            (None, Some(name)) => (2, Some(name.as_bytes())),
            (None, None) => (0, None),
        };
        buffer.push(tag);
        if let Some(content) = content {
            buffer.extend_from_slice(&(content.len() as u32).to_le_bytes());
            buffer.extend_from_slice(content);
        }
        if buffer.len() >= 1 << 15 {
            hasher.update(&buffer);
            buffer.clear();
        }
    }
    buffer.extend_from_slice(&(eos.len() as u32).to_le_bytes());
    for id in eos {
        buffer.extend_from_slice(&id.get().to_le_bytes());
    }
    hasher.update(&buffer);
    hasher.finalize().into()
}
