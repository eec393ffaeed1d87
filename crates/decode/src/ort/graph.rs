//! Graphs of ONNX operators that are built here and run on the device of a model.

use super::errors;
use super::session::Runtime;
use grammata::error::Result;
use ort::editor::{Graph, Model, Node, ONNX_DOMAIN, Opset};
use ort::memory::Allocator;
use ort::operator::Attribute;
use ort::session::{IoBinding, Session};
use ort::value::{
    Outlet, PrimitiveTensorElementType, Shape, SymbolicDimensions, Tensor, TensorElementType, ValueType,
};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::Hash;

/// The version of ONNX's operator set that the graphs use.
const OPSET: u32 = 17;

/// The name of a value in a graph.
pub(super) type Name = String;

/// A graph that is built one operator at a time. Results of operators and constants are named by the order in which
/// they are created.
pub(super) struct GraphBuilder {
    graph: Graph,
    inputs: Vec<Outlet>,
    outputs: Vec<Outlet>,
    values: usize,
}

impl GraphBuilder {
    pub(super) fn new() -> ort::Result<GraphBuilder> {
        Ok(GraphBuilder { graph: Graph::new()?, inputs: Vec::new(), outputs: Vec::new(), values: 0 })
    }

    /// Adds an input. A dimension of -1 may have any length.
    pub(super) fn input(&mut self, name: &str, kind: TensorElementType, shape: &[i64]) -> Name {
        self.inputs.push(outlet(name, kind, shape));
        name.to_owned()
    }

    /// Makes the value named `value` the output `name`.
    pub(super) fn output(
        &mut self,
        name: &str,
        value: &str,
        kind: TensorElementType,
        shape: &[i64],
    ) -> ort::Result<()> {
        self.graph.add_node(Node::new("Identity", ONNX_DOMAIN, name, [value], [name], [])?)?;
        self.outputs.push(outlet(name, kind, shape));
        Ok(())
    }

    pub(super) fn constant<T: PrimitiveTensorElementType + Copy + Debug + 'static>(
        &mut self,
        shape: &[i64],
        values: &[T],
    ) -> ort::Result<Name> {
        let name = self.fresh();
        let mut tensor = Tensor::<T>::new(&Allocator::default(), Shape::new(shape.iter().copied()))?;
        tensor.extract_tensor_mut().1.copy_from_slice(values);
        self.graph.add_initializer(&name, tensor, false)?;
        Ok(name)
    }

    /// Adds an operator and returns the name of its first result.
    pub(super) fn op<const N: usize>(
        &mut self,
        operator: &str,
        inputs: [&str; N],
        attributes: Vec<Attribute>,
    ) -> ort::Result<Name> {
        self.op_of(operator, &inputs, attributes)
    }

    /// Like [`op`](GraphBuilder::op), for any number of inputs.
    pub(super) fn op_of(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> ort::Result<Name> {
        let name = self.fresh();
        // `TopK` has a second output, which must be named
        let others = if operator == "TopK" { vec![format!("{name}places")] } else { Vec::new() };
        let outputs: Vec<&str> = [&name].into_iter().chain(&others).map(String::as_str).collect();
        self.graph.add_node(Node::new(operator, ONNX_DOMAIN, &name, inputs, outputs, attributes)?)?;
        Ok(name)
    }

    fn fresh(&mut self) -> Name {
        self.values += 1;
        format!("v{}", self.values)
    }

    /// Creates a session that runs the graph on the device of `runtime`.
    pub(super) fn session(mut self, runtime: &Runtime) -> Result<Session> {
        let finish = move || -> ort::Result<Model> {
            self.graph.set_inputs(self.inputs)?;
            self.graph.set_outputs(self.outputs)?;
            let mut model = Model::new([Opset::new(ONNX_DOMAIN, OPSET)?])?;
            model.set_graph(self.graph)?;
            Ok(model)
        };
        let builder = runtime.builder().map_err(errors::run)?;
        finish().and_then(|model| model.into_session(&builder)).map_err(errors::run)
    }
}

/// Sessions of graphs on the device of a model, by the kind of graph. Each is created on first use.
#[derive(Debug)]
pub(super) struct Graphs<K> {
    runtime: Runtime,
    made: FxHashMap<K, (Session, IoBinding)>,
}

impl<K: Copy + Eq + Hash> Graphs<K> {
    pub(super) fn new(runtime: Runtime) -> Graphs<K> {
        Graphs { runtime, made: FxHashMap::default() }
    }

    /// Returns the session of a kind and its binding. If there is none yet, it is created from the graph that `build`
    /// returns.
    pub(super) fn get(
        &mut self,
        kind: K,
        build: impl FnOnce() -> ort::Result<GraphBuilder>,
    ) -> Result<&mut (Session, IoBinding)> {
        match self.made.entry(kind) {
            Entry::Occupied(made) => Ok(made.into_mut()),
            Entry::Vacant(place) => {
                let session = build().map_err(errors::run)?.session(&self.runtime)?;
                let binding = session.create_binding().map_err(errors::run)?;
                Ok(place.insert((session, binding)))
            }
        }
    }
}

fn outlet(name: &str, kind: TensorElementType, shape: &[i64]) -> Outlet {
    let symbols = SymbolicDimensions::empty(shape.len());
    let shape = Shape::new(shape.iter().copied());
    Outlet::new(name, ValueType::Tensor { ty: kind, shape, dimension_symbols: symbols })
}

/// Creates an attribute that is one integer.
pub(super) fn whole(name: &str, value: i64) -> ort::Result<Attribute> {
    Attribute::new(name, value)
}
