//! Lark grammars of several files: imports, `%override`, `%extend`, templates, and errors in files.

use crate::language::Language;
use grammata::Limits;
use grammata::diagnostic::Place;
use grammata::syntax::lark::{Files, Options, compile};

fn files(texts: &[(&str, &str)]) -> Files {
    let mut files = Files::default();
    for (name, text) in texts {
        files.insert(*name, *text);
    }
    files
}

/// Checks the words of a grammar that may import files.
fn check(source: &str, texts: &[(&str, &str)], accepts: &[&str], rejects: &[&str]) {
    let options = Options::default().files(files(texts));
    let grammar = compile(source, &options).unwrap_or_else(|error| panic!("{error}\n{source}")).grammar;
    let language = Language::new(&grammar);
    for (texts, expected) in [(accepts, true), (rejects, false)] {
        for text in texts {
            assert_eq!(language.accepts(text.as_bytes()), expected, "{text:?}\n{source}\n{grammar}");
        }
    }
}

const NUMBERS: (&str, &str) = (
    "numbers.lark",
    "list: number (\",\" number)*\nnumber: DIGIT+\nDIGIT: \"0\"..\"9\"\nunused: missing?\nmissing: \"x\"\n",
);

#[test]
fn rules_are_imported_with_what_they_use() {
    let start = "start: list \";\" DIGIT\nDIGIT: \"a\"\n%import .numbers.list\n";
    check(start, &[NUMBERS], &["1,23;a", "0;a"], &["1;1", "a;a", "1,;a"]);
    let alias = "start: l (\";\" D)?\n%import numbers (number)\n%import numbers.list -> l\n%import numbers.DIGIT -> D\n";
    check(alias, &[NUMBERS], &["1,2", "1;2"], &[";2", "1;22"]);
    // the ignored text of a file does not count
    let spaces = ("spaces.lark", "pair: \"a\" \"b\"\n%ignore \" \"\n");
    check("start: pair\n%import .spaces.pair", &[spaces], &["ab"], &["a b"]);
    check("start: pair\n%ignore \"-\"\n%import .spaces.pair", &[spaces], &["ab", "a-b-"], &["a b"]);
    check("%import .numbers.list -> start", &[NUMBERS], &["1"], &["", "x"]);
}

#[test]
fn names_of_files_are_relative_to_the_file_that_imports_them() {
    let texts = [
        ("a/b.lark", "b: \"b\" c\n%import .c.c\n"),
        ("a/c.lark", "c: \"in a\" d\n%import d.d\n"),
        ("c.lark", "c: \"above\"\n"),
        ("d.lark", "d: \"d\"\n%import .c.c\n"),
    ];
    check("start: b c\n%import .a.b.b\n%import .c.c\n", &texts, &["bin adabove"], &["babove", "bin adin ad"]);
}

#[test]
fn overriding_changes_a_rule_in_all_of_its_file() {
    let changed = "start: list\n%import .numbers (list, number, DIGIT)\n";
    let hex = format!("{changed}%extend DIGIT: \"a\"..\"f\"\n");
    check(&hex, &[NUMBERS], &["1,af", "f"], &["g"]);
    let signs = format!("{changed}%override number: \"-\"? DIGIT\n");
    check(&signs, &[NUMBERS], &["-1,2"], &["12", "--1"]);
    let both = format!("{changed}%override number: \"n\"\n%extend number: \"m\" | \"k\"\n");
    check(&both, &[NUMBERS], &["n,m,k"], &["1"]);
    let own = "start: A\nA: \"a\"\n%extend A: \"b\"\n%override start: A A\n";
    check(own, &[], &["ab"], &["a", "abc"]);
    check("start: NUMBER\n%import common.NUMBER\n%extend NUMBER: \"pi\"", &[], &["1.5", "pi"], &["p"]);
    // each import of a file has a copy of its own
    let pair = ("pair.lark", "pair: number number\n%import .numbers.number\n");
    let copies = "start: number pair\n%import .pair.pair\n%import .numbers.number\n%override number: \"n\"\n";
    check(copies, &[NUMBERS, pair], &["n12"], &["nnn", "112"]);
}

#[test]
fn templates_are_copied_for_each_use() {
    let lists = "_sep{item, sep}: item (sep item)*\n";
    check(&format!("start: _sep{{A, \",\"}}\nA: \"a\"\n{lists}"), &[], &["a,a", "a"], &["a,", ""]);
    let nested =
        format!("start: _sep{{_sep{{/[a-z]/, \"-\"}}, \";\"}} _sep{{\"x\"..\"z\", <[1]>}}?\n{lists}");
    check(&nested, &[], &["a-b;c", "a"], &["a-;b"]);
    // a template that uses itself with its parameters is one rule
    let recursive = "start: _nest{\"a\"} _nest{\"b\"}\n_nest{x}: x | \"(\" _nest{x} \")\" | pair{x, x}\npair{a, b}: a \"+\" b\n";
    check(recursive, &[], &["(a)((b))", "a+a(b+b)"], &["(b)a", "a+bb"]);
    let library = ("t.lark", "_twice{x}: x SEP x\nSEP: \"/\"\nuse: _twice{\"u\"}\n");
    let imported = "start: _twice{_twice{SEP}} use\nSEP: \"s\"\n%import .t (_twice, use)\n";
    check(imported, &[library], &["s/s/s/su/u"], &["/////u/u"]);
    let changed = "start: use\n%import .t (_twice, use)\n%override _twice{y}: y y\n";
    check(changed, &[library], &["uu"], &["u/u"]);
    let extended = "start: use\n%import .t (_twice, use)\n%extend _twice{x}: x\n";
    check(extended, &[library], &["u/u", "u"], &["uu"]);
}

#[test]
fn terminals_are_intersected_and_negated() {
    let names = "start: NAME (\" \" NAME)*\nNAME: /[a-z]+/ & ~KEYWORD\nKEYWORD: \"if\" | \"or\"\n";
    check(names, &[], &["a iff", "o"], &["if", "a or b"]);
    check("start: A\nA: ~\"ab\"+ & /[ab]{0,4}/", &[], &["a", "b", "aa", "abab", ""], &["abbbb"]);
    check("start: A\nA: ~(\"ab\"+) & /[ab]{0,4}/", &[], &["a", "", "abb"], &["ab", "abab"]);
    check("start: A\nA: \"a\" & \"b\" | \"c\" \"d\" & /c./", &[], &["cd"], &["a", "b", "c"]);
    check("start: A\nA: ~/(?s:.*)\\n\\n(?s:.*)/", &[], &["a\nb\n", "é", ""], &["a\n\nb"]);
    let invalid = Language::new(&compile("start: A\nA: ~\"a\"", &Options::default()).unwrap().grammar);
    assert!(!invalid.accepts(b"\xFF") && invalid.accepts(b"b"));
}

#[test]
fn look_around_sees_the_terminal_only() {
    check(
        "start: [A]+ [A B]~2\nA: \"a\"\nB: \"b\"",
        &[],
        &["", "aa", "abab", "aab"],
        &["b", "ababab", "aba"],
    );
    check("start: A \"b\"\nA: /(?!ab$)[ab]+/", &[], &["aab", "babb"], &["b", "abb"]);
    check("start: S S\nS: /\".*?(?<!\\\\)\"/", &[], &["\"a\"\"\"", "\"\\\"\"\"\""], &["\"\\\"\"\""]);
    check("start: A\nA: /(?=.*[0-9]$)(?=[a-c].*$).{3}/", &[], &["a_1"], &["a1_", "d_1"]);
    check("start: A\nA: /(?m:^a$\\n?)+/", &[], &["a\na", "a"], &["aa"]);
    check("start: A\nA: /a.b/is | /x+ # comment [\n y/x", &[], &["A\nb", "xxy"], &["x y"]);
    for pattern in [
        "a(?=b)",
        "a(?!b)",
        "(?<!a)b",
        "(?<=a)b",
        "\\ba",
        "a\\b",
        "a\\B",
        "a\\bé?",
        "(?=ab)a",
        "(?!ab)[ab]",
        "(?<!ab)c",
        "(?!(?:if|or)\\b)[a-z]+",
        "(?=.*b)[ab]+",
    ] {
        let error = compile(&format!("start: /{pattern}/"), &Options::default()).unwrap_err();
        assert_eq!(error.code(), "regex/looks-outside", "{pattern}");
    }
    for pattern in [
        "a(?=b|$)",
        "x(?=ab|c$)(?:ab|c)",
        "a(?<=a)",
        "x(?<!a)b",
        "(?=a)ab",
        "(?!b)a.",
        "(?<=^)a",
        "[ab](?<=^a|b)c",
    ] {
        let read = compile(&format!("start: /{pattern}/"), &Options::default());
        assert_eq!(read.err().map(|error| error.code()), None, "{pattern}");
    }
}

#[test]
fn errors_in_files_have_their_places() {
    let texts = [("a.lark", "a: b\n\nb: NOPE\n"), ("sub/c.lark", "c: /(/\nd: \"\n")];
    let source = "start: a c\n%import .a.a\n%import sub.c.c\ne: f\n";
    let error = compile(source, &Options::default().files(files(&texts))).unwrap_err();
    let found: Vec<_> = error
        .diagnostics()
        .map(|it| {
            let Place::LineColumn { line, column } = *it.place() else { panic!("{it:?}") };
            (it.file().unwrap_or("").to_owned(), line, column, it.code(), it.snippet().map(|s| s.line()))
        })
        .collect();
    let expected = [
        ("", 4, 4, "lark/undefined"),
        ("a.lark", 3, 4, "lark/undefined"),
        ("sub/c.lark", 1, 4, "regex/unclosed-group"),
        ("sub/c.lark", 2, 4, "lark/unclosed"),
    ];
    let expected =
        expected.map(|(file, line, column, code)| (file.to_owned(), line, column, code, Some(line)));
    assert_eq!(found, expected);
}

#[test]
fn files_that_import_each_other_and_many_files_are_errors() {
    let cycle = [("a.lark", "a: \"a\"\n%import .b.b\n"), ("b.lark", "b: \"b\"\n%import .a.a\n")];
    let error = compile("start: a\n%import .a.a", &Options::default().files(files(&cycle))).unwrap_err();
    assert_eq!((error.code(), error.diagnostic().file()), ("lark/import-cycle", Some("b.lark")));
    let own = |loader: fn(&str) -> Result<String, String>| {
        let mut files = Files::default();
        files.set_loader(loader);
        compile("start: a\n%import .x.a", &Options::default().files(files)).unwrap_err()
    };
    let endless = own(|name| Ok(format!("a: b\n%import .{}x.a -> b\n", name.trim_end_matches(".lark"))));
    assert_eq!(endless.code(), "lark/too-many-files");
    let refused = own(|_| Err("not today".to_owned()));
    assert_eq!(refused.diagnostic().cause_text(), Some("not today"));
    // each file imports the next one twice, in two files: there are 2^n copies
    let mut doubling = Files::default();
    for n in 0..40 {
        for side in ["l", "r"] {
            let text = format!("a: b c\n%import .l{0}.a -> b\n%import .r{0}.a -> c\n", n + 1);
            doubling.insert(format!("{side}{n}.lark"), text);
        }
    }
    let limits = Limits::default().source_bytes(1 << 20);
    let error =
        compile("start: a\n%import .l0.a", &Options::default().files(doubling).limits(limits)).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
}

#[test]
fn large_and_deep_input_is_bounded() {
    let rules: String = (0..100_000).map(|n| format!("_t{n}{{x}}: x _t{}{{x}}\n", n + 1)).collect();
    let chain = format!("start: _t0{{\"a\"}}\n{rules}_t100000{{x}}: x\n");
    let read = compile(&chain, &Options::default());
    assert!(read.is_ok() || read.is_err_and(|error| error.code() == "limit/exceeded"));
    for (open, close) in [("_a{", "}"), ("~", ""), ("(\"a\" & ", ")"), ("%lark { start: ", " }")] {
        let deep = format!("start: {}\"a\"{}\n", open.repeat(100_000), close.repeat(100_000));
        let error = compile(&deep, &Options::default()).unwrap_err();
        assert_eq!(error.code(), "lark/too-deep", "{open}");
    }
    let wrong: String = (0..100_000).map(|n| format!("r{n}: ' \"\n")).collect();
    let error = compile(&wrong, &Options::default()).unwrap_err();
    assert!(error.is_cut() && error.diagnostics().count() == 20);
    let imports: String = (0..100_000).map(|n| format!("%import .f{n}.a\n")).collect();
    assert_eq!(compile(&imports, &Options::default()).unwrap_err().code(), "lark/too-many-files");
    let growing = "_a{x}: _a{_b{x}} | x\n_b{x}: x x\nstart: _a{\"a\"}\n";
    assert_eq!(compile(growing, &Options::default()).unwrap_err().code(), "limit/exceeded");
    let long = "start: \"a\"\n".to_owned() + &"# ".repeat(25 << 20);
    assert_eq!(compile(&long, &Options::default()).unwrap_err().code(), "limit/exceeded");
}
