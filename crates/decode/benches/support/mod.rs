//! What the benches generate: schemas and requests.

/// Schemas of small objects and lists.
pub(crate) const SCHEMAS: [&str; 8] = [
    r#"{"type":"object","properties":{"name":{"type":"string","maxLength":40},"age":{"type":"integer","minimum":0}},"required":["name","age"],"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"array","items":{"type":"object","properties":{"date":{"type":"string","format":"date"},"high":{"type":"number"}},"required":["date","high"],"additionalProperties":false},"maxItems":4}},"required":["city","days"],"additionalProperties":false}"#,
    r#"{"type":"array","items":{"type":"string","maxLength":12},"minItems":3,"maxItems":8}"#,
    r#"{"type":"object","properties":{"title":{"type":"string"},"tags":{"type":"array","items":{"enum":["red","green","blue"]}},"draft":{"type":"boolean"}},"required":["title","tags","draft"],"additionalProperties":false}"#,
    r#"{"type":"object","properties":{"id":{"type":"string","format":"uuid"},"price":{"type":"number"},"stock":{"type":"integer"}},"required":["id","price","stock"],"additionalProperties":false}"#,
    r#"{"anyOf":[{"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"box"},"w":{"type":"number"},"h":{"type":"number"}},"required":["kind","w","h"],"additionalProperties":false}]}"#,
    r#"{"type":"object","additionalProperties":{"type":"string"},"minProperties":1,"maxProperties":4}"#,
    r#"{"type":"object","properties":{"email":{"type":"string","format":"email"},"note":{"type":"string","maxLength":80}},"required":["email","note"],"additionalProperties":false}"#,
];

/// Requests of different lengths, so that the sequences of a batch are of different lengths, too.
pub(crate) const PROMPTS: [&str; 4] = [
    "Write a record as JSON.",
    "You fill in forms. Answer with one JSON value and nothing else. The form is about someone whom you have met on a long journey.",
    "Invent plausible data in JSON for a test of a web shop.",
    "JSON, please:",
];
