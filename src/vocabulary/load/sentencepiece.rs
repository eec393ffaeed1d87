//! SentencePiece `.model` files, as T5, Llama 2 and Mistral 7B have them.
//!
//! The file is a protocol buffer, `ModelProto` of SentencePiece's `sentencepiece_model.proto`. Field 1 repeats a message
//! for each piece, in the order of ids: its text (1), its score (2) and its type (3). Control pieces and the unknown
//! piece are special tokens with their texts as names. A byte piece, `<0x0A>`, is that byte. Any other piece is its
//! text, with a space for each `▁`. Unused pieces are text, too: decoding an unused id gives its text.
//!
//! SentencePiece puts a space before a text and removes it when it decodes. A mask treats the space of a first token
//! as text, like masks of a `tokenizer.json` with Metaspace.
//!
//! The message is read field by field, with no list of pieces in between, so that the limit on tokens bounds memory.

use super::{LoadOptions, METASPACE, fallback_byte, finish_without_added};
use crate::error::Result;
use crate::vocabulary::{TokenId, Vocabulary, VocabularyBuilder, errors};

/// Fields of `ModelProto`.
const PIECES: u64 = 1;
const DENORMALIZER: u64 = 5;

/// The field of a normaliser with its compiled replacements.
const REPLACEMENTS: u64 = 2;

/// Values of a piece's `type`; 1, the default, is a normal piece.
const UNKNOWN: u64 = 2;
const CONTROL: u64 = 3;
const BYTE: u64 = 6;

/// Whether a file is a SentencePiece model: it starts with a piece that has a text.
pub(super) fn is_one(content: &[u8]) -> bool {
    let first = Fields::new(content, 0).next();
    matches!(first, Some(Ok((PIECES, Value::Bytes(piece, at)))) if Piece::read(piece, at, 0).is_ok())
}

/// Reads the content of a `.model` file.
///
/// # Errors
///
/// `vocabulary/sentencepiece` if the file ends within a field, or a field is malformed; if a piece has no text, or a
/// text that is not UTF-8; or if a byte piece is not of the form `<0x0A>`. `vocabulary/decoder` if the model replaces
/// texts when it decodes. And the errors of [`Vocabulary::from_file`].
pub fn load(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
    super::check_size(content.len(), &options.limits)?;
    let mut builder = VocabularyBuilder::new(&options.limits);
    for field in Fields::new(content, 0) {
        match field? {
            (PIECES, Value::Bytes(piece, at)) => {
                let id = builder.len();
                let piece = Piece::read(piece, at, id)?;
                match piece.kind {
                    UNKNOWN | CONTROL => {
                        builder.push(b"");
                        builder = builder.special(TokenId::new(id as u32), piece.text);
                    }
                    BYTE => builder.push(&[piece.byte(id)?]),
                    _ => builder.push(piece.text.replace(METASPACE, " ").as_bytes()),
                }
            }
            (DENORMALIZER, Value::Bytes(spec, at)) => {
                for field in Fields::new(spec, at) {
                    if matches!(field?, (REPLACEMENTS, Value::Bytes([_, ..], _))) {
                        return Err(errors::sentencepiece_replaces());
                    }
                }
            }
            _ => {}
        }
        if builder.failed() {
            break;
        }
    }
    finish_without_added(builder, options)
}

/// A piece of the model.
struct Piece<'a> {
    text: &'a str,
    kind: u64,
}

impl<'a> Piece<'a> {
    /// Reads the message of the piece `id`, which starts at byte `at` of the file.
    fn read(message: &'a [u8], at: usize, id: usize) -> Result<Piece<'a>> {
        let (mut text, mut kind): (&[u8], u64) = (b"", 1);
        for field in Fields::new(message, at) {
            match field? {
                (1, Value::Bytes(bytes, _)) => text = bytes,
                (3, Value::Number(number)) => kind = number,
                _ => {}
            }
        }
        match str::from_utf8(text) {
            Ok("") => Err(errors::sentencepiece_piece(id, "a piece has no text", text, "one byte or more")),
            Ok(text) => Ok(Piece { text, kind }),
            Err(_) => Err(errors::sentencepiece_piece(id, "a piece is not UTF-8", text, "UTF-8")),
        }
    }

    /// The byte of a byte piece.
    fn byte(&self, id: usize) -> Result<u8> {
        let text = self.text.as_bytes();
        fallback_byte(text).ok_or_else(|| {
            errors::sentencepiece_piece(id, "a byte piece has another text", text, "`<0x00>` to `<0xFF>`")
        })
    }
}

/// The value of a field of a protocol buffer.
enum Value<'a> {
    /// An integer, or the bits of a number of 32 or 64 bits.
    Number(u64),
    /// A text, bytes or a message, with their offset in the file.
    Bytes(&'a [u8], usize),
}

/// The fields of a message of a protocol buffer, with their numbers. Iteration ends after an error.
struct Fields<'a> {
    rest: &'a [u8],
    /// The offset of `rest` in the file.
    at: usize,
}

impl<'a> Fields<'a> {
    fn new(message: &'a [u8], at: usize) -> Fields<'a> {
        Fields { rest: message, at }
    }

    /// Removes the first `count` bytes; `None` if there are fewer.
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        (self.rest, self.at) = (rest, self.at + taken.len());
        Some(taken)
    }

    /// Reads an integer: seven bits in each byte, the lowest first, and a set bit in each byte but the last; at most
    /// ten bytes. `None` if the integer does not end or exceeds 64 bits.
    fn integer(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for place in 0..10 {
            let byte = *self.take(1)?.first()?;
            let bits = u64::from(byte & 0x7F);
            value |= bits.checked_shl(7 * place).filter(|shifted| shifted >> (7 * place) == bits)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a field: its number with the kind of its value, and its value. `None` if the field is damaged or is a
    /// group, which the format has given up.
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let key = self.integer()?;
        let little = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        let value = match key & 7 {
            0 => Value::Number(self.integer()?),
            1 => Value::Number(little(self.take(8)?)),
            2 => {
                let length = self.integer()?;
                let at = self.at;
                Value::Bytes(self.take(length)?, at)
            }
            5 => Value::Number(little(self.take(4)?)),
            _ => return None,
        };
        (key >> 3 > 0).then_some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let start = self.at;
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field.ok_or_else(|| errors::sentencepiece_field(start)))
    }
}
