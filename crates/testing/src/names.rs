//! Detects repeated names in the objects of a JSON text, or of the beginning of one.

use rustc_hash::FxHashSet;

/// Whether some object has two equal names within the text, which must be JSON or a prefix of it. Any other text is
/// scanned as if it were, up to a name that cannot be read.
pub fn has_repeated_name(text: &[u8]) -> bool {
    // for each open container, the names so far; `None` for arrays
    let mut open: Vec<Option<FxHashSet<String>>> = Vec::new();
    let mut key = false;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' => open.push(Some(FxHashSet::default())),
            b'[' => open.push(None),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let mut end = at + 1;
                while end < text.len() && text[end] != b'"' {
                    end += if text[end] == b'\\' { 2 } else { 1 };
                }
                if end >= text.len() {
                    return false;
                }
                if let (true, Some(Some(names))) = (key, open.last_mut()) {
                    let Ok(name) = serde_json::from_slice(&text[at..=end]) else { return false };
                    if !names.insert(name) {
                        return true;
                    }
                }
                at = end;
            }
            _ => {}
        }
        key = match text[at] {
            b'{' => true,
            b',' => matches!(open.last(), Some(Some(_))),
            b' ' | b'\t' | b'\n' | b'\r' => key,
            _ => false,
        };
        at += 1;
    }
    false
}
