//! Chat templates and model folders that are built to take much time or memory, or to read files outside the folder.

use super::{Case, Kind, family};

const CHAINS: &[usize] = &[10, 1_000, 10_000, 20_000, 100_000];

/// Returns all inputs that are chat templates.
pub(super) fn chat() -> Vec<Case> {
    let of = |name: &str, sizes: &[usize], input: &dyn Fn(usize) -> String| {
        family(Kind::ChatTemplate, name, sizes, input)
    };
    let chain = |name: &str, before: &'static str, link: &'static str, after: &'static str| {
        of(&format!("a chain of {name}"), CHAINS, &|n| format!("{before}{}{after}", link.repeat(n)))
    };
    let once = |name: &str, template: &'static str| of(name, &[1], &|_| template.to_owned());
    let looped = |name: &str, first: &'static str, body: &'static str, last: &'static str| {
        of(name, &[5, 20, 40, 1_000], &|n| {
            format!(
                "{{% set ns = namespace(x={first}) %}}{{% for i in range({n}) %}}{{% set ns.x = {body} %}}{{% endfor %}}{last}"
            )
        })
    };
    vec![
        once("a namespace within itself", "{% set n=namespace() %}{% set n.a=n %}{{ n }}"),
        once("a namespace within itself, as JSON", "{% set n=namespace() %}{% set n.a=n %}{{ n|tojson }}"),
        once("a namespace within itself, compared", "{% set n=namespace() %}{% set n.a=n %}{{ n == n.a }}"),
        once("a namespace within a list within itself", "{% set n=namespace() %}{% set n.a=[n] %}{{ n.a }}"),
        once("a namespace within a map within itself", "{% set n=namespace() %}{% set n.a={'k': n} %}{{ n.a|tojson }}"),
        chain("sums", "{{ 1", "+1", " }}"),
        chain("differences", "{{ 1", "-1", " }}"),
        chain("texts", "{{ 'a'", "~'b'", " }}"),
        chain("negations", "{{ ", "not ", "true }}"),
        chain("attributes", "{{ messages", ".b", " }}"),
        chain("items", "{{ messages", "[0]", " }}"),
        chain("filters", "{{ 1", "|string", " }}"),
        chain("conjunctions", "{{ 1", " and 1", " }}"),
        chain("choices", "{{ 1", " if 1 else 1", " }}"),
        chain("branches", "{% if false %}", "{% elif false %}", "{% endif %}"),
        chain("calls", "{% macro m() %}{% endmacro %}{{ m", "()", " }}"),
        chain("blocks", "", "{% if true %}", ""),
        chain("loops", "", "{% for i in [1] %}", ""),
        chain("parentheses", "{{ ", "(", " }}"),
        chain("lists", "{{ ", "[", " }}"),
        chain("maps", "{{ ", "{'a':", " }}"),
        chain("tests", "{{ 1", " is string", " }}"),
        chain("comparisons", "{{ 1", " == 1", " }}"),
        chain("assignments", "", "{% set x = 1 %}", ""),
        chain("outputs", "", "{{ 1 }}", ""),
        chain("open tags", "", "{% ", ""),
        chain("comments", "", "{# #}", "{#"),
        looped("texts that double by ~", "'aaaaaaaa'", "ns.x ~ ns.x", "{{ ns.x|length }}"),
        looped("texts that double by +", "'aaaaaaaa'", "ns.x + ns.x", "{{ ns.x|length }}"),
        looped("texts that double by join", "'aaaaaaaa'", "[ns.x, ns.x]|join", "{{ ns.x|length }}"),
        looped("texts that double by format", "'aaaaaaaa'", "'%s%s'|format(ns.x, ns.x)", "{{ ns.x|length }}"),
        looped("texts that double by replace", "'aaaaaaaa'", "ns.x|replace('a', 'aa')", "{{ ns.x|length }}"),
        looped("lists that double", "[1]", "ns.x + ns.x", "{{ ns.x|length }}"),
        looped("lists that double, as JSON", "[1]", "[ns.x, ns.x]", "{{ ns.x|tojson|length }}"),
        looped("lists that double, printed", "[1]", "[ns.x, ns.x]", "{{ ns.x }}"),
        looped("lists that double, compared", "[1]", "[ns.x, ns.x]", "{{ ns.x == [ns.x[0], ns.x[1]] }}"),
        looped("maps that double", "{'a': 1}", "{'a': ns.x, 'b': ns.x}", "{{ ns.x|tojson|length }}"),
        of("replace", &[10, 1_000, 100_000], &|n| format!("{{{{ ('a'*{n})|replace('a', 'b'*{n})|length }}}}")),
        of("replace, as a method", &[10, 1_000, 100_000], &|n| format!("{{{{ ('a'*{n}).replace('a', 'b'*{n})|length }}}}")),
        of("join", &[10, 1_000, 100_000], &|n| format!("{{{{ range({n})|join('b'*{n})|length }}}}")),
        of("join, as a method", &[10, 1_000, 100_000], &|n| format!("{{{{ ('b'*{n}).join(range({n})|map('string')|list)|length }}}}")),
        of("batch", &[10, 1_000, 1_000_000_000], &|n| format!("{{{{ range(10000)|batch({n}, 'x')|list|length }}}}")),
        of("slice", &[10, 1_000, 1_000_000_000], &|n| format!("{{{{ range(10)|slice({n})|list|length }}}}")),
        of("format", &[3, 6, 9, 12], &|n| format!("{{{{ '%0{}d'|format(1)|length }}}}", "9".repeat(n))),
        of("range", &[1_000, 1_000_000, 1_000_000_000], &|n| format!("{{{{ range({n})|list|length }}}}")),
        of("repeated text", &[1_000, 1_000_000, 1_000_000_000], &|n| format!("{{{{ ('ab' * {n})|length }}}}")),
        of("repeated list", &[1_000, 1_000_000, 1_000_000_000], &|n| format!("{{{{ ([1, 2] * {n})|length }}}}")),
        of("indent", &[10, 1_000, 1_000_000], &|n| format!("{{{{ ('a\n' * 10000)|indent({n})|length }}}}")),
        of("center", &[10, 1_000, 1_000_000_000], &|n| format!("{{{{ 'a'|center({n})|length }}}}")),
        of("ljust, as a method", &[10, 1_000, 1_000_000_000], &|n| format!("{{{{ 'a'.ljust({n})|length }}}}")),
        of("JSON with indent", &[2, 1_000, 1_000_000_000], &|n| format!("{{{{ [[[[1]]]]|tojson(indent={n})|length }}}}")),
        of("powers", &[10, 1_000, 1_000_000], &|n| format!("{{{{ 10 ** {n} }}}}")),
        of("loops within loops", &[10, 1_000, 100_000], &|n| format!("{{% for i in range({n}) %}}{{% for j in range({n}) %}}{{% endfor %}}{{% endfor %}}")),
        of("output", &[10, 1_000, 100_000], &|n| format!("{{% for i in range({n}) %}}{}{{% endfor %}}", "x".repeat(1_000))),
        of("recursion", &[10, 100, 10_000], &|n| format!("{{% macro m(n) %}}{{% if n %}}{{{{ m(n - 1) }}}}{{% endif %}}{{% endmacro %}}{{{{ m({n}) }}}}")),
        once("a file", "{% include '/etc/passwd' %}"),
        once("another template", "{% extends 'x' %}"),
        once("nothing known", "{{ nothing.at.all }}"),
        once("an exception", "{{ raise_exception('no') }}"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns all inputs that are model folders: entries of a file name, a tab and a content, separated by U+0001.
pub(super) fn folders() -> Vec<Case> {
    const CONFIG: &str = r#"{"max_position_embeddings": 100}"#;
    let one = |name: &str, file: &'static str, contents: &'static [&'static str]| {
        let sizes: Vec<usize> = (0..contents.len()).collect();
        family(Kind::ModelFolder, name, &sizes, move |n| {
            let config =
                if file == "config.json" { String::new() } else { format!("config.json\t{CONFIG}\u{1}") };
            format!("{config}{file}\t{}", contents[n])
        })
    };
    let bad = &[
        "",
        "{",
        "[]",
        "null",
        "1",
        "\u{0}",
        "{\"max_position_embeddings\": -1}",
        "{\"max_position_embeddings\": 1e300}",
        "{\"eos_token_id\": [[[]]]}",
    ];
    let links = &["->/dev/zero", "->/etc/passwd", "->fifo", "->.", "->nothing", "->../../../../etc/hostname"];
    let files = ["config.json", "generation_config.json", "tokenizer_config.json", "chat_template.jinja"];
    let mut all: Vec<Case> = Vec::new();
    for file in files {
        all.extend(one(&format!("{file} with bad content"), file, bad));
        all.extend(one(&format!("{file} is no file"), file, links));
        all.extend(family(
            Kind::ModelFolder,
            &format!("{file} is long"),
            &[1_000, 1_000_000, 50_000_000],
            |n| format!("{file}\t{{\"a\":\"{}\"}}", "x".repeat(n)),
        ));
        all.extend(family(Kind::ModelFolder, &format!("{file} nests"), &[100, 10_000, 1_000_000], |n| {
            format!("{file}\t{}", "[".repeat(n))
        }));
    }
    all
}
