//! Sets of tasks: questions with their tools and the right answers.

use grammata::error::Result;
use grammata_agents::tools::{self, Binding, Document, GrammarOptions, ReadOptions, ToolSet};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::rc::Rc;

/// A question, its tools and its right answer.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) question: String,
    pub(super) tools: Rc<ToolSet>,
    pub(super) gold: Gold,
}

/// The right answer of a task.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Gold {
    /// Calls of these endpoints, such as `GET /x/{y}`, in this order. A single call is right if it calls the first
    /// endpoint.
    Endpoints(Vec<String>),
    /// The first of these calls, as in BFCL: the name, and for each argument the accepted values (`""`: it may be
    /// absent).
    Calls(Value),
    /// A call of the tool of this name.
    Tool(String),
    /// A number, with a tolerance of 0.1 %.
    Number(f64),
}

impl Gold {
    /// Returns whether a call is right; false if the answer is a number.
    pub(super) fn is_met(&self, set: &ToolSet, name: &str, arguments: &Value) -> bool {
        match self {
            Gold::Endpoints(endpoints) => {
                let found = endpoint_of(set, name);
                endpoints.first().is_some_and(|first| Some(plain_endpoint(first)) == found)
            }
            Gold::Calls(calls) => {
                let found = calls.as_array().and_then(|calls| calls.first()).and_then(|call| call.get(name));
                found.is_some_and(|gold| are_alternatives(gold, arguments))
            }
            Gold::Tool(tool) => tool == name,
            Gold::Number(_) => false,
        }
    }
}

impl Gold {
    /// Returns whether calls of these tools contain the whole path of endpoints, all steps in their order: other calls
    /// may occur before, between and after them, and a step that the path has twice is called twice. `None` if the
    /// answer is not a path.
    ///
    /// This is RestBench's correct path rate over one output.
    pub(super) fn has_path<'n>(
        &self,
        set: &ToolSet,
        calls: impl IntoIterator<Item = &'n str>,
    ) -> Option<bool> {
        let Gold::Endpoints(path) = self else { return None };
        let mut calls = calls.into_iter().map(|name| endpoint_of(set, name));
        Some(
            path.iter()
                .map(|step| plain_endpoint(step))
                .all(|step| calls.any(|call| call.as_ref() == Some(&step))),
        )
    }
}

/// Returns the endpoint of a tool without the names of its parameters; `None` if it has none.
fn endpoint_of(set: &ToolSet, name: &str) -> Option<String> {
    match set.tool(name).map(|tool| &tool.binding)? {
        Binding::Http(http) => Some(plain_endpoint(&format!("{} {}", http.method, http.path))),
        Binding::Host => None,
    }
}

/// Returns an endpoint without the names of its parameters, because the published plans spell them in several ways.
fn plain_endpoint(text: &str) -> String {
    let mut made = String::new();
    let mut is_name = false;
    for c in text.trim().chars() {
        is_name &= c != '}';
        if !is_name {
            made.push(c);
        }
        is_name |= c == '{';
    }
    made
}

/// Returns whether each argument has an accepted value, and none that is required is missing.
fn are_alternatives(gold: &Value, arguments: &Value) -> bool {
    let (Some(gold), Some(arguments)) = (gold.as_object(), arguments.as_object()) else { return false };
    let may_be_absent = |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|one| one == ""));
    let lacks = gold.iter().any(|(name, list)| !arguments.contains_key(name) && !may_be_absent(list));
    let fits = |(name, value): (&String, &Value)| {
        let list = gold.get(name).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|one| is_alike(one, value)))
    };
    !lacks && arguments.iter().all(fits)
}

/// Compares a value with one of BFCL's ground truth. Texts are compared case-insensitively, without spaces and
/// `,./-_*^`, and with `'` equal to `"`. Members of objects are lists of accepted values.
fn is_alike(gold: &Value, value: &Value) -> bool {
    let bare = |text: &str| -> String {
        let kept = text.chars().filter(|c| !" ,./-_*^".contains(*c));
        kept.flat_map(char::to_lowercase).map(|c| if c == '\'' { '"' } else { c }).collect()
    };
    match (gold, value) {
        (Value::String(gold), Value::String(value)) => bare(gold) == bare(value),
        (Value::Number(gold), Value::Number(value)) => gold.as_f64() == value.as_f64(),
        (Value::Array(gold), Value::Array(value)) => {
            gold.len() == value.len() && gold.iter().zip(value).all(|(gold, value)| is_alike(gold, value))
        }
        (Value::Object(_), Value::Object(_)) => are_alternatives(gold, value),
        _ => gold == value,
    }
}

/// Reads tasks of RestBench (`query`, `solution`), of BFCL (`function`, `ground_truth`), or of our own form (`question`
/// with `tool` or `answer`). Tasks of BFCL have their own tools; the others use `set`.
///
/// # Errors
/// `cli/not-tasks` with the number of the first task that is not JSON or has none of these forms; errors of reading the
/// tools of a task.
pub(super) fn read(text: &str, set: &Rc<ToolSet>, options: &ReadOptions) -> Result<Vec<Task>> {
    let mut values: Vec<Value> = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match value
            .map_err(|cause| crate::commands::errors::not_tasks(values.len() + 1, &cause.to_string()))?
        {
            Value::Array(list) => values.extend(list),
            value => values.push(value),
        }
    }
    let mut tasks = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let id = value["id"].as_str().map_or_else(|| format!("task-{at}"), str::to_owned);
        let task = one(value, id, set, options)?;
        tasks.push(task.ok_or_else(|| {
            crate::commands::errors::not_tasks(at + 1, "no question with its right answer")
        })?);
    }
    Ok(tasks)
}

fn one(value: &Value, id: String, set: &Rc<ToolSet>, options: &ReadOptions) -> Result<Option<Task>> {
    let tools = Rc::clone(set);
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    if let (Some(query), Some(_)) = (value["query"].as_str(), value["solution"].as_array()) {
        let gold = Gold::Endpoints(texts(&value["solution"]));
        return Ok(Some(Task { id, question: query.to_owned(), tools, gold }));
    }
    if let (Some(functions), Some(_)) = (value.get("function"), value["ground_truth"].as_array()) {
        let question = value["question"][0]
            .as_array()
            .and_then(|turns| turns.last())
            .and_then(|turn| turn["content"].as_str());
        let Some(question) = question else { return Ok(None) };
        let text = functions.to_string();
        let mut own = tools::read([Document { label: &id, text: &text }], options)?;
        own.check(&GrammarOptions::arguments(options.limits.clone()));
        let gold = Gold::Calls(value["ground_truth"].clone());
        return Ok(Some(Task { id, question: question.to_owned(), tools: Rc::new(own), gold }));
    }
    let gold = match (value["tool"].as_str(), value["answer"].as_f64()) {
        (Some(tool), _) => Gold::Tool(tool.to_owned()),
        (None, Some(answer)) => Gold::Number(answer),
        (None, None) => return Ok(None),
    };
    let question = value["question"].as_str().map(str::to_owned);
    Ok(question.map(|question| Task { id, question, tools, gold }))
}

/// Returns the `count` tasks with the least hashes of their ids, in the order of the file.
pub(super) fn sampled(tasks: Vec<Task>, count: Option<usize>) -> Vec<Task> {
    let Some(count) = count else { return tasks };
    let hash = |task: &Task| -> [u8; 32] { Sha256::digest(&task.id).into() };
    let mut hashes: Vec<[u8; 32]> = tasks.iter().map(hash).collect();
    hashes.sort_unstable();
    hashes.truncate(count);
    tasks.into_iter().filter(|task| hashes.binary_search(&hash(task)).is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_right_by_their_alternatives() {
        let gold =
            json!({"a": [5], "b": ["New York", ""], "c": [[1, 2]], "d": [{"k": ["x"], "l": ["", "y"]}]});
        let right = |value: Value| are_alternatives(&gold, &value);
        assert!(right(json!({"a": 5, "b": "new-york", "c": [1, 2], "d": {"k": "x"}})));
        assert!(right(json!({"a": 5.0, "c": [1, 2], "d": {"k": "X", "l": "y"}})));
        assert!(!right(json!({"a": 6, "c": [1, 2], "d": {"k": "x"}})));
        assert!(!right(json!({"a": 5, "c": [1, 2]})), "a member that must be there");
        assert!(!right(json!({"a": 5, "c": [1, 2], "d": {"k": "x"}, "e": 1})), "a member that may not");
        assert!(!right(json!({"a": 5, "c": [1], "d": {"k": "x"}})));
    }

    #[test]
    fn a_path_is_whole_and_in_its_order() {
        let document = json!({"openapi": "3.1.0", "paths": {
            "/search/movie": {"get": {"operationId": "search"}},
            "/movie/{id}": {"get": {"operationId": "movie"}},
            "/movie/{id}/credits": {"get": {"operationId": "credits"}},
        }});
        let text = document.to_string();
        let set = tools::read([Document { label: "d", text: &text }], &ReadOptions::default()).unwrap();
        const SEARCH: &str = "GET /search/movie";
        const CREDITS: &str = "GET /movie/{movie_id}/credits ";
        for (path, calls, expected) in [
            (&[SEARCH, CREDITS][..], &["search", "credits"][..], true),
            // calls that are not of the path are allowed anywhere
            (&[SEARCH, CREDITS], &["movie", "search", "movie", "credits", "search"], true),
            // the first step alone is not the path
            (&[SEARCH, CREDITS], &["search"], false),
            (&[SEARCH, CREDITS], &["credits"], false),
            (&[SEARCH, CREDITS], &["credits", "search"], false),
            (&[SEARCH, CREDITS], &["credits", "search", "credits"], true),
            // a step that the path has twice is called twice
            (&[SEARCH, CREDITS, SEARCH, CREDITS], &["search", "credits", "search", "credits"], true),
            (&[SEARCH, CREDITS, SEARCH, CREDITS], &["search", "credits"], false),
            (&[SEARCH, SEARCH], &["search"], false),
            (&[SEARCH], &["search"], true),
            (&[SEARCH], &[], false),
            (&[SEARCH], &["none"], false),
            (&["GET /no/such"], &["search"], false),
            (&["POST /search/movie"], &["search"], false),
            (&[], &[], true),
        ] {
            let gold = Gold::Endpoints(path.iter().map(|step| (*step).to_owned()).collect());
            assert_eq!(gold.has_path(&set, calls.iter().copied()), Some(expected), "{path:?} {calls:?}");
        }
        assert_eq!(Gold::Tool("search".to_owned()).has_path(&set, ["search"]), None);
    }

    #[test]
    fn endpoints_are_alike_whatever_their_parameters_are_called() {
        assert_eq!(plain_endpoint("GET /a/{b}/c "), plain_endpoint("GET /a/{x_y}/c"));
        assert_ne!(plain_endpoint("GET /a/b"), plain_endpoint("GET /a/{b}"));
    }
}
