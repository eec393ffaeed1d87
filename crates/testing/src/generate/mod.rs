//! Random grammars, vocabularies, words, schemas and documents, all drawn from a string of bytes.
//!
//! Property tests produce the bytes with proptest, which also shrinks them; fuzzing supplies its own. When the bytes
//! run out they read as zero, and zero is always the simplest choice. So every string of bytes is valid, generation
//! terminates, and a shorter string makes a simpler case.

mod choices;
mod finite;
mod grammar;
mod object_schema;
mod schema;

mod vocabulary;
mod words;

pub use choices::Choices;
pub use finite::{FiniteSchema, random_finite_schema};
pub use grammar::{GrammarShape, random_grammar};
pub use object_schema::{random_object, random_object_schema};
pub use schema::{random_document, random_schema};
pub use vocabulary::{RandomVocabulary, name_specials, random_vocabulary};
pub use words::{random_symbols, random_tokenisation, random_word};
