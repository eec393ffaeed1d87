//! Objects written as elements, compared with a reader that tries every way to read a text, and with a validator.

use crate::language::Language;
use grammata::syntax::json_schema::{Elements, Options, PropertyOrder, Spelling, compile_value};
use grammata_testing::generate::Choices;
use serde_json::{Map, Value, json};

const BLANKS: [char; 4] = [' ', '\n', '\t', '\r'];

/// A style's notation of an element: the texts before and after the name and before the value, the words of the kinds
/// (text, number, boolean, null, array, object), the text after the value, and whether the name is repeated. If lists
/// are written as elements, `item` begins each of their items.
struct Written {
    before: &'static str,
    after: &'static str,
    value: &'static str,
    kinds: [&'static str; 6],
    stop: &'static str,
    again: bool,
    item: Option<&'static str>,
    /// Whether there is at most one line break on each side of a value, and booleans may be `True` and `False`.
    is_python: bool,
}

fn written(style: Elements) -> Written {
    let plain = |before, after, stop| Written {
        before,
        after,
        value: "",
        kinds: [""; 6],
        stop,
        again: false,
        item: None,
        is_python: false,
    };
    let (yes, no) = (" string=\"true\">", " string=\"false\">");
    match style.name() {
        "qwen_xml" => Written { is_python: true, ..plain("<parameter=", ">", "</parameter>") },
        "minimax_xml" => plain("<parameter name=\"", "\">", "</parameter>"),
        "glm_xml" => Written { value: "<arg_value>", ..plain("<arg_key>", "</arg_key>", "</arg_value>") },
        "hy3_xml" => Written {
            value: "<arg_value:opensource>",
            ..plain("<arg_key:opensource>", "</arg_key:opensource>", "</arg_value:opensource>")
        },
        "deepseek_xml" => Written {
            kinds: [yes, no, no, no, no, no],
            ..plain("<｜DSML｜parameter name=\"", "\"", "</｜DSML｜parameter>")
        },
        "deepseek_v4_1_xml" => Written {
            kinds: [yes, no, no, no, no, no],
            ..plain("<｜DSML｜ parameter name=\"", "\"", "</｜DSML｜ parameter>")
        },
        "kimi_k3_xml" => Written {
            kinds: [
                " type=\"string\"<|sep|>",
                " type=\"number\"<|sep|>",
                " type=\"boolean\"<|sep|>",
                " type=\"null\"<|sep|>",
                " type=\"array\"<|sep|>",
                " type=\"object\"<|sep|>",
            ],
            ..plain("<|open|>argument key=\"", "\"", "<|close|>argument<|sep|>")
        },
        "cohere_xml" => Written {
            kinds: [
                " type=\"raw\">",
                " type=\"json\">",
                " type=\"json\">",
                " type=\"json\">",
                " type=\"list\">",
                " type=\"dict\">",
            ],
            item: Some("<cofl:value"),
            ..plain("<cofl:value name=\"", "\"", "</cofl:value>")
        },
        _ => Written {
            again: true,
            item: Some("]<]minimax[>[<item>"),
            ..plain("]<]minimax[>[<", ">", "]<]minimax[>[")
        },
    }
}

fn kind(value: &Value) -> usize {
    match value {
        Value::String(_) => 0,
        Value::Number(_) => 1,
        Value::Bool(_) => 2,
        Value::Null => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

impl Written {
    fn blanks(draw: &mut Choices<'_>) -> &'static str {
        ["", "", "", " ", "\n", "\n\t"][draw.below(6)]
    }

    fn write(&self, draw: &mut Choices<'_>, members: &Map<String, Value>) -> String {
        let mut all = String::new();
        for (name, value) in members {
            all += &format!("{}{name}{}", self.before, self.after);
            if !self.value.is_empty() {
                all += Written::blanks(draw);
                all += self.value;
            }
            all += &self.write_value(draw, value, name);
            all += Written::blanks(draw);
        }
        all
    }

    fn write_value(&self, draw: &mut Choices<'_>, value: &Value, name: &str) -> String {
        let inside = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) if self.item.is_some() => items
                .iter()
                .map(|item| format!("{}{}", self.item.unwrap(), self.write_value(draw, item, "item")))
                .collect(),
            Value::Object(members) if self.item.is_some() => self.write(draw, members),
            json if self.is_python => {
                let mut gap = || if draw.chance(50) { "\n" } else { "" };
                let (before, after) = (gap(), gap());
                let text = match json {
                    Value::Bool(true) if draw.chance(50) => "True".to_owned(),
                    Value::Bool(false) if draw.chance(50) => "False".to_owned(),
                    json => json.to_string(),
                };
                format!("{before}{text}{after}")
            }
            json => format!("{}{json}{}", Written::blanks(draw), Written::blanks(draw)),
        };
        let end = if self.again { format!("</{name}>") } else { String::new() };
        format!("{}{inside}{}{end}", self.kinds[kind(value)], self.stop)
    }

    /// Returns the possible objects at the beginning of a text, each with the rest of the text.
    fn read<'t>(&self, text: &'t str) -> Vec<(Map<String, Value>, &'t str)> {
        let mut open = vec![(Map::new(), text)];
        let mut all = Vec::new();
        while let Some((members, rest)) = open.pop() {
            all.push((members.clone(), rest));
            let Some(rest) = rest.trim_start_matches(BLANKS).strip_prefix(self.before) else { continue };
            let Some((name, rest)) = rest.split_once(self.after) else { continue };
            let rest = match self.value {
                "" => rest,
                value => match rest.trim_start_matches(BLANKS).strip_prefix(value) {
                    Some(rest) => rest,
                    None => continue,
                },
            };
            if name.is_empty() || members.contains_key(name) {
                continue;
            }
            for (value, rest) in self.read_value(rest, name) {
                let mut members = members.clone();
                members.insert(name.to_owned(), value);
                open.push((members, rest));
            }
        }
        all
    }

    fn read_value<'t>(&self, text: &'t str, name: &str) -> Vec<(Value, &'t str)> {
        let end = if self.again { format!("{}</{name}>", self.stop) } else { self.stop.to_owned() };
        let mut all = Vec::new();
        for (place, word) in self.kinds.iter().enumerate() {
            let Some(rest) = text.strip_prefix(word) else { continue };
            if self.item.is_some() && place >= 4 {
                let read: Vec<(Value, &str)> = if place == 4 {
                    self.read_items(rest).into_iter().map(|(list, rest)| (Value::Array(list), rest)).collect()
                } else {
                    self.read(rest).into_iter().map(|(map, rest)| (Value::Object(map), rest)).collect()
                };
                for (value, rest) in read {
                    let is_empty = value.as_array().is_some_and(Vec::is_empty)
                        || value.as_object().is_some_and(Map::is_empty);
                    let rest = if is_empty { rest } else { rest.trim_start_matches(BLANKS) };
                    all.extend(rest.strip_prefix(&*end).map(|rest| (value, rest)));
                }
                continue;
            }
            let Some((inside, rest)) = rest.split_once(self.stop) else { continue };
            let rest = match end.strip_prefix(self.stop) {
                Some(end) => match rest.strip_prefix(end) {
                    Some(rest) => rest,
                    None => continue,
                },
                None => rest,
            };
            if place == 0 {
                let cuts = |text: &str| {
                    let most = text.len() - text.trim_start_matches(BLANKS).len();
                    match word.is_empty() {
                        true if self.is_python => usize::from(text.starts_with('\n')),
                        true => most,
                        false => 0,
                    }
                };
                for before in 0..=cuts(inside) {
                    let reversed: String = inside[before..].chars().rev().collect();
                    for after in 0..=cuts(&reversed) {
                        let value = &inside[before..inside.len() - after];
                        all.push((Value::from(value), rest));
                    }
                }
            } else if let Some(value) = self.json(inside)
                && kind(&value) == place
            {
                all.push((value, rest));
            }
        }
        all
    }

    /// Returns the value of JSON with the space that the style allows around it.
    fn json(&self, text: &str) -> Option<Value> {
        if !self.is_python {
            return serde_json::from_str(text.trim_matches(BLANKS)).ok();
        }
        let text = text.strip_prefix('\n').unwrap_or(text);
        let text = text.strip_suffix('\n').unwrap_or(text);
        match text {
            "True" => Some(json!(true)),
            "False" => Some(json!(false)),
            text if text.trim_matches(BLANKS) != text => None,
            text => serde_json::from_str(text).ok(),
        }
    }

    fn read_items<'t>(&self, text: &'t str) -> Vec<(Vec<Value>, &'t str)> {
        let mut open = vec![(Vec::new(), text)];
        let mut all = Vec::new();
        while let Some((items, rest)) = open.pop() {
            all.push((items.clone(), rest));
            let Some(rest) = rest.trim_start_matches(BLANKS).strip_prefix(self.item.unwrap()) else {
                continue;
            };
            for (value, rest) in self.read_value(rest, "item") {
                let mut items = items.clone();
                items.push(value);
                open.push((items, rest));
            }
        }
        all
    }
}

fn random_value_schema(draw: &mut Choices<'_>, depth: usize) -> Value {
    match draw.below(if depth == 0 { 8 } else { 11 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "string", "minLength": draw.below(3), "maxLength": 3}),
        2 => json!({"enum": ["on", "1", 1, null, " x"]}),
        3 => json!({"type": "integer", "minimum": -3}),
        4 => json!({"type": ["boolean", "null"]}),
        5 => json!({"type": "string", "pattern": "^[a-c]+$"}),
        6 => json!({"type": ["number", "string"], "not": {"const": "a"}}),
        7 => json!({"const": {"a": ["x", 2]}}),
        8 => json!({"type": "array", "items": random_value_schema(draw, depth - 1), "maxItems": 2}),
        _ => random_object_schema(draw, depth - 1),
    }
}

pub(crate) fn random_object_schema(draw: &mut Choices<'_>, depth: usize) -> Value {
    let names = ["a", "b", "c"];
    let count = 1 + draw.below(3);
    let properties: Map<String, Value> =
        names[..count].iter().map(|name| ((*name).to_owned(), random_value_schema(draw, depth))).collect();
    let required: Vec<&str> = names[..count].iter().copied().filter(|_| draw.chance(50)).collect();
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    schema["additionalProperties"] = json!(false);
    schema
}

pub(crate) fn random_value(draw: &mut Choices<'_>, schema: &Value) -> Value {
    if let Some(list) = schema.get("enum") {
        return list[draw.below(list.as_array().unwrap().len())].clone();
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    let types = schema.get("type").cloned().unwrap_or_default();
    let one = types.as_array().map_or(types.clone(), |list| list[draw.below(list.len())].clone());
    match one.as_str().unwrap_or_default() {
        "string" => Value::from(["", "a", "abc", " b ", "{\"a\": 1}", "1", "null", "é<b>\n"][draw.below(8)]),
        "integer" => json!(draw.below(5) as i64 - 3),
        "number" => json!(draw.below(5) as f64 / 2.0),
        "boolean" => json!(draw.chance(50)),
        "array" => (0..draw.below(3)).map(|_| random_value(draw, &schema["items"])).collect(),
        "object" => {
            let members = schema["properties"].as_object().unwrap();
            let mut object = Map::new();
            for (name, value) in members {
                if draw.chance(75) {
                    object.insert(name.clone(), random_value(draw, value));
                }
            }
            Value::Object(object)
        }
        _ => Value::Null,
    }
}

/// Returns whether the members of all objects in a value are in the order of their declarations.
pub(crate) fn is_ordered(schema: &Value, value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let Some(declared) = schema["properties"].as_object() else { return true };
            let places: Vec<_> =
                members.keys().map(|name| declared.keys().position(|key| key == name)).collect();
            places.is_sorted() && members.iter().all(|(name, value)| is_ordered(&declared[name], value))
        }
        Value::Array(items) => items.iter().all(|item| is_ordered(&schema["items"], item)),
        _ => true,
    }
}

/// Returns a text in which one character is removed, inserted or swapped with another one. An empty text becomes `x`.
pub(crate) fn changed(draw: &mut Choices<'_>, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return "x".into();
    }
    let place = draw.below(chars.len());
    match draw.below(3) {
        0 => drop(chars.remove(place)),
        1 => chars.insert(place, *draw.pick(&[' ', 'a', '1', '"', '>', '\n'])),
        _ => chars.swap(place, draw.below(text.chars().count())),
    }
    chars.into_iter().collect()
}

#[test]
fn elements_are_read_as_values_of_the_schema() {
    let (mut accepted, mut refused) = (0, 0);
    crate::random::each(400, 200, |draw| {
        let style = Elements::ALL[draw.below(Elements::ALL.len())].1;
        let schema = random_object_schema(draw, 2);
        let any_order = draw.chance(50);
        let order = if any_order { PropertyOrder::Any } else { PropertyOrder::Declared };
        let options = Options::default().spelling(Spelling::Elements(style)).property_order(order);
        let grammar = match compile_value(&schema, &options) {
            Ok(compiled) => compiled.grammar,
            Err(error) => panic!("{}: {schema}: {error}", style.name()),
        };
        let language = Language::new(&grammar);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let form = written(style);
        for _ in 0..6 {
            let value = random_value(draw, &schema);
            let mut text = form.write(draw, value.as_object().unwrap());
            if draw.chance(40) {
                text = changed(draw, &text);
            }
            let readings = form.read(&text);
            let whole = readings.into_iter().filter(|(_, rest)| rest.trim_start_matches(BLANKS).is_empty());
            let expected = whole
                .map(|(members, _)| Value::Object(members))
                .any(|value| validator.is_valid(&value) && (any_order || is_ordered(&schema, &value)));
            let found = language.accepts(text.as_bytes());
            assert_eq!(found, expected, "{}\n{schema}\n{text:?}", style.name());
            *(if found { &mut accepted } else { &mut refused }) += 1;
        }
    });
    assert!(accepted > 50 && refused > 50, "{accepted} {refused}");
}

/// Elements that close by name do not tie the end to an undeclared name, which is said once.
#[test]
fn free_ends_of_undeclared_elements_are_warned_of() {
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let declared =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    for (name, style) in Elements::ALL {
        let options = Options::default().spelling(Spelling::Elements(style));
        for (schema, is_warned) in [(&map, style == Elements::MiniMaxM3), (&declared, false)] {
            let warnings = compile_value(schema, &options).unwrap().warnings;
            let codes: Vec<&str> = warnings.iter().map(|warning| warning.code()).collect();
            let expected: &[&str] = if is_warned { &["json-schema/free-ends"] } else { &[] };
            assert_eq!(codes, expected, "{name}: {schema}");
        }
    }
}
