//! The part of Qdrant's REST interface (1.20) that an index uses: bodies of requests and responses.

use super::QdrantOptions;
use crate::retrieval::errors;
use crate::retrieval::index::{Filter, IndexedTool};
use grammata::error::Result;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The version of the format in which the index is stored in a collection.
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct Answer<R> {
    result: R,
}

/// Parses the result in the body of a response.
pub(super) fn result<R: DeserializeOwned>(body: &[u8]) -> Result<R> {
    let answer: Answer<R> = serde_json::from_slice(body)
        .map_err(|cause| errors::server_answer("an answer of Qdrant's REST interface", Some(&cause)))?;
    Ok(answer.result)
}

/// Returns the message in the body of an error response, or the whole body if it has no message.
pub(super) fn refusal(body: &[u8]) -> String {
    let error = serde_json::from_slice::<Value>(body).ok();
    let error = error.as_ref().and_then(|body| body.pointer("/status/error")?.as_str());
    error.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned)
}

#[derive(Deserialize)]
pub(super) struct Exists {
    pub(super) exists: bool,
}

#[derive(Deserialize)]
pub(super) struct Count {
    pub(super) count: usize,
}

/// The points in a response.
#[derive(Deserialize)]
pub(super) struct Page<P = Point> {
    pub(super) points: Vec<P>,
}

#[derive(Deserialize)]
pub(super) struct Point {
    pub(super) payload: Payload,
}

#[derive(Deserialize)]
pub(super) struct Found {
    pub(super) score: f32,
    pub(super) payload: Payload,
}

#[derive(Deserialize)]
pub(super) struct Payload {
    pub(super) id: String,
    /// The insertion number of the tool, which breaks ties.
    pub(super) order: u64,
}

/// A server's description of a collection.
#[derive(Deserialize)]
pub(super) struct Info {
    config: Value,
}

impl Info {
    /// Checks that the collection is the index that `options` describe.
    pub(super) fn check(&self, options: &QdrantOptions) -> Result<()> {
        let at = |pointer: &str| self.config.pointer(pointer);
        let (version, embedder) = (at("/metadata/grammata/version"), at("/metadata/grammata/embedder"));
        let distance = at("/params/vectors/distance").and_then(Value::as_str);
        let (Some(version), Some(embedder), Some("Dot")) =
            (version.and_then(Value::as_u64), embedder.and_then(Value::as_str), distance)
        else {
            return Err(errors::other_collection(&options.collection, "it is not an index of tools"));
        };
        if version != VERSION {
            let what = format!("it is an index of version {version}");
            return Err(errors::other_collection(&options.collection, &what));
        }
        let size = at("/params/vectors/size").and_then(Value::as_u64).unwrap_or(0);
        if usize::try_from(size) != Ok(options.dimension) {
            let what = format!("its vectors have {size} coordinates, not {}", options.dimension);
            return Err(errors::other_collection(&options.collection, &what));
        }
        if embedder != hex(&options.fingerprint) {
            return Err(errors::other_embedder());
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn create(options: &QdrantOptions) -> String {
    json!({
        "vectors": { "size": options.dimension, "distance": "Dot" },
        "metadata": { "grammata": { "version": VERSION, "embedder": hex(&options.fingerprint) } },
    })
    .to_string()
}

pub(super) fn field_index(field: &str, schema: &str) -> String {
    json!({ "field_name": field, "field_schema": schema }).to_string()
}

pub(super) fn count() -> String {
    json!({ "exact": true }).to_string()
}

/// Requests the point that was inserted last.
pub(super) fn last() -> String {
    json!({
        "limit": 1,
        "order_by": { "key": "order", "direction": "desc" },
        "with_payload": ["id", "order"],
        "with_vector": false,
    })
    .to_string()
}

/// Returns the id of a tool's point: a UUID (RFC 9562, version 8) made from the first bits of the SHA-256 of the tool's
/// id.
pub(super) fn point_id(id: &str) -> String {
    let digest = Sha256::digest(id);
    let mut bytes: [u8; 16] = std::array::from_fn(|at| digest.get(at).copied().unwrap_or(0));
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex(&bytes);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

pub(super) fn retrieve(points: &[String]) -> String {
    json!({ "ids": points, "with_payload": ["id", "order"], "with_vector": false }).to_string()
}

pub(super) fn delete(points: &[String]) -> String {
    json!({ "points": points }).to_string()
}

#[derive(Serialize)]
pub(super) struct NewPoint<'t> {
    id: String,
    vector: &'t [f32],
    payload: NewPayload<'t>,
}

#[derive(Serialize)]
struct NewPayload<'t> {
    id: &'t str,
    category: &'t str,
    order: u64,
}

impl<'t> NewPoint<'t> {
    pub(super) fn new(tool: &IndexedTool<'t>, order: u64) -> NewPoint<'t> {
        NewPoint {
            id: point_id(tool.id),
            vector: tool.vector.unwrap_or_default(),
            payload: NewPayload { id: tool.id, category: tool.category, order },
        }
    }
}

#[derive(Serialize)]
struct Upsert<'p> {
    points: &'p [NewPoint<'p>],
}

pub(super) fn upsert(points: &[NewPoint<'_>]) -> String {
    // only texts and finite numbers, so serialisation cannot fail
    serde_json::to_string(&Upsert { points }).unwrap_or_default()
}

/// Converts a filter, which must contain at least one id or category, to a condition of Qdrant.
pub(super) fn filter(filter: &Filter) -> Value {
    let condition = match filter {
        Filter::Ids(ids) => json!({ "has_id": ids.iter().map(|id| point_id(id)).collect::<Vec<_>>() }),
        Filter::Categories(names) => json!({ "key": "category", "match": { "any": names } }),
    };
    json!({ "must": [condition] })
}

#[derive(Serialize)]
struct Searches<'q> {
    searches: Vec<Search<'q>>,
}

#[derive(Serialize)]
struct Search<'q> {
    query: &'q [f32],
    limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'q Value>,
    params: Params,
    with_payload: [&'static str; 2],
    with_vector: bool,
}

#[derive(Serialize)]
struct Params {
    exact: bool,
}

pub(super) fn search(vectors: &[&[f32]], limit: usize, filter: Option<&Value>, exact: bool) -> String {
    let searches = vectors.iter().copied().map(|query| Search {
        query,
        limit,
        filter,
        params: Params { exact },
        with_payload: ["id", "order"],
        with_vector: false,
    });
    serde_json::to_string(&Searches { searches: searches.collect() }).unwrap_or_default()
}
