//! Random JSON Schemas with finite languages, and all their words.
//!
//! Objects take their members from a few names, listed by `properties` or `patternProperties`, each at most once; the
//! items of arrays may have to differ. The words are enumerated from the same random tree that the schema is written
//! from, so they are an oracle for both rules that shares no code with the engine.

use super::Choices;
use serde_json::{Map, Value, json};

/// The most words of a schema; larger ones are reduced.
const WORDS: usize = 1_000;

/// Member names, some of which are prefixes of others.
const NAMES: [&str; 6] = ["a", "ab", "b", "ba", "abc", "\u{e9}"];

/// Scalar values, all different.
const VALUES: [&str; 8] = ["1", "12", "true", "\"a\"", "\"ab\"", "null", "-1", "\"\""];

/// A JSON Schema with the words of its language, in increasing order, without white space and with the members of
/// objects in any order.
#[derive(Clone, Debug)]
pub struct FiniteSchema {
    /// The schema.
    pub schema: Value,
    /// All words of its language.
    pub words: Vec<Vec<u8>>,
}

/// Draws a schema with few words.
pub fn random_finite_schema(choices: &mut Choices<'_>) -> FiniteSchema {
    let tree = match choices.chance(70) {
        true => Node::object(choices, 2, true),
        false => Node::array(choices, 2, true),
    };
    let schema = tree.node.schema();
    let mut words: Vec<Vec<u8>> = tree.words.into_iter().map(String::into_bytes).collect();
    words.sort_unstable();
    words.dedup();
    FiniteSchema { schema, words }
}

/// A part of a schema, with its words.
#[derive(Clone, Debug)]
struct Tree {
    node: Node,
    words: Vec<String>,
}

/// The structure of a part.
#[derive(Clone, Debug)]
enum Node {
    /// One of some values, as JSON.
    Values(Vec<&'static str>),
    /// Groups of names that share the schema of their values, each name at most once in an object; the least and the
    /// most members; whether patterns list the names.
    Object(Vec<(Vec<&'static str>, Tree)>, usize, usize, bool),
    /// The items, whether they must differ, and the least and the most items.
    Array(Box<Tree>, bool, usize, usize),
}

impl Node {
    /// Draws a part. Without `patterns`, properties are listed by name, since items that must differ would be refused
    /// otherwise.
    fn any(choices: &mut Choices<'_>, depth: usize, patterns: bool) -> Tree {
        match choices.below(if depth == 0 { 3 } else { 8 }) {
            0..=2 => {
                let first = choices.below(VALUES.len());
                let count = 1 + choices.below(3);
                let values = first..first + count;
                Node::Values(values.map(|place| VALUES[place % VALUES.len()]).collect()).within_bound()
            }
            3..=5 => Node::object(choices, depth - 1, patterns),
            _ => Node::array(choices, depth - 1, patterns),
        }
    }

    fn object(choices: &mut Choices<'_>, depth: usize, patterns: bool) -> Tree {
        let by_pattern = patterns && choices.chance(80);
        let mut left: Vec<&str> = NAMES.into_iter().filter(|_| choices.chance(70)).collect();
        let mut members = Vec::new();
        while !left.is_empty() && members.len() < 3 {
            let names = left.split_off(left.len() - left.len().min(1 + choices.below(3)));
            members.push((names, Node::any(choices, depth, patterns)));
        }
        let names: usize = members.iter().map(|(names, _)| names.len()).sum();
        let min = choices.below(3).min(names);
        Node::Object(members, min, names, by_pattern).within_bound()
    }

    fn array(choices: &mut Choices<'_>, depth: usize, patterns: bool) -> Tree {
        let is_unique = choices.chance(70);
        let items = Node::any(choices, depth, patterns && !is_unique);
        let different = items.words.len();
        let min = choices.below(3).min(if is_unique { different } else { 2 });
        Node::Array(Box::new(items), is_unique, min, (min + choices.below(3)).max(1)).within_bound()
    }

    /// Reduces members or items, down to none, or values, down to one, until there are few words.
    fn within_bound(mut self) -> Tree {
        loop {
            let words = self.words();
            if words.len() <= WORDS {
                return Tree { node: self, words };
            }
            match &mut self {
                Node::Object(_, min, max, _) | Node::Array(_, _, min, max) => {
                    *max -= 1;
                    *min = (*min).min(*max);
                }
                Node::Values(values) => values.truncate(1),
            }
        }
    }

    fn schema(&self) -> Value {
        let value = |text: &&str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
        match self {
            Node::Values(values) => json!({ "enum": values.iter().map(value).collect::<Vec<_>>() }),
            Node::Object(members, min, max, by_pattern) => {
                let (mut patterns, mut properties) = (Map::new(), Map::new());
                for (names, tree) in members {
                    let schema = tree.node.schema();
                    if *by_pattern {
                        patterns.insert(format!("^({})$", names.join("|")), schema);
                    } else {
                        properties.extend(names.iter().map(|&name| (name.to_owned(), schema.clone())));
                    }
                }
                json!({"type": "object", "patternProperties": patterns, "properties": properties,
                    "additionalProperties": false, "minProperties": min, "maxProperties": max})
            }
            Node::Array(items, is_unique, min, max) => json!({"type": "array", "items": items.node.schema(),
                "uniqueItems": is_unique, "minItems": min, "maxItems": max}),
        }
    }

    /// All words; if there are more than [`WORDS`], or too many to list, a list of more than [`WORDS`] texts that need
    /// not be words.
    fn words(&self) -> Vec<String> {
        match self {
            Node::Values(values) => values.iter().map(|value| (*value).to_owned()).collect(),
            Node::Object(members, min, max, _) => {
                let all: Vec<(&str, &Vec<String>)> = members
                    .iter()
                    .flat_map(|(names, tree)| names.iter().map(|&name| (name, &tree.words)))
                    .collect();
                let member = |name: &str, value: &String| format!("\"{name}\":{value}");
                let members: Vec<(usize, String)> = (0..)
                    .zip(&all)
                    .flat_map(|(id, (name, values))| values.iter().map(move |v| (id, member(name, v))))
                    .collect();
                lists(&members, |a, b| a.0 == b.0, (*min, *max), ["{", "}"])
            }
            Node::Array(items, is_unique, min, max) => {
                let items: Vec<(Value, String)> = items
                    .words
                    .iter()
                    .map(|word| (serde_json::from_str(word).unwrap_or(Value::Null), word.clone()))
                    .collect();
                lists(&items, |a, b| *is_unique && a.0 == b.0, (*min, *max), ["[", "]"])
            }
        }
    }
}

/// All lists of some parts such that no two parts of a list exclude each other. If there are more than [`WORDS`] lists,
/// or too many to enumerate, `WORDS + 1` texts, some of which are empty.
fn lists<T>(
    parts: &[(T, String)],
    exclude: impl Fn(&(T, String), &(T, String)) -> bool,
    (min, max): (usize, usize),
    brackets: [&str; 2],
) -> Vec<String> {
    let mut words = Vec::new();
    let mut open: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(list) = open.pop() {
        if list.len() >= min {
            let texts: Vec<&str> = list.iter().map(|&part| parts[part].1.as_str()).collect();
            words.push(format!("{}{}{}", brackets[0], texts.join(","), brackets[1]));
        }
        if words.len() > WORDS || open.len() > 4 * WORDS {
            words.resize(WORDS + 1, String::new());
            return words;
        }
        if list.len() < max {
            let others = (0..parts.len())
                .filter(|&next| !list.iter().any(|&came| exclude(&parts[came], &parts[next])));
            open.extend(others.map(|next| [&list[..], &[next]].concat()));
        }
    }
    words
}
