//! Reading: from the text of a schema to the table of schemas.

pub(super) mod draft;
pub(super) mod keywords;
pub(super) mod other;
pub(super) mod policies;
pub(super) mod reader;
pub(super) mod refs;
pub(super) mod resources;
pub(super) mod scope;
pub(super) mod source;
pub(super) mod uri;
