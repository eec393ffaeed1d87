//! Builds random inputs of hostile shapes: one function for each kind of input.

use rand::prelude::*;
use rand::rngs::StdRng;
use serde_json::{Value, json};

/// Returns a random size from 1 to `most`: log-uniform, or, in one of four cases, uniform in the upper half.
fn size(rng: &mut StdRng, most: usize) -> usize {
    if rng.random_bool(0.25) {
        return rng.random_range(most.div_ceil(2)..=most).max(1);
    }
    let places = (most as f64).log10();
    10_f64.powf(rng.random_range(0.0..=places)) as usize
}

fn one<'a>(rng: &mut StdRng, of: &[&'a str]) -> &'a str {
    of.choose(rng).copied().unwrap_or_default()
}

fn join(count: usize, separator: &str, part: impl FnMut(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(separator)
}

/// Returns a random JSON Schema. Each of its schemas mixes up to three keywords, whatever their types, and its `$defs`
/// has up to 60 schemas.
pub(super) fn json_schema(rng: &mut StdRng) -> String {
    let definitions = size(rng, 60);
    let mut root = schema(rng, 3, definitions);
    let defs = (0..definitions).map(|i| (format!("d{i}"), schema(rng, 2, definitions)));
    if let Some(root) = root.as_object_mut() {
        root.insert("$defs".to_owned(), Value::Object(defs.collect()));
    }
    root.to_string()
}

fn schema(rng: &mut StdRng, depth: usize, definitions: usize) -> Value {
    let mut object = serde_json::Map::new();
    for _ in 0..rng.random_range(1..=3) {
        let (name, value) = keyword(rng, depth, definitions);
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

fn schemas(rng: &mut StdRng, depth: usize, definitions: usize, most: usize) -> Value {
    let count = size(rng, most);
    // the schemas of a long list do not nest, so that the text stays small
    let depth = if count > 8 { 0 } else { depth };
    (0..count).map(|_| schema(rng, depth, definitions)).collect()
}

fn keyword(rng: &mut StdRng, depth: usize, definitions: usize) -> (&'static str, Value) {
    let number = size(rng, 1_000_000_000);
    let deep = if depth == 0 { 11 } else { 22 };
    let name = |rng: &mut StdRng| format!("{}{}", one(rng, &["a", "k", "\u{e9}", "x-"]), size(rng, 40));
    match rng.random_range(0..deep) {
        0 => ("type", json!(one(rng, &["string", "integer", "number", "object", "array", "null", "wrong"]))),
        1 => (["minLength", "maxLength", "minItems", "maxItems"][number % 4], json!(number)),
        2 => (
            ["minProperties", "maxProperties", "minContains", "maxContains"][number % 4],
            json!(size(rng, 100_000)),
        ),
        3 => ("pattern", json!(regex(rng).chars().take(2_000).collect::<String>())),
        4 => ("multipleOf", json!([0.01, 0.1, 3.0, 7.0, 1e-9, 1e9][number % 6])),
        5 => (["minimum", "maximum", "exclusiveMinimum"][number % 3], json!(number as f64 - 1e6)),
        6 => ("enum", (0..size(rng, 500)).map(|i| json!(format!("v{}", i * 7_919 % 10_007))).collect()),
        7 => ("uniqueItems", json!(true)),
        8 => ("required", (0..size(rng, 300)).map(|i| json!(format!("a{i}"))).collect()),
        9 => ("$ref", json!(format!("#/$defs/d{}", size(rng, definitions.max(1)) - 1))),
        10 => (
            "format",
            json!(one(rng, &["date-time", "email", "uri", "uuid", "duration", "regex", "nothing"])),
        ),
        11 => ("not", schema(rng, depth - 1, definitions)),
        12 => ("anyOf", schemas(rng, depth - 1, definitions, 100)),
        13 => ("oneOf", schemas(rng, depth - 1, definitions, 60)),
        14 => ("allOf", schemas(rng, depth - 1, definitions, 60)),
        15 => {
            let count = size(rng, 200);
            let depth = if count > 8 { 0 } else { depth - 1 };
            let members = (0..count).map(|_| (name(rng), schema(rng, depth, definitions)));
            ("properties", Value::Object(members.collect()))
        }
        16 => {
            let members = (0..size(rng, 8)).map(|i| {
                (format!("{}{i}", one(rng, &["^a", ".*b", "[k-n]{3}"])), schema(rng, 0, definitions))
            });
            ("patternProperties", Value::Object(members.collect()))
        }
        17 => (
            ["additionalProperties", "unevaluatedProperties", "propertyNames"][number % 3],
            schema(rng, depth - 1, definitions),
        ),
        18 => (["items", "contains", "unevaluatedItems"][number % 3], schema(rng, depth - 1, definitions)),
        19 => ("prefixItems", schemas(rng, depth - 1, definitions, 50)),
        20 => (["if", "then", "else"][number % 3], schema(rng, depth - 1, definitions)),
        _ => {
            let members = (0..size(rng, 20)).map(|i| (format!("a{i}"), schema(rng, 0, definitions)));
            ("dependentSchemas", Value::Object(members.collect()))
        }
    }
}

/// Returns a random regular expression with counts, classes and look-arounds.
pub(super) fn regex(rng: &mut StdRng) -> String {
    let depth = rng.random_range(1..=5);
    let mut pattern = expression(rng, depth);
    if rng.random_bool(0.1) && pattern.len() < 10_000 {
        pattern = pattern.repeat(size(rng, 100));
    }
    pattern
}

fn expression(rng: &mut StdRng, depth: usize) -> String {
    if depth == 0 {
        return one(
            rng,
            &["a", "b", ".", r"\w", r"\d", "[^a-f]", r"\p{L}", "é", r"\b", "^", "$", "ab|ba", ""],
        )
        .to_owned();
    }
    let inner = expression(rng, depth - 1);
    match rng.random_range(0..9) {
        0 => format!("({inner})*"),
        1 => format!("({inner}){{{}}}", size(rng, 100_000)),
        2 => format!("({inner}){{{},{}}}", size(rng, 100), size(rng, 1_000_000)),
        3 => format!("(?={inner}){}", expression(rng, depth - 1)),
        4 => format!("(?!{inner}){}", expression(rng, depth - 1)),
        5 => format!("({inner}|{})", expression(rng, depth - 1)),
        6 if inner.len() < 1_000 => inner.repeat(size(rng, 30)),
        7 => format!("({inner})?(?<=a)"),
        _ => format!("{inner}{}", expression(rng, depth - 1)),
    }
}

/// Returns a random GBNF grammar of up to 3,000 rules that refer to each other, with counts and groups.
pub(super) fn gbnf(rng: &mut StdRng) -> String {
    let rules = size(rng, 3_000);
    let mut text = String::new();
    for rule in 0..rules {
        let name = if rule == 0 { "root".to_owned() } else { format!("r{rule}") };
        let alternatives = rng.random_range(1..=4);
        let mut body = join(alternatives, " | ", |_| {
            let parts = rng.random_range(0..=4);
            join(parts, " ", |_| match rng.random_range(0..8) {
                0..=2 => format!("r{}", rng.random_range(1..=rules.max(1))),
                3 => format!("(\"a\" | \"b\"){{{},{}}}", size(rng, 20), size(rng, 1_000_000)),
                4 => "[^a-c]".to_owned(),
                5 => format!("r{}?", rng.random_range(1..=rules.max(1))),
                6 => format!("\"{}\"", "x".repeat(size(rng, 200))),
                _ => "[a-z]*".to_owned(),
            })
        });
        if rule % 3 == 0 {
            body += " | \"z\"";
        }
        text += &format!("{name} ::= {body}\n");
    }
    text + &format!("r{rules} ::= \"end\"\n")
}

/// Returns a random automaton spec: a context-free grammar (`cfg`), or a `dfa`, `nfa` or `pda` with transitions.
pub(super) fn spec(rng: &mut StdRng) -> String {
    let (symbols, states) = (size(rng, 60), size(rng, 1_500));
    let names = join(symbols, ", ", |i| format!("\"s{i}\""));
    if rng.random_bool(0.5) {
        let rules = join(states, "\n", |rule| {
            let bodies = join(rng.random_range(1..=4), ", ", |_| {
                let parts = join(rng.random_range(0..=4), " ", |_| match rng.random_bool(0.5) {
                    true => format!("s{}", rng.random_range(0..symbols)),
                    false => format!("n{}", rng.random_range(0..states)),
                });
                format!("\"{parts}\"")
            });
            format!("n{rule} = [{bodies}, \"s0\"]")
        });
        return format!("kind = \"cfg\"\nstart = \"n0\"\nsymbols = [{names}]\n[rules]\n{rules}\n");
    }
    let kind = one(rng, &["dfa", "nfa", "pda"]);
    let transitions = join(states * 2, "\n", |i| {
        let to = rng.random_range(0..states);
        format!(
            "[[transitions]]\nfrom = \"q{}\"\ninput = \"s{}\"\nto = \"q{to}\"",
            i / 2,
            rng.random_range(0..symbols)
        )
    });
    format!(
        "kind = \"{kind}\"\nstart = \"q0\"\naccepting = [\"q{}\"]\nsymbols = [{names}]\n{transitions}\n",
        states - 1
    )
}

/// Returns a random plan spec: an automaton spec, to which a template, requirements or a parameter may be added.
pub(super) fn plan(rng: &mut StdRng) -> String {
    let base = spec(rng);
    let (head, tail) = base.split_at(base.find("\n[").unwrap_or(base.len()));
    let extra = match rng.random_range(0..4) {
        0 => format!("\n[templates]\ntask = '''{}'''", template(rng)),
        1 => return with_requirements(rng, &base),
        2 => format!("\n[parameters]\nn = {{ default = {} }}", size(rng, 1_000_000_000)),
        _ => String::new(),
    };
    format!("{head}{extra}{tail}")
}

/// Returns the spec with each symbol requiring up to four random symbols. A spec without a list of symbols is
/// unchanged.
fn with_requirements(rng: &mut StdRng, spec: &str) -> String {
    let Some((from, to)) = spec.find("symbols = [").zip(spec.find("]\n")) else { return spec.to_owned() };
    let names = spec.get(from + 11..to).unwrap_or_default();
    let count = names.split(", ").count();
    let symbols = join(count, ", ", |i| {
        let needed = join(size(rng, 4), ", ", |_| format!("\"s{}\"", rng.random_range(0..count)));
        format!("s{i} = {{ text = \"s{i}\", requires = [{needed}] }}")
    });
    spec.replacen(&format!("symbols = [{names}]"), &format!("symbols = {{ {symbols} }}"), 1)
}

const MEDIA: [&str; 4] =
    ["application/json", "multipart/form-data", "text/\r\n", "application/x-www-form-urlencoded"];

/// Returns a random document of tools: an OpenAPI description or an MCP list of tools.
pub(super) fn tools(rng: &mut StdRng) -> String {
    let count = size(rng, 1_500);
    if rng.random_bool(0.4) {
        let tool = |rng: &mut StdRng, i: usize| {
            let description = "d".repeat(size(rng, 300));
            json!({"name": format!("t{}", i % 300), "description": description, "inputSchema": schema(rng, 2, 3)})
        };
        return json!({"tools": (0..count).map(|i| tool(rng, i)).collect::<Vec<_>>()}).to_string();
    }
    let mut paths = serde_json::Map::new();
    for i in 0..count {
        let path = format!(
            "/p{i}{}",
            one(rng, &["", "/{a}", "/{a}{b}", "/{a}-{b}", "?x=1", "/{a", "//", "/..", "/{a}.json"])
        );
        let parameter = |rng: &mut StdRng, name: &str| {
            json!({"name": name, "in": one(rng, &["path", "query", "header", "cookie", "nowhere"]), "required": true,
                "style": one(rng, &["form", "simple", "deepObject", "matrix"]), "explode": rng.random_bool(0.5),
                "schema": schema(rng, 1, 3)})
        };
        let parameters: Vec<Value> =
            ["a", "b", "c\r\nX: 1"].iter().map(|name| parameter(rng, name)).collect();
        let operation = match rng.random_range(0..6) {
            0 => json!({"$ref": format!("#/paths/~1p{}", rng.random_range(0..count))}),
            1 => json!({"operationId": format!("o{}", i % 7), "parameters": "none"}),
            _ => json!({"operationId": format!("o{i}"), "parameters": parameters, "requestBody": {"content":
                {one(rng, &MEDIA): {"schema": schema(rng, 2, 3)}}}}),
        };
        paths.insert(path, json!({one(rng, &["get", "post", "delete", "GET", "nothing"]): operation}));
    }
    json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"},
        "servers": [{"url": "https://h.example/{v}"}], "paths": paths,
        "components": {"schemas": {"d0": schema(rng, 2, 3)}}})
    .to_string()
}

/// Returns a random workflow with up to 120 APIs and slots each, and up to 300 lines of calls, branches and loops.
pub(super) fn procedure(rng: &mut StdRng) -> String {
    let (apis, slots) = (size(rng, 120), size(rng, 120));
    let declared = join(slots, "\n", |i| format!("- {{name: v{i}, schema: {}}}", schema(rng, 1, 1)));
    let calls = join(apis, "\n", |i| {
        let needs = join(size(rng, 3), ", ", |_| format!("a{}", rng.random_range(0..apis)));
        format!(
            "- {{name: a{i}, request: [v{}], response: [v{}], precondition: [{needs}]}}",
            i % slots,
            rng.random_range(0..slots)
        )
    });
    let mut text = String::new();
    let mut indent = 1;
    for _ in 0..size(rng, 300) {
        let blanks = "  ".repeat(indent);
        let slot = rng.random_range(0..slots);
        match rng.random_range(0..6) {
            0 => {
                text += &format!(
                    "{blanks}if v{slot} == {}:\n",
                    one(rng, &["true", "1", "\"x\"", "v0 and not v1 or v2"])
                );
                indent += 1;
            }
            1 if indent > 1 => {
                text += &format!("{blanks}API.a0()\n");
                indent -= 1;
            }
            2 => {
                text += &format!("{blanks}while not v{slot}:\n");
                indent += 1;
            }
            3 => text += &format!("{blanks}ANSWER.say()\n"),
            _ => text += &format!("{blanks}[v{slot}] = API.a{}([v0])\n", rng.random_range(0..apis)),
        }
    }
    let end = "  ".repeat(indent);
    format!(
        "Name: x\nSLOTs:\n{declared}\nAPIs:\n{calls}\nANSWERs:\n- {{name: say}}\nProcedure: |\n{text}{end}API.a0()\n"
    )
}

/// Returns a random domain of one flow with up to 1,000 steps, which have alternatives and pass data on.
pub(super) fn flow(rng: &mut StdRng) -> String {
    let steps = size(rng, 1_000);
    let mut text =
        String::from("kind = 'flows'\nname = 'n'\nprelude = 'p'\nend = 'E'\n[apis]\nP = {}\nE = {}\n");
    let mut declared =
        String::from("[steps]\np = { text = 'p', apis = ['P'] }\ne = { text = 'e', apis = ['E'] }\n");
    for step in 0..steps {
        let apis = rng.random_range(1..=4);
        let names = join(apis, ", ", |api| format!("'A{step}x{api}'"));
        for api in 0..apis {
            let input =
                (step > 0 && rng.random_bool(0.5)).then(|| format!("'d{}'", rng.random_range(0..step)));
            let input = input.unwrap_or_default();
            text += &format!("A{step}x{api} = {{ inputs = [{input}], outputs = ['d{step}'] }}\n");
        }
        declared += &format!("s{step} = {{ text = 's', apis = [{names}] }}\n");
    }
    let entries = join(steps, ", ", |step| match rng.random_range(0..5) {
        0 => format!("{{ step = 's{step}', optional = true }}"),
        1 => format!("{{ either = [['s{step}'], ['s{}']] }}", rng.random_range(0..steps)),
        2 => format!("{{ step = 's{step}', after = ['s{}'] }}", rng.random_range(0..=step)),
        3 => format!("{{ step = 's{step}', repeat = {{ max = {} }} }}", size(rng, 1_000_000)),
        _ => format!("'s{step}'"),
    });
    format!("{text}{declared}[[flows]]\nid = 'f'\nintent = 'i'\nsteps = ['p', {entries}, 'e']\n")
}

/// Returns a random tokenizer file: a JSON list, Tekken, tiktoken or Hugging Face format.
pub(super) fn tokenizer(rng: &mut StdRng) -> String {
    let count = size(rng, 20_000);
    let token = |rng: &mut StdRng| one(rng, &["a", "b", "Ġ", "▁", "é", "\u{0}", "\""]).repeat(size(rng, 40));
    match rng.random_range(0..4) {
        0 => Value::from((0..count).map(|_| token(rng)).collect::<Vec<_>>()).to_string(),
        1 => {
            let entry =
                |i: usize| json!({"rank": i, "token_bytes": "YQ==".repeat(1 + i % 3), "token_str": null});
            let (ids, specials) = (size(rng, 3_000_000), size(rng, 100_000));
            json!({"config": {"default_vocab_size": ids, "default_num_special_tokens": specials},
                "vocab": (0..count).map(entry).collect::<Vec<_>>(),
                "special_tokens": [{"rank": size(rng, 10), "token_str": "</s>"}]})
            .to_string()
        }
        2 => join(count, "\n", |i| {
            format!("{} {}", one(rng, &["YQ==", "YWI=", "!", "YWJj", ""]), i * rng.random_range(1..=2))
        }),
        _ => {
            let vocabulary =
                (0..count).map(|i| (format!("{}{i}", token(rng)), json!(size(rng, 2_000_000)))).collect();
            json!({"added_tokens": [{"id": size(rng, 4_000_000_000), "content": "</s>", "special": true}],
                "decoder": {"type": one(rng, &["ByteLevel", "Metaspace", "Fuse", "Nothing"])},
                "model": {"type": one(rng, &["BPE", "Unigram", "WordPiece"]), "merges": [],
                    "vocab": Value::Object(vocabulary)}})
            .to_string()
        }
    }
}

/// Returns a random chat template: up to 200 nested blocks around a body that is repeated up to 3,000 times.
pub(super) fn template(rng: &mut StdRng) -> String {
    let n = size(rng, 3_000);
    let body = one(
        rng,
        &[
            "{{ messages | tojson }}",
            "{% set ns.x = ns.x ~ ns.x %}",
            "{{ x.y.z }}",
            "{{ 'a' * 1000 }}",
            "{% set ns.x = [ns.x, ns.x] %}",
        ],
    );
    let (open, close) = *[
        ("{% for m in range(20) %}", "{% endfor %}"),
        ("{% if messages %}", "{% endif %}"),
        ("{% macro m() %}", "{% endmacro %}"),
    ]
    .choose(rng)
    .unwrap_or(&("", ""));
    let depth = n.min(200);
    format!(
        "{{% set ns = namespace(x='aaaa') %}}{}{}{}",
        open.repeat(depth),
        body.repeat(n),
        close.repeat(depth)
    )
}

/// Returns a random trace of a procedure: up to 3,000 events in JSON, one a line.
pub(super) fn trace(rng: &mut StdRng) -> String {
    let event = |rng: &mut StdRng| match rng.random_range(0..5) {
        0 => json!(["call", "a0", {"v0": schema(rng, 2, 1)}]),
        1 => json!(["result", {"v0": "x".repeat(size(rng, 1_000))}]),
        2 => json!(["say", "say"]),
        3 if rng.random_bool(0.01) => json!([[[[]]]]),
        _ => json!(["decide", "v0", size(rng, 1_000_000)]),
    };
    join(size(rng, 3_000), "\n", |_| event(rng).to_string())
}
