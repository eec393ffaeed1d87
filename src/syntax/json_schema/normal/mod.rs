//! Normal forms: from the table of schemas to [conjunctions](conjunctions) with a shape each.
//!
//! First, passes change the table of schemas:
//!
//! - `closing`: objects and arrays get no further members and items, if the options say so.
//! - `unevaluated`: `unevaluatedProperties` and `unevaluatedItems` become schemas of further members and items.
//! - `rewrite`: negations, exclusive alternatives, conditions and dependencies become `allOf` and `anyOf`.
//! - `cycles`: no schema refers to itself without a member or an item between.
//!
//! Then the conjunctions get their shapes, over the [state](normalizer) that the files share:
//!
//! - `merge` joins the assertions on one value by type, with `items` for arrays and `members` and `some_members` for
//!   objects; `conditional` describes an object by conditions on its members.
//! - `combine` chooses among alternatives; `empty` and `exclusive` find contradictions, `matching` and `cubes` the
//!   classes of names, `validate` whether a given value satisfies schemas.
//!
//! Last, `satisfiable` finds the conjunctions that have a value.

pub(super) mod closing;
mod combine;
mod conditional;
pub(super) mod conjunction;
pub(super) mod conjunctions;
mod cubes;
pub(super) mod cycles;
mod empty;
mod exclusive;
mod items;
mod matching;
mod members;
mod merge;
mod normalizer;
pub(super) mod rewrite;
pub(super) mod satisfiable;
pub(super) mod shape;
mod some_members;
pub(super) mod unevaluated;
mod unfold;
mod validate;
