//! Writing the bytes of a file: header, checksums and sections.

use super::header::{
    ALIGNMENT, BLOCK, BYTE_ORDER, FORMAT, HEADER, Kind, ROW, SEMANTICS, Section, field, header_checksum,
};
use sha2::{Digest, Sha256};

/// Padding between sections.
static ZEROS: [u8; ALIGNMENT] = [0; ALIGNMENT];

/// SHA-256 of the bytes of a grammar section.
pub(super) fn hash_of(grammar: &[u8]) -> [u8; 32] {
    Sha256::digest(grammar).into()
}

/// The header of a file with these sections, at most one of each kind. In the file, the [`pieces`] of the sections must
/// follow the header.
pub(super) fn header(
    kind: Kind,
    fingerprint: [u8; 32],
    width: usize,
    sections: &[(Section, &[u8])],
) -> Vec<u8> {
    let body_len: usize = pieces(sections).map(<[u8]>::len).sum();
    let blocks = body_len.div_ceil(BLOCK);
    let table = HEADER + sections.len() * ROW;
    let body = (table + blocks * 4).next_multiple_of(ALIGNMENT);
    let mut header = vec![0; body];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &kind.magic());
    put(field::FORMAT, &FORMAT.to_le_bytes());
    put(field::SEMANTICS, &SEMANTICS.to_le_bytes());
    put(field::BYTE_ORDER, &BYTE_ORDER.to_le_bytes());
    put(field::SECTIONS, &(sections.len() as u32).to_le_bytes());
    put(field::LENGTH, &((body + body_len) as u64).to_le_bytes());
    put(field::FINGERPRINT, &fingerprint);
    if let Some((_, grammar)) = sections.iter().find(|(section, _)| *section == Section::Grammar) {
        put(field::GRAMMAR_HASH, &hash_of(grammar));
    }
    put(field::WIDTH, &(width as u32).to_le_bytes());
    put(field::BLOCKS, &(blocks as u32).to_le_bytes());
    put(field::BODY, &(body as u64).to_le_bytes());
    let mut start = body;
    for (row, (section, bytes)) in sections.iter().enumerate() {
        start = start.next_multiple_of(ALIGNMENT);
        let at = HEADER + row * ROW;
        put(at, &section.kind().to_le_bytes());
        put(at + 8, &(start as u64).to_le_bytes());
        put(at + 16, &(bytes.len() as u64).to_le_bytes());
        start += bytes.len();
    }
    for (block, checksum) in checksums(pieces(sections)).into_iter().enumerate() {
        put(table + block * 4, &checksum.to_le_bytes());
    }
    let checksum = header_checksum(&header);
    header[field::CHECKSUM..field::CHECKSUM + 4].copy_from_slice(&checksum.to_le_bytes());
    header
}

/// The bytes after the header: the sections, each preceded by the zeros that align it.
pub(super) fn pieces<'a>(sections: &'a [(Section, &'a [u8])]) -> impl Iterator<Item = &'a [u8]> {
    let mut at = 0usize;
    sections.iter().flat_map(move |(_, bytes)| {
        let start = at.next_multiple_of(ALIGNMENT);
        let between = &ZEROS[..start - at];
        at = start + bytes.len();
        [between, bytes]
    })
}

/// The checksum of each block of the concatenated pieces.
fn checksums<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u32> {
    let (mut checksums, mut hasher, mut len) = (Vec::new(), crc32fast::Hasher::new(), 0);
    for mut piece in pieces {
        while !piece.is_empty() {
            let (now, later) = piece.split_at(piece.len().min(BLOCK - len));
            hasher.update(now);
            (len, piece) = (len + now.len(), later);
            if len == BLOCK {
                checksums.push(std::mem::take(&mut hasher).finalize());
                len = 0;
            }
        }
    }
    if len > 0 {
        checksums.push(hasher.finalize());
    }
    checksums
}

/// The bytes of a mask file with these sections.
pub(super) fn assemble(fingerprint: [u8; 32], width: usize, sections: &[(Section, &[u8])]) -> Vec<u8> {
    let mut file = header(Kind::MaskFile, fingerprint, width, sections);
    pieces(sections).for_each(|piece| file.extend_from_slice(piece));
    file
}
