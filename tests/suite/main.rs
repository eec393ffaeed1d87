//! The one test binary: a module for each topic.

mod automaton_spec;
mod grammars;
mod naive;
