//! Indexes of tools behind one trait.
//!
//! A [`ToolIndex`] identifies tools by id and can be changed at any time. The indexes of this crate ([`LexicalIndex`],
//! [`DenseIndex`]) are in memory and exact: a search compares all allowed tools. They consist of an [`Engine`], which
//! ranks numbered slots, and a table of ids, which [`Indexed`] manages.

mod flat;
mod lexical;

pub use flat::FlatIndex;
pub use lexical::Bm25;

use super::{Allowed, Hit};
use grammata::error::Result;
use std::collections::{BTreeSet, HashMap};

/// A tool as input of an index.
#[derive(Clone, Copy, Debug)]
pub struct IndexedTool<'t> {
    /// The id. A second tool with the same id replaces the first.
    pub id: &'t str,
    /// The category, which [`Filter::Categories`] compares.
    pub category: &'t str,
    /// The document, which a lexical index reads.
    pub document: &'t str,
    /// The unit vector of the document, required by a dense index.
    pub vector: Option<&'t [f32]>,
}

/// A query. An index uses either its text or its vector.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// The text, for a lexical index.
    pub text: &'q str,
    /// The unit vector of the text, for a dense index.
    pub vector: Option<&'q [f32]>,
}

/// A tool found by an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The id of the tool.
    pub id: String,
    /// The ranking score of the index: a positive BM25 score, or a cosine.
    pub score: f64,
}

/// The tools that a search may return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The tools with the listed ids.
    Ids(BTreeSet<String>),
    /// The tools of the listed categories.
    Categories(BTreeSet<String>),
}

impl Filter {
    /// Creates a filter for the tools with the given ids.
    pub fn ids<S: Into<String>>(ids: impl IntoIterator<Item = S>) -> Filter {
        Filter::Ids(ids.into_iter().map(Into::into).collect())
    }

    /// Creates a filter for the tools of the given categories.
    pub fn categories<S: Into<String>>(categories: impl IntoIterator<Item = S>) -> Filter {
        Filter::Categories(categories.into_iter().map(Into::into).collect())
    }
}

/// A set of tools with distinct ids that can be searched for the tools nearest to queries.
///
/// All implementations guarantee:
///
/// - `upsert` replaces a tool with the same id, which keeps its place in the order;
/// - `remove` ignores unknown ids;
/// - a change is applied completely or, on an error, not at all;
/// - among equal scores, the tool inserted first comes first;
/// - a search returns one list per query, of at most `k` tools, best first, and the same lists on any thread.
pub trait ToolIndex: Send + Sync + std::fmt::Debug {
    /// Inserts tools, or replaces tools with the same ids.
    ///
    /// # Errors
    /// A dense index: a vector is missing, has a different dimension, or is not of unit length. An index that is stored
    /// elsewhere: a failure of its file or server.
    fn upsert(&mut self, tools: &[IndexedTool<'_>]) -> Result<()>;

    /// Removes the tools with the given ids. Unknown ids are ignored.
    ///
    /// # Errors
    /// An index that is stored elsewhere: a failure of its file or server.
    fn remove(&mut self, ids: &[&str]) -> Result<()>;

    /// Returns the number of tools.
    fn len(&self) -> usize;

    /// Returns whether the index is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns, for each query, the `k` best tools that `filter` allows, or fewer if the index finds no more. Without a
    /// filter all tools are allowed.
    ///
    /// # Errors
    /// A dense index: a query has no vector, or a vector of a different dimension. An index on a server: a failure of
    /// the server.
    fn search(&self, queries: &[Query<'_>], k: usize, filter: Option<&Filter>) -> Result<Vec<Vec<Match>>>;
}

/// Ranks tools that are identified by slot numbers.
pub trait Engine: Send + Sync + std::fmt::Debug {
    /// Rejects a tool that [`put`](Engine::put) could not accept.
    ///
    /// # Errors
    /// Those of [`ToolIndex::upsert`].
    fn check(&self, tool: &IndexedTool<'_>) -> Result<()>;

    /// Fills or replaces a slot. `slot` is at most the current number of slots; if equal to that number, a slot is
    /// added.
    ///
    /// # Errors
    /// Those of [`check`](Engine::check).
    fn put(&mut self, slot: usize, tool: &IndexedTool<'_>) -> Result<()>;

    /// Empties a slot. The caller does not allow searches to return the slot until it is filled again.
    fn clear(&mut self, slot: usize);

    /// Drops all slots except `slots`, which are in increasing order, and renumbers those slots from 0.
    fn keep(&mut self, slots: &[usize]);

    /// Returns, for each query, the `k` best allowed slots, or fewer if the engine finds no more. Among equal scores,
    /// the lower slot comes first.
    ///
    /// # Errors
    /// Those of [`ToolIndex::search`].
    fn rank(&self, queries: &[Query<'_>], k: usize, allows: Allowed<'_>) -> Result<Vec<Vec<Hit>>>;
}

/// An index in memory: an engine, and the tools in its slots.
#[derive(Clone, Debug, Default)]
pub struct Indexed<E> {
    engine: E,
    /// The id and the category of each slot; `None` if the tool was removed.
    slots: Vec<Option<(String, String)>>,
    by_id: HashMap<String, usize>,
}

/// Ranks by BM25.
pub type LexicalIndex = Indexed<Bm25>;
/// Ranks by cosine, comparing every vector.
pub type DenseIndex = Indexed<FlatIndex>;

impl LexicalIndex {
    /// Creates an empty index.
    pub fn new() -> LexicalIndex {
        LexicalIndex::default()
    }
}

impl DenseIndex {
    /// Creates an empty index for vectors of the given dimension.
    pub fn new(dimension: usize) -> DenseIndex {
        Indexed::of(FlatIndex::new(grammata_embeddings::Embeddings::new(dimension)))
    }
}

impl<E: Engine> Indexed<E> {
    /// Creates an empty index over an engine without slots.
    pub fn of(engine: E) -> Indexed<E> {
        Indexed { engine, slots: Vec::new(), by_id: HashMap::new() }
    }

    /// Returns the engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// Returns for each slot whether a search may return it; `None` if all are allowed.
    fn allowed(&self, filter: Option<&Filter>) -> Option<Vec<bool>> {
        let is_full = self.by_id.len() == self.slots.len();
        let allows = |(id, category): &(String, String)| match filter {
            None => true,
            Some(Filter::Ids(ids)) => ids.contains(id),
            Some(Filter::Categories(categories)) => categories.contains(category),
        };
        (filter.is_some() || !is_full)
            .then(|| self.slots.iter().map(|slot| slot.as_ref().is_some_and(allows)).collect())
    }

    /// Renumbers the slots once more than half of them are empty.
    fn compact(&mut self) {
        if self.by_id.len() * 2 >= self.slots.len() {
            return;
        }
        let kept: Vec<usize> =
            (0..).zip(&self.slots).filter_map(|(n, slot)| slot.as_ref().map(|_| n)).collect();
        self.engine.keep(&kept);
        self.slots.retain(Option::is_some);
        self.by_id = (0..).zip(self.slots.iter().flatten()).map(|(n, (id, _))| (id.clone(), n)).collect();
    }
}

impl<E: Engine> ToolIndex for Indexed<E> {
    fn upsert(&mut self, tools: &[IndexedTool<'_>]) -> Result<()> {
        tools.iter().try_for_each(|tool| self.engine.check(tool))?;
        for tool in tools {
            let slot = self.by_id.get(tool.id).copied().unwrap_or(self.slots.len());
            self.engine.put(slot, tool)?;
            let entry = Some((tool.id.to_owned(), tool.category.to_owned()));
            match self.slots.get_mut(slot) {
                Some(place) => *place = entry,
                None => self.slots.push(entry),
            }
            self.by_id.insert(tool.id.to_owned(), slot);
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[&str]) -> Result<()> {
        for id in ids {
            let Some(slot) = self.by_id.remove(*id) else { continue };
            self.engine.clear(slot);
            if let Some(place) = self.slots.get_mut(slot) {
                *place = None;
            }
        }
        self.compact();
        Ok(())
    }

    fn len(&self) -> usize {
        self.by_id.len()
    }

    fn search(&self, queries: &[Query<'_>], k: usize, filter: Option<&Filter>) -> Result<Vec<Vec<Match>>> {
        let allowed = self.allowed(filter);
        let allows = |slot: usize| allowed.as_ref().is_none_or(|allowed| allowed.get(slot) == Some(&true));
        let ranked = self.engine.rank(queries, k, allowed.is_some().then_some(&allows))?;
        let named = |hit: Hit| {
            let (id, _) = self.slots.get(hit.tool)?.as_ref()?;
            Some(Match { id: id.clone(), score: hit.score })
        };
        Ok(ranked.into_iter().map(|hits| hits.into_iter().filter_map(named).collect()).collect())
    }
}
