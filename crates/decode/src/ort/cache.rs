//! Key-value caches: immutable blocks that sequences share until they differ.

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

    /// The model can be run on the block without a copy.
    pub(super) fn is_whole(&self) -> bool {
        self.length == self.block.length && self.block.rows == 1
    }
}

/// One block of the caches of a batch, all of the same length, in the order given: the block that they already are the
/// rows of, or else a copy.
///
/// # Errors
/// Memory, or tensors that the host cannot read.
pub(super) fn join(caches: &[&Cache], shapes: &[KvCacheShape], allocator: &Allocator) -> Result<Arc<Block>> {
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
    let copies = shapes.iter().enumerate().map(|(tensor, shape)| match shape.half {
        true => copy_rows::<f16>(caches, tensor, shape, length, allocator),
        false => copy_rows::<f32>(caches, tensor, shape, length, allocator),
    });
    let values = copies.collect::<ort::Result<_>>().map_err(errors::run)?;
    Ok(Arc::new(Block::new(caches.len(), length, values)))
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
