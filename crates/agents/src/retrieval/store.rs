//! A catalogue and its vectors in one file.
//!
//! The file is untrusted. Its length is bounded by the limits before it is read, and checked against its header before
//! anything after the header is parsed. Its SHA-256 is checked before the contents are used. Because a forger can
//! compute the hash, the catalogue, the number of rows and the norm of each row are then checked as well. The file is
//! written under a temporary name in the same folder and renamed, so that a reader sees either the complete old file or
//! the complete new one.
//!
//! All numbers are little-endian: the magic bytes, version (u32), template (u32), dimension (u64), rows (u64), bytes of
//! the catalogue (u64), fingerprint of the embedder (32 bytes); the catalogue as JSON lines; the rows as 32-bit floats;
//! the SHA-256 of everything before it.

use super::catalogue::Catalogue;
use super::errors;
use super::index::{DenseIndex, IndexedTool, ToolIndex};
use super::tool::{Template, Tool};
use grammata::error::{Error, ErrorKind, Result};
use grammata::limits::{LimitKind, Limits};
use grammata_base::files;
use grammata_embeddings::{Embedder, Embeddings};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const MAGIC: &[u8; 8] = b"GRAMTOOL";
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 4 + 8 + 8 + 8 + 32;
const HASH: usize = 32;
/// The number of documents embedded in one call.
const CHUNK: usize = 1_024;

/// A catalogue, the template of its documents, and the vector of each document.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    catalogue: Catalogue,
    template: Template,
    fingerprint: [u8; 32],
    vectors: Embeddings,
}

/// The number of documents that [`Store::build`] embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// The number of documents that were embedded: distinct ones that the previous store did not contain.
    pub embedded: usize,
    /// The number of the documents that the embedder truncated.
    pub truncated: usize,
}

impl Store {
    /// Embeds the documents of a catalogue. Equal documents are embedded once. Vectors of `previous` are reused if they
    /// are from the same embedder.
    ///
    /// # Errors
    /// The embedder fails, or returns more or fewer vectors than documents.
    pub fn build(
        catalogue: Catalogue,
        template: Template,
        embedder: &mut dyn Embedder,
        previous: Option<&Store>,
    ) -> Result<(Store, Built)> {
        let fingerprint = embedder.fingerprint()?;
        let documents = catalogue.documents(template);
        let mut rows: HashMap<&str, Vec<f32>> = HashMap::new();
        let known = previous.filter(|previous| previous.fingerprint == fingerprint);
        let old_documents = known.map(|known| known.catalogue.documents(known.template)).unwrap_or_default();
        if let Some(known) = known {
            rows.extend(
                old_documents.iter().map(String::as_str).zip(known.vectors.rows().map(<[f32]>::to_vec)),
            );
        }
        let mut missing: Vec<&str> = Vec::new();
        for document in &documents {
            if let Entry::Vacant(row) = rows.entry(document) {
                // the vectors are filled in after the loop
                row.insert(Vec::new());
                missing.push(document);
            }
        }
        let mut truncated = 0;
        for chunk in missing.chunks(CHUNK) {
            let found = embedder.embed(chunk)?;
            if found.len() != chunk.len() {
                return Err(errors::row_count(found.len(), chunk.len()));
            }
            truncated += found.truncated().len();
            rows.extend(chunk.iter().copied().zip(found.rows().map(<[f32]>::to_vec)));
        }
        let values =
            documents.iter().flat_map(|document| rows.get(document.as_str()).into_iter().flatten().copied());
        let vectors = Embeddings::from_unit_values(embedder.dimension(), values.collect())?;
        if vectors.len() != documents.len() {
            return Err(errors::row_count(vectors.len(), documents.len()));
        }
        let built = Built { embedded: missing.len(), truncated };
        drop(rows);
        Ok((Store { catalogue, template, fingerprint, vectors }, built))
    }

    /// Creates a store of a catalogue with vectors that the embedder with the given fingerprint computed before.
    ///
    /// # Errors
    /// The number of vectors differs from the number of tools.
    pub fn of(
        catalogue: Catalogue,
        template: Template,
        fingerprint: [u8; 32],
        vectors: Embeddings,
    ) -> Result<Store> {
        if vectors.len() != catalogue.tools().len() {
            return Err(errors::row_count(vectors.len(), catalogue.tools().len()));
        }
        Ok(Store { catalogue, template, fingerprint, vectors })
    }

    /// Builds the index of the vectors.
    ///
    /// # Errors
    /// None for a store that was built or read.
    pub fn index(&self) -> Result<DenseIndex> {
        let mut index = DenseIndex::new(self.vectors.dimension());
        let tools: Vec<IndexedTool<'_>> = self
            .catalogue
            .tools()
            .iter()
            .zip(self.vectors.rows())
            .map(|(Tool { id, category, .. }, row)| IndexedTool {
                id,
                category,
                document: "",
                vector: Some(row),
            })
            .collect();
        index.upsert(&tools)?;
        Ok(index)
    }

    /// Returns the tools, in the order of the vectors.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns the template of the documents that were embedded.
    pub fn template(&self) -> Template {
        self.template
    }

    /// Returns the vectors; the rows are the tools of the catalogue, in order.
    pub fn vectors(&self) -> &Embeddings {
        &self.vectors
    }

    /// Checks that queries embedded by `embedder` may be compared with the vectors.
    ///
    /// # Errors
    /// The vectors are from another embedder or have another dimension, or the fingerprint of `embedder` cannot be
    /// computed.
    pub fn check_embedder(&self, embedder: &mut dyn Embedder) -> Result<()> {
        let dimension = embedder.dimension();
        if dimension != self.vectors.dimension() {
            return Err(errors::query_dimension(dimension, self.vectors.dimension()));
        }
        if embedder.fingerprint()? != self.fingerprint {
            return Err(errors::other_embedder());
        }
        Ok(())
    }

    /// Returns the fingerprint of the embedder of the vectors.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Writes the file, replacing an existing one.
    ///
    /// # Errors
    /// The file cannot be written; an existing file is unchanged.
    pub fn write(&self, path: &Path) -> Result<()> {
        let new = temporary(path);
        let written = self.write_new(&new).and_then(|()| std::fs::rename(&new, path));
        written.map_err(|cause| {
            // a leftover temporary file does no harm
            let _ = std::fs::remove_file(&new);
            Error::io(path, &cause)
        })
    }

    fn write_new(&self, path: &Path) -> std::io::Result<()> {
        // remove what a process with the same id left behind
        if path.exists() {
            std::fs::remove_file(path)?;
        }
        let mut file = File::create_new(path)?;
        let bytes = self.to_bytes();
        file.write_all(&bytes)?;
        file.write_all(&Sha256::digest(&bytes))?;
        file.sync_all()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let catalogue = self.catalogue.to_json_lines();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(template_code(self.template).to_le_bytes());
        for number in [self.vectors.dimension(), self.vectors.len(), catalogue.len()] {
            bytes.extend((number as u64).to_le_bytes());
        }
        bytes.extend(self.fingerprint);
        bytes.extend(catalogue.as_bytes());
        bytes.extend(self.vectors.values().iter().flat_map(|x| x.to_le_bytes()));
        bytes
    }

    /// Reads the file.
    ///
    /// # Errors
    /// The file is not a regular file (links are rejected), is longer than the limits allow, is truncated or modified,
    /// has another version, or contains what no [`Store`] would; the error names the invalid field. Memory use is
    /// bounded by a multiple of the file's length.
    pub fn read(path: &Path, limits: &Limits) -> Result<Store> {
        let bytes = read_file(path, limits)?;
        parse(&bytes, limits).map_err(|error| error.in_file(&path.display().to_string()))
    }
}

/// Returns a path for the new file in the same folder, because renaming is atomic only within a folder's file system.
fn temporary(path: &Path) -> PathBuf {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{number}.new", std::process::id()));
    path.with_file_name(name)
}

/// Returns the number of a template in a file.
fn template_code(template: Template) -> u32 {
    match template {
        Template::Full => 0,
        Template::Description => 1,
    }
}

fn read_file(path: &Path, limits: &Limits) -> Result<Vec<u8>> {
    let io = |cause: std::io::Error| Error::io(path, &cause);
    let in_file = |error: Error| error.in_file(&path.display().to_string());
    // writing an index replaces the file at `path`, and would leave the target of a symbolic link unchanged
    if path.symlink_metadata().map_err(io)?.is_symlink() {
        return Err(in_file(errors::index_field("the file", "a link", "a regular file")));
    }
    let (file, length) = files::open(path)?;
    // vectors of at most 65,536 bytes each, and the catalogue
    let most = (limits.catalogue_bytes as u64)
        .saturating_add((limits.catalogue_tools as u64).saturating_mul(65_536));
    if length > most {
        let found = format!("an index of {length} bytes");
        return Err(in_file(Limits::exceeded(LimitKind::CatalogueBytes, limits.catalogue_bytes, found)));
    }
    files::read_rest(&file, path, usize::try_from(length).unwrap_or(usize::MAX - 1))
}

/// The fields of a header.
struct Header {
    template: Template,
    dimension: usize,
    rows: usize,
    catalogue: usize,
    fingerprint: [u8; 32],
}

/// Consumes bytes from the front of a header.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((found, rest)) = self.0.split_first_chunk::<N>() else {
            return Err(errors::index_field("the header", "the end of the file", "an index's header"));
        };
        self.0 = rest;
        Ok(*found)
    }

    fn number(&mut self, field: &str) -> Result<usize> {
        let number = u64::from_le_bytes(self.array()?);
        let wrong = || errors::index_field(field, number.to_string(), "a number of this machine's size");
        usize::try_from(number).map_err(|_| wrong())
    }
}

fn parse(bytes: &[u8], limits: &Limits) -> Result<Store> {
    let header = header(bytes)?;
    let Header { template, dimension, rows, catalogue, fingerprint } = header;
    let row_bytes = dimension.checked_mul(4).and_then(|row| row.checked_mul(rows));
    let length = row_bytes.and_then(|n| n.checked_add(catalogue)).and_then(|n| n.checked_add(HEADER + HASH));
    if length != Some(bytes.len()) {
        let allowed = length.map_or_else(|| "more than fits".to_owned(), |length| format!("{length} bytes"));
        return Err(errors::index_field("the length", format!("{} bytes", bytes.len()), &allowed));
    }
    let (content, hash) = bytes.split_at(bytes.len() - HASH);
    if Sha256::digest(content).as_slice() != hash {
        return Err(errors::index_field("the checksum", "another one", "the SHA-256 of the file before it"));
    }
    let (text, values) = content.get(HEADER..).unwrap_or_default().split_at(catalogue);
    let text = std::str::from_utf8(text).map_err(|e| {
        errors::index_field("the catalogue", format!("no UTF-8 at byte {}", e.valid_up_to()), "JSON lines")
    })?;
    let catalogue = Catalogue::from_json_lines(text, limits).map_err(|error| match error.kind() {
        ErrorKind::Limit => error,
        _ => errors::index_field("the catalogue", error.diagnostic().message(), "JSON lines of tools"),
    })?;
    if catalogue.tools().len() != rows {
        let allowed = format!("{} rows, as many as tools", catalogue.tools().len());
        return Err(errors::index_field("the rows", format!("{rows} rows"), &allowed));
    }
    let floats = values.chunks_exact(4).map(|bytes| bytes.try_into().map_or(f32::NAN, f32::from_le_bytes));
    let vectors = Embeddings::from_unit_values(dimension, floats.collect())?;
    Ok(Store { catalogue, template, fingerprint, vectors })
}

fn header(bytes: &[u8]) -> Result<Header> {
    let mut reader = Reader(bytes);
    if &reader.array::<8>()? != MAGIC {
        return Err(errors::index_field("the first bytes", "others", "those of an index (`GRAMTOOL`)"));
    }
    let version = u32::from_le_bytes(reader.array()?);
    if version != VERSION {
        return Err(errors::index_field("the version", version.to_string(), &VERSION.to_string()));
    }
    let code = u32::from_le_bytes(reader.array()?);
    let templates = [Template::Full, Template::Description];
    let Some(template) = templates.into_iter().find(|&template| template_code(template) == code) else {
        return Err(errors::index_field("the template", code.to_string(), "0 (full) or 1 (description)"));
    };
    let dimension = reader.number("the dimension")?;
    if dimension == 0 {
        return Err(errors::index_field("the dimension", "0", "at least 1"));
    }
    let rows = reader.number("the number of rows")?;
    let catalogue = reader.number("the length of the catalogue")?;
    Ok(Header { template, dimension, rows, catalogue, fingerprint: reader.array()? })
}
