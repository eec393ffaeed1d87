//! Finds marks and the ends of JSON values in text that is still being written.

/// A piece of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Text(String),
    /// One or more digits.
    Digits,
    /// Nine letters and digits.
    Id,
}

/// Whether a text begins with a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It does, with this many bytes.
    Whole(usize),
    /// The text is too short to tell.
    Part,
    None,
}

/// The mark with which a text begins.
pub(super) enum Best<T> {
    /// The longest of those that the text begins with, and its length in bytes.
    Whole(usize, T),
    /// The text is too short to tell.
    Waits,
    None,
}

/// Returns the longest mark with which a text begins. As long as a longer one may come, it waits, unless the text has
/// ended (`is_last`).
pub(super) fn best<T>(found: impl Iterator<Item = (Found, T)>, is_last: bool) -> Best<T> {
    let mut best = Best::None;
    for (found, mark) in found {
        match (found, &best) {
            (Found::Part, _) if !is_last => return Best::Waits,
            (Found::Whole(length), Best::Whole(longest, _)) if length <= *longest => {}
            (Found::Whole(length), _) => best = Best::Whole(length, mark),
            (Found::Part | Found::None, _) => {}
        }
    }
    best
}

/// The number of letters and digits of an id.
const ID: usize = 9;

/// Returns whether `text` begins with a mark. An empty text is a part of every mark that is not empty.
pub(super) fn matched(text: &str, mark: &[Segment]) -> Found {
    let mut rest = text;
    for segment in mark {
        let length = match segment {
            Segment::Text(literal) if rest.starts_with(literal.as_str()) => literal.len(),
            Segment::Text(literal) if literal.starts_with(rest) => return Found::Part,
            Segment::Text(_) => return Found::None,
            Segment::Digits => match rest.bytes().take_while(u8::is_ascii_digit).count() {
                count if count == rest.len() => return Found::Part,
                0 => return Found::None,
                count => count,
            },
            Segment::Id => match rest.bytes().take_while(u8::is_ascii_alphanumeric).take(ID).count() {
                ID => ID,
                count if count == rest.len() => return Found::Part,
                _ => return Found::None,
            },
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Found::Whole(text.len() - rest.len())
}

/// Returns how many bytes of `text` come before the first of `ends`, and the length of that end. Without one, returns
/// how many bytes are certainly before an end.
pub(super) fn first_end(text: &str, ends: &[String]) -> (usize, Option<usize>) {
    let whole = ends.iter().filter_map(|end| Some((text.find(end.as_str())?, end.len())));
    // of several ends at one place the longest counts
    if let Some((at, length)) = whole.min_by_key(|&(at, length)| (at, std::cmp::Reverse(length))) {
        return (at, Some(length));
    }
    let held = ends.iter().map(|end| held_back(text, end)).max().unwrap_or(0);
    (text.len() - held, None)
}

/// Returns the length of the longest end of `text` with which `mark` begins.
fn held_back(text: &str, mark: &str) -> usize {
    let lengths = mark.char_indices().map(|(at, _)| at).filter(|&at| at <= text.len());
    lengths.filter(|&length| text.ends_with(&mark[..length])).max().unwrap_or(0)
}

/// Finds the end of a JSON value that comes in pieces. The value is taken to be valid.
#[derive(Clone, Debug, Default)]
pub(super) struct JsonScan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Whether a number or a word has begun outside of lists and objects.
    in_scalar: bool,
}

impl JsonScan {
    /// Reads a piece. Returns how many of its bytes are of the value, and whether the value ends after them.
    pub(super) fn read(&mut self, piece: &str) -> (usize, bool) {
        for (at, byte) in piece.bytes().enumerate() {
            if self.in_string {
                match (self.is_escaped, byte) {
                    (true, _) => self.is_escaped = false,
                    (false, b'\\') => self.is_escaped = true,
                    (false, b'"') => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
            if self.in_scalar && !is_word {
                return (at, true);
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                _ if is_word && self.depth == 0 => self.in_scalar = true,
                _ => {}
            }
        }
        (piece.len(), false)
    }

    /// Returns whether the value may end here.
    pub(super) fn may_end(&self) -> bool {
        self.in_scalar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_held_back_until_it_is_certain() {
        let ends = ["</think>".to_owned(), "</t>".to_owned()];
        assert_eq!(first_end("ab</th", &ends), (2, None));
        assert_eq!(first_end("ab</tx", &ends), (6, None));
        assert_eq!(first_end("ab</t></think>", &ends), (2, Some(4)));
    }

    #[test]
    fn json_values_end_where_they_are_closed() {
        let read = |text: &str| JsonScan::default().read(text);
        assert_eq!(read(r#"{"a":"}\"","b":[{}]}}"#), (20, true));
        assert_eq!(read("12.5e3}"), (6, true));
        assert_eq!(read("12"), (2, false));
        assert_eq!(read(r#""a\\"x"#), (5, true));
        assert_eq!(read(r#"{"a":1"#), (6, false));
    }

    #[test]
    fn marks_with_numbers_wait_for_what_follows() {
        let mark = [Segment::Text("f:".to_owned()), Segment::Digits, Segment::Text("(".to_owned())];
        assert_eq!(matched("f:12", &mark), Found::Part);
        assert_eq!(matched("f:12(", &mark), Found::Whole(5));
        assert_eq!(matched("f:x", &mark), Found::None);
        assert_eq!(matched("", &mark), Found::Part);
    }
}
