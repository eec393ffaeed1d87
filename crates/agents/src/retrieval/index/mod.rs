//! Indexes of tools behind one trait.
//!
//! A [`ToolIndex`] names tools by their ids and can be changed at any time: in memory ([`LexicalIndex`], [`DenseIndex`], with
//! the feature `hnsw` also `HnswToolIndex`), in a file ([`DiskIndex`]), or on other machines
//! ([`QdrantIndex`]). The indexes in memory are an
//! [`Engine`], which ranks numbered slots, and the table of ids that [`Indexed`] keeps for it.

mod disk;
mod flat;
#[cfg(feature = "hnsw")]
mod hnsw;
mod lexical;
pub mod qdrant;

pub use disk::DiskIndex;
pub use flat::FlatIndex;
#[cfg(feature = "hnsw")]
pub use hnsw::{HnswIndex, HnswOptions, HnswToolIndex};
pub use lexical::Bm25;
pub use qdrant::{QdrantIndex, QdrantOptions};

use super::{Allowed, Hit};
use grammata::error::Result;
use std::collections::{BTreeSet, HashMap};

/// A tool as an index takes it.
#[derive(Clone, Copy, Debug)]
pub struct IndexedTool<'t> {
    /// Names the tool; a second tool of the same id replaces the first.
    pub id: &'t str,
    /// What [`Filter::Categories`] compares.
    pub category: &'t str,
    /// What a lexical index reads.
    pub document: &'t str,
    /// The unit vector of the document, which a dense index needs.
    pub vector: Option<&'t [f32]>,
}

/// A query: an index uses its text or its vector.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// The text, for a lexical index.
    pub text: &'q str,
    /// The unit vector of the text, for a dense index.
    pub vector: Option<&'q [f32]>,
}

/// A tool that an index found.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The id of the tool.
    pub id: String,
    /// What the index ranks by: a positive BM25 score, or a cosine.
    pub score: f64,
}

/// The tools that a search may find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Those of these ids.
    Ids(BTreeSet<String>),
    /// Those of these categories.
    Categories(BTreeSet<String>),
}

impl Filter {
    /// The tools of these ids.
    pub fn ids<S: Into<String>>(ids: impl IntoIterator<Item = S>) -> Filter {
        Filter::Ids(ids.into_iter().map(Into::into).collect())
    }

    /// The tools of these categories.
    pub fn categories<S: Into<String>>(categories: impl IntoIterator<Item = S>) -> Filter {
        Filter::Categories(categories.into_iter().map(Into::into).collect())
    }
}

/// A set of tools with distinct ids that is searched for the nearest tools of queries.
///
/// All implementations agree in this: `upsert` replaces a tool of the same id, which keeps its place in the order; ids that
/// `remove` does not find are ignored; a change is whole or, with an error, not made at all (on a server a change of many tools
/// may be made in part); of equal scores the tool that
/// was inserted first comes first; a search gives one list for each query, of at most `k` tools, best first, and the same
/// lists from any thread.
pub trait ToolIndex: Send + Sync + std::fmt::Debug {
    /// Inserts tools, or replaces those of the same ids.
    ///
    /// # Errors
    /// A dense index: a vector is missing, of another dimension or not of unit length. An index that is stored elsewhere: a
    /// failure of its file or server.
    fn upsert(&mut self, tools: &[IndexedTool<'_>]) -> Result<()>;

    /// Removes the tools of these ids, as far as they are there.
    ///
    /// # Errors
    /// An index that is stored elsewhere: a failure of its file or server.
    fn remove(&mut self, ids: &[&str]) -> Result<()>;

    /// Number of tools.
    fn len(&self) -> usize;

    /// Whether there is no tool.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a search compares all tools, so that its lists are the best ones by definition.
    fn is_exact(&self) -> bool;

    /// For each query the at most `k` best tools that `filter` allows; None allows all.
    ///
    /// # Errors
    /// A dense index: a query without a vector, or one of another dimension.
    fn search(&self, queries: &[Query<'_>], k: usize, filter: Option<&Filter>) -> Result<Vec<Vec<Match>>>;
}

/// Ranks tools that are named by the numbers of their slots.
pub trait Engine: Send + Sync + std::fmt::Debug {
    /// Refuses a tool that [`put`](Engine::put) could not take.
    ///
    /// # Errors
    /// As of [`ToolIndex::upsert`].
    fn check(&self, tool: &IndexedTool<'_>) -> Result<()>;

    /// Fills a slot, or replaces what is in it: at most the number of slots so far, which then is one more.
    ///
    /// # Errors
    /// As of [`check`](Engine::check).
    fn put(&mut self, slot: usize, tool: &IndexedTool<'_>) -> Result<()>;

    /// Empties a slot, which no search will be allowed to find until it is filled again.
    fn clear(&mut self, slot: usize);

    /// Drops all slots but these, which are rising, and numbers them from 0.
    fn keep(&mut self, slots: &[usize]);

    /// As of [`ToolIndex::is_exact`].
    fn is_exact(&self) -> bool;

    /// For each query the at most `k` best slots; of equal scores the lower number first.
    ///
    /// # Errors
    /// As of [`ToolIndex::search`].
    fn rank(&self, queries: &[Query<'_>], k: usize, allows: Allowed<'_>) -> Result<Vec<Vec<Hit>>>;
}

/// An index in memory: an engine, and the tools of its slots.
#[derive(Clone, Debug, Default)]
pub struct Indexed<E> {
    engine: E,
    /// The id and the category of each slot; None where the tool was removed.
    slots: Vec<Option<(String, String)>>,
    by_id: HashMap<String, usize>,
}

/// Ranks by BM25.
pub type LexicalIndex = Indexed<Bm25>;
/// Ranks by cosine, comparing every vector.
pub type DenseIndex = Indexed<FlatIndex>;

impl LexicalIndex {
    /// An index without tools.
    pub fn new() -> LexicalIndex {
        LexicalIndex::default()
    }
}

impl DenseIndex {
    /// An index without tools, for vectors of this dimension.
    pub fn new(dimension: usize) -> DenseIndex {
        Indexed::of(FlatIndex::new(grammata_decode::Embeddings::new(dimension)))
    }
}

impl<E: Engine> Indexed<E> {
    /// An index without tools over an engine without slots.
    pub fn of(engine: E) -> Indexed<E> {
        Indexed { engine, slots: Vec::new(), by_id: HashMap::new() }
    }

    /// The engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The slots that a search may find; None where it may find all of them.
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

    /// Numbers the slots anew once most of them are empty.
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

    fn is_exact(&self) -> bool {
        self.engine.is_exact()
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
