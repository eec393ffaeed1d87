//! An incremental reader of JSON texts, which records where each value begins and ends.
//!
//! All tables only grow, and the rest of the state is small, so a [`Mark`] suffices to return to an earlier place of
//! the text. Nesting is a chain of indices of containers: no recursion, and the cost of a byte does not grow with the
//! depth. The grammar decides which spellings are allowed; the reader only finds the borders of values. So it accepts
//! every number made of digits, signs, points and letters `e`, and every content of strings that are not names.

use super::string::JsonStringDecoder;
use super::value::is_space;

/// What the first byte of a value shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonKind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// `-` or a digit
    Number,
    /// `t` or `f`
    Boolean,
    /// `n`
    Null,
}

impl JsonKind {
    /// The name of the kind, as in the keyword `type` of JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            JsonKind::Object => "object",
            JsonKind::Array => "array",
            JsonKind::String => "string",
            JsonKind::Number => "number",
            JsonKind::Boolean => "boolean",
            JsonKind::Null => "null",
        }
    }
}

/// The beginning or the end of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The index of the value. Values are numbered in the order of their first bytes.
    pub(crate) value: u32,
    /// The position of the first byte of the value, or that after its last byte.
    pub(crate) at: u32,
    pub(crate) is_end: bool,
}

/// The place of a value in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'n> {
    Index(u32),
    /// The decoded name of a member.
    Name(&'n [u8]),
}

/// The text cannot be read on as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The byte at this position is not allowed; what is.
    NotJson { at: usize, found: u8, allowed: &'static str },
    /// The text is longer than 4 GiB.
    TooLong,
}

#[derive(Clone, Copy, Debug)]
struct Value {
    /// The index of the container, or [`NONE`].
    container: u32,
    start: u32,
    /// In an array the index of the item, otherwise where the name begins in [`Reader::names`].
    step: u32,
    /// Where the name ends.
    name_end: u32,
    kind: JsonKind,
}

/// No value.
const NONE: u32 = u32::MAX;

/// The words that are values.
const WORDS: [&[u8]; 3] = [b"true", b"false", b"null"];

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Value,
    /// After `[`: an item or the end.
    First,
    /// After `{`: a name or the end.
    Name,
    /// After a comma in an object: a name.
    NextName,
    InName(JsonStringDecoder),
    Colon,
    /// In a string that is not a name; `true` directly after a backslash.
    String(bool),
    /// In a number; whether its last byte is a digit, so that it may end.
    Number(bool),
    /// In one of [`WORDS`], after this number of its letters.
    Word(u8, u8),
    /// After a value in a container.
    After,
    /// After the whole text.
    Done,
}

#[derive(Clone, Copy, Debug)]
struct State {
    at: At,
    /// The innermost open container, or [`NONE`].
    open: u32,
    /// The value that is read if it is no container; otherwise the last one.
    value: u32,
    /// The number of items of the innermost open array that have ended or begun.
    items: u32,
    /// Where the last name begins in [`Reader::names`].
    name: u32,
    /// The number of bytes read.
    bytes: u32,
}

/// A place of the text to which a reader can return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    state: State,
    values: u32,
    names: u32,
    entries: u32,
}

/// The values of a text, from its beginning to the last byte read.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    state: State,
    values: Vec<Value>,
    /// The decoded names of members, one after the other.
    names: Vec<u8>,
    entries: Vec<Entry>,
}

impl Default for Reader {
    fn default() -> Reader {
        let state = State { at: At::Value, open: NONE, value: NONE, items: 0, name: 0, bytes: 0 };
        Reader { state, values: Vec::new(), names: Vec::new(), entries: Vec::new() }
    }
}

impl Reader {
    /// The beginnings and ends of values so far, in the order in which the text shows them.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn kind(&self, value: u32) -> JsonKind {
        self.values[value as usize].kind
    }

    /// The position of the first byte of a value.
    pub(crate) fn start(&self, value: u32) -> usize {
        self.values[value as usize].start as usize
    }

    /// The containers of a value and their places in their own, from the value outwards.
    pub(crate) fn steps(&self, value: u32) -> impl Iterator<Item = Step<'_>> {
        let index = |value: u32| (value != NONE).then_some(value);
        std::iter::successors(index(value), move |&value| index(self.values[value as usize].container))
            .filter_map(|value| {
                let value = self.values[value as usize];
                let container = self.values.get(value.container as usize)?;
                Some(match container.kind {
                    JsonKind::Array => Step::Index(value.step),
                    _ => Step::Name(&self.names[value.step as usize..value.name_end as usize]),
                })
            })
    }

    /// The place of the text so far.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            state: self.state,
            values: self.values.len() as u32,
            names: self.names.len() as u32,
            entries: self.entries.len() as u32,
        }
    }

    /// Returns to an earlier place of the text.
    pub(crate) fn return_to(&mut self, mark: Mark) {
        self.state = mark.state;
        self.values.truncate(mark.values as usize);
        self.names.truncate(mark.names as usize);
        self.entries.truncate(mark.entries as usize);
    }

    /// Whether the text so far ends in a number that could be complete.
    pub(crate) fn is_in_number(&self) -> bool {
        self.state.at == At::Number(true)
    }

    /// Ends the number in which the text so far [ends](Reader::is_in_number): it is not continued.
    pub(crate) fn end_number(&mut self) {
        if self.is_in_number() {
            self.value_ends(self.state.bytes);
        }
    }

    /// Reads more bytes of the text. After a failure the reader must [return](Reader::return_to) to an earlier place.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let start = self.state.bytes;
        let fits = u32::try_from(bytes.len()).ok().and_then(|more| start.checked_add(more));
        let Some(end) = fits.filter(|&end| end < NONE) else { return Err(Failure::TooLong) };
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            let at = end - rest.len() as u32;
            rest = match self.state.at {
                // most bytes of a text are in strings
                At::String(false) => &rest[memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())..],
                _ => rest,
            };
            if rest.len() > after.len() {
                self.read_byte(byte, at).map_err(|allowed| Failure::NotJson {
                    at: at as usize,
                    found: byte,
                    allowed,
                })?;
                rest = after;
            }
        }
        self.state.bytes = end;
        Ok(())
    }

    /// Reads the byte at position `at`. The error says what is allowed instead.
    fn read_byte(&mut self, byte: u8, at: u32) -> Result<(), &'static str> {
        match self.state.at {
            At::Value | At::First | At::Name | At::NextName | At::Colon | At::After | At::Done
                if is_space(byte) => {}
            At::First if byte == b']' => self.container_ends(at),
            At::Value | At::First => return self.begin(byte, at),
            At::Name if byte == b'}' => self.container_ends(at),
            At::Name | At::NextName => {
                if byte != b'"' {
                    return Err("a member's name in quotes");
                }
                self.state.name = self.names.len() as u32;
                self.state.at = At::InName(JsonStringDecoder::Plain);
            }
            At::InName(JsonStringDecoder::Plain) if byte == b'"' => self.state.at = At::Colon,
            At::InName(mut decoder) => {
                let more = decoder.decode(byte).ok_or("an escape sequence of JSON")?;
                self.names.extend_from_slice(&more);
                self.state.at = At::InName(decoder);
            }
            At::Colon => {
                if byte != b':' {
                    return Err("a colon");
                }
                self.state.at = At::Value;
            }
            At::String(true) => self.state.at = At::String(false),
            At::String(false) => match byte {
                b'"' => self.value_ends(at + 1),
                b'\\' => self.state.at = At::String(true),
                _ => {}
            },
            At::Number(may_end) => match byte {
                b'0'..=b'9' => self.state.at = At::Number(true),
                b'.' | b'e' | b'E' | b'+' | b'-' => self.state.at = At::Number(false),
                _ if !may_end => return Err("a digit"),
                _ => {
                    self.value_ends(at);
                    return self.read_byte(byte, at);
                }
            },
            At::Word(word, read) => {
                let letters = WORDS[usize::from(word)];
                if letters[usize::from(read)] != byte {
                    return Err("`true`, `false` or `null`");
                }
                match usize::from(read) + 1 == letters.len() {
                    true => self.value_ends(at + 1),
                    false => self.state.at = At::Word(word, read + 1),
                }
            }
            At::After => {
                let is_array = self.kind(self.state.open) == JsonKind::Array;
                match (byte, is_array) {
                    (b',', true) => self.state.at = At::Value,
                    (b',', false) => self.state.at = At::NextName,
                    (b']', true) | (b'}', false) => self.container_ends(at),
                    (_, true) => return Err("a comma or `]`"),
                    (_, false) => return Err("a comma or `}`"),
                }
            }
            At::Done => return Err("the end of the text"),
        }
        Ok(())
    }

    /// Begins a value with its first byte.
    fn begin(&mut self, byte: u8, at: u32) -> Result<(), &'static str> {
        let (kind, then) = match byte {
            b'{' => (JsonKind::Object, At::Name),
            b'[' => (JsonKind::Array, At::First),
            b'"' => (JsonKind::String, At::String(false)),
            b'-' => (JsonKind::Number, At::Number(false)),
            b'0'..=b'9' => (JsonKind::Number, At::Number(true)),
            b't' => (JsonKind::Boolean, At::Word(0, 1)),
            b'f' => (JsonKind::Boolean, At::Word(1, 1)),
            b'n' => (JsonKind::Null, At::Word(2, 1)),
            _ => return Err("a JSON value"),
        };
        let container = self.state.open;
        let is_item = self.values.get(container as usize).is_some_and(|open| open.kind == JsonKind::Array);
        let step = if is_item { self.state.items } else { self.state.name };
        self.state.items += u32::from(is_item);
        let value = self.values.len() as u32;
        self.values.push(Value { container, start: at, step, name_end: self.names.len() as u32, kind });
        self.entries.push(Entry { value, at, is_end: false });
        self.state.at = then;
        self.state.value = value;
        if matches!(kind, JsonKind::Object | JsonKind::Array) {
            self.state.open = value;
            self.state.items = 0;
        }
        Ok(())
    }

    /// Ends the innermost open container with its last byte.
    fn container_ends(&mut self, at: u32) {
        let value = self.state.open;
        let Value { container, step, .. } = self.values[value as usize];
        self.state.open = container;
        self.state.value = value;
        // the count only matters in arrays, where the step of the item is its index
        self.state.items = step.wrapping_add(1);
        self.value_ends(at + 1);
    }

    fn value_ends(&mut self, at: u32) {
        self.entries.push(Entry { value: self.state.value, at, is_end: true });
        self.state.at = if self.state.open == NONE { At::Done } else { At::After };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Reader {
        let mut reader = Reader::default();
        reader.read(text.as_bytes()).unwrap();
        reader
    }

    fn path(reader: &Reader, value: u32) -> String {
        let steps = reader.steps(value).map(|step| match step {
            Step::Index(index) => index.to_string(),
            Step::Name(name) => String::from_utf8_lossy(name).into_owned(),
        });
        steps.collect::<Vec<_>>().join("<")
    }

    #[test]
    fn values_begin_and_end_at_their_bytes() {
        let text = r#" {"a" : [1, {"\u00e9\"": tr"#;
        let reader = read(text);
        let entries: Vec<_> =
            reader.entries().iter().map(|e| (path(&reader, e.value), e.at, e.is_end)).collect();
        let entry = |path: &str, at, is_end| (path.to_owned(), at, is_end);
        assert_eq!(
            entries,
            [
                entry("", 1, false),
                entry("a", 8, false),
                entry("0<a", 9, false),
                entry("0<a", 10, true),
                entry("1<a", 12, false),
                entry("é\"<1<a", 25, false),
            ]
        );
    }

    #[test]
    fn a_reader_returns_to_every_earlier_place() {
        let text = r#"{"a": [[], {}, [{"b\n": -1.5e+3}, "\"x"], null], "c": {"d": false}} "#;
        let whole = read(text);
        for cut in 0..text.len() {
            let mut reader = read(&text[..cut]);
            let mark = reader.mark();
            reader.read(&text.as_bytes()[cut..]).unwrap();
            reader.return_to(mark);
            let before = read(&text[..cut]);
            assert_eq!(reader.entries(), before.entries(), "{cut}");
            reader.read(&text.as_bytes()[cut..]).unwrap();
            assert_eq!(reader.entries(), whole.entries(), "{cut}");
            let paths = |reader: &Reader| -> Vec<String> {
                (0..reader.values.len() as u32).map(|value| path(reader, value)).collect()
            };
            assert_eq!(paths(&reader), paths(&whole), "{cut}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused_at_its_byte() {
        for (text, at) in [
            ("x", 0),
            ("[1 2", 3),
            ("{1", 1),
            (r#"{"a" 1"#, 5),
            (r#"{"\x"#, 3),
            ("-,", 1),
            ("[1e]", 3),
            ("nul1", 3),
            ("[1}", 2),
            (r#"{"a":1]"#, 6),
            ("1 2", 2),
            ("[1,]", 3),
            (r#"{"a":1,}"#, 7),
        ] {
            let failure = Reader::default().read(text.as_bytes()).unwrap_err();
            let Failure::NotJson { at: found, .. } = failure else { panic!("{text}: {failure:?}") };
            assert_eq!(found, at, "{text}");
        }
    }
}
