//! Operations that could make more than they cost: each ends with the limit of work, soon, or is refused.

use grammata_base::Limits;
use grammata_template::chat;
use minijinja::value::Value;
use std::time::{Duration, Instant};

const LIMIT: &str = "limit/exceeded";
const REFUSED: &str = "test/template";
/// Several times what the slowest takes in a test build.
const CLOCK: Duration = Duration::from_secs(20);

fn outcome(template: &str) -> Result<usize, &'static str> {
    let limits = Limits::default().template_work(4 << 20);
    let rendered = chat::dialect(None).render(
        template,
        || Value::from_pairs([("n", Value::from(2_000_000_000))]),
        &limits,
    );
    rendered.map(|text| text.len()).map_err(|fault| {
        let wrong = |text: String, place| {
            let diagnostic =
                grammata_base::Diagnostic::new(REFUSED, "a template fails").at(place).cause(text);
            grammata_base::Error::new(grammata_base::ErrorKind::Grammar, diagnostic)
        };
        fault.into_error(&limits, wrong).code()
    })
}

#[test]
fn operations_cost_what_they_make() {
    let grow = |start: &str, step: &str| {
        format!(
            "{{% set ns = namespace(x={start}) %}}{{% for i in range(60) %}}{{% set ns.x = {step} %}}{{% endfor %}}{{{{ ns.x|length }}}}"
        )
    };
    let mut cases: Vec<(String, &str)> = Vec::new();
    for step in [
        "'%s%s' % (ns.x, ns.x)",
        "ns.x + ns.x",
        "(ns.x|safe) + ns.x + ns.x",
        "ns.x ~ ns.x",
        "ns.x|replace('&', '&&')",
        "ns.x.replace('&', '&&', 1000000000)",
        "ns.x.replace('', ns.x)",
        "(ns.x|forceescape) ~ ns.x",
        "(ns.x|urlencode) ~ ns.x",
        "(ns.x|tojson) ~ ns.x",
        "[ns.x, ns.x]|map('string')|join",
        "[ns.x]|map('replace', '&', '&&')|first",
        "[ns.x, ns.x]|join(d=ns.x)",
        "ns.x.join(ns.x)",
        "ns.x.center((ns.x|length) * 2)",
        "ns.x|center(width=(ns.x|length) * 2)",
        "ns.x.zfill((ns.x|length) * 3)",
        "('\n' ~ ns.x)|indent(ns.x, true)",
        "[ns.x, ns.x]|tojson(indent=ns.x)",
        "[ns.x, ns.x]|tojson(separators=(ns.x, ns.x))",
        "('\t' ~ ns.x).expandtabs((ns.x|length) * 4)",
        "ns.x.encode()|string ~ ns.x",
        "(ns.x ~ ns.x).title().swapcase().casefold()",
    ] {
        cases.push((grow("'&\\n'", step), LIMIT));
    }
    for step in [
        "ns.x + ns.x",
        "ns.x * 2",
        "[ns.x, ns.x]|map('list')|sum(start=0)",
        "(ns.x + ns.x)[::-1]",
        "[ns.x, ns.x]",
    ] {
        let code = if step.contains("sum") { REFUSED } else { LIMIT };
        cases.push((grow("[1]", step), code));
    }
    for (template, code) in [
        ("{{ 'a'.ljust(n) }}", LIMIT),
        ("{{ 'a'|center(n) }}", LIMIT),
        ("{{ 'a\na'|indent(n) }}", LIMIT),
        ("{{ '\t'.expandtabs(n) }}", LIMIT),
        ("{{ [1]|tojson(indent=n) }}", LIMIT),
        ("{{ '%2000000000d' % 1 }}", REFUSED),
        ("{{ 'a'|replace(old='a', new='b') }}", REFUSED),
        ("{{ ','.join(iterable=['a']) }}", REFUSED),
        ("{{ 'a' * n }}", LIMIT),
        // a method belongs to a value that may hold a method
        (
            "{% set ns = namespace(x={}) %}{% for i in range(9999) %}{% set ns.x = {'a': ns.x.items} %}{% endfor %}",
            REFUSED,
        ),
        ("{% set ns = namespace(x={}) %}{% set ns.x = ns.x['keys'] %}", REFUSED),
        ("{{ [[['a']]]|map('map', 'map', 'list') }}", REFUSED),
        ("{{ strftime_now('%c' * 2000)|length }}", "rendered"),
    ] {
        cases.push((template.to_owned(), code));
    }
    let mut wrong = Vec::new();
    for (template, code) in cases {
        let start = Instant::now();
        let found = outcome(&template);
        let found = found.err().unwrap_or("rendered");
        if found != code || start.elapsed() > CLOCK {
            wrong.push(format!("{template}: {found} after {:?}, expected {code}", start.elapsed()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
