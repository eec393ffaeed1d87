//! A stand-in for a Qdrant server. It implements the part of the REST interface that the index uses, over a list of
//! points. If a server may choose, it chooses what is hardest for the index. An unknown member in a body is an error.

use grammata::Result;
use grammata_agents::retrieval::index::qdrant::{Method, Response, Transport};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

#[derive(Debug, Default)]
struct Collection {
    size: usize,
    metadata: Value,
    indexed: Vec<String>,
    /// Points by id. Points with equal scores are returned in the order of ids, not of insertion.
    points: BTreeMap<String, (Vec<f32>, Value)>,
}

/// The server: its collections by name, and what a test plans and observes.
#[derive(Debug, Default)]
pub(crate) struct StandIn {
    collections: Mutex<BTreeMap<String, Collection>>,
    /// Responses that are given before any other, the last one first.
    pub(crate) planned: Mutex<Vec<Response>>,
    /// The requests so far, each as method and path.
    pub(crate) log: Mutex<Vec<String>>,
}

type Answer = std::result::Result<Value, (u16, String)>;

fn refuse<T>(status: u16, message: impl Into<String>) -> std::result::Result<T, (u16, String)> {
    Err((status, message.into()))
}

/// Returns the value if it is an object whose members are all known.
fn members<'v>(value: &'v Value, known: &[&str]) -> std::result::Result<&'v Value, (u16, String)> {
    match value.as_object() {
        None => refuse(400, format!("no object: {value}")),
        Some(object) => match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => refuse(400, format!("unknown member {key}")),
            None => Ok(value),
        },
    }
}

fn vector(value: &Value, size: usize) -> std::result::Result<Vec<f32>, (u16, String)> {
    let row: Option<Vec<f32>> =
        value.as_array().and_then(|row| row.iter().map(|x| Some(x.as_f64()? as f32)).collect());
    match row {
        Some(row) if row.len() == size => Ok(row),
        _ => refuse(400, format!("Wrong input: Vector dimension error: expected dim: {size}")),
    }
}

fn ids(value: &Value) -> std::result::Result<Vec<String>, (u16, String)> {
    let is_uuid = |id: &str| {
        id.len() == 36
            && id.char_indices().all(|(at, c)| match at {
                8 | 13 | 18 | 23 => c == '-',
                _ => c.is_ascii_hexdigit(),
            })
    };
    let ids: Option<Vec<String>> = value.as_array().and_then(|ids| {
        ids.iter().map(|id| id.as_str().filter(|id| is_uuid(id)).map(str::to_owned)).collect()
    });
    ids.map_or_else(|| refuse(400, "ids that are no UUIDs"), Ok)
}

fn selected(payload: &Value, with: &Value) -> Value {
    let names: Vec<&str> = with.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let object = payload.as_object().unwrap();
    object
        .iter()
        .filter(|(name, _)| names.contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect()
}

/// A condition of a filter: ids of points, or allowed values of a member.
enum Allowed {
    Ids(HashSet<String>),
    Values(String, Vec<Value>),
}

fn allowed(filter: &Value) -> std::result::Result<Vec<Allowed>, (u16, String)> {
    if filter.is_null() {
        return Ok(Vec::new());
    }
    let conditions = members(filter, &["must"])?["must"].as_array().unwrap();
    let read = |condition: &Value| {
        if condition.get("has_id").is_some() {
            members(condition, &["has_id"])?;
            return Ok(Allowed::Ids(ids(&condition["has_id"])?.into_iter().collect()));
        }
        members(condition, &["key", "match"])?;
        let any = members(&condition["match"], &["any"])?["any"].as_array().unwrap();
        Ok(Allowed::Values(condition["key"].as_str().unwrap().to_owned(), any.clone()))
    };
    conditions.iter().map(read).collect()
}

impl Collection {
    fn search(&self, search: &Value) -> Answer {
        members(search, &["query", "limit", "filter", "params", "with_payload", "with_vector"])?;
        members(&search["params"], &["exact"])?;
        let query = vector(&search["query"], self.size)?;
        let limit = match search["limit"].as_u64() {
            Some(limit @ 1..) => limit as usize,
            _ => return refuse(422, "Validation error: limit must be 1 or larger"),
        };
        let conditions = allowed(&search["filter"])?;
        let is_allowed = |id: &String, payload: &Value| {
            conditions.iter().all(|condition| match condition {
                Allowed::Ids(ids) => ids.contains(id),
                Allowed::Values(key, any) => any.contains(&payload[key]),
            })
        };
        let points = self.points.iter().filter(|(id, (_, payload))| is_allowed(id, payload));
        let score = |row: &[f32]| row.iter().zip(&query).map(|(x, y)| x * y).sum();
        let mut found: Vec<(f32, &String, &Value)> =
            points.map(|(id, (row, payload))| (score(row), id, payload)).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let points = found.iter().take(limit).map(|(score, id, payload)| {
            json!({ "id": id, "version": 0, "score": score, "payload": selected(payload, &search["with_payload"]) })
        });
        Ok(json!({ "points": points.collect::<Vec<_>>() }))
    }

    fn answer(&mut self, method: Method, path: &str, body: &Value) -> Answer {
        match (method, path) {
            (Method::Get, "") => Ok(json!({
                "status": "green",
                "config": {
                    "params": { "vectors": { "size": self.size, "distance": "Dot" } },
                    "metadata": self.metadata,
                },
            })),
            (Method::Put, "/index?wait=true") => {
                members(body, &["field_name", "field_schema"])?;
                self.indexed.push(body["field_name"].as_str().unwrap().to_owned());
                Ok(json!({ "operation_id": 1, "status": "completed" }))
            }
            (Method::Post, "/points/count") => {
                members(body, &["exact"])?;
                Ok(json!({ "count": self.points.len() }))
            }
            (Method::Post, "/points/scroll") => {
                members(body, &["limit", "order_by", "with_payload", "with_vector"])?;
                assert_eq!(body["order_by"], json!({ "key": "order", "direction": "desc" }));
                if !self.indexed.contains(&"order".to_owned()) {
                    return refuse(400, "No range index for `order_by` key: `order`");
                }
                let last = self.points.iter().max_by_key(|(_, (_, payload))| payload["order"].as_u64());
                let point = last.map(|(id, (_, payload))| {
                    json!({ "id": id, "payload": selected(payload, &body["with_payload"]) })
                });
                Ok(json!({ "points": point.into_iter().collect::<Vec<_>>(), "next_page_offset": null }))
            }
            (Method::Post, "/points") => {
                members(body, &["ids", "with_payload", "with_vector"])?;
                let ids = ids(&body["ids"])?;
                let found = ids.iter().filter_map(|id| self.points.get_key_value(id));
                let found = found.map(|(id, (_, payload))| {
                    json!({ "id": id, "payload": selected(payload, &body["with_payload"]) })
                });
                Ok(found.collect())
            }
            (Method::Put, "/points?wait=true") => {
                let points = members(body, &["points"])?["points"].as_array().unwrap();
                let mut read = Vec::new();
                for point in points {
                    members(point, &["id", "vector", "payload"])?;
                    let id = ids(&json!([point["id"]]))?.remove(0);
                    read.push((id, (vector(&point["vector"], self.size)?, point["payload"].clone())));
                }
                self.points.extend(read);
                Ok(json!({ "operation_id": 2, "status": "completed" }))
            }
            (Method::Post, "/points/delete?wait=true") => {
                for id in ids(&members(body, &["points"])?["points"])? {
                    self.points.remove(&id);
                }
                Ok(json!({ "operation_id": 3, "status": "completed" }))
            }
            (Method::Post, "/points/query/batch") => {
                let searches = members(body, &["searches"])?["searches"].as_array().unwrap();
                searches.iter().map(|search| self.search(search)).collect()
            }
            _ => refuse(404, ""),
        }
    }
}

impl StandIn {
    fn answer(&self, method: Method, path: &str, body: Option<&str>) -> Answer {
        let body: Value = match body.map(serde_json::from_str) {
            None => Value::Null,
            Some(Ok(body)) => body,
            Some(Err(cause)) => return refuse(400, format!("Format error in JSON body: {cause}")),
        };
        let rest = path.strip_prefix("/collections/").unwrap();
        let (name, rest) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
        let mut collections = self.collections.lock().unwrap();
        match (method, rest) {
            (Method::Get, "/exists") => Ok(json!({ "exists": collections.contains_key(name) })),
            (Method::Put, "") => {
                members(&body, &["vectors", "metadata"])?;
                let vectors = members(&body["vectors"], &["size", "distance"])?;
                assert_eq!(vectors["distance"], "Dot");
                let size = vectors["size"].as_u64().unwrap() as usize;
                let new = Collection { size, metadata: body["metadata"].clone(), ..Collection::default() };
                match collections.insert(name.to_owned(), new) {
                    None => Ok(json!(true)),
                    Some(_) => refuse(409, format!("Wrong input: Collection `{name}` already exists!")),
                }
            }
            _ => match collections.get_mut(name) {
                None => refuse(404, format!("Not found: Collection `{name}` doesn't exist!")),
                Some(collection) => collection.answer(method, rest, &body),
            },
        }
    }
}

impl Transport for StandIn {
    fn send(&self, method: Method, path: &str, body: Option<&str>) -> Result<Response> {
        self.log.lock().unwrap().push(format!("{method:?} {path}"));
        if let Some(planned) = self.planned.lock().unwrap().pop() {
            return Ok(planned);
        }
        let (status, body) = match self.answer(method, path, body) {
            Ok(result) => (200, json!({ "result": result, "status": "ok", "time": 0.001 })),
            Err((status, error)) => (status, json!({ "status": { "error": error }, "time": 0.001 })),
        };
        Ok(Response { status, body: body.to_string().into_bytes() })
    }
}
