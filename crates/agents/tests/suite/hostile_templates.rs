//! Templates that are built to take much time or memory: each ends within [`CLOCK`] and under the memory limit
//! [`CEILING`], with an error that has a place.

use grammata::syntax::automaton_spec;
use grammata::{Error, Limits};
use grammata_agents::plan::Questions;
use grammata_decode::{ChatTemplate, Message};
use std::process::Command;
use std::time::{Duration, Instant};

/// Environment variable that marks the child process, which renders the templates under a memory limit.
const CHILD: &str = "GRAMMATA_HOSTILE_TEMPLATES";
/// The limit of address space in kilobytes: about a gigabyte more than the test program itself maps.
const CEILING: &str = "1500000";
/// The most time that a template may take: several times that of the slowest in a test build on an idle machine.
const CLOCK: Duration = Duration::from_secs(10);
/// Environment variable. If it is set, every case has the default budget of work. Otherwise most of the cases that must
/// end with [`LIMIT`] have a smaller budget.
const FULL: &str = "GRAMMATA_FULL";
/// The divisor of the default budget for cases with a smaller one. A template that uses up the default budget also uses
/// up the smaller one, only sooner.
const PART: usize = 16;

const WRONG: &str = "decode/chat-template";
const LIMIT: &str = "limit/exceeded";

/// Returns all cases: name, template, expected error code.
fn cases() -> Vec<(String, String, &'static str)> {
    let mut cases = Vec::new();
    let mut add = |name: &str, template: String, code| cases.push((name.to_owned(), template, code));
    chains(&mut add);
    multiplied(&mut add);
    nested(&mut add);
    endless(&mut add);
    cases
}

type Add<'a> = dyn FnMut(&str, String, &'static str) + 'a;

/// Adds long chains of operators, branches, brackets and blocks, for which a parser might recurse.
fn chains(add: &mut Add<'_>) {
    for n in [2_000, 20_000, 200_000] {
        let links: [(&str, &str, &str); 14] = [
            ("1", "+1", ""),
            ("1", "-1", ""),
            ("1", "*1", ""),
            ("x", ".b", ""),
            ("x", "[0]", ""),
            ("x", "|string", ""),
            ("x", "~x", ""),
            ("x", " and x", ""),
            ("x", " or x", ""),
            ("1", " if 1 else 1", ""),
            ("x", " is defined", ""),
            ("1", " < 1", ""),
            ("x", "()", ""),
            ("", "not ", "x"),
        ];
        for (first, link, last) in links {
            let chain = format!("{{{{ {first}{}{last} }}}}", link.repeat(n));
            add(&format!("{n} of `{link}`"), chain, WRONG);
        }
        let branches = format!("{{% if x %}}{}{{% endif %}}", "{% elif x %}".repeat(n));
        add(&format!("{n} of elif"), branches, WRONG);
        let branches = format!("{{% if x %}}{}{{% endif %}}", "{%- elif x -%}".repeat(n));
        add(&format!("{n} of elif with signs"), branches, WRONG);
        for (open, close) in [("(", ")"), ("[", "]"), ("-(", ")"), ("x(", ")"), ("{1:", "}"), ("x[", "]")] {
            add(
                &format!("{n} of `{open}`"),
                format!("{{{{ {}1{} }}}}", open.repeat(n), close.repeat(n)),
                WRONG,
            );
        }
        for (open, close) in [
            ("{% if x %}", "{% endif %}"),
            ("{% for x in y %}", "{% endfor %}"),
            ("{% macro m() %}", "{% endmacro %}"),
            ("{% filter trim %}", "{% endfilter %}"),
            ("{% with %}", "{% endwith %}"),
            ("{% set x %}", "{% endset %}"),
        ] {
            add(&format!("{n} of {open}"), open.repeat(n) + &close.repeat(n), WRONG);
        }
    }
    add("many tags", "{{ 1 }}".repeat(100_000), WRONG);
}

/// Adds templates whose values or outputs grow far beyond the size of the template.
fn multiplied(add: &mut Add<'_>) {
    let grow = |start: &str, step: &str, end: &str| {
        format!(
            "{{% set ns = namespace(x={start}) %}}{{% for i in range(60) %}}{{% set ns.x = {step} %}}{{% endfor %}}{end}"
        )
    };
    for (start, step) in [
        ("'aaaaaaaa'", "ns.x ~ ns.x"),
        ("'aaaaaaaa'", "ns.x + ns.x"),
        ("'aaaaaaaa'", "ns.x * 2"),
        ("'aaaaaaaa'", "2 * ns.x"),
        ("'aaaaaaaa'", "[ns.x, ns.x] | join"),
        ("'aaaaaaaa'", "''.join([ns.x, ns.x])"),
        ("'aaaaaaaa'", "ns.x | replace('a', 'aa')"),
        ("'aaaaaaaa'", "ns.x.replace('a', 'aa')"),
        ("'aaaaaaaa'", "'%s%s' | format(ns.x, ns.x)"),
        ("'aaaaaaaa'", "'{0}{0}'.format(ns.x)"),
        ("'\\\"'", "ns.x | tojson"),
        ("[1]", "ns.x + ns.x"),
        ("[1]", "ns.x * 2"),
        ("(1,)", "ns.x + ns.x"),
        ("[1]", "ns.x + ns.x[0:]"),
        ("[1]", "[ns.x, ns.x] | map('string') | list"),
        ("[1]", "[ns.x, ns.x] | string"),
        ("[1]", "[ns.x, ns.x] ~ ''"),
    ] {
        add(&format!("doubled: {step}"), grow(start, step, "{{ ns.x | length }}"), LIMIT);
    }
    for end in [
        "{{ ns.x | tojson }}",
        "{{ ns.x == [ns.x] }}",
        "{{ ns.x }}",
        "{{ ns.x | length }}",
        "{{ ns.x in [ns.x] }}",
        "{{ {1: ns.x} | dictsort }}",
        "{{ ns.x | unique }}",
        "{{ raise_exception(ns.x) }}",
        "{{ 'a' ~ ns.x }}",
        "{{ {}[ns.x] }}",
    ] {
        add(&format!("shared list: {end}"), grow("[1]", "[ns.x, ns.x]", end), LIMIT);
    }
    for end in ["{{ ns.x | tojson }}", "{{ ns.x == [ns.x] }}", "{{ ns.x }}", "{{ ns.x | dictsort }}"] {
        add(&format!("shared mapping: {end}"), grow("{}", "{1: ns.x, 2: ns.x}", end), LIMIT);
    }
    for (name, template) in [
        ("replace", "{{ ('a'*n)|replace('a', 'b'*n)|length }}"),
        ("replace nothing", "{{ ('a'*n)|replace('', 'b'*n)|length }}"),
        ("method replace", "{{ ('a'*n).replace('a', 'b'*n)|length }}"),
        ("join", "{{ range(n)|join('b'*n)|length }}"),
        ("method join", "{{ ('b'*n).join(range(n))|length }}"),
        ("join characters", "{{ ('a'*n)|join('b'*n)|length }}"),
        ("join by name", "{{ range(n)|join(d='b'*n)|length }}"),
        ("batch", "{{ range(10000)|batch(1000000000,'x')|list|length }}"),
        ("batch characters", "{{ ('a'*n*10)|batch(1)|list|length }}"),
        ("slice", "{{ range(10)|slice(1000000000)|list|length }}"),
        ("indent", "{{ ('\n'*n)|indent(n)|length }}"),
        ("indent by name", "{{ ('\n'*n)|indent(width=n)|length }}"),
        ("indent once", "{{ 'a\nb'|indent(9000000000)|length }}"),
        ("tojson", "{{ ([[1]*1000]*n)|tojson(indent=16)|length }}"),
        ("string times", "{{ 'a' * (n * n) }}"),
        ("list times", "{{ ([1] * (n * 900))|length }}"),
        (
            "capture",
            "{% set x = 'a'*n*10 %}{% set y %}{% for i in range(n) %}{{ x }}{% endfor %}{% endset %}",
        ),
        ("macro", "{% macro m() %}{% for i in range(n) %}{{ 'a'*n }}{% endfor %}{% endmacro %}{{ m() }}"),
        ("filter block", "{% filter trim %}{% for i in range(n) %}{{ 'a'*n }}{% endfor %}{% endfilter %}"),
        ("list of characters", "{{ ('a'*n*1000)|list|length }}"),
        ("loop over characters", "{% for c in 'a'*n*1000 %}{% endfor %}"),
        ("split", "{{ ('a '*n*400).split(' ')|length }}"),
        ("many split", "{% set x = 'a '*n %}{% for i in range(n) %}{% set y = x.split() %}{% endfor %}"),
        ("many lengths", "{% set x = 'a'*n*100 %}{% for i in range(n) %}{% set y = x|length %}{% endfor %}"),
        (
            "many characters",
            "{% set x = 'a'*n*100 %}{% for i in range(n) %}{% set y = x[9999999] %}{% endfor %}",
        ),
        ("many slices", "{% set x = range(n) %}{% for i in range(n) %}{% set y = x[1:] %}{% endfor %}"),
        (
            "many comparisons",
            "{% set x = range(n) %}{% for i in range(n) %}{% set y = x == range(n) %}{% endfor %}",
        ),
        ("many lookups", "{% set x = range(n) %}{% for i in range(n) %}{% set y = -1 in x %}{% endfor %}"),
        ("many sorts", "{% set x = range(n) %}{% for i in range(n) %}{% set y = x|sort %}{% endfor %}"),
        (
            "many loops",
            "{% set x = range(n) %}{% for i in range(n) %}{% for j in x %}{% break %}{% endfor %}{% endfor %}",
        ),
        (
            "many keys",
            "{% set x = dict(a=1) %}{% for i in range(n) %}{% set y = x.items()|list * 1000 %}{% endfor %}",
        ),
        (
            "many macros",
            "{% for i in range(n) %}{% for j in range(n) %}{% macro m() %}{{ i }}{% endmacro %}{% endfor %}{% endfor %}",
        ),
    ] {
        add(name, format!("{{% set n = 100000 %}}{template}"), LIMIT);
    }
    let text = "long text ".repeat(1_000);
    add(
        "text in loops",
        format!("{{% set x %}}{{% for i in range(99999) %}}{text}{{% endfor %}}{{% endset %}}"),
        LIMIT,
    );
    for format in ["%0999999999d", "%999999999s", "%.999999999f", "%*d", "%-99999999d"] {
        add(&format!("format {format}"), format!("{{{{ '{format}'|format(1)|length }}}}"), WRONG);
    }
    for format in ["{:0999999999d}", "{:>99999999}", "{:{}}"] {
        add(&format!("format {format}"), format!("{{{{ '{format}'.format(1, 999999999)|length }}}}"), WRONG);
    }
    for product in ["'a' * 100000000", "'a' * (5 * 1000000)", "[1] * 99999999", "('a' ~ 'b') * 9999999"] {
        add(&format!("constant {product}"), format!("{{{{ {product} }}}}"), WRONG);
    }
    add("constants", format!("{{{{ {} }}}}", ["'a'*4000"; 20_000].join("~")), WRONG);
}

/// Adds values that are deeply nested or contain themselves.
fn nested(add: &mut Add<'_>) {
    for (name, value) in [
        ("itself", "n"),
        ("list", "[n]"),
        ("tuple", "(n, 1)"),
        ("mapping", "{'a': n}"),
        ("items", "n.items()"),
        ("namespace", "namespace(b=n)"),
        ("dict", "dict(b=n)"),
        ("dict of it", "dict(n)"),
    ] {
        for end in ["{{ n }}", "{{ n|tojson }}", "{{ n == n.a }}", "{{ n|string }}", "{{ n.a.a.a }}"] {
            let template = format!("{{% set n=namespace() %}}{{% set n.a=1 %}}{{% set n.a={value} %}}{end}");
            // `items()` and `dict(n)` only copy the values of the namespace, so no cycle arises
            if !matches!(name, "items" | "dict of it") {
                add(&format!("within itself: {name} {end}"), template, WRONG);
            }
        }
    }
    for step in ["[ns.x]", "{1: ns.x}", "(ns.x,)", "[ns.x]|list", "{1: ns.x}.items()", "[ns.x]|batch(1)"] {
        let template = format!(
            "{{% set ns = namespace(x=1) %}}{{% for i in range(100000) %}}{{% set ns.x = {step} %}}{{% endfor %}}{{{{ ns.x }}}}"
        );
        add(&format!("deep: {step}"), template, WRONG);
    }
    for (name, step) in [("slices", "ns.x[0:]"), ("reversed", "ns.x|reverse"), ("sums", "ns.x + [1]")] {
        let template = format!(
            "{{% set ns = namespace(x=[1]) %}}{{% for i in range(100000) %}}{{% set ns.x = {step} %}}{{% endfor %}}{{% for i in range(100000) %}}{{% for j in range(100000) %}}{{% endfor %}}{{% endfor %}}"
        );
        add(&format!("lazy {name}"), template, LIMIT);
    }
    add("loop in a list", "{% for x in [1] %}{{ [loop] }}{% endfor %}".to_owned(), WRONG);
    add("changed loop", "{% for x in [1] %}{{ loop.changed(loop) }}{% endfor %}".to_owned(), WRONG);
}

/// Adds templates that run without end or very long, and templates with constructs that are refused.
fn endless(add: &mut Add<'_>) {
    for (name, template, code) in [
        (
            "loops",
            "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = 1 %}{% endfor %}{% endfor %}",
            LIMIT,
        ),
        ("output", "{% for a in range(99999) %}{{ 'some text' * 100 }}{% endfor %}", LIMIT),
        ("recursive macro", "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}", WRONG),
        (
            "two recursive macros",
            "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
            WRONG,
        ),
        (
            "wide macros",
            "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(13) }}",
            LIMIT,
        ),
        (
            "caller",
            "{% macro m() %}{{ caller() }}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{% call m() %}{% endcall %}",
            WRONG,
        ),
        ("recursive loop", "{% for x in [[1]] recursive %}{{ loop([x]) }}{% endfor %}", WRONG),
        ("range", "{{ range(9999999999)|length }}", WRONG),
        ("ranges", "{{ range(-9223372036854775807, 9223372036854775807, 1) }}", WRONG),
        ("steps of zero", "{{ range(0, 9, 0) }}", WRONG),
        ("include", "{% include 'x' %}", WRONG),
        ("import", "{% import '/etc/passwd' as x %}", WRONG),
        ("from", "{% from '/etc/passwd' import x %}", WRONG),
        ("extends", "{% extends 'template' %}", WRONG),
        ("block", "{% block a %}{{ self.a() }}{% endblock %}", WRONG),
        ("spread", "{{ range(*[1, 2]) }}", WRONG),
        ("spread names", "{{ dict(**x) }}", WRONG),
        ("map of maps", "{{ [range(9)]|map('map', 'string')|list }}", WRONG),
        ("power", "{{ 9 ** 9 ** 9 ** 9 }}", WRONG),
        ("a charge that is too small", "{{ -1|abs|int|round|foo }}", WRONG),
    ] {
        add(name, template.to_owned(), code);
    }
}

fn render(template: &str, limits: &Limits) -> Result<String, Error> {
    ChatTemplate::new(template, limits)?.render(&[Message::user("Hi")], true)
}

#[test]
fn each_ends_soon_with_a_place() {
    if std::env::var_os(CHILD).is_some() {
        return each_case();
    }
    let program = std::env::current_exe().unwrap();
    let run = |command: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", command, "sh"]).arg(&program);
        shell
            .args(["--exact", "hostile_templates::each_ends_soon_with_a_place", "--nocapture"])
            .env(CHILD, "1")
            .output()
    };
    let ended = run(&format!("ulimit -v {CEILING} && exec \"$@\"")).unwrap();
    let text = String::from_utf8_lossy(&ended.stderr).into_owned();
    let from = text.char_indices().rev().nth(4_000).map_or(0, |(at, _)| at);
    assert!(ended.status.success(), "{}: {}", ended.status, &text[from..]);
    assert!(text.contains("hostile templates"), "the child did not run the cases: {text}");
}

fn each_case() {
    let cases = cases();
    let mut wrong = Vec::new();
    let full = std::env::var_os(FULL).is_some();
    for (number, (name, template, code)) in cases.iter().enumerate() {
        let mut limits = Limits::default();
        if !full && *code == LIMIT && number % 8 != 0 {
            limits.template_work /= PART;
        }
        eprint!("{name}: ");
        let start = Instant::now();
        let error = render(template, &limits);
        let time = start.elapsed();
        match &error {
            Ok(text) => wrong.push(format!("{name}: rendered {} bytes", text.len())),
            Err(error) if error.code() != *code => wrong.push(format!("{name}: {error}")),
            Err(error) if !error.to_string().contains("\n  at: ") => {
                wrong.push(format!("{name}: no place: {error}"))
            }
            Err(_) => {}
        }
        if time > CLOCK {
            wrong.push(format!("{name}: {time:?}"));
        }
        eprintln!("{time:.0?}");
    }
    eprintln!("{} hostile templates", cases.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn specs_and_questions_are_bounded_alike() {
    let chain = format!("{{% if n > 5 %}}{}{{% endif %}}", "{% elif n %}".repeat(8_000));
    let grown = "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}";
    let options = automaton_spec::Options::default();
    for (template, code) in [(chain.as_str(), "automaton-spec/template"), (grown, LIMIT)] {
        let spec = format!("[parameters]\nn = {{ default = 3 }}\n# ---\n{template}\nkind = \"cfg\"\n");
        let error = automaton_spec::compile(&spec, &options).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains("\n  at: line 4, column "), "{error}");
    }
    for (template, code) in [(chain.as_str(), "plan/template"), (grown, LIMIT)] {
        let spec = format!(
            "kind = \"dfa\"\nsymbols = [\"a\"]\nstart = \"s\"\naccepting = [\"e\"]\n\
             transitions = [{{ from = \"s\", input = \"a\", to = \"e\" }}]\n[templates]\ntask = '''{template}'''\n"
        );
        let spec = automaton_spec::Spec::read(&spec, &options).unwrap();
        let error = Questions::new(&spec, None).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains("\n  at: "), "{error}");
    }
}
