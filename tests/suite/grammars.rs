//! The shipped grammars: placeholder until the specs are written.
