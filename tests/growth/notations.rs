//! Lark, GBNF, regular expressions, structural tags and automaton specs: a generator for each construct.

use crate::growth;
use grammata::automaton::Automaton;
use grammata::syntax::{Source, parse, regex};
use grammata::{Error, Limits};
use grammata_testing::growth::Order::{self, Linear, Quadratic};

/// Doubling sizes, in numbers of rules, alternatives and the like.
const SIZES: [usize; 4] = [2_000, 4_000, 8_000, 16_000];

/// Reads generated sources of doubling sizes.
fn grows(name: &str, order: Order, source: impl Fn(String) -> Source, text: impl Fn(usize) -> String) {
    growth(name, order, SIZES, text, |text| parse(&source(text.to_owned())));
}

fn gbnf(name: &str, order: Order, text: impl Fn(usize) -> String) {
    grows(&format!("gbnf: {name}"), order, Source::gbnf, text);
}

fn lark(name: &str, order: Order, text: impl Fn(usize) -> String) {
    grows(&format!("lark: {name}"), order, Source::lark, text);
}

fn pattern(name: &str, order: Order, text: impl Fn(usize) -> String) {
    grows(&format!("regex: {name}"), order, Source::regex, &text);
    let ecma = |text| Source::Regex(text, regex::Options::default().dialect(regex::Dialect::Ecma262));
    grows(&format!("ecma: {name}"), order, ecma, &text);
}

fn tag(name: &str, order: Order, format: impl Fn(usize) -> String) {
    let whole = |n| format!(r#"{{"type":"structural_tag","format":{}}}"#, format(n));
    grows(&format!("tag: {name}"), order, Source::structural_tag, whole);
}

fn spec(name: &str, order: Order, text: impl Fn(usize) -> String) {
    grows(&format!("spec: {name}"), order, Source::spec, text);
}

/// Joins `count` parts.
fn list(count: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(separator)
}

/// Words over few letters that look random.
fn letters(count: usize, alphabet: usize) -> String {
    let mut seed = 7_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + ((seed >> 16) as usize % alphabet) as u8)
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn rules_and_alternatives() {
    gbnf("chain of rules", Linear, |n| {
        list(n, "", |i| format!("r{i} ::= \"a\" r{}\n", i + 1)) + &format!("r{n} ::= \"b\"\nroot ::= r0\n")
    });
    gbnf("unused rules", Linear, |n| {
        "root ::= \"a\"\n".to_owned() + &list(n, "", |i| format!("r{i} ::= \"a\"\n"))
    });
    gbnf("alternatives", Linear, |n| format!("root ::= {}\n", list(n, " | ", |i| format!("\"w{i}\""))));
    gbnf("sequence", Linear, |n| format!("root ::= {}\n", list(n, " ", |_| "[a-c]?".to_owned())));
    gbnf("undefined rules", Linear, |n| format!("root ::= {}\n", list(n, " ", |i| format!("r{i}"))));
    gbnf("left recursion", Linear, |n| {
        "root ::= r0\n".to_owned() + &list(n, "", |i| format!("r{i} ::= r{} \"a\" | \"b\"\n", (i + 1) % n))
    });
    lark("chain of rules", Linear, |n| {
        list(n, "", |i| format!("r{i}: \"a\" r{}\n", i + 1)) + &format!("r{n}: \"b\"\nstart: r0\n")
    });
    lark("terminals", Linear, |n| {
        format!("start: {}\n", list(n, " | ", |i| format!("T{i}")))
            + &list(n, "", |i| format!("T{i}: \"w{i}\"\n"))
    });
    lark("ignored", Linear, |n| {
        "start: \"a\"\n".to_owned() + &list(n, "", |i| format!("%ignore \"i{i}\"\n"))
    });
    lark("priorities", Linear, |n| "start: T0\n".to_owned() + &list(n, "", |i| format!("T{i}.{i}: \"a\"\n")));
    lark("imports", Linear, |n| {
        "start: A0\n".to_owned() + &list(n, "", |i| format!("%import common.INT -> A{i}\n"))
    });
    lark("templates", Linear, |n| {
        format!("start: {}\nt{{x}}: x x\n", list(n, " | ", |i| format!("t{{\"w{i}\"}}")))
    });
    lark("extensions", Linear, |n| {
        "start: A\nA: \"a\"\n".to_owned() + &list(n, "", |i| format!("%extend A: \"w{i}\"\n"))
    });
    lark("negations", Linear, |n| {
        format!("start: {}\n", list(n, " | ", |i| format!("T{i}")))
            + &list(n, "", |i| format!("T{i}: /[a-z]/ & ~\"w{i}\"\n"))
    });
    lark("cases", Linear, |n| format!("start: {}\n", list(n, " | ", |i| format!("\"w{i}\"i"))));
}

#[test]
fn nesting_and_repeats() {
    gbnf("classes", Linear, |n| {
        let c = |i: usize| char::from_u32(0x4E00 + 2 * i as u32).unwrap_or('x');
        format!("root ::= [{}]\n", list(n / 2, "", |i| c(i).to_string()))
    });
    gbnf("bounds", Linear, |n| format!("root ::= {}\n", list(n, " ", |i| format!("\"a\"{{0,{}}}", i + 2))));
    gbnf("bounded parts", Linear, |n| {
        format!("root ::= {}\n", list(n, " | ", |i| format!("@max_chars({}, [a-z]+)", i + 1)))
    });
    gbnf("long literal", Linear, |n| format!("root ::= \"{}\"\n", letters(20 * n, 20)));
    lark("groups", Linear, |n| {
        format!("start: {}\n", list(n, " ", |i| format!("(\"a{i}\" | \"b\")~{}", i % 7)))
    });
    lark("nested grammars", Linear, |n| {
        format!("start: {}\n", list(n / 10, " | ", |i| format!("%lark {{ start: A\nA: \"w{i}\" }}")))
    });
    lark("schemas", Linear, |n| {
        format!("start: {}\n", list(n / 10, " | ", |i| format!("%json {{\"const\": {i}}}")))
    });
}

#[test]
fn substrings_and_free_text() {
    for alphabet in [1, 2, 20] {
        lark(&format!("substrings of {alphabet} letters"), Linear, |n| {
            format!("start: %regex {{\"substring_chars\": \"{}\"}}\n", letters(8 * n, alphabet))
        });
    }
    lark("substrings of many letters", Linear, |n| {
        let c = |i: usize| char::from_u32(0x4E00 + i as u32 % 20_000).unwrap_or('x').to_string();
        format!("start: %regex {{\"substring_chars\": \"{}\"}}\n", list(2 * n, "", c))
    });
    gbnf("chunks", Linear, |n| format!("root ::= @substring({})\n", list(n, ", ", |i| format!("\"w{i}\""))));
    gbnf("triggers", Linear, |n| {
        format!("root ::= @text({})\n", list(n, ", ", |i| format!("\"<{i}>\" \"x\"")))
    });
    gbnf("forbidden strings", Linear, |n| {
        format!("root ::= @text($, {})\n", list(n, ", ", |i| format!("! \"e{i}\"")))
    });
    gbnf("forbidden strings with many last letters", Linear, |n| {
        let c = |i: usize| char::from_u32(0x4E00 + i as u32 % 20_000).unwrap_or('x');
        format!("root ::= @text($, {})\n", list(n, ", ", |i| format!("! \"e{}{}\"", i / 200, c(i))))
    });
    gbnf("long trigger", Linear, |n| format!("root ::= @text(\"{}\" \"x\")\n", letters(n, 2)));
}

#[test]
fn lazy_rules() {
    lark("lazy rules", Quadratic, |n| {
        format!("start: ({})* T\n", list(n / 40, " | ", |i| format!("c{i}")))
            + &list(n / 40, "", |i| format!("c{i}[lazy]: T \"<c{i}>\"\n"))
            + "T: /(.|\\n)*/\n"
    });
    lark("a long text that ends a lazy rule", Linear, |n| {
        format!("start: (c | \"{0}\" | /[a-z]+/ \"!\")*\nc[lazy]: T \"{0}\"\nT: /(.|\\n)*/\n", "a".repeat(n))
    });
    lark("parts beside a lazy rule", Quadratic, |n| {
        format!("start: (c | {})*\nc[lazy]: /[0-9]/ \"x\"\n", list(n / 40, " | ", |i| format!("\"w{i}\"")))
    });
    gbnf("lazy rules", Linear, |n| {
        format!("root ::= {}\n", list(n / 10, " | ", |i| format!("r{i}")))
            + &list(n / 10, "", |i| format!("r{i}[lazy] ::= [a-z]* \"w{i}\"\n"))
    });
}

#[test]
fn patterns() {
    pattern("alternatives", Linear, |n| list(n, "|", |i| format!("w{i}")));
    pattern("sequence", Linear, |n| list(n, "", |_| "[a-c]?".to_owned()));
    pattern("groups", Linear, |n| list(n, "", |_| "(?:a|b)+".to_owned()));
    pattern("named groups", Linear, |n| list(n / 4, "", |i| format!("(?<g{i}>a)")));
    pattern("class", Linear, |n| {
        let c = |i: usize| char::from_u32(0x4E00 + 2 * i as u32).unwrap_or('x');
        format!("[{}]", list(n / 2, "", |i| c(i).to_string()))
    });
    pattern("class escapes", Linear, |n| format!("[{}]", list(n, "", |_| "\\w".to_owned())));
    pattern("word boundaries", Quadratic, |n| list(n / 40, "", |_| "\\ba\\b ".to_owned()));
    let ecma = |text| Source::Regex(text, regex::Options::default().dialect(regex::Dialect::Ecma262));
    grows("ecma: look-ahead", Quadratic, ecma, |n| {
        format!("(?!(?:{})$)[a-z]+", list(n / 4, "|", |i| letters(i % 9 + 1, 9)))
    });
    grows("ecma: many look-aheads", Quadratic, ecma, |n| list(n / 200, "", |i| format!("(?!w{i})[a-z]")));
}

#[test]
fn structural_tags() {
    tag("elements", Linear, |n| {
        let one = |i| format!(r#"{{"type":"const_string","value":"w{i}"}}"#);
        format!(r#"{{"type":"sequence","elements":[{}]}}"#, list(n, ",", one))
    });
    tag("alternatives", Linear, |n| {
        let one = |i| format!(r#"{{"type":"const_string","value":"w{i}"}}"#);
        format!(r#"{{"type":"or","elements":[{}]}}"#, list(n, ",", one))
    });
    tag("triggered tags", Linear, |n| {
        let one = |i| {
            format!(
                r#"{{"type":"tag","begin":"<f{i}>","content":{{"type":"json_schema","json_schema":{{}}}},"end":"</f>"}}"#
            )
        };
        format!(r#"{{"type":"triggered_tags","triggers":["<f"],"tags":[{}]}}"#, list(n / 4, ",", one))
    });
    tag("triggers", Quadratic, |n| {
        let one = |i| {
            format!(r#"{{"type":"tag","begin":"<f{i}>","content":{{"type":"any_text"}},"end":"</f{i}>"}}"#)
        };
        let triggers = list(n / 20, ",", |i| format!(r#""<f{i}>""#));
        let tags = list(n / 20, ",", one);
        format!(r#"{{"type":"triggered_tags","triggers":[{triggers}],"tags":[{tags}]}}"#)
    });
    tag("ends", Linear, |n| {
        let ends = list(n / 4, ",", |i| format!(r#""</f{i}>""#));
        format!(r#"{{"type":"tag","begin":"<f>","content":{{"type":"any_text"}},"end":[{ends}]}}"#)
    });
    tag("patterns", Linear, |n| {
        let one = |i| format!(r#"{{"type":"regex","pattern":"a{{{i}}}b?"}}"#);
        format!(r#"{{"type":"sequence","elements":[{}]}}"#, list(n / 4, ",", one))
    });
}

#[test]
fn specs() {
    spec("transitions", Linear, |n| {
        let edges = list(n, ",\n", |i| format!("{{ from = \"q{i}\", input = \"a\", to = \"q{}\" }}", i + 1));
        format!(
            "kind = \"nfa\"\nsymbols = [\"a\"]\nstart = \"q0\"\naccepting = [\"q{n}\"]\ntransitions = [{edges}]\n"
        )
    });
    spec("symbols", Linear, |n| {
        let (symbols, edges) = (
            list(n, ", ", |i| format!("\"s{i}\"")),
            list(n, ", ", |i| format!("{{ from = \"q\", input = \"s{i}\", to = \"q\" }}")),
        );
        format!(
            "kind = \"dfa\"\nsymbols = [{symbols}]\nstart = \"q\"\naccepting = [\"q\"]\ntransitions = [{edges}]\n"
        )
    });
    spec("rules", Linear, |n| {
        let rules = list(n, "", |i| format!("r{i} = [\"a r{}\"]\n", i + 1));
        format!("kind = \"cfg\"\nstart = \"r0\"\nsymbols = [\"a\"]\n[rules]\n{rules}r{n} = [\"a\"]\n")
    });
    spec("stack", Linear, |n| {
        let edge = |i| {
            format!("{{ from = \"p\", input = \"a\", pop = \"X{i}\", push = [\"X{}\"], to = \"p\" }}", i + 1)
        };
        let edges = list(n / 20, ",\n", edge);
        format!(
            "kind = \"pda\"\nsymbols = [\"a\"]\nstart = \"p\"\naccepting = [\"p\"]\nstack_start = \"X0\"\ntransitions = [{edges}]\n"
        )
    });
}

/// The words of a chain of doublings: the work ends at the limit, also if the words are long.
#[test]
fn listing() {
    let chain = |n: usize| {
        let rules = list(n, "", |i| format!("r{i} ::= r{0} r{0}\n", i + 1));
        format!("root ::= r0\n{rules}r{n} ::= \"a\" | \"\"\n")
    };
    growth("listing a chain of doublings", Linear, [500, 1_000, 2_000, 4_000], chain, |text| {
        let parsed = parse(&Source::gbnf(text))?;
        let automaton = Automaton::new(&parsed.grammar, &Limits::default())?;
        grammata::automaton::words::enumerate(&automaton)?.take(3).collect::<Result<Vec<_>, Error>>()
    });
}
