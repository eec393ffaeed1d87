//! The status of nodes.

/// The status of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The API was not answered, or the answer was not said; or the node was taken back.
    #[default]
    No,
    /// The last answer of the API was a result; or the answer was said.
    Ok,
    /// The last answer of the API was an error.
    Error,
}
