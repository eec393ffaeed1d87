//! Look-around, word boundaries and line anchors: random patterns, compared with a backtracking matcher.

use crate::language::Language;
use grammata::syntax::regex::{Dialect, Options, compile};
use proptest::prelude::*;

/// Returns random patterns of exactly one character. The backtracking matcher needs look-behinds of a fixed length.
fn characters() -> impl Strategy<Value = String> {
    prop_oneof!["[ab-]", Just("[ab]".into()), Just("[^a]".into()), Just("\\w".into()), Just("(?:a|b)".into())]
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => characters(),
        1 => Just("\\b".to_owned()),
        1 => Just("\\B".to_owned()),
        1 => Just("^".to_owned()),
        1 => Just("$".to_owned()),
        1 => Just("(?m:^)".to_owned()),
        1 => Just("(?m:$)".to_owned()),
        1 => Just(String::new()),
        1 => characters().prop_map(|c| format!("(?<={c})")),
        1 => (characters(), characters()).prop_map(|(c, d)| format!("(?<!{c}{d})")),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            3 => proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            1 => proptest::collection::vec(inner.clone(), 2..4).prop_map(|ways| format!("(?:{})", ways.join("|"))),
            1 => (inner.clone(), prop_oneof!["[*+?]", Just("{2}".into()), Just("{1,2}".into())])
                .prop_map(|(body, repeat)| format!("(?:{body}){repeat}")),
            2 => (inner, proptest::sample::select(&["(?=", "(?!"][..])).prop_map(|(body, look)| format!("{look}{body})")),
        ]
    })
}

/// Returns all texts of up to four of the characters a, b, -, and line feed.
fn texts() -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..4 {
        let to = all.len();
        for index in from..to {
            all.extend(['a', 'b', '-', '\n'].map(|c| format!("{}{c}", all[index])));
        }
        from = to;
    }
    all
}

proptest! {
    #![proptest_config(crate::properties::config(500))]

    #[test]
    fn look_around_is_exact(pattern in pattern()) {
        let Ok(theirs) = fancy_regex::Regex::new(&pattern) else { return Ok(()) };
        let options = Options::default().dialect(Dialect::Ecma262).search(true);
        let ours = match compile(&pattern, &options) {
            Ok(grammar) => Some(Language::new(&grammar)),
            Err(error) => {
                prop_assert_eq!(error.code(), "regex/empty-language");
                None
            }
        };
        for text in texts() {
            let expected = theirs.is_match(&text).expect("few steps");
            let accepted = ours.as_ref().is_some_and(|language| language.accepts(text.as_bytes()));
            prop_assert_eq!(accepted, expected, "{} in {:?}", pattern, text);
        }
    }
}
