//! A dense index stored in a file.

use super::{DenseIndex, Filter, IndexedTool, Match, Query, ToolIndex};
use crate::retrieval::catalogue::Catalogue;
use crate::retrieval::errors;
use crate::retrieval::store::{Built, Store};
use crate::retrieval::tool::{Template, Tool};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_decode::{Embedder, Embeddings};
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A [`DenseIndex`] stored in a file in the format of [`Store`], with the document of each tool.
///
/// Every change writes a new file and renames it over the old one before the index in memory changes. So a reader
/// ([`Store::read`]) sees a complete index from before or after the change. Change many tools in one call. While the
/// index is open, a lock on the file `NAME.lock` in the same folder excludes other writers.
#[derive(Debug)]
pub struct DiskIndex {
    path: PathBuf,
    store: Store,
    index: DenseIndex,
    limits: Limits,
    /// Held until the index is dropped.
    _lock: File,
}

impl DiskIndex {
    /// Opens the index in the file, or an empty index if the file does not exist. `fingerprint` is that of the embedder
    /// of the vectors.
    ///
    /// # Errors
    /// The file cannot be examined, is not an index or exceeds the limits ([`Store::read`]), belongs to another
    /// embedder or dimension, or is open in another writer; or the lock file cannot be created.
    pub fn open(path: &Path, dimension: usize, fingerprint: [u8; 32], limits: &Limits) -> Result<DiskIndex> {
        let lock = lock(path)?;
        let store = match path.symlink_metadata() {
            Ok(_) => Store::read(path, limits)?,
            // after any other error the file may exist, and a change would write over it
            Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(Error::io(path, &cause)),
            Err(_) => Store::of(
                Catalogue::default(),
                Template::Description,
                fingerprint,
                Embeddings::new(dimension),
            )?,
        };
        store
            .check_fingerprint(dimension, fingerprint)
            .map_err(|e| e.in_file(&path.display().to_string()))?;
        let index = store.index()?;
        Ok(DiskIndex { path: path.to_owned(), store, index, limits: limits.clone(), _lock: lock })
    }

    /// Synchronises the index with a catalogue: embeds only new documents, and removes tools that the catalogue does
    /// not contain.
    ///
    /// # Errors
    /// The embedder fails or is a different one, the catalogue has more tools than the limits allow, or the file cannot
    /// be written. The index is then unchanged.
    pub fn synchronise(
        &mut self,
        catalogue: &Catalogue,
        template: Template,
        embedder: &mut dyn Embedder,
    ) -> Result<Built> {
        self.store.check_embedder(embedder)?;
        let records =
            catalogue.tools().iter().map(|tool| record(&tool.id, &tool.category, template.document(tool)));
        let records = Catalogue::new(records.collect(), &self.limits)?;
        let (store, built) = Store::build(records, Template::Description, embedder, Some(&self.store))?;
        self.replace(store)?;
        Ok(built)
    }

    /// Returns the contents of the file.
    pub fn store(&self) -> &Store {
        &self.store
    }

    fn replace(&mut self, store: Store) -> Result<()> {
        let index = store.index()?;
        store.write(&self.path)?;
        (self.store, self.index) = (store, index);
        Ok(())
    }

    /// Writes an index of `tools` to the file, and then replaces the index in memory.
    fn rewrite(&mut self, tools: Vec<Tool>, rows: Vec<f32>) -> Result<()> {
        let (dimension, fingerprint) = (self.store.vectors().dimension(), self.store.fingerprint());
        let vectors = Embeddings::from_unit_values(dimension, rows)?;
        let catalogue = Catalogue::new(tools, &self.limits)?;
        self.replace(Store::of(catalogue, Template::Description, fingerprint, vectors)?)
    }
}

/// Creates a tool that has only an id, a category and a document.
fn record(id: &str, category: &str, document: String) -> Tool {
    Tool { id: id.to_owned(), category: category.to_owned(), description: document, ..Tool::default() }
}

fn lock(path: &Path) -> Result<File> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let path = path.with_file_name(name);
    let io = |cause: std::io::Error| Error::io(&path, &cause);
    let file = File::options().create(true).append(true).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(errors::locked(&path)),
        Err(TryLockError::Error(cause)) => Err(io(cause)),
    }
}

impl ToolIndex for DiskIndex {
    fn upsert(&mut self, tools: &[IndexedTool<'_>]) -> Result<()> {
        let mut records = self.store.catalogue().tools().to_vec();
        let mut rows: Vec<Vec<f32>> = self.store.vectors().rows().map(<[f32]>::to_vec).collect();
        let mut places: HashMap<String, usize> =
            (0..).zip(&records).map(|(place, tool)| (tool.id.clone(), place)).collect();
        for tool in tools {
            let vector = tool.vector.ok_or_else(|| errors::no_vectors("a vector of each tool"))?;
            // check each dimension here, because later only the total of all rows is checked
            Embeddings::new(self.store.vectors().dimension()).push_unit(vector)?;
            let record = record(tool.id, tool.category, tool.document.to_owned());
            let place = *places.entry(record.id.clone()).or_insert(records.len());
            match (records.get_mut(place), rows.get_mut(place)) {
                (Some(old), Some(row)) => (*old, *row) = (record, vector.to_vec()),
                _ => {
                    records.push(record);
                    rows.push(vector.to_vec());
                }
            }
        }
        self.rewrite(records, rows.concat())
    }

    fn remove(&mut self, ids: &[&str]) -> Result<()> {
        let (tools, vectors) = (self.store.catalogue().tools(), self.store.vectors());
        let kept = tools.iter().zip(vectors.rows()).filter(|(tool, _)| !ids.contains(&tool.id.as_str()));
        let (tools, rows): (Vec<Tool>, Vec<&[f32]>) = kept.map(|(tool, row)| (tool.clone(), row)).unzip();
        let rows = rows.concat();
        self.rewrite(tools, rows)
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn search(&self, queries: &[Query<'_>], k: usize, filter: Option<&Filter>) -> Result<Vec<Vec<Match>>> {
        self.index.search(queries, k, filter)
    }
}
