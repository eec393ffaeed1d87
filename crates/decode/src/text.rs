//! Converts the bytes of tokens to text, in pieces of whole characters that do not end with the beginning of a stop
//! string.

/// Converts a stream of bytes to text in pieces that later bytes cannot change.
///
/// Bytes that may still become a character are held back; bytes that cannot become one are replaced by U+FFFD. Text
/// that may be the beginning of a stop string is held back until later bytes decide whether it is.
#[derive(Clone, Debug, Default)]
pub struct TextStream {
    stops: Vec<String>,
    /// at most three bytes, the beginning of a character
    bytes: Vec<u8>,
    /// whole characters that may be the beginning of a stop string
    held: String,
}

impl TextStream {
    /// Creates a stream that ends at the first occurrence of one of `stops`. Empty stop strings are ignored.
    pub fn new(stops: impl IntoIterator<Item = impl Into<String>>) -> TextStream {
        let stops = stops.into_iter().map(Into::into).filter(|s: &String| !s.is_empty()).collect();
        TextStream { stops, ..TextStream::default() }
    }

    /// Takes `bytes`, and appends the text that is certain to `out`. If a stop string was reached, returns it: `out`
    /// then ends just before the stop string, and the stream must not be used further.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) -> Option<&str> {
        self.bytes.extend_from_slice(bytes);
        let mut used = 0;
        for chunk in self.bytes.utf8_chunks() {
            self.held.push_str(chunk.valid());
            used += chunk.valid().len();
            let invalid = chunk.invalid();
            let at_end = used + invalid.len() == self.bytes.len();
            if at_end && is_beginning(invalid) {
                break;
            }
            if !invalid.is_empty() {
                self.held.push('\u{FFFD}');
                used += invalid.len();
            }
        }
        self.bytes.drain(..used);
        self.release(out)
    }

    /// Ends the stream: appends the text that was held back to `out`, with an incomplete character replaced by U+FFFD.
    pub fn finish(&mut self, out: &mut String) {
        if !self.bytes.is_empty() {
            self.bytes.clear();
            self.held.push('\u{FFFD}');
        }
        out.push_str(&self.held);
        self.held.clear();
    }

    fn release(&mut self, out: &mut String) -> Option<&str> {
        let found =
            self.stops.iter().enumerate().filter_map(|(i, stop)| Some((self.held.find(stop)?, i))).min();
        if let Some((at, index)) = found {
            out.push_str(&self.held[..at]);
            self.held.clear();
            return self.stops.get(index).map(String::as_str);
        }
        let keep = self.stops.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        let certain = self.held.len() - keep;
        out.push_str(&self.held[..certain]);
        self.held.drain(..certain);
        None
    }
}

/// Returns the length in bytes of the longest suffix of `text` that is a proper prefix of `stop`.
fn overlap(text: &str, stop: &str) -> usize {
    let most = text.len().min(stop.len() - 1);
    (1..=most)
        .rev()
        .find(|&n| {
            text.is_char_boundary(text.len() - n)
                && stop.as_bytes().starts_with(&text.as_bytes()[text.len() - n..])
        })
        .unwrap_or(0)
}

/// Returns whether `bytes`, the invalid end of a text, is the beginning of a character that further bytes could
/// complete. `str::from_utf8` reports this case by an error without a length.
fn is_beginning(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && std::str::from_utf8(bytes).is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
}
