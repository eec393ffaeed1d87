//! A decoder for the text of JSON strings, byte by byte.

use smallvec::SmallVec;

/// The state of the decoder: outside of an escape sequence (`Plain`), or within one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum JsonStringDecoder {
    #[default]
    Plain,
    Backslash,
    /// After this many hexadecimal digits (0 to 3) of `\uXXXX`, with this value. The last field is the high surrogate
    /// that came directly before, or 0.
    Hex(u8, u16, u16),
    /// After an escaped high surrogate, which the escape sequence of a low surrogate must follow.
    High(u16),
    HighBackslash(u16),
}

impl JsonStringDecoder {
    /// Reads one byte of a string's text and returns the bytes that it adds to the content; `None` if the byte makes an
    /// escape sequence invalid. The caller must handle the closing quote. Unescaped control characters and invalid
    /// UTF-8 are accepted.
    pub(crate) fn decode(&mut self, byte: u8) -> Option<SmallVec<[u8; 4]>> {
        let mut content = SmallVec::new();
        let next = match *self {
            JsonStringDecoder::Plain if byte == b'\\' => JsonStringDecoder::Backslash,
            JsonStringDecoder::Plain => {
                content.push(byte);
                JsonStringDecoder::Plain
            }
            JsonStringDecoder::Backslash if byte == b'u' => JsonStringDecoder::Hex(0, 0, 0),
            JsonStringDecoder::Backslash => {
                content.push(match byte {
                    b'"' | b'\\' | b'/' => byte,
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    _ => return None,
                });
                JsonStringDecoder::Plain
            }
            JsonStringDecoder::Hex(count, code, high) => {
                let digit = char::from(byte).to_digit(16)? as u16;
                let code = code << 4 | digit;
                match (count, code, high) {
                    (0..3, ..) => JsonStringDecoder::Hex(count + 1, code, high),
                    (_, 0xD800..0xDC00, 0) => JsonStringDecoder::High(code),
                    (_, _, 0) => {
                        let c = char::from_u32(u32::from(code))?;
                        content.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                        JsonStringDecoder::Plain
                    }
                    (_, 0xDC00..0xE000, high) => {
                        let code = 0x10000 + (u32::from(high - 0xD800) << 10) + u32::from(code - 0xDC00);
                        content.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
                        JsonStringDecoder::Plain
                    }
                    _ => return None,
                }
            }
            JsonStringDecoder::High(high) if byte == b'\\' => JsonStringDecoder::HighBackslash(high),
            JsonStringDecoder::HighBackslash(high) if byte == b'u' => JsonStringDecoder::Hex(0, 0, high),
            JsonStringDecoder::High(_) | JsonStringDecoder::HighBackslash(_) => return None,
        };
        *self = next;
        Some(content)
    }

    /// Whether the escape sequence read so far can still result in the first character of `content`. False if `content`
    /// does not begin with a character in UTF-8. True in the state `Plain` otherwise.
    pub(crate) fn may_become(&self, content: &[u8]) -> bool {
        let Some(c) = content.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()) else {
            return false;
        };
        let mut units = [0; 2];
        let units = c.encode_utf16(&mut units);
        match (*self, &*units) {
            (JsonStringDecoder::Plain | JsonStringDecoder::Backslash, _) => true,
            (JsonStringDecoder::Hex(count, code, 0), &[unit, ..]) => {
                u32::from(unit) >> (16 - 4 * u32::from(count)) == u32::from(code)
            }
            (JsonStringDecoder::Hex(count, code, high), &[first, unit]) => {
                first == high && u32::from(unit) >> (16 - 4 * u32::from(count)) == u32::from(code)
            }
            (JsonStringDecoder::High(high) | JsonStringDecoder::HighBackslash(high), &[first, _]) => {
                first == high
            }
            _ => false,
        }
    }
}
