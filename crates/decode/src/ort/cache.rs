//! Key-value caches: immutable blocks that sequences share until they differ.

use super::copier::GraphCopier;
use super::errors;
use super::signature::KvCacheShape;
use grammata::error::Result;
use half::f16;
use ort::memory::Allocator;
use ort::value::{DynTensor, DynValue, PrimitiveTensorElementType, Tensor, TensorElementType};
use std::fmt::Debug;
use std::sync::Arc;

/// The cache tensors of one run of the model, `[rows, heads, length, size]` each: one row for each sequence of the
/// batch. A block does not change once it is made.
#[derive(Debug)]
pub(super) struct Block {
    rows: usize,
    length: usize,
    pub(super) values: Vec<DynValue>,
}

impl Block {
    pub(super) fn new(rows: usize, length: usize, values: Vec<DynValue>) -> Block {
        Block { rows, length, values }
    }

    /// The caches of `rows` empty sequences.
    pub(super) fn empty(rows: usize, shapes: &[KvCacheShape]) -> ort::Result<Block> {
        let tensor = |shape: &KvCacheShape| {
            let kind = if shape.half { TensorElementType::Float16 } else { TensorElementType::Float32 };
            let dimensions = [rows, shape.heads, 0, shape.size];
            Ok(DynTensor::new(&Allocator::default(), kind, dimensions)?.into_dyn())
        };
        Ok(Block::new(rows, 0, shapes.iter().map(tensor).collect::<ort::Result<_>>()?))
    }
}

/// The cache of one sequence: the first `length` positions of a row of a block. To fork it is to clone it; it is cut and
/// copied when the model is run next.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    block: Arc<Block>,
    row: usize,
    length: usize,
}

impl Cache {
    /// The cache of the row `row` of a block.
    pub(super) fn of(block: &Arc<Block>, row: usize) -> Cache {
        Cache { block: Arc::clone(block), row, length: block.length }
    }

    /// Number of positions.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Keeps the first `length` positions of at least that many.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

/// What copies caches.
#[derive(Debug)]
pub(super) enum Copier {
    /// The processor, into memory that a session reuses.
    Host(Allocator),
    /// A graph on the device that the caches are on.
    Device(GraphCopier),
}

/// One block of the caches of a batch, all of the same length, in the order given: the block that they already are the
/// rows of, or else a copy.
///
/// # Errors
/// Memory, or a failure of the device.
pub(super) fn join(caches: &[&Cache], shapes: &[KvCacheShape], copier: &mut Copier) -> Result<Arc<Block>> {
    let length = caches.first().map_or(0, |cache| cache.length);
    if let Some(first) = caches.first() {
        let block = &first.block;
        let same = caches.iter().enumerate().all(|(row, c)| c.row == row && Arc::ptr_eq(&c.block, block));
        if same && block.rows == caches.len() && block.length == length {
            return Ok(Arc::clone(block));
        }
    }
    if length == 0 {
        return Block::empty(caches.len(), shapes).map(Arc::new).map_err(errors::run);
    }
    let values = match copier {
        Copier::Host(allocator) => {
            let copies = shapes.iter().enumerate().map(|(tensor, shape)| match shape.half {
                true => copy_rows::<f16>(caches, tensor, shape, length, allocator),
                false => copy_rows::<f32>(caches, tensor, shape, length, allocator),
            });
            copies.collect::<ort::Result<_>>().map_err(errors::run)?
        }
        Copier::Device(graphs) => {
            let sources = sources(caches);
            let copies = shapes.iter().enumerate().map(|(tensor, shape)| {
                let values: Vec<&DynValue> =
                    sources.iter().filter_map(|source| source.block.values.get(tensor)).collect();
                graphs.copy(&values, &sources, length, shape.half)
            });
            copies.collect::<Result<_>>()?
        }
    };
    Ok(Arc::new(Block::new(caches.len(), length, values)))
}

/// Rows of one block, in the order in which they are wanted.
pub(super) struct Source<'a> {
    block: &'a Arc<Block>,
    pub(super) rows: Vec<i64>,
}

/// The blocks that caches one after the other are rows of.
fn sources<'a>(caches: &[&'a Cache]) -> Vec<Source<'a>> {
    let mut sources: Vec<Source<'a>> = Vec::new();
    for cache in caches {
        let row = cache.row as i64;
        match sources.last_mut() {
            Some(last) if Arc::ptr_eq(last.block, &cache.block) => last.rows.push(row),
            _ => sources.push(Source { block: &cache.block, rows: vec![row] }),
        }
    }
    sources
}

/// The first `length` positions of every head of the tensor number `tensor` of each cache.
fn copy_rows<T: PrimitiveTensorElementType + Copy + Debug + 'static>(
    caches: &[&Cache],
    tensor: usize,
    shape: &KvCacheShape,
    length: usize,
    allocator: &Allocator,
) -> ort::Result<DynValue> {
    let short = || ort::Error::new("a cache is shorter than its length");
    let (heads, kept) = (shape.heads, length * shape.size);
    // a session reuses its memory; fresh memory from the system costs more than the copy
    let mut copy = Tensor::<T>::new(allocator, [caches.len(), heads, length, shape.size])?;
    let (_, copied) = copy.try_extract_tensor_mut::<T>()?;
    let mut heads_copied = copied.chunks_exact_mut(kept.max(1));
    for cache in caches {
        let value = cache.block.values.get(tensor).ok_or_else(short)?;
        let (_, all) = value.try_extract_tensor::<T>()?;
        let head = cache.block.length * shape.size;
        for number in cache.row * heads..(cache.row + 1) * heads {
            let from = all.get(number * head..number * head + kept).ok_or_else(short)?;
            heads_copied.next().ok_or_else(short)?.copy_from_slice(from);
        }
    }
    Ok(copy.into_dyn())
}
