//! Key-value caches: immutable blocks that sequences share until they diverge.

use super::copier::{GraphCopier, Source};
use super::errors;
use super::signature::KvCacheShape;
use grammata::error::Result;
use half::f16;
use ort::memory::Allocator;
use ort::value::{DynTensor, DynValue, PrimitiveTensorElementType, Tensor, TensorElementType};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The cache tensors of one run of the model, each of shape `[rows, heads, length, size]`. A row holds the cache of one
/// sequence; its unused positions are masked. A block is immutable.
#[derive(Debug)]
pub(super) struct Block {
    length: usize,
    rows: Vec<Row>,
    pub(super) values: Vec<DynValue>,
}

/// The used positions of a row: ascending ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Row(Vec<Range<usize>>);

impl Row {
    /// Returns the number of used positions.
    fn count(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    /// Returns this row with the positions of `range` added. They must come after the used ones.
    pub(super) fn and(&self, range: Range<usize>) -> Row {
        let mut ranges = self.0.clone();
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => ranges.push(range),
        }
        Row(ranges)
    }

    /// Iterates over the first `count` used positions, or over all if there are fewer.
    fn first(&self, count: usize) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().cloned().flatten().take(count)
    }

    /// Sets the entries of `mask`, one for each position, to 1 for the used positions.
    pub(super) fn mark(&self, mask: &mut [i64]) {
        for range in &self.0 {
            if let Some(places) = mask.get_mut(range.clone()) {
                places.fill(1);
            }
        }
    }
}

impl Block {
    pub(super) fn new(length: usize, rows: Vec<Row>, values: Vec<DynValue>) -> Block {
        Block { length, rows, values }
    }

    /// Creates a block with the caches of `rows` empty sequences: `length` is 0.
    pub(super) fn empty(rows: usize, shapes: &[KvCacheShape]) -> ort::Result<Block> {
        let tensor = |shape: &KvCacheShape| {
            let kind = if shape.half { TensorElementType::Float16 } else { TensorElementType::Float32 };
            let dimensions = [rows, shape.heads, 0, shape.size];
            Ok(DynTensor::new(&Allocator::default(), kind, dimensions)?.into_dyn())
        };
        let values = shapes.iter().map(tensor).collect::<ort::Result<_>>()?;
        Ok(Block::new(0, vec![Row::default(); rows], values))
    }

    /// Returns the number of positions of each row, including unused ones.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns the used positions of each row.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// The cache of one sequence: the first `length` used positions of a row of a block. A clone is a fork. If the tensors
/// must be truncated or copied, this happens at the next run of the model.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    block: Arc<Block>,
    row: usize,
    length: usize,
}

impl Cache {
    /// Returns the cache with all used positions of row `row` of a block; an empty one if there is no such row.
    pub(super) fn of(block: &Arc<Block>, row: usize) -> Cache {
        Cache { block: Arc::clone(block), row, length: block.rows.get(row).map_or(0, Row::count) }
    }

    /// Returns the number of positions of the sequence, one for each token.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Keeps at most the first `length` positions of the sequence. The block does not change.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.block.rows.get(self.row).into_iter().flat_map(|row| row.first(self.length))
    }

    fn is_whole(&self) -> bool {
        self.block.rows.get(self.row).is_some_and(|row| row.count() == self.length)
    }
}

/// The device that copies caches.
#[derive(Debug)]
pub(super) enum Copier {
    /// The CPU, into memory that a session reuses.
    Host(Allocator),
    /// The device that holds the caches, by graphs that run there.
    Device(GraphCopier),
}

/// A block that holds the caches of a batch, and the row of each cache, in the order of the batch.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) block: Arc<Block>,
    pub(super) rows: Vec<usize>,
}

/// The conditions under which a block is used without a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reuse {
    /// Whether a block may have unused positions, and rows of no sequence in the batch. At most half of its rows may be
    /// of no sequence in the batch, and it may have at most twice as many positions as the longest cache, plus 64.
    pub(super) gaps: bool,
    /// The most positions of a block that is used without a copy.
    pub(super) most: usize,
}

/// Returns one block that holds the caches of a batch. If the caches are the whole rows of one block, in ascending
/// order, and `reuse` permits it, this block is returned. Otherwise the caches are copied, and shorter caches are
/// preceded by zeros.
///
/// # Errors
/// Memory cannot be allocated, or the device fails.
pub(super) fn join(
    caches: &[&Cache],
    shapes: &[KvCacheShape],
    reuse: Reuse,
    copier: &mut Copier,
) -> Result<Joined> {
    let length = caches.iter().map(|cache| cache.length).max().unwrap_or(0);
    if let Some(block) = reused(caches, length, reuse) {
        return Ok(Joined { block, rows: caches.iter().map(|cache| cache.row).collect() });
    }
    let block = copied(caches, length, shapes, copier)?;
    Ok(Joined { block, rows: (0..caches.len()).collect() })
}

fn reused(caches: &[&Cache], length: usize, reuse: Reuse) -> Option<Arc<Block>> {
    let block = &caches.first()?.block;
    let inside = |cache: &&Cache| Arc::ptr_eq(&cache.block, block) && cache.is_whole();
    let rising = caches.iter().zip(caches.iter().skip(1)).all(|(a, b)| a.row < b.row);
    if !rising || !caches.iter().all(inside) || block.length > reuse.most {
        return None;
    }
    let full = caches.len() == block.rows.len();
    let dense = block.length == length;
    let fit = full && dense
        || reuse.gaps && block.rows.len() <= 2 * caches.len() && block.length <= 2 * length + 64;
    fit.then(|| Arc::clone(block))
}

fn copied(
    caches: &[&Cache],
    length: usize,
    shapes: &[KvCacheShape],
    copier: &mut Copier,
) -> Result<Arc<Block>> {
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
            let (blocks, sources) = sources(caches, length);
            let copies = shapes.iter().enumerate().map(|(tensor, shape)| {
                let values: Vec<&DynValue> =
                    blocks.iter().filter_map(|block| block.values.get(tensor)).collect();
                graphs.copy(&values, &sources, shape.half)
            });
            copies.collect::<Result<_>>()?
        }
    };
    let rows = caches.iter().map(|cache| Row::default().and(length - cache.length..length)).collect();
    Ok(Arc::new(Block::new(length, rows, values)))
}

/// Returns the blocks that hold the caches, and the rows and positions to copy from each. Consecutive caches share a
/// source if they are rows of the same block and use the same positions.
fn sources<'a>(caches: &[&'a Cache], length: usize) -> (Vec<&'a Arc<Block>>, Vec<Source>) {
    let (mut blocks, mut sources): (Vec<&Arc<Block>>, Vec<Source>) = (Vec::new(), Vec::new());
    for cache in caches {
        let row = cache.row as i64;
        let positions: Vec<i64> = cache.positions().map(|position| position as i64).collect();
        let same = blocks.last().is_some_and(|block| Arc::ptr_eq(block, &cache.block));
        match sources.last_mut() {
            Some(last) if same && last.positions == positions => last.rows.push(row),
            _ => {
                blocks.push(&cache.block);
                sources.push(Source { rows: vec![row], positions, padding: length - cache.length });
            }
        }
    }
    (blocks, sources)
}

/// Copies tensor number `tensor` of each cache into one tensor of `length` positions. Each cache fills the last
/// positions of its row, after zeros.
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
        let ranges: Vec<Range<usize>> =
            cache.positions().fold(Row::default(), |row, position| row.and(position..position + 1)).0;
        for number in cache.row * heads..(cache.row + 1) * heads {
            let head = number * cache.block.length;
            let to = heads_copied.next().ok_or_else(short)?;
            let (zeros, mut to) = to.split_at_mut((length - cache.length) * size);
            zeros.fill(T::default());
            for range in &ranges {
                let from = (head + range.start) * size..(head + range.end) * size;
                let (part, rest) = to.split_at_mut(from.len());
                part.copy_from_slice(all.get(from).ok_or_else(short)?);
                to = rest;
            }
        }
    }
    Ok(copy.into_dyn())
}
