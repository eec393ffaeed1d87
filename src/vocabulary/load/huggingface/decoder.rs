//! Decoders of a `tokenizer.json`: from the text of one token to its bytes.

use super::file::{File, Pattern, Pipeline, Step};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use crate::vocabulary::errors;
use crate::vocabulary::load::{METASPACE, fallback_byte};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// A decoder that maps each token to bytes independently of its neighbours.
pub(super) struct ByteMap {
    steps: Vec<Mapping>,
    token_bytes: usize,
}

enum Mapping {
    Replace { pattern: Box<Finder<'static>>, content: String },
    ByteFallback,
    ByteLevel,
}

impl Mapping {
    fn replace(pattern: &str, content: &str) -> Mapping {
        Mapping::Replace { pattern: Box::new(Finder::new(pattern).into_owned()), content: content.to_owned() }
    }
}

impl ByteMap {
    /// The byte map of a file's decoder, or of its pre-tokenizer if there is no decoder. `token_bytes` is the maximum
    /// number of bytes of a token.
    ///
    /// # Errors
    /// `vocabulary/decoder` if the decoder has an unsupported step, or if there is neither a decoder nor a supported
    /// pre-tokenizer.
    pub(super) fn new(file: &File, byte_fallback: bool, token_bytes: usize) -> Result<ByteMap> {
        let mut steps = match (&file.decoder, &file.pre_tokenizer) {
            (Some(decoder), _) => from_decoder(decoder)?,
            (None, Some(pre_tokenizer)) => from_pre_tokenizer(pre_tokenizer)?,
            (None, None) => return Err(no_decoder()),
        };
        if byte_fallback && !steps.iter().any(|step| matches!(step, Mapping::ByteFallback)) {
            // the model encodes bytes as `<0xNN>`, whatever the decoder says
            steps.insert(0, Mapping::ByteFallback);
        }
        Ok(ByteMap { steps, token_bytes })
    }

    /// Writes the bytes of the token with this text to `bytes`, which must be empty. Fails if a replacement makes more
    /// than `token_bytes` bytes.
    pub(super) fn apply(&self, text: &str, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.extend_from_slice(text.as_bytes());
        for step in &self.steps {
            match step {
                Mapping::Replace { pattern, content } => {
                    replace(bytes, pattern, content.as_bytes(), self.token_bytes)?;
                }
                Mapping::ByteFallback => {
                    if let Some(byte) = fallback_byte(bytes) {
                        bytes.clear();
                        bytes.push(byte);
                    }
                }
                Mapping::ByteLevel => undo_byte_level(bytes),
            }
        }
        Ok(())
    }
}

fn no_decoder() -> crate::Error {
    errors::unsupported_decoder("/decoder", "no decoder, and no ByteLevel or Metaspace pre-tokenizer")
}

fn from_decoder(decoder: &Pipeline) -> Result<Vec<Mapping>> {
    let mut reading = Reading { mappings: Vec::new(), joins_bytes: false, fused: false };
    match (&decoder.steps, decoder.kind.as_str()) {
        (Some(steps), "Sequence") => {
            for (index, step) in steps.0.iter().enumerate() {
                reading.step(step, &format!("/decoder/decoders/{index}"))?;
            }
        }
        _ => reading.step(decoder, "/decoder")?,
    }
    Ok(reading.mappings)
}

/// Derives the byte map from the pre-tokenizer of a file without a decoder. The `tokenizers` crate cannot decode such a
/// file exactly (it puts spaces between tokens), but the pre-tokenizers ByteLevel and Metaspace can be undone. In a
/// sequence, only the last of them is undone.
fn from_pre_tokenizer(pre_tokenizer: &Pipeline) -> Result<Vec<Mapping>> {
    let steps = pre_tokenizer.steps.iter().flat_map(|steps| &steps.0);
    let known =
        steps.rev().find_map(mapping_of_pre_tokenizer).or_else(|| mapping_of_pre_tokenizer(pre_tokenizer));
    known.map(|mapping| vec![mapping]).ok_or_else(no_decoder)
}

fn mapping_of_pre_tokenizer<S>(step: &Step<S>) -> Option<Mapping> {
    match step.kind.as_str() {
        "ByteLevel" => Some(Mapping::ByteLevel),
        "Metaspace" => Some(metaspace(step)),
        _ => None,
    }
}

fn metaspace<S>(step: &Step<S>) -> Mapping {
    Mapping::replace(mark(step), " ")
}

/// The text that a Metaspace step writes for a space.
fn mark<S>(step: &Step<S>) -> &str {
    step.replacement.as_deref().filter(|text| !text.is_empty()).unwrap_or(METASPACE)
}

/// State while the steps of a decoder are read.
struct Reading {
    mappings: Vec<Mapping>,
    /// Whether ByteFallback has joined the bytes of neighbouring tokens into characters.
    joins_bytes: bool,
    /// Whether the tokens have been joined, so that further steps do not see single tokens.
    fused: bool,
}

impl Reading {
    fn step<S>(&mut self, step: &Step<S>, pointer: &str) -> Result<()> {
        let refuse = |found: &str| Err(errors::unsupported_decoder(pointer, found));
        match (step.kind.as_str(), self.fused) {
            ("ByteLevel", false) if self.joins_bytes => return refuse("ByteLevel after ByteFallback"),
            ("ByteLevel", false) => {
                self.mappings.push(Mapping::ByteLevel);
                self.fused = true;
            }
            ("ByteFallback", false) => {
                self.mappings.push(Mapping::ByteFallback);
                self.joins_bytes = true;
            }
            ("Metaspace", false) => {
                let pattern = mark(step);
                if self.joins_bytes && pattern.len() > 1 {
                    return refuse(&format!("Metaspace of `{pattern}` after ByteFallback"));
                }
                self.mappings.push(metaspace(step));
            }
            ("Replace", false) => match &step.pattern {
                Some(Pattern::String(pattern)) if self.joins_bytes && pattern.len() > 1 => {
                    return refuse(&format!("Replace of `{pattern}` after ByteFallback"));
                }
                Some(Pattern::String(pattern)) if !pattern.is_empty() => {
                    self.mappings
                        .push(Mapping::replace(pattern, step.content.as_deref().unwrap_or_default()));
                }
                Some(Pattern::String(_)) | None => return refuse("Replace without a pattern"),
                Some(Pattern::Regex(regex)) => {
                    return refuse(&format!("Replace of the regular expression `{regex}`"));
                }
            },
            ("Fuse", _) => self.fused = true,
            ("Strip", true) => {
                // `Strip` applies to the whole text and does not change tokens
                let space = step.content.as_deref() == Some(" ");
                if !space || step.start.unwrap_or(0) > 1 || step.stop.unwrap_or(0) > 0 {
                    return refuse("Strip of more than one leading space");
                }
            }
            ("Strip", false) => return refuse("Strip before Fuse"),
            (kind, true) => return refuse(&format!("{kind} after Fuse or ByteLevel")),
            (kind, false) => return refuse(kind),
        }
        Ok(())
    }
}

/// Replaces each occurrence of `pattern` (not empty) by `content`, in time linear in `bytes`. Fails if `pattern` occurs
/// and the result exceeds `limit` bytes.
pub(super) fn replace(bytes: &mut Vec<u8>, pattern: &Finder<'_>, content: &[u8], limit: usize) -> Result<()> {
    let (mut replaced, mut from) = (Vec::new(), 0);
    let mut add = |piece: &[u8]| {
        if replaced.len() + piece.len() > limit {
            return Err(Limits::exceeded(LimitKind::TokenBytes, limit, "a longer token"));
        }
        replaced.extend_from_slice(piece);
        Ok(())
    };
    for at in pattern.find_iter(bytes) {
        add(bytes.get(from..at).unwrap_or_default())?;
        add(content)?;
        from = at + pattern.needle().len();
    }
    if from > 0 {
        add(bytes.get(from..).unwrap_or_default())?;
        *bytes = replaced;
    }
    Ok(())
}

/// Turns the printable characters of GPT-2's byte level back into bytes. A token with any other character stays
/// unchanged, as in the tokenizers crate: it is an added token, which the byte level has not encoded. Bytes that are
/// not UTF-8 stay unchanged, too.
fn undo_byte_level(text: &mut Vec<u8>) {
    let Ok(chars) = std::str::from_utf8(text) else { return };
    let byte_of = |c: char| BYTE_OF.get(c as usize).copied().flatten();
    let bytes: Option<Vec<u8>> = chars.chars().map(byte_of).collect();
    if let Some(bytes) = bytes {
        *text = bytes;
    }
}

/// The character that encodes a byte.
pub(super) fn char_of(byte: u8) -> char {
    let at = BYTE_OF.iter().position(|&known| known == Some(byte)).unwrap_or_default();
    u32::try_from(at).ok().and_then(char::from_u32).unwrap_or_default()
}

/// The byte that a character encodes, by the code point of the character; `None` if it encodes no byte. Printable
/// Latin-1 bytes encode as themselves; the others, in ascending order, as the characters from U+0100 on.
static BYTE_OF: LazyLock<[Option<u8>; 0x144]> = LazyLock::new(|| {
    let mut table = [None; 0x144];
    let mut stand_in = 0x100;
    for byte in 0..=255u8 {
        let printable = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        let at = if printable { byte as usize } else { stand_in };
        stand_in += usize::from(!printable);
        if let Some(entry) = table.get_mut(at) {
            *entry = Some(byte);
        }
    }
    table
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_replaced_from_the_left_within_the_limit() {
        for (text, pattern, content, expected) in [
            ("aaa", "aa", "b", Some("ba")),
            ("xaax", "a", "", Some("xx")),
            ("aa", "a", "bbbbb", None),
            ("abcdefghij", "k", "", Some("abcdefghij")),
            ("abcdefghij", "abcdefg", "", Some("hij")),
            ("abcdefghij", "j", "", None),
        ] {
            let mut bytes = text.as_bytes().to_vec();
            let replaced = replace(&mut bytes, &Finder::new(pattern), content.as_bytes(), 8);
            assert_eq!(replaced.ok().map(|()| &*bytes), expected.map(str::as_bytes), "{text} {pattern}");
        }
    }

    /// The pattern almost matches everywhere. Four times the text must take less than eight times as long, plus 50 ms.
    #[test]
    fn a_long_token_takes_linear_time() {
        let time = |len: usize| {
            let pattern = format!("{}b", "a".repeat(len / 2));
            let mapping = Mapping::replace(&pattern, "");
            let map = ByteMap { steps: vec![mapping], token_bytes: 1 << 16 };
            let text = "a".repeat(len);
            let runs = (0..3).map(|_| {
                let start = std::time::Instant::now();
                map.apply(&text, &mut Vec::new()).unwrap();
                start.elapsed()
            });
            runs.min().unwrap_or_default()
        };
        let (small, large) = (time(1 << 20), time(4 << 20));
        // a quadratic implementation took more than a minute
        assert!(large < 8 * small + std::time::Duration::from_millis(50), "{small:?}, {large:?}");
    }
}
