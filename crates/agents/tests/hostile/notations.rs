//! Regular expressions, GBNF grammars and automaton specs that are built to take much time or memory.

use super::{Case, Kind, family};

const SIZES: &[usize] = &[3, 10, 30, 100, 300, 1_000, 3_000];
const LARGE: &[usize] = &[10, 100, 1_000, 10_000, 50_000, 100_000];

fn around(n: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

fn join(n: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(separator)
}

/// Returns all inputs that are regular expressions.
pub(super) fn regexes() -> Vec<Case> {
    let of =
        |name: &str, sizes: &[usize], input: fn(usize) -> String| family(Kind::Regex, name, sizes, input);
    [
        of("groups", LARGE, |n| around(n, "(", "a", ")")),
        of("groups that may repeat", LARGE, |n| around(n, "(", "a", ")*")),
        of("groups that may be left out", LARGE, |n| around(n, "(", "a", ")?")),
        of("groups counted within each other", &[1, 2, 3, 5, 10, 30], |n| around(n, "(", "a", "){0,9}")),
        of("groups of a thousand", &[1, 2, 3, 4, 6], |n| around(n, "(", "a", "){1000}")),
        of("counted twice", SIZES, |n| format!("(a{{0,{n}}}){{0,{n}}}")),
        of("words that overlap", SIZES, |n| format!("(a|ab|abc|abcd|bcd|cd|d){{{n},{}}}", 2 * n)),
        of("letters that overlap", SIZES, |n| format!("(a|aa|aaa){{{n}}}")),
        of("optional letters before letters", SIZES, |n| format!("{}{}", "a?".repeat(n), "a".repeat(n))),
        of("alternatives", LARGE, |n| join(n, "|", |i| format!("word{i}"))),
        of("alternatives that begin alike", SIZES, |n| join(n, "|", |i| format!("{}b", "a".repeat(i)))),
        of("look-aheads", &[1, 2, 3, 5, 8, 12, 20, 100], |n| {
            format!(
                "^{}.*$",
                (0..n).map(|i| format!("(?=.*{})", char::from(b'a' + (i % 26) as u8))).collect::<String>()
            )
        }),
        of("look-aheads that must not hold", &[1, 3, 10, 30, 100], |n| {
            format!("^{}[a-z]+$", (0..n).map(|i| format!("(?!word{i}$)")).collect::<String>())
        }),
        of("look-aheads within each other", SIZES, |n| format!("^{}", around(n, "(?=a", "", ")"))),
        of("look-behinds", &[1, 3, 10, 30], |n| format!("[a-c]*{}d", "(?<=[ab]c?)".repeat(n))),
        of("classes", SIZES, |n| join(n, "", |i| format!("[a-{}]", char::from(b'b' + (i % 25) as u8)))),
        of("a class of many ranges", LARGE, |n| {
            let ranges = (0..n).filter_map(|i| char::from_u32(0x100 + 2 * i as u32));
            format!("[{}]{{5}}", ranges.collect::<String>())
        }),
        of("Unicode properties", &[1, 3, 10, 30, 100], |n| r"\p{L}\P{Lu}[^\p{N}]".repeat(n)),
        of("letters of all scripts, counted", SIZES, |n| format!(r"[\p{{L}}\p{{N}}_]{{{n}}}")),
        of("any text, counted", &[10, 1_000, 100_000, 10_000_000, 4_000_000_000], |n| format!("^.{{{n}}}$")),
        of("anywhere in a text", &[3, 10, 30, 100, 300], |n| format!("x{{{n}}}y[a-f]{{{n}}}z")),
        of("some letter some letters before the end", &[3, 8, 12, 20, 40, 100], |n| {
            format!("^[ab]*a[ab]{{{n}}}$")
        }),
        of("stars", SIZES, |n| "a*".repeat(n)),
        of("stars of any text", SIZES, |n| ".*x".repeat(n)),
        of("words, counted", &[10, 100, 1_000, 10_000], |n| format!(r"^(\w+\s?){{1,{n}}}$")),
        of("back references", &[1, 9, 99], |n| format!(r"(a)\{n}")),
        of("unbalanced", LARGE, |n| "(".repeat(n)),
        of("unbalanced classes", LARGE, |n| "[".repeat(n)),
        of("bounds that cross", &[1, 10, 1_000], |n| format!("a{{{},{n}}}", n + 1)),
        of("bounds beyond", &[10, 20, 40, 1_000], |n| format!("a{{{}}}", "9".repeat(n))),
        of("escapes", &[0, 1, 2, 3, 4, 5], |n| {
            [r"\", r"\u{110000}", r"\x", r"\c", r"\p{Nothing}", r"\k<x>"][n].to_owned()
        }),
        of("flags", &[0, 1, 2, 3], |n| ["(?i)straße", "(?x) a b", "(?-u)\\xff", "(?z)"][n].to_owned()),
        of("boundaries", SIZES, |n| r"\ba\b|\Bb".repeat(n)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns all inputs that are GBNF grammars.
pub(super) fn gbnf() -> Vec<Case> {
    let of = |name: &str, sizes: &[usize], input: fn(usize) -> String| family(Kind::Gbnf, name, sizes, input);
    let rules = |n: usize, last: &str, rule: &dyn Fn(usize) -> String| {
        let mut text = String::from("root ::= r0\n");
        (0..n).for_each(|i| text.push_str(&format!("r{i} ::= {}\n", rule(i))));
        text + &format!("r{n} ::= {last}\n")
    };
    let with = |name: &str, sizes: &[usize], last: &'static str, rule: fn(usize) -> String| {
        family(Kind::Gbnf, name, sizes, |n| rules(n, last, &rule))
    };
    let mut all = vec![
        of("alternatives that are rules", LARGE, |n| {
            format!(
                "root ::= {}\n{}",
                join(n, " | ", |i| format!("r{i}")),
                join(n, "", |i| format!("r{i} ::= \"w{i}\"\n"))
            )
        }),
        of("alternatives that are texts", LARGE, |n| {
            format!("root ::= {}", join(n, " | ", |i| format!("\"w{i}\"")))
        }),
        with("a chain of rules", LARGE, "\"a\"", |i| format!("r{}", i + 1)),
        with("left recursion", &[10, 100, 1_000, 2_000, 8_000, 24_000], "r0 | \"a\"", |i| {
            format!("r{0} \"a\" | r{0}", i + 1)
        }),
        with("right recursion", LARGE, "r0 | \"a\"", |i| format!("\"a\" r{0} | r{0}", i + 1)),
        with("rules that double", SIZES, "\"a\"", |i| format!("r{0} r{0} | r{0} \"b\"", i + 1)),
        with("empty rules that double", SIZES, "\"a\"?", |i| format!("r{0} r{0}", i + 1)),
        with("hidden left recursion", &[3, 10, 30, 100, 300], "r0 \"x\" | \"a\"?", |i| {
            format!("\"b\"? r{0} | r{0}?", i + 1)
        }),
        of("a rule that is all rules", &[3, 10, 30, 100], |n| {
            let all = join(n, " | ", |i| format!("r{i}"));
            format!("root ::= {all}\n{}", join(n, "", |i| format!("r{i} ::= ({all}) \"w{i}\" | \"v{i}\"\n")))
        }),
        of("ambiguous sums", SIZES, |n| format!("root ::= {}", "root root | \"a\" | ".repeat(n) + "\"b\"")),
        of("groups", LARGE, |n| format!("root ::= {}", around(n, "(", "\"x\"", ")?"))),
        of("counted within each other", &[1, 3, 6, 12], |n| {
            format!("root ::= {}", around(n, "(", "\"x\"", "){0,99}"))
        }),
        of("counted", &[10, 1_000, 1_000_000, 2_000_000_000], |n| {
            format!("root ::= (\"ab\" | \"b\"){{{n},{n}}}")
        }),
        of("a long text", LARGE, |n| format!("root ::= \"{}\"", "x".repeat(n))),
        of("names that are not there", SIZES, |n| {
            format!("root ::= {}", join(n, " ", |i| format!("none{i}")))
        }),
        of("the same rule again", SIZES, |n| format!("root ::= \"a\"\n{}", "a ::= \"b\"\n".repeat(n))),
        of("no words", SIZES, |n| format!("root ::= \"a\" root{}", " root".repeat(n))),
        of("classes", SIZES, |n| {
            format!("root ::= {}", join(n, " ", |i| format!("[^{}]", char::from(b'a' + (i % 26) as u8))))
        }),
        of("open texts", LARGE, |n| format!("root ::= \"{}", "x".repeat(n))),
        of("open groups", LARGE, |n| format!("root ::= {}", "(".repeat(n))),
        of("comments", LARGE, |n| format!("root ::= \"a\" # {}\n", "x".repeat(n))),
        of("controls", &[0, 1, 2, 3, 4, 5, 6], |n| {
            ["", "\u{0}", "root", "root ::=", "root := \"a\"", "root ::= \"\\q\"", "root ::= [z-a]"][n]
                .to_owned()
        }),
    ];
    all.push(of("texts within nothing", LARGE, |n| {
        format!("root ::= (\"a\" | {}) \"b\"", join(n, " | ", |_| "\"\"".to_owned()))
    }));
    all.into_iter().flatten().collect()
}

/// Returns all inputs that are automaton specs.
pub(super) fn specs() -> Vec<Case> {
    let of = |name: &str, sizes: &[usize], input: fn(usize) -> String| family(Kind::Spec, name, sizes, input);
    let symbols = |n: usize| join(n, ", ", |i| format!("\"s{i}\""));
    let dfa = move |n: usize| {
        let transitions = join(n, "", |i| {
            format!("[[transitions]]\nfrom = \"q{i}\"\ninput = \"s{}\"\nto = \"q{}\"\n", i % 7, (i + 1) % n)
        });
        format!(
            "kind = \"dfa\"\nstart = \"q0\"\naccepting = [\"q0\"]\nsymbols = [{}]\n{transitions}",
            symbols(7)
        )
    };
    let all = vec![
        family(Kind::Spec, "a chain of states", &[3, 30, 300, 3_000, 20_000], dfa),
        family(Kind::Spec, "all states to all", &[2, 5, 10, 30, 100], move |n| {
            let of = |i: usize| {
                format!(
                    "[[transitions]]\nfrom = \"q{}\"\ninput = \"s{}\"\nto = \"q{}\"\n",
                    i / n,
                    i % 7,
                    i % n
                )
            };
            format!(
                "kind = \"nfa\"\nstart = \"q0\"\naccepting = [\"q1\"]\nsymbols = [{}]\n{}",
                symbols(7),
                join(n * n, "", of)
            )
        }),
        of("branches of a template", &[10, 100, 1_000, 4_000, 8_000, 20_000], |n| {
            format!(
                "[parameters]\nn = 3\n---\n{{% if n > 5 %}}{}{{% endif %}}kind = \"dfa\"",
                "{% elif n %}".repeat(n)
            )
        }),
        of("sums in a template", &[10, 1_000, 10_000, 20_000], |n| {
            format!("[parameters]\nn = 3\n---\nkind = \"{{{{ 1{} }}}}\"", "+1".repeat(n))
        }),
        of("loops in a template", &[10, 1_000, 100_000, 10_000_000], |n| {
            format!(
                "[parameters]\nn = {n}\n---\n{{% for i in range(n) %}}{{% for j in range(n) %}}x{{% endfor %}}{{% endfor %}}"
            )
        }),
        of("texts that double in a template", &[3, 10, 30, 60], |n| {
            format!(
                "[parameters]\nn = {n}\n---\n{{% set ns = namespace(x=\"aaaa\") %}}{{% for i in range(n) %}}{{% set ns.x = ns.x ~ ns.x %}}{{% endfor %}}kind = \"{{{{ ns.x | length }}}}\""
            )
        }),
        of("rules of a grammar", &[3, 30, 300, 3_000], |n| {
            format!(
                "kind = \"cfg\"\nstart = \"r0\"\nsymbols = [\"a\", \"b\"]\n[rules]\n{}r{n} = [\"a\"]\n",
                join(n, "", |i| format!("r{i} = [\"a r{0} b\", \"r{0} r{0}\"]\n", i + 1))
            )
        }),
        of("tables within tables", SIZES, |n| {
            format!("kind = \"dfa\"\n[{}]", join(n, ".", |_| "a".to_owned()))
        }),
        of("lists within lists", LARGE, |n| format!("kind = {}", around(n, "[", "1", "]"))),
        of("JSON lists within lists", LARGE, |n| format!("{{\"kind\": {}", "[".repeat(n))),
        of("not TOML", &[0, 1, 2, 3, 4, 5, 6], |n| {
            ["", "=", "kind", "kind = ", "kind = \"tape\"", "\u{0}", "kind = \"dfa\"\nkind = \"dfa\""][n]
                .to_owned()
        }),
        of("a long text", LARGE, |n| format!("kind = \"dfa\"\nstart = \"{}\"", "q".repeat(n))),
    ];
    all.into_iter().flatten().collect()
}
