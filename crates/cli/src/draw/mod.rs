//! Draws graphs in the language of Graphviz as SVG.

pub(crate) mod canvas;
pub(crate) mod svg;
