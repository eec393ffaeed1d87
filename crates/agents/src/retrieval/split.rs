//! Queries made from a request without a language model: the request's sentences.

use super::words::terms;

/// The maximum number of queries of a request.
const MOST_QUERIES: usize = 5;
/// The minimum number of terms of a query.
const FEWEST_TERMS: usize = 3;

/// Returns the first five sentences of a request with at least three terms each, trimmed; the request itself if no
/// sentence has three terms. A sentence ends after `.`, `!` or `?` and at `;`, if white space follows.
pub fn sentences(request: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut characters = request.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_end = matches!(character, '.' | '!' | '?' | ';');
        if !is_end || !characters.peek().is_some_and(|(_, next)| next.is_whitespace()) {
            continue;
        }
        let after = at + character.len_utf8();
        parts.push(request.get(start..if character == ';' { at } else { after }));
        start = after;
    }
    parts.push(request.get(start..));
    let queries: Vec<String> = parts
        .into_iter()
        .flatten()
        .map(str::trim)
        .filter(|part| terms(part).len() >= FEWEST_TERMS)
        .take(MOST_QUERIES)
        .map(str::to_owned)
        .collect();
    if queries.is_empty() { vec![request.to_owned()] } else { queries }
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn sentences_are_those_of_the_table() {
        let table: [(&str, &[&str]); 9] = [
            ("Find a flight. Book a hotel!", &["Find a flight.", "Book a hotel!"]),
            ("Find a flight; book a hotel", &["Find a flight", "book a hotel"]),
            // no white space after the mark
            ("Convert 1.5 euros at example.org;now", &["Convert 1.5 euros at example.org;now"]),
            ("Hi there! Please find me a flight.", &["Please find me a flight."]),
            ("Thanks a lot?\n\nIs it raining there?", &["Thanks a lot?", "Is it raining there?"]),
            ("Hi. Hello.", &["Hi. Hello."]),
            ("", &[""]),
            (
                "a b c. d e f. g h i. j k l. m n o. p q r.",
                &["a b c.", "d e f.", "g h i.", "j k l.", "m n o."],
            ),
            ("été à Köln… ça va bien?! Où est-il; là", &["été à Köln… ça va bien?!", "Où est-il"]),
        ];
        for (request, expected) in table {
            assert_eq!(sentences(request), expected, "{request}");
        }
    }
}
