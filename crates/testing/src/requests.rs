//! Small random OpenAPI documents whose paths, parameters and bodies are hard to read back.

use super::generate::Choices;
use serde_json::{Map, Value, json};

const PATHS: [&str; 27] = [
    "/a/{x}",
    "/a/b",
    "/a/{x}/{y}",
    "/a/{x}-{y}",
    "/a/{x}.json",
    "/a/{x}{y}",
    "/{x}.{y}.json",
    "/q?f=1",
    "/q?f={x}&g={y}",
    "/q",
    "/a/{x}:go",
    "/a/{x}to{y}",
    "/a/{x},{y}",
    "/b/{x}...{y}",
    "/caf\u{e9} /{x}",
    "/a({x},{y})",
    "/v{x}/n{y}",
    "/a/{x}_{y}/",
    "/.{x}",
    "/a#{x}",
    "/a#b",
    "/{x}1{y}",
    "/a/{x}/b",
    "/a/b/{x}",
    "/{x}",
    "/{x}--{y}",
    "/{x}{",
];

/// Draws an OpenAPI document with one to three operations: their number first, then for each its path, its method and
/// its details. Once the bytes have run out, each choice is the simplest.
pub fn random_api(choices: &mut Choices<'_>) -> Value {
    let mut paths = Map::new();
    for _ in 0..=choices.below(3) {
        let path = *choices.pick(&PATHS);
        let method = *choices.pick(&["get", "post", "put"]);
        let operation = operation(path, choices);
        let item = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(method.to_owned(), operation);
        }
    }
    json!({"openapi": "3.2.0", "servers": [{"url": "https://h/v1"}], "paths": paths})
}

fn operation(path: &str, choices: &mut Choices<'_>) -> Value {
    let mut parameters = Vec::new();
    for name in ["x", "y"].into_iter().filter(|name| path.contains(&format!("{{{name}}}"))) {
        let style = *choices.pick(&["simple", "simple", "label", "matrix"]);
        parameters.push(parameter(name, "path", style, choices));
    }
    for _ in 0..choices.below(3) {
        let style = *choices.pick(&["form", "form", "deepObject", "pipeDelimited"]);
        let name = *choices.pick(&["q", "f", "f[a]", "l[]", "x", "\u{fc}&="]);
        parameters.push(parameter(name, "query", style, choices));
    }
    if choices.chance(30) {
        let name = *choices.pick(&["X-A", "Cookie", "X A"]);
        parameters.push(parameter(name, "header", "simple", choices));
    }
    if choices.chance(30) {
        let style = *choices.pick(&["form", "cookie"]);
        let name = *choices.pick(&["c", "d e"]);
        parameters.push(parameter(name, "cookie", style, choices));
    }
    let mut operation = json!({"parameters": parameters});
    if choices.chance(50)
        && let Some(object) = operation.as_object_mut()
    {
        object.insert("requestBody".to_owned(), body(choices));
    }
    operation
}

fn parameter(name: &str, location: &str, style: &str, choices: &mut Choices<'_>) -> Value {
    let schema = if style == "deepObject" { object(choices) } else { schema(choices) };
    let mut made = json!({"name": name, "in": location, "style": style, "schema": schema});
    if let Some(made) = made.as_object_mut() {
        for (key, chance) in [("required", 50), ("explode", 40), ("allowReserved", 40)] {
            if choices.chance(chance) {
                made.insert(key.to_owned(), Value::Bool(key != "explode" || choices.chance(50)));
            }
        }
    }
    made
}

fn body(choices: &mut Choices<'_>) -> Value {
    let media = *choices.pick(&[
        "application/json",
        "application/x-www-form-urlencoded",
        "application/x-www-form-urlencoded",
        "text/plain",
        "multipart/form-data",
    ]);
    let schema = match media {
        "text/plain" => schema(choices),
        _ => object(choices),
    };
    let mut encoding = Map::new();
    if choices.chance(40) {
        let style = *choices.pick(&["form", "deepObject", "spaceDelimited"]);
        let explode = choices.chance(50);
        encoding.insert(
            "a".to_owned(),
            json!({"style": style, "explode": explode, "allowReserved": choices.chance(50)}),
        );
    }
    if choices.chance(20) {
        encoding.insert("b".to_owned(), json!({"contentType": "application/json"}));
    }
    json!({"required": choices.chance(50), "content": {media: {"schema": schema, "encoding": encoding}}})
}

fn object(choices: &mut Choices<'_>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in ["a", "b", "c d"].into_iter().take(1 + choices.below(3)) {
        properties.insert(name.to_owned(), schema(choices));
        if choices.chance(30) {
            required.push(name);
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn schema(choices: &mut Choices<'_>) -> Value {
    let scalars = [
        json!({"type": "string"}),
        json!({"type": "string", "maxLength": 2}),
        json!({"type": "integer"}),
        json!({"type": ["integer", "string"]}),
        json!({"enum": ["a/b", "\u{fc}", "-", "a-b", "1", 1, "true", true, "", "."]}),
        json!({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "integer", "minimum": 1000}]}),
        json!({"type": "string", "pattern": "^[a-c.-]+$"}),
        json!({"type": "boolean"}),
        json!({"type": ["number", "null"]}),
        json!({}),
        json!({"enum": [1.5, 1e3, 0, "0"]}),
    ];
    let scalar = choices.pick(&scalars).clone();
    match choices.below(5) {
        0 => json!({"type": "array", "items": scalar}),
        1 if choices.chance(30) => json!({"type": "array", "items": scalar, "minItems": 1, "maxItems": 2}),
        _ => scalar,
    }
}
