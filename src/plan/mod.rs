//! Plans: words of an automaton over actions instead of bytes.
//!
//! A plan spec is an automaton spec ([`Spec`](crate::syntax::automaton_spec::Spec)) whose symbols are actions. It is
//! lowered over action codes to the same automaton that makes masks ([`PlanAutomaton`]), and registers beside the
//! configuration hold how often actions came and what they require.

mod automaton;
mod count;
mod errors;
mod lookahead;
mod registers;

pub use automaton::{PlanAutomaton, PlanState, Position};
pub use lookahead::Outlook;
