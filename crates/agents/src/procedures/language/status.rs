//! The status of nodes.

/// The status of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The node was not called or said, or was taken back.
    #[default]
    No,
    /// The last answer of the API was a result; or the answer was said.
    Ok,
    /// The last answer of the API was an error.
    Error,
}
