//! Copies caches on the device that holds them.

use super::errors;
use super::graph::{GraphBuilder, Graphs, whole};
use super::session::Runtime;
use grammata::error::Result;
use ort::memory::MemoryInfo;
use ort::value::{DynValue, Tensor, TensorElementType};

/// The rows and positions to copy from one block of caches.
#[derive(Debug)]
pub(super) struct Source {
    /// Indices of the rows of the block, in the order of the copy.
    pub(super) rows: Vec<i64>,
    /// The positions to copy of each row, in ascending order.
    pub(super) positions: Vec<i64>,
    /// Number of positions of zeros to insert before the copied ones.
    pub(super) padding: usize,
}

/// Runs graphs that select positions of caches and combine rows of several blocks. There is one graph for each number
/// of sources and type of float, built on first use.
#[derive(Debug)]
pub(super) struct GraphCopier {
    memory: MemoryInfo<'static>,
    graphs: Graphs<(usize, bool)>,
}

impl GraphCopier {
    pub(super) fn new(runtime: Runtime) -> Result<GraphCopier> {
        Ok(GraphCopier { memory: runtime.memory()?, graphs: Graphs::new(runtime) })
    }

    /// Copies the positions and rows of each source into one tensor, one source after the other. `values` holds a
    /// tensor for each source, of shape `[rows, heads, positions, size]`, with 16-bit floats if `half` is set,
    /// otherwise 32-bit floats.
    ///
    /// # Errors
    /// A failure of the device.
    pub(super) fn copy(&mut self, values: &[&DynValue], sources: &[Source], half: bool) -> Result<DynValue> {
        let parts = values.len();
        let (session, binding) = self.graphs.get((parts, half), || build(parts, half))?;
        let mut run = || -> ort::Result<DynValue> {
            for (number, (value, source)) in values.iter().zip(sources).enumerate() {
                binding.bind_input(format!("cache{number}"), value)?;
                let rows = Tensor::from_array(([source.rows.len()], source.rows.clone()))?;
                binding.bind_input(format!("rows{number}"), &rows)?;
                let mut bind = |name: &str, numbers: Vec<i64>| {
                    let numbers = Tensor::from_array(([numbers.len()], numbers))?;
                    binding.bind_input(format!("{name}{number}"), &numbers)
                };
                let padding = source.padding as i64;
                bind("positions", source.positions.clone())?;
                bind("padding", vec![0, 0, padding, 0, 0, 0, 0, 0])?;
            }
            binding.bind_output_to_device("copy", &self.memory)?;
            let mut outputs = session.run_binding(binding)?;
            outputs.remove("copy").ok_or_else(|| ort::Error::new("the graph gave no copy"))
        };
        let copy = run().map_err(errors::run);
        // the binding would keep the caches in memory
        binding.clear();
        copy
    }
}

/// Builds the graph that copies from `parts` tensors of 16-bit floats if `half` is set, otherwise of 32-bit floats.
fn build(parts: usize, half: bool) -> ort::Result<GraphBuilder> {
    let kind = if half { TensorElementType::Float16 } else { TensorElementType::Float32 };
    let any = [-1, -1, -1, -1];
    let mut g = GraphBuilder::new()?;
    let mut copies = Vec::with_capacity(parts);
    for part in 0..parts {
        let cache = g.input(&format!("cache{part}"), kind, &any);
        let mut numbers =
            |name: &str, count| g.input(&format!("{name}{part}"), TensorElementType::Int64, &[count]);
        let (rows, positions) = (numbers("rows", -1), numbers("positions", -1));
        let padding = numbers("padding", 8);
        let picked = g.op("Gather", [&cache, &rows], vec![whole("axis", 0)?])?;
        let picked = g.op("Gather", [&picked, &positions], vec![whole("axis", 2)?])?;
        copies.push(g.op("Pad", [&picked, &padding], vec![])?);
    }
    let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
    let copy = g.op_of("Concat", &copies, vec![whole("axis", 0)?])?;
    g.output("copy", &copy, kind, &any)?;
    Ok(g)
}
