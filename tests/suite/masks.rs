//! Masks over a real vocabulary, compared bit for bit with trying each token alone: on loops, where precomputed parts
//! replace the walk, and along the examples of the shipped grammars.

use grammata::automaton::{Cache, ConfigurationId, Lazy};
use grammata::grammar::{Expression, Grammar};
use grammata::syntax::{gbnf, json_schema, regex};
use grammata::{CompiledGrammar, Compiler, TokenId, Vocabulary};
use grammata_testing::names::has_repeated_name;
use std::path::Path;
use std::sync::{Arc, LazyLock};

static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    Arc::new(Vocabulary::from_file(&path, &Default::default()).expect("the committed tokenizer is read"))
});

/// The compiler of all tests here, so that tables are shared between grammars.
static COMPILER: LazyLock<Compiler> = LazyLock::new(|| Compiler::new(Arc::clone(&VOCABULARY)));

/// Returns whether the grammar excludes objects in which a name occurs twice.
pub(crate) fn tells_names_apart(grammar: &Grammar) -> bool {
    grammar.expressions().iter().any(|expression| matches!(expression, Expression::Name(..)))
}

/// Returns the tokens that are allowed after a prefix, each tried alone.
fn token_by_token(compiled: &CompiledGrammar, prefix: &[u8]) -> Vec<TokenId> {
    let automaton = compiled.automaton();
    let mut tables = Cache::new();
    let start = Lazy::new(automaton, &mut tables).start().expect("within the limits");
    let mut run = |mut at, bytes: &[u8]| {
        for &byte in bytes {
            at = Lazy::new(automaton, &mut tables).step(at, byte).expect("within the limits");
        }
        (at, tables.is_accepting(at))
    };
    let (at, accepting) = run(start, prefix);
    let repeats =
        |bytes: &[u8]| tells_names_apart(compiled.grammar()) && has_repeated_name(&[prefix, bytes].concat());
    let mut allowed: Vec<TokenId> = VOCABULARY
        .tokens()
        .filter(|(_, bytes)| run(at, bytes).0 != ConfigurationId::DEAD && !repeats(bytes))
        .map(|(id, _)| id)
        .chain(VOCABULARY.eos().iter().copied().filter(|_| accepting))
        .collect();
    allowed.sort_unstable();
    allowed
}

pub(crate) fn check(grammar: &Grammar, prefixes: &[&[u8]], name: &str) {
    let compiled = COMPILER.detached().compile(grammar).expect("it compiles");
    let informed = COMPILER.compile(grammar).expect("it compiles");
    for prefix in prefixes {
        let mut matcher = compiled.matcher();
        matcher.accept_bytes(prefix).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mask = matcher.mask().expect("within the limits");
        let expected = token_by_token(&compiled, prefix);
        let mut informed = informed.matcher();
        informed.accept_bytes(prefix).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(informed.mask().expect("within the limits"), mask, "{name}: by what others found out");
        let found: Vec<TokenId> = mask.iter().collect();
        let text = String::from_utf8_lossy(prefix);
        let differing = found.iter().zip(&expected).find(|(found, expected)| found != expected);
        assert!(
            found == expected,
            "{name} after {text:?}: {} tokens, not {}, {differing:?}",
            found.len(),
            expected.len()
        );
        assert_eq!(mask.len(), expected.len());
        let mut words = vec![u32::MAX; VOCABULARY.mask_words()];
        matcher.fill_mask(&mut words).expect("the buffer is long enough");
        let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
        assert_eq!(ones as usize, expected.len(), "{name}: the words have other bits");
    }
}

#[test]
fn loop_strategies_match_the_trie_walk() {
    let cases: [(&str, &[&str]); 21] = [
        (r"(?s).*", &["", "a", "é", "\n"]),
        (r".*", &["", "some text"]),
        (r".*\n[a-z]*", &["", "x", "x\n", "x\nabc"]),
        (r#"[^"\\]*"x"#, &["", "abc", "abc\""]),
        (r#""([^"\\\x00-\x1f]|\\["\\/bfnrt])*"( ,|\})"#, &["", "\"", "\"ab", "\"ab\\", "\"é\""]),
        (r#""[^"\\\x00-\x1f]*"|x"#, &["", "\"", "\"é"]),
        (r"[a-z]*[0-9]", &["", "abc"]),
        (r"[a-z_0-9]*é", &["", "a_1"]),
        (r"[A-Za-z_0-9]+(\.[A-Za-z_0-9]+)*", &["x", "x.y", "x."]),
        (r"[ \t\n\r]*x[ \t\n\r]*\{", &["", " ", "  x", "x\n"]),
        (r"\s*\w*", &["", " ", "a"]),
        (r"(?s)(..)*", &["", "a", "é"]),
        (r"(?s)[^é]*", &["", "a"]),
        (r"(?s).{3,40}end", &["", "abc", "abcd", "abcdefghijklmnopqrstuvwxyzabcdefghijklm"]),
        (r"(?s).{0,24}!", &["", "a", "ab"]),
        (r"(?s).{25}", &["", "a", "ab", "éé"]),
        (r#""[^"\\\x00-\x1f]{2,30}","#, &["\"", "\"a", "\"ab", "\"abcdefghijklmnopqrstuvwxyzabc"]),
        (r"[a-z]{20,}[A-Z]", &["", "a", "abcdefghijklmnopqrs", "abcdefghijklmnopqrst"]),
        (r"[a-z]{3}[0-9a-z_]{2,5}é?", &["", "ab", "abc", "abcd1"]),
        (r"([a-z]|[à-ü]){17,21}\n", &["", "a"]),
        (r"[a-c][a-z]*|[d-z]x", &["", "a", "d"]),
    ];
    for (pattern, prefixes) in cases {
        let grammar = regex::compile(pattern, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        let prefixes: Vec<&[u8]> = prefixes.iter().map(|prefix| prefix.as_bytes()).collect();
        check(&grammar, &prefixes, pattern);
    }
    let bytes = regex::Options::default().unicode(false);
    let grammar = regex::compile(r"(?s-u)[\x00-\xFF]*", &bytes).unwrap();
    check(&grammar, &[b"", b"\xC3", b"\xFF"], "any bytes");
    // the characters of three and four bytes are missing, so no loop language has exactly these characters
    let grammar = gbnf::compile(r#"root ::= ([a-z] | [\u0080-\u07ff])* "!""#, &Default::default()).unwrap();
    check(&grammar.grammar, &[b"", b"a", "é".as_bytes()], "two-byte characters");
}

#[test]
fn schemas_give_the_bits_of_the_walk() {
    let schema = r#"{"type": "object", "properties": {
        "name": {"type": "string"}, "short": {"type": "string", "maxLength": 5},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}}, "n": {"type": "number"}
    }, "required": ["name"]}"#;
    let grammar = json_schema::compile(schema, &Default::default()).unwrap().grammar;
    let texts = [
        "",
        "{",
        "{ ",
        r#"{"name"#,
        r#"{"name":"#,
        r#"{"name": ""#,
        r#"{"name": "A b"#,
        r#"{"name": "A\"#,
        r#"{"name": "A", "#,
        r#"{"name": "A", "short": "ab"#,
        r#"{"name": "A", "tags": ["a"#,
        r#"{"name": "A", "n": 1"#,
        r#"{"name": "A", "other": "x"#,
        r#"{"name": "A", "other": [1, "#,
        r#"{"name": "A"}"#,
    ];
    check(&grammar, &texts.map(str::as_bytes), "schema");
}

/// If a pattern is searched for, the text before the match is a loop without an end.
#[test]
fn what_is_searched_for_gives_the_bits_of_the_walk() {
    let search = regex::Options::default().search(true);
    for (pattern, prefixes) in [
        ("UTC|Africa/[A-Za-z]+", &["", "U", "xUT", "UTC", "Africa/"]),
        (r"[0-9]{3}\n", &["", "12", "1234", "é1", "123\n"]),
        ("é+x|[a-z]é", &["", "a", "é", "éx", "b\u{1}"]),
    ] {
        let grammar = regex::compile(pattern, &search).unwrap_or_else(|e| panic!("{e}"));
        check(&grammar, &prefixes.map(str::as_bytes), pattern);
    }
    for (pattern, prefixes) in [
        (r#""[^"\\\x00-\x1f]*(foo|bar)[^"\\\x00-\x1f]*"[,}]"#, ["\"", "\"fo", "\"é", "\"foo"]),
        // some alternatives can continue only for a while
        (r#""([^"\\]*x|[a-z]{3}|[a-z]*foo)y""#, ["\"", "\"ab", "\"abc", "\"x"]),
        // one alternative ends at some characters, the other at all others
        (r#""([a-m]*foo|[n-z]*bar)""#, ["\"", "\"a", "\"n", "\"ab"]),
        (r#""([^"]*a|[^"b]*)*c""#, ["\"", "\"a", "\"é", "\"b"]),
        (r#""[^"]*a([^"]*|")b""#, ["\"", "\"a", "\"ca\"", "\"ab"]),
    ] {
        let grammar = regex::compile(pattern, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        check(&grammar, &prefixes.map(str::as_bytes), pattern);
    }
    let schema = r#"{"type": "object", "properties": {
        "zone": {"type": "string", "pattern": "UTC|(Africa/[A-Za-z]+)"},
        "id": {"type": "string", "minLength": 12, "maxLength": 12, "pattern": "[0-9a-fA-F]+"}
    }, "patternProperties": {"rel:.*": {"type": "string"}}, "additionalProperties": {"type": "number"}}"#;
    let grammar = json_schema::compile(schema, &Default::default()).unwrap().grammar;
    let texts = [
        r#"{"#,
        r#"{""#,
        r#"{"re"#,
        r#"{"rel:"#,
        r#"{"xrel:y": ""#,
        r#"{"zone": ""#,
        r#"{"zone": "Af"#,
        r#"{"zone": "UTC, "#,
        r#"{"id": ""#,
        r#"{"id": "xyz"#,
        r#"{"id": "xyz9uvwxyz"#,
    ];
    check(&grammar, &texts.map(str::as_bytes), "schema");
}

/// The search for a completion visits more than a thousand pairs of configurations before it finds one.
#[test]
fn completions_that_are_far_away_are_found() {
    let schema = |most: usize| {
        let pattern = "[0-9]+-[A-Fa-f0-9]*-[A-Fa-f0-9]{24}";
        let schema =
            format!(r#"{{"type": "string", "minLength": 35, "maxLength": {most}, "pattern": "{pattern}"}}"#);
        json_schema::compile(&schema, &Default::default()).unwrap().grammar
    };
    let texts = ["\"", "\"x", "\"12-", "\"12--ab", "\"1234567890-0123456789abcdef-ab"];
    check(&schema(60), &texts.map(str::as_bytes), "60");
    // the rest of the text must have exactly the remaining length
    let texts = ["\"", "\"12345678", "\"12345678-", "\"xxxxxxxx1--", "\"xxxxxxxx"];
    check(&schema(35), &texts.map(str::as_bytes), "35");
    let too_short = r#"{"type": "string", "maxLength": 26, "pattern": "[0-9]+-[a-f]*-[A-Fa-f0-9]{24}"}"#;
    let compiled = json_schema::compile(too_short, &Default::default()).unwrap();
    let error = COMPILER.compile(&compiled.grammar).unwrap_err();
    assert_eq!(error.code(), "automaton/empty-language", "{error}");
}

/// To decide whether names can run out takes more steps than one mask has. The masks are exact even so.
#[test]
fn names_of_many_configurations_give_the_bits_of_each_token() {
    for names in ["^[ab]{1,90}$", "^([ab]{90})*$", "^(.{50}x)*$"] {
        let schema = format!(
            r#"{{"type": "object", "patternProperties": {{"{names}": {{"type": "number"}}}},
                "additionalProperties": false}}"#
        );
        let grammar = json_schema::compile(&schema, &Default::default()).unwrap().grammar;
        let name = ["ab"; 45].concat();
        let other = format!("{}x", ["ab"; 25].concat());
        let name = if names.contains('x') { other } else { name };
        let prefixes = [0, 1, 30, 41].map(|begun| format!(r#"{{"{name}": 1, "{}"#, &name[..begun]));
        let prefixes: Vec<&[u8]> = prefixes.iter().map(|prefix| prefix.as_bytes()).cycle().take(12).collect();
        check(&grammar, &prefixes, names);
    }
}

/// Classes of characters that no loop language has, bounded and not, alone and next to others: subtrees of the trie are
/// allowed as a whole if all their characters lead to the same configuration.
#[test]
fn classes_of_a_pattern_give_the_bits_of_the_walk() {
    let cases: [(&str, &[&str]); 12] = [
        (r"[a-z-]+x?", &["", "a", "a-"]),
        (r"[^/]{1,64}(/[^/]{1,64})*", &["", "a", "a/", "éa", "a/b"]),
        (r"[^/]{2,9}", &["", "a", "abcd", "abcdefgh", "abcdefghi"]),
        (r"\S+", &["", "a", "é"]),
        (r"(\S+\s+){0,9}\S+", &["", "a", "a ", "a b c d e f g h i", "a b c d e f g h i j"]),
        (r#""[^"\\aä]{3,}""#, &["\"", "\"bcd", "\"é"]),
        (r"[\u{100}-\u{17F}a-m]{4,12}!", &["", "a", "abāb", "aaaaaaaaaaa"]),
        (r"([b-y][a-z]*[ ,]){2,}", &["", "b", "bz ", "bz b"]),
        (r"([B-Yb-y]{3}[0-9a-z]{2,30})+", &["", "b", "bcd1", "bcd12"]),
        (r"[a-zé-ÿ]{0,7}(é[a-f]*)?", &["", "a", "abcdef", "é"]),
        (r"[ \t\n\r]+", &["", " ", "\n"]),
        (r"(?s).{0,40}[\p{Cyrillic} ]{5,}", &["", "a", "да"]),
    ];
    for (pattern, prefixes) in cases {
        let grammar = regex::compile(pattern, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        let prefixes: Vec<&[u8]> = prefixes.iter().map(|prefix| prefix.as_bytes()).collect();
        check(&grammar, &prefixes, pattern);
    }
    // words and characters are counted together, close to the end and far from it; and a class that a string ends with
    let schema = r#"{"type": "object", "properties": {
        "words": {"type": "string", "pattern": "^(?:\\S+\\s+){0,7}\\S+$", "maxLength": 60},
        "least": {"type": "string", "pattern": "^(?:\\S+\\s+){3,7}\\S+$", "minLength": 30, "maxLength": 200},
        "path": {"type": "string", "pattern": "^/[^/]{1,20}$"}, "not": {"not": {"pattern": "^[a-f]*$"}, "type": "string"}
    }}"#;
    let grammar = json_schema::compile(schema, &Default::default()).unwrap().grammar;
    let texts = [
        r#"{"words": ""#,
        r#"{"words": "Some w"#,
        r#"{"words": "Some words, "#,
        r#"{"words": "a b c d e f g "#,
        r#"{"words": "a b c d e f g h"#,
        r#"{"words": "0123456789 0123456789 0123456789 012345"#,
        r#"{"words": "0123456789 0123456789 0123456789 0123456789 0123456789 012"#,
        r#"{"least": "a b"#,
        r#"{"least": "a b c d e f g h"#,
        r#"{"path": "/é"#,
        r#"{"path": "/ab"#,
        r#"{"not": "ab"#,
        r#"{"not": "abx"}"#,
    ];
    check(&grammar, &texts.map(str::as_bytes), "counted words");
    // searches for words, exactly one of which must occur, and parts that allow nearly all tokens
    let schema = r#"{"type": "object", "properties": {
        "scope": {"oneOf": [{"pattern": "admin"}, {"pattern": "maker"}, {"pattern": "[0-9]{3}é"}], "type": "string"},
        "pair": {"type": "string", "pattern": "^[^:,\\s]+:[^:,&]*(,\\s*[^:,]+:\\S*)*$", "maxLength": 40}
    }}"#;
    let grammar = json_schema::compile(schema, &Default::default()).unwrap().grammar;
    let texts = [
        r#"{"scope": ""#,
        r#"{"scope": "x"#,
        r#"{"scope": "an adm"#,
        r#"{"scope": "admin "#,
        r#"{"scope": "admin ma"#,
        r#"{"scope": "12"#,
        r#"{"pair": ""#,
        r#"{"pair": "key"#,
        r#"{"pair": "key:"#,
        r#"{"pair": "key:value,"#,
        r#"{"pair": "0123456789012345678:0123456789,0"#,
    ];
    check(&grammar, &texts.map(str::as_bytes), "words that are searched for");
}

/// Characters beyond ASCII that the pattern of a string distinguishes: white space, line ends, single characters.
#[test]
fn characters_beyond_ascii_give_the_bits_of_the_walk() {
    let schema = r#"{"type": "object", "properties": {
        "mail": {"type": "string", "pattern": "^[^@^\\s]+@[^@^\\s]+(\\.[^@^\\s]+)+$"},
        "lines": {"type": "string", "pattern": "^.+:.{2,}:.+$"},
        "spaces": {"type": "string", "pattern": "^\\s?\\S+(\\s\\S+){2,}$"},
        "signs": {"type": "string", "pattern": "^[A-Za-z0-9 £«»]{3,32}$"},
        "letters": {"type": "string", "pattern": "^[^é-ü、‘]{4,}$"},
        "wide": {"type": "string", "pattern": "^([^\\u3000]{2}|\\u3000[a-z])+$", "maxLength": 90}
    }}"#;
    let grammar = json_schema::compile(schema, &Default::default()).unwrap().grammar;
    let texts: [&[u8]; 18] = [
        br#"{"mail": ""#,
        r#"{"mail": "é"#.as_bytes(),
        br#"{"mail": "a@b."#,
        b"{\"mail\": \"a\xE2",
        br#"{"lines": ""#,
        br#"{"lines": "a:"#,
        b"{\"lines\": \"a\xE2\x80",
        br#"{"spaces": ""#,
        br#"{"spaces": "a b"#,
        b"{\"spaces\": \"a\xE3\x80",
        br#"{"signs": ""#,
        b"{\"signs\": \"ab\xC2",
        br#"{"signs": "abcdefghijklmnopqrstuvwxyz 0123"#,
        br#"{"letters": ""#,
        b"{\"letters\": \"ab\xE3\x80",
        br#"{"wide": ""#,
        br#"{"wide": "a"#,
        "{\"wide\": \"\u{3000}".as_bytes(),
    ];
    check(&grammar, &texts, "characters beyond ASCII");
}

/// Masks are exact if white space is a rule of its own, which may return in the middle of a token.
#[test]
fn white_space_that_is_called_gives_the_bits_of_the_walk() {
    let text = r#"
        root ::= "{" pair* "}" ws | ws "[" pair | "(" ws ws2 ")"
        pair ::= ws [a-z]+ ws ":" ws "  " ws ";"
        ws ::= [ \t\n\r]+
        ws2 ::= "\t" | ws ws2 "\n"
    "#;
    let grammar = gbnf::compile(text, &Default::default()).unwrap().grammar;
    let texts = ["", " ", "{", "{ ", "{ a", "{ a ", "{ a : ", "{ a :    ;", "{}", "{} ", "(", "( ", "( \t"];
    check(&grammar, &texts.map(str::as_bytes), "called white space");
}
