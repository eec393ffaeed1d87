//! Schemas: a generator for each keyword and shape.

use crate::growth;
use grammata::syntax::json_schema::{Options, compile};
use grammata_testing::growth::Order;

/// Doubling sizes, in numbers of members, items and the like.
const SIZES: [usize; 4] = [2_000, 4_000, 8_000, 16_000];

/// Compiles generated schemas of doubling sizes.
fn grows(name: &str, order: Order, schema: impl Fn(usize) -> String) {
    growth(name, order, SIZES, schema, |schema| compile(schema, &Options::default()));
}

/// Returns `part(0),part(1),…`.
fn list(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(",")
}

#[test]
fn members() {
    grows("properties", Order::Linear, |n| {
        format!(r#"{{"properties":{{{}}}}}"#, list(n, |n| format!(r#""m{n}":{{"type":"integer"}}"#)))
    });
}
