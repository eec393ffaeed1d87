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
/// batch. A row may begin with positions that hold nothing and are masked. A block does not change once it is made.
#[derive(Debug)]
pub(super) struct Block {
    length: usize,
    /// of each row the number of positions that hold nothing
    padding: Vec<usize>,
    pub(super) values: Vec<DynValue>,
}

impl Block {
    pub(super) fn new(length: usize, padding: Vec<usize>, values: Vec<DynValue>) -> Block {
        Block { length, padding, values }
    }

    /// The caches of `rows` empty sequences.
    pub(super) fn empty(rows: usize, shapes: &[KvCacheShape]) -> ort::Result<Block> {
        let tensor = |shape: &KvCacheShape| {
            let kind = if shape.half { TensorElementType::Float16 } else { TensorElementType::Float32 };
            let dimensions = [rows, shape.heads, 0, shape.size];
            Ok(DynTensor::new(&Allocator::default(), kind, dimensions)?.into_dyn())
        };
        Ok(Block::new(0, vec![0; rows], shapes.iter().map(tensor).collect::<ort::Result<_>>()?))
    }

    /// Number of positions, those that hold nothing among them.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Of each row the number of positions that hold nothing.
    pub(super) fn padding(&self) -> &[usize] {
        &self.padding
    }
}

/// The cache of one sequence: `length` positions of a row of a block, after those that hold nothing. To fork it is to clone
/// it; it is cut and copied when the model is run next.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    block: Arc<Block>,
    row: usize,
    length: usize,
}

impl Cache {
    /// The cache of the row `row` of a block.
    pub(super) fn of(block: &Arc<Block>, row: usize) -> Cache {
        let padding = block.padding.get(row).copied().unwrap_or(0);
        Cache { block: Arc::clone(block), row, length: block.length - padding }
    }

    /// Number of positions that hold something.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Keeps the first `length` positions of at least that many.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    fn start(&self) -> usize {
        self.block.padding.get(self.row).copied().unwrap_or(0)
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

/// One block of the caches of a batch in the order given: the block that they already are the rows of, or else a copy. Caches
/// shorter than the longest begin with zeros.
///
/// # Errors
/// Memory, or a failure of the device.
pub(super) fn join(caches: &[&Cache], shapes: &[KvCacheShape], copier: &mut Copier) -> Result<Arc<Block>> {
    let length = caches.iter().map(|cache| cache.length).max().unwrap_or(0);
    if let Some(first) = caches.first() {
        let block = &first.block;
        let whole = |c: &Cache| c.start() + c.length == block.length && Arc::ptr_eq(&c.block, block);
        let same = caches.iter().enumerate().all(|(row, c)| c.row == row && whole(c));
        if same && block.padding.len() == caches.len() {
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
            let sources = sources(caches, length);
            let copies = shapes.iter().enumerate().map(|(tensor, shape)| {
                let values: Vec<&DynValue> =
                    sources.iter().filter_map(|source| source.block.values.get(tensor)).collect();
                graphs.copy(&values, &sources, shape.half)
            });
            copies.collect::<Result<_>>()?
        }
    };
    let padding = caches.iter().map(|cache| length - cache.length).collect();
    Ok(Arc::new(Block::new(length, padding, values)))
}

/// Rows of one block, in the order in which they are wanted, and which of their positions.
pub(super) struct Source<'a> {
    block: &'a Arc<Block>,
    pub(super) rows: Vec<i64>,
    /// the first position that is wanted
    pub(super) start: usize,
    /// the position after the last that is wanted
    pub(super) end: usize,
    /// number of zeros to put before them
    pub(super) padding: usize,
}

/// The blocks that caches one after the other are rows of, if the same positions of them are wanted.
fn sources<'a>(caches: &[&'a Cache], length: usize) -> Vec<Source<'a>> {
    let mut sources: Vec<Source<'a>> = Vec::new();
    for cache in caches {
        let (row, start, end) = (cache.row as i64, cache.start(), cache.start() + cache.length);
        match sources.last_mut() {
            Some(last) if Arc::ptr_eq(last.block, &cache.block) && (last.start, last.end) == (start, end) => {
                last.rows.push(row);
            }
            _ => {
                let padding = length - cache.length;
                sources.push(Source { block: &cache.block, rows: vec![row], start, end, padding });
            }
        }
    }
    sources
}

/// `length` positions of every head of the tensor number `tensor` of each cache, the last of them those of the cache.
fn copy_rows<T: PrimitiveTensorElementType + Copy + Default + Debug + 'static>(
    caches: &[&Cache],
    tensor: usize,
    shape: &KvCacheShape,
    length: usize,
    allocator: &Allocator,
) -> ort::Result<DynValue> {
    let short = || ort::Error::new("a cache is shorter than its length");
    let (heads, size) = (shape.heads, shape.size);
    // a session reuses its memory; fresh memory from the system costs more than the copy
    let mut copy = Tensor::<T>::new(allocator, [caches.len(), heads, length, size])?;
    let (_, copied) = copy.try_extract_tensor_mut::<T>()?;
    let mut heads_copied = copied.chunks_exact_mut((length * size).max(1));
    for cache in caches {
        let value = cache.block.values.get(tensor).ok_or_else(short)?;
        let (_, all) = value.try_extract_tensor::<T>()?;
        let (start, kept) = (cache.start() * size, cache.length * size);
        for number in cache.row * heads..(cache.row + 1) * heads {
            let head = number * cache.block.length * size + start;
            let from = all.get(head..head + kept).ok_or_else(short)?;
            let to = heads_copied.next().ok_or_else(short)?;
            let (zeros, to) = to.split_at_mut(length * size - kept);
            zeros.fill(T::default());
            to.copy_from_slice(from);
        }
    }
    Ok(copy.into_dyn())
}
