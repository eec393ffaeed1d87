//! One schema in the dialects of several SDKs: each must allow the same calls.

use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, Limits, TokenId};
use grammata_agents::tools::{CallFormat, Choice, Document, GrammarOptions, Markers, ReadOptions, read};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A schema that every dialect can say.
enum Kind {
    Text,
    Boolean,
    Number {
        is_integer: bool,
        most: Option<i64>,
    },
    TextsOf(Vec<String>),
    NumbersOf(Vec<i64>),
    List {
        item: Box<Part>,
        least: u64,
        most: u64,
    },
    Object(Vec<(String, bool, Part)>),
    Union(Vec<Part>),
    /// The definition of this number.
    Reference(usize),
}

struct Part {
    kind: Kind,
    is_nullable: bool,
}

/// A way in which schemas are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Dialect {
    Mcp,
    /// Gemini's types, as google-genai writes them.
    Capitals,
    /// Gemini's types, as the AI SDK and LiteLLM write them.
    Small,
    /// A document of OpenAPI 3.1.
    OpenApi,
}

const DIALECTS: [Dialect; 4] = [Dialect::Mcp, Dialect::Capitals, Dialect::Small, Dialect::OpenApi];

fn part(random: &mut ChaCha8Rng, depth: u32, definitions: usize) -> Part {
    let kind = match random.random_range(0..if depth == 0 { 5 } else { 9 }) {
        0 => Kind::Text,
        1 => Kind::Boolean,
        2 => Kind::Number {
            is_integer: random.random(),
            most: random.random::<bool>().then(|| random.random_range(-3..9)),
        },
        3 => Kind::TextsOf(
            ["a", "7", "b c"].iter().take(random.random_range(1..4)).map(|t| (*t).to_owned()).collect(),
        ),
        4 => Kind::NumbersOf((0..random.random_range(1..4)).map(|n| n * 7 - 3).collect()),
        5 => Kind::List {
            item: Box::new(part(random, depth - 1, definitions)),
            least: random.random_range(0..2),
            most: random.random_range(1..3),
        },
        6 => {
            let names = ["x", "ref", "type", "enum"];
            let count = random.random_range(1..=names.len());
            let member = |name: &&str, random: &mut ChaCha8Rng| {
                ((*name).to_owned(), random.random(), part(random, depth - 1, definitions))
            };
            Kind::Object(names.iter().take(count).map(|name| member(name, random)).collect())
        }
        // alternatives of different types, as SDKs write them
        7 => Kind::Union(vec![
            Part { kind: Kind::Number { is_integer: true, most: None }, is_nullable: false },
            Part { kind: if random.random() { Kind::Text } else { Kind::Boolean }, is_nullable: false },
        ]),
        _ if definitions > 0 => Kind::Reference(random.random_range(0..definitions)),
        _ => Kind::Text,
    };
    Part { kind, is_nullable: random.random_range(0..4) == 0 }
}

fn written(part: &Part, dialect: Dialect) -> Value {
    let is_gemini = matches!(dialect, Dialect::Capitals | Dialect::Small);
    let name = |name: &str| match dialect {
        Dialect::Capitals => json!(name.to_uppercase()),
        _ => json!(name),
    };
    let mut schema = match &part.kind {
        Kind::Text => json!({"type": name("string")}),
        Kind::Boolean => json!({"type": name("boolean")}),
        Kind::Number { is_integer, most } => {
            let mut schema = json!({"type": name(if *is_integer { "integer" } else { "number" })});
            if let Some(most) = most {
                schema["maximum"] = json!(most);
            }
            schema
        }
        Kind::TextsOf(texts) => json!({"type": name("string"), "enum": texts}),
        Kind::NumbersOf(numbers) if is_gemini => {
            let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
            json!({"type": name("integer"), "format": "enum", "enum": texts})
        }
        Kind::NumbersOf(numbers) => json!({"type": "integer", "enum": numbers}),
        Kind::List { item, least, most } => {
            let bound = |n: &u64| if dialect == Dialect::Capitals { json!(n.to_string()) } else { json!(n) };
            json!({"type": name("array"), "items": written(item, dialect), "minItems": bound(least), "maxItems": bound(most)})
        }
        Kind::Object(members) => {
            let properties: Map<String, Value> =
                members.iter().map(|(name, _, part)| (name.clone(), written(part, dialect))).collect();
            let required: Vec<&String> =
                members.iter().filter(|(_, is_required, _)| *is_required).map(|(name, ..)| name).collect();
            json!({"type": name("object"), "properties": properties, "required": required})
        }
        Kind::Union(parts) => {
            let parts: Vec<Value> = parts.iter().map(|part| written(part, dialect)).collect();
            match dialect {
                Dialect::Capitals => json!({"type": "OBJECT", "anyOf": parts}),
                _ => json!({"anyOf": parts}),
            }
        }
        Kind::Reference(n) => match dialect {
            Dialect::Capitals => json!({"ref": format!("#/defs/D{n}")}),
            Dialect::OpenApi => json!({"$ref": format!("#/components/schemas/D{n}")}),
            _ => json!({"$ref": format!("#/$defs/D{n}")}),
        },
    };
    if part.is_nullable {
        match is_gemini {
            true => schema["nullable"] = json!(true),
            false => schema = json!({"anyOf": [schema, {"type": "null"}]}),
        }
    }
    schema
}

/// Returns a document with a tool `f`, whose argument is `v`.
fn document(root: &Part, definitions: &[Part], dialect: Dialect) -> Value {
    let all: Map<String, Value> =
        definitions.iter().enumerate().map(|(n, part)| (format!("D{n}"), written(part, dialect))).collect();
    let kind = if dialect == Dialect::Capitals { "OBJECT" } else { "object" };
    let mut schema = json!({"type": kind, "properties": {"v": written(root, dialect)}, "required": ["v"]});
    match dialect {
        Dialect::Mcp => {
            schema["$defs"] = all.into();
            json!({"tools": [{"name": "f", "description": "", "inputSchema": schema}]})
        }
        Dialect::Capitals => {
            schema["defs"] = all.into();
            json!({"functionDeclarations": [{"name": "f", "description": "", "parameters": schema}]})
        }
        Dialect::Small => {
            schema["$defs"] = all.into();
            json!({"tools": [{"function_declarations": [{"name": "f", "description": "", "parameters": schema}]}]})
        }
        Dialect::OpenApi => json!({
            "openapi": "3.1.0", "servers": [{"url": "https://h"}],
            "paths": {"/f": {"post": {"operationId": "f", "requestBody": {
                "required": true, "content": {"application/json": {"schema": schema}}}}}},
            "components": {"schemas": all},
        }),
    }
}

fn compiled(document: &Value) -> Result<CompiledGrammar, String> {
    let text = document.to_string();
    let set =
        read([Document { label: "d", text: &text }], &ReadOptions::default()).map_err(|e| e.to_string())?;
    if !set.findings().is_empty() {
        return Err(format!("{:?}", set.findings()));
    }
    let schema = GrammarOptions::arguments(Limits::default());
    let options = GrammarOptions::default()
        .choice(Choice::Required)
        .max_calls(Some(1))
        .markers(Markers::Text)
        .schema(schema);
    let made = CallFormat::named("json").unwrap().grammar(&set, &options).map_err(|e| e.to_string())?;
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    Compiler::new(Arc::new(vocabulary)).compile(&made.grammar).map_err(|e| e.to_string())
}

/// Returns a value of a schema; `None` if it is nested too deeply.
fn value(part: &Part, definitions: &[Part], random: &mut ChaCha8Rng, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if part.is_nullable && random.random() {
        return Some(Value::Null);
    }
    Some(match &part.kind {
        Kind::Text => json!(["", "a", "é\"", "7"][random.random_range(0..4)]),
        Kind::Boolean => json!(random.random::<bool>()),
        Kind::Number { is_integer, most } => {
            let whole = most.unwrap_or(20) - random.random_range(0..5);
            if *is_integer { json!(whole) } else { json!(whole as f64 - 0.5) }
        }
        Kind::TextsOf(texts) => json!(texts[random.random_range(0..texts.len())]),
        Kind::NumbersOf(numbers) => json!(numbers[random.random_range(0..numbers.len())]),
        Kind::List { item, least, most } => {
            let count = random.random_range(*least..=(*most).max(*least));
            (0..count).map(|_| value(item, definitions, random, depth)).collect::<Option<Vec<_>>>()?.into()
        }
        Kind::Object(members) => {
            let mut object = Map::new();
            for (name, is_required, part) in members {
                if *is_required || random.random() {
                    object.insert(name.clone(), value(part, definitions, random, depth)?);
                }
            }
            object.into()
        }
        Kind::Union(parts) => value(&parts[random.random_range(0..parts.len())], definitions, random, depth)?,
        Kind::Reference(n) => value(&definitions[*n], definitions, random, depth)?,
    })
}

/// Random schemas allow the same calls in each dialect: their own values, and the values of other schemas or not.
#[test]
fn a_schema_means_the_same_in_each_dialect() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let (mut wrong, mut compared, mut refused) = (Vec::new(), 0, 0);
    for seed in 0..cases {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // a definition refers only to those before it, so that every schema has values
        let definitions: Vec<Part> = (0..2).map(|n| part(&mut random, 1, n)).collect();
        let root = part(&mut random, 3, definitions.len());
        let other = part(&mut random, 3, definitions.len());
        let grammars = DIALECTS.map(|dialect| (dialect, compiled(&document(&root, &definitions, dialect))));
        for (dialect, grammar) in &grammars {
            if let Err(error) = grammar {
                let document = document(&root, &definitions, *dialect);
                wrong.push(format!("seed {seed}, {dialect:?}: {error}\n{document}"));
            }
        }
        for is_own in [true, true, true, false, false, false] {
            let source = if is_own { &root } else { &other };
            let Some(made) = value(source, &definitions, &mut random, 8) else { continue };
            let text = json!({"name": "f", "arguments": {"v": made}}).to_string();
            let verdicts: Vec<bool> = grammars
                .iter()
                .filter_map(|(_, grammar)| grammar.as_ref().ok())
                .map(|grammar| {
                    let mut matcher = grammar.matcher();
                    matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
                })
                .collect();
            compared += 1;
            refused += usize::from(!verdicts.iter().any(|verdict| *verdict));
            if verdicts.iter().any(|verdict| *verdict != verdicts[0]) || (is_own && !verdicts[0]) {
                let all: Vec<String> =
                    DIALECTS.map(|dialect| document(&root, &definitions, dialect).to_string()).to_vec();
                wrong.push(format!("seed {seed}: {text} {verdicts:?}\n{}", all.join("\n")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused * 10 > compared, "few texts are refused: {refused} of {compared}");
}
