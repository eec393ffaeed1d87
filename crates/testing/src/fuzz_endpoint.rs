//! The body of the fuzz target for answers of chat servers.

use grammata_endpoint::testing::{refusal, stream, whole};
use grammata_endpoint::{DIALECTS, Form, Key, Tool};
use serde_json::{Value, json};
use std::io::Read;

/// The key that no text of an error may have.
const KEY: &str = "sk-7";
/// Bytes of a stream, at most.
const MOST: u64 = 1 << 16;

/// Reads bytes as a stream of events, as a whole answer and as the body of an error. A stream says the same however it
/// is cut into pieces, no answer is longer than its bytes, and no error repeats the key.
pub fn endpoint(bytes: &[u8]) {
    let streamed = stream(bytes, MOST);
    assert_eq!(streamed, stream(Pieces { bytes, place: 0 }, MOST));
    for most in [0, 7, bytes.len() as u64 / 2] {
        let cut = stream(bytes, most);
        assert!(cut.is_none() || cut == streamed, "{cut:?}");
    }
    let answers = [streamed, whole(bytes)];
    for answer in answers.iter().flatten() {
        // an argument object is written anew, with other white space and other escapes
        assert!(answer.length() <= 6 * bytes.len(), "{answer:?}");
        for form in forms() {
            for dialect in &DIALECTS {
                for &encoding in dialect.encodings(form.kind()) {
                    let read = answer.answer(&form, encoding);
                    assert!(read.calls.len() <= bytes.len());
                }
            }
        }
    }
    let Ok(key) = Key::new(KEY) else { return };
    for status in [400, 429, 500] {
        let error = refusal(status, bytes, &key);
        assert!(!error.to_string().contains(KEY), "{error}");
    }
}

fn forms() -> [Form; 4] {
    let tool = Tool { name: "f".to_owned(), description: String::new(), parameters: json!({}) };
    [
        Form::Text,
        Form::Choice(vec!["a".to_owned(), "b".to_owned()]),
        Form::Json { name: "x".to_owned(), schema: Value::Bool(true) },
        Form::Tools { tools: vec![tool], is_required: false, is_several: true },
    ]
}

/// Gives bytes in pieces, whose lengths the bytes decide.
struct Pieces<'b> {
    bytes: &'b [u8],
    place: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.bytes[self.place..];
        let length =
            rest.first().map_or(0, |&byte| usize::from(byte % 7) + 1).min(rest.len()).min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.place += length;
        Ok(length)
    }
}
