//! Random schemas whose keywords overlap: divisors under patterns that match the same names, required names under
//! nested patterns, alternatives of patterns that may match anywhere, and many choices that exclude each other. Their
//! times to the first mask show what the algebra of a front end costs; they have no instances.

use super::data::Schema;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::{Map, Value, json};

/// The number of schemas.
const COUNT: u64 = 1_000;

const NAMES: &[&str] =
    &["a", "b", "ab", "abc", "x1", "x2", "id", "name", "kind", "type", "value", "item_1", "cfg", "port"];
const PATTERNS: &[&str] = &[
    "a",
    "b",
    "^a",
    "b$",
    "^x",
    "[0-9]",
    "^[a-z]+$",
    "_",
    "e",
    "^.{2,4}$",
    "id|name",
    "^(a|b)",
    "[a-c][0-9]?",
    "n.*e",
    "^[^_]*$",
    "x?y",
    "^x-",
    r"\d{2,}",
    "^[A-Z][a-z]*$",
    "-",
    r"^\w+$",
    "t.p",
];
const TEXTS: &[&str] = &[
    "^[a-f0-9]{8}$",
    "https?://",
    r"^\d{4}-\d{2}",
    r"\.js$",
    r"\.tsx?$",
    "[A-Z]{2,}",
    "(ab)+",
    "^.*@.*$",
    "a.*b.*c",
    "^[a-z]+(-[a-z]+)*$",
    "[aeiou]{2}",
    r"^(?:\d+\.){3}\d+$",
    r"\s",
    "UTC|Africa/[A-Za-z]+",
    "[^a-z]",
    "^.{3,}$",
    "x{2,5}y",
    "(a|b)*c",
    "foo",
    "bar",
    "[0-9]+[a-z]+[0-9]+",
];
const DIVISORS: &[&str] =
    &["2", "3", "5", "7", "0.5", "0.25", "0.01", "0.1", "6", "10", "12", "11", "13", "100", "15", "1", "0.3"];

/// Returns all schemas, the same in each run.
pub(crate) fn all() -> impl Iterator<Item = Schema> {
    (0..COUNT).map(|seed| {
        let mut random = Random(ChaCha8Rng::seed_from_u64(seed));
        let (kind, schema) = match seed % 6 {
            0 => ("any", random.schema(3)),
            1 => ("choices", random.choices()),
            2 => ("divisors", random.divisors()),
            3 => ("patterns", random.patterns()),
            4 => ("nested", random.nested(1)),
            _ => ("nested", random.nested(2)),
        };
        Schema { id: format!("{kind}-{seed}"), text: schema.to_string(), tests: Vec::new() }
    })
}

struct Random(ChaCha8Rng);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    /// Whether something with this chance in ten happens.
    fn tenths(&mut self, chance: usize) -> bool {
        self.below(10) < chance
    }

    fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Returns one to `most` elements, with repetitions.
    fn some<T: Copy>(&mut self, list: &[T], most: usize) -> Vec<T> {
        (0..=self.below(most)).map(|_| self.one(list)).collect()
    }

    fn list(&mut self, most: usize, mut make: impl FnMut(&mut Random) -> Value) -> Vec<Value> {
        (0..2 + self.below(most - 1)).map(|_| make(self)).collect()
    }

    fn names(&mut self) -> Vec<&'static str> {
        let mut names = self.some(NAMES, 4);
        names.sort_unstable();
        names.dedup();
        names
    }

    fn members(&mut self, keys: &[&str], most: usize, make: impl Fn(&mut Random) -> Value) -> Value {
        let keys = self.some(keys, most);
        keys.into_iter().map(|key| (key.to_owned(), make(self))).collect::<Map<_, _>>().into()
    }

    fn divisor(&mut self) -> Value {
        serde_json::from_str(self.one(DIVISORS)).expect("a number")
    }

    fn number(&mut self) -> Value {
        let mut number = json!({"multipleOf": self.divisor()});
        match self.below(6) {
            0 => number["minimum"] = self.one(&[-100, 0, 1]).into(),
            1 => number["maximum"] = self.one(&[10, 1000, 65_535]).into(),
            2 => number["not"] = json!({"multipleOf": self.divisor()}),
            3 => return json!({"type": "integer"}),
            _ => {}
        }
        number
    }

    fn string(&mut self) -> Value {
        let pattern = |random: &mut Random| json!({"type": "string", "pattern": random.one(TEXTS)});
        match self.below(5) {
            0 => json!({"type": "string", "maxLength": self.one(&[3, 10, 40])}),
            1 => json!({"type": "string", "not": {"pattern": self.one(TEXTS)}}),
            2 => json!({"oneOf": self.list(5, pattern)}),
            _ => pattern(self),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut object = json!({"type": "object"});
        if self.tenths(7) {
            object["properties"] = self.members(NAMES, 5, |random| random.schema(depth - 1));
        }
        if self.tenths(5) {
            object["patternProperties"] = self.members(PATTERNS, 3, |random| random.schema(depth - 1));
        }
        if self.tenths(6) {
            object["required"] = self.names().into();
        }
        match self.below(4) {
            0 => object["additionalProperties"] = false.into(),
            1 => object["additionalProperties"] = self.schema(depth - 1),
            _ => {}
        }
        object
    }

    fn schema(&mut self, depth: usize) -> Value {
        if depth == 0 || self.tenths(3) {
            return match self.below(3) {
                0 => self.number(),
                1 => json!({"const": self.one(NAMES)}),
                _ => self.string(),
            };
        }
        let inner = |random: &mut Random| random.schema(depth - 1);
        match self.below(8) {
            0 => json!({"type": "array", "items": inner(self)}),
            1 => json!({"not": inner(self)}),
            2 => json!({"if": inner(self), "then": inner(self), "else": inner(self)}),
            3 => json!({"oneOf": self.list(6, inner)}),
            4 => json!({"allOf": self.list(3, inner)}),
            _ => self.object(depth),
        }
    }

    /// Returns an object with many `oneOf` whose alternatives exclude each other.
    fn choices(&mut self) -> Value {
        let choice = |random: &mut Random| {
            let (kind, tag) = (random.below(3), random.one(&["kind", "type", "id"]));
            let alternatives = random.list(8, |random| match kind {
                0 => json!({"required": [random.one(NAMES)]}),
                1 => json!({"properties": {tag: {"pattern": random.one(TEXTS)}}, "required": [tag]}),
                _ => random.object(1),
            });
            json!({"oneOf": alternatives})
        };
        json!({"type": "object", "allOf": self.list(8, choice)})
    }

    /// Returns numbers with divisors under patterns that match the same names.
    fn divisors(&mut self) -> Value {
        let mut object = json!({"patternProperties": self.members(PATTERNS, 7, Random::number)});
        if self.tenths(5) {
            object["properties"] = self.members(NAMES, 5, Random::number);
        }
        if self.tenths(5) {
            object["required"] = self.names().into();
        }
        object
    }

    /// Returns alternatives of patterns, exactly one of which matches.
    fn patterns(&mut self) -> Value {
        json!({"oneOf": self.list(11, |random| json!({"type": "string", "pattern": random.one(TEXTS)}))})
    }

    /// Returns objects with required names under patterns, inside each other.
    fn nested(&mut self, depth: usize) -> Value {
        let inner = |random: &mut Random| match depth {
            0 => random.number(),
            _ => random.nested(depth - 1),
        };
        let mut object =
            json!({"required": self.names(), "patternProperties": self.members(PATTERNS, 4, inner)});
        if self.tenths(3) {
            object["additionalProperties"] = false.into();
        }
        object
    }
}
