//! Programs that show how grammata is used: `cargo run --example NAME`. There is nothing in this library.
