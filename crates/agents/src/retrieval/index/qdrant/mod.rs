//! An index on a Qdrant server, for tools that outgrow one machine; the server manages shards and replicas.

mod bodies;
#[cfg(feature = "qdrant")]
mod http;
mod transport;

#[cfg(feature = "qdrant")]
pub use http::{HttpOptions, HttpTransport};
pub use transport::{Method, Response, Transport};

use super::{Filter, IndexedTool, Match, Query, ToolIndex};
use crate::retrieval::errors;
use bodies::{Found, Payload, Point};
use grammata::error::Result;
use grammata_decode::Embeddings;
use std::collections::{HashMap, HashSet};

/// The number of tools per request that changes points: about 10 MB with 1,536 dimensions, a third of a server's
/// default bound on a request.
const TOOLS_AT_ONCE: usize = 500;
/// The number of tools requested beyond k, so that ties at the end of the list are usually complete.
const BEYOND: usize = 16;
/// The factor by which the number of requested tools grows if ties at the end of a list may be incomplete.
const GROWTH: usize = 4;

/// The collection of an index, and the settings of its searches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QdrantOptions {
    /// The name of the collection: 1 to 255 letters, digits, `_` or `-`.
    pub collection: String,
    /// The dimension of the vectors.
    pub dimension: usize,
    /// The fingerprint of the embedder of the vectors.
    pub fingerprint: [u8; 32],
    /// Whether to compare every vector instead of using the server's graph. Default: false.
    pub exact: bool,
}

grammata_base::setters!(QdrantOptions {
    collection: String,
    dimension: usize,
    fingerprint: [u8; 32],
    exact: bool,
});

impl QdrantOptions {
    /// Creates options for a collection of vectors with the given dimension, from the embedder with the given
    /// fingerprint.
    pub fn new(collection: impl Into<String>, dimension: usize, fingerprint: [u8; 32]) -> QdrantOptions {
        QdrantOptions { collection: collection.into(), dimension, fingerprint, exact: false }
    }
}

/// A collection of a Qdrant server (1.16 or later) as an index that ranks by cosine.
///
/// A point is a tool. Its id is derived from the SHA-256 of the tool's id. Its payload is `id`, `category` and `order`,
/// the insertion number, which breaks ties. Vectors have unit length and are compared by dot product. The embedder's
/// fingerprint is in the collection's metadata. There may be one writer at a time and any number of readers.
///
/// A call of [`upsert`](ToolIndex::upsert) or [`remove`](ToolIndex::remove) with more than 500 tools changes them in
/// several requests. If a request fails, the changes before it stay applied, and repeating the call completes the
/// change.
#[derive(Debug)]
pub struct QdrantIndex<T> {
    transport: T,
    options: QdrantOptions,
    /// The number of points at the last count, updated by the changes made since through this `QdrantIndex`.
    count: usize,
    /// Greater than the insertion number of any tool that is known from the last count and the changes made since
    /// through this `QdrantIndex`.
    next_order: u64,
}

impl<T: Transport> QdrantIndex<T> {
    /// Opens the collection, or creates a collection if none of that name exists.
    ///
    /// # Errors
    /// The server fails or does not answer as Qdrant does, the name is invalid, or the existing collection is not an
    /// index of tools or has another version, embedder or dimension.
    pub fn open(transport: T, options: QdrantOptions) -> Result<QdrantIndex<T>> {
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let name = &options.collection;
        if !(1..=255).contains(&name.len()) || !name.chars().all(is_name_char) {
            return Err(errors::collection_name(name));
        }
        let mut index = QdrantIndex { transport, options, count: 0, next_order: 0 };
        let exists: bodies::Exists = index.ask(Method::Get, "/exists", None)?;
        if exists.exists {
            let found: bodies::Info = index.ask(Method::Get, "", None)?;
            found.check(&index.options)?;
        } else {
            index.tell(Method::Put, "", &bodies::create(&index.options))?;
        }
        // repeated in case the creator of the collection was stopped before; if not needed, the server does nothing
        for (field, schema) in [("category", "keyword"), ("order", "integer")] {
            index.tell(Method::Put, "/index?wait=true", &bodies::field_index(field, schema))?;
        }
        index.refresh()?;
        Ok(index)
    }

    /// Counts the tools again, because other clients may have changed them.
    ///
    /// # Errors
    /// The server fails or does not answer as Qdrant does.
    pub fn refresh(&mut self) -> Result<()> {
        let counted: bodies::Count = self.ask(Method::Post, "/points/count", Some(&bodies::count()))?;
        let last: bodies::Page = self.ask(Method::Post, "/points/scroll", Some(&bodies::last()))?;
        self.count = counted.count;
        self.next_order =
            last.points.iter().map(|point| point.payload.order.saturating_add(1)).max().unwrap_or(0);
        Ok(())
    }

    /// Returns the transport of the requests.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    fn send(&self, method: Method, path: &str, body: Option<&str>) -> Result<Vec<u8>> {
        let path = format!("/collections/{}{path}", self.options.collection);
        let response = self.transport.send(method, &path, body)?;
        match response.status {
            200..=299 => Ok(response.body),
            status => Err(errors::server_refused(status, &bodies::refusal(&response.body))),
        }
    }

    fn ask<R: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&str>,
    ) -> Result<R> {
        bodies::result(&self.send(method, path, body)?)
    }

    fn tell(&self, method: Method, path: &str, body: &str) -> Result<()> {
        self.send(method, path, Some(body)).map(|_| ())
    }

    /// Returns the insertion numbers of the given tools, without the tools that the collection lacks.
    fn orders(&self, ids: &[&str]) -> Result<HashMap<String, u64>> {
        let points: Vec<String> = ids.iter().map(|id| bodies::point_id(id)).collect();
        let found: Vec<Point> = self.ask(Method::Post, "/points", Some(&bodies::retrieve(&points)))?;
        Ok(found.into_iter().map(|point| (point.payload.id, point.payload.order)).collect())
    }

    fn check_vectors<'q>(&self, queries: &[Query<'q>]) -> Result<Vec<&'q [f32]>> {
        let vector = |query: &Query<'q>| {
            let vector = query.vector.ok_or_else(|| errors::no_vectors("a vector of each query"))?;
            match vector.len() == self.options.dimension {
                true => Ok(vector),
                false => Err(errors::query_dimension(vector.len(), self.options.dimension)),
            }
        };
        queries.iter().map(vector).collect()
    }
}

/// Returns the best `k` of the results, or `None` if results that the server omitted could change them. If the server
/// stopped within a run of equal scores that begins among the best k, tools with lower insertion numbers may be
/// missing.
fn settled(mut found: Vec<Found>, limit: usize, k: usize) -> Option<Vec<Match>> {
    let order = |a: &Found, b: &Found| {
        b.score.total_cmp(&a.score).then_with(|| key(&a.payload).cmp(&key(&b.payload)))
    };
    found.sort_by(order);
    let last = found.last().map(|found| found.score);
    let is_whole = found.len() < limit
        || found.get(k).is_some() && {
            let boundary = found.get(k.saturating_sub(1)).map(|found| found.score);
            boundary > last
        };
    found.truncate(k);
    is_whole
        .then(|| found.into_iter().map(|hit| Match { id: hit.payload.id, score: hit.score.into() }).collect())
}

fn key(payload: &Payload) -> (u64, &str) {
    (payload.order, &payload.id)
}

impl<T: Transport> ToolIndex for QdrantIndex<T> {
    fn upsert(&mut self, tools: &[IndexedTool<'_>]) -> Result<()> {
        // keep the last tool of each id, at the place of the first
        let mut distinct: Vec<&IndexedTool<'_>> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for tool in tools {
            let vector = tool.vector.ok_or_else(|| errors::no_vectors("a vector of each tool"))?;
            Embeddings::new(self.options.dimension).push_unit(vector)?;
            let place = *places.entry(tool.id).or_insert(distinct.len());
            match distinct.get_mut(place) {
                Some(first) => *first = tool,
                None => distinct.push(tool),
            }
        }
        for part in distinct.chunks(TOOLS_AT_ONCE) {
            let ids: Vec<&str> = part.iter().map(|tool| tool.id).collect();
            let known = self.orders(&ids)?;
            let mut next = self.next_order;
            let mut points = Vec::with_capacity(part.len());
            for tool in part {
                let order = known.get(tool.id).copied().unwrap_or_else(|| {
                    let order = next;
                    next = next.saturating_add(1);
                    order
                });
                points.push(bodies::NewPoint::new(tool, order));
            }
            self.tell(Method::Put, "/points?wait=true", &bodies::upsert(&points))?;
            self.next_order = next;
            self.count += part.len().saturating_sub(known.len());
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[&str]) -> Result<()> {
        let distinct: HashSet<&str> = ids.iter().copied().collect();
        let distinct: Vec<&str> = distinct.into_iter().collect();
        for part in distinct.chunks(TOOLS_AT_ONCE) {
            let known = self.orders(part)?;
            let points: Vec<String> = known.keys().map(|id| bodies::point_id(id)).collect();
            if !points.is_empty() {
                self.tell(Method::Post, "/points/delete?wait=true", &bodies::delete(&points))?;
                self.count = self.count.saturating_sub(points.len());
            }
        }
        Ok(())
    }

    /// Returns the count as of [`refresh`](QdrantIndex::refresh), updated by the changes made since through this
    /// `QdrantIndex`.
    fn len(&self) -> usize {
        self.count
    }

    fn is_exact(&self) -> bool {
        self.options.exact
    }

    fn search(&self, queries: &[Query<'_>], k: usize, filter: Option<&Filter>) -> Result<Vec<Vec<Match>>> {
        let vectors = self.check_vectors(queries)?;
        let mut lists: Vec<Vec<Match>> = vec![Vec::new(); vectors.len()];
        let is_empty = match filter {
            None => false,
            Some(Filter::Ids(names) | Filter::Categories(names)) => names.is_empty(),
        };
        if k == 0 || is_empty {
            return Ok(lists);
        }
        let filter = filter.map(bodies::filter);
        let mut open: Vec<usize> = (0..vectors.len()).collect();
        // there is no need to request more tools than are known to exist
        let mut limit = k.min(self.count).saturating_add(BEYOND);
        while !open.is_empty() {
            let rows: Vec<&[f32]> = open.iter().filter_map(|&query| vectors.get(query).copied()).collect();
            let body = bodies::search(&rows, limit, filter.as_ref(), self.options.exact);
            let found: Vec<bodies::Page<Found>> =
                self.ask(Method::Post, "/points/query/batch", Some(&body))?;
            if found.len() != open.len() {
                return Err(errors::server_answer("as many lists as queries", None));
            }
            let mut again = Vec::new();
            for (query, page) in open.into_iter().zip(found) {
                match (settled(page.points, limit, k), lists.get_mut(query)) {
                    (Some(list), Some(place)) => *place = list,
                    _ => again.push(query),
                }
            }
            open = again;
            limit = limit.saturating_mul(GROWTH);
        }
        Ok(lists)
    }
}
