//! The published decoder of ToolDec, rebuilt (arXiv 2310.07075, and its code for ReAct), with its faults. Other arms
//! are compared with it.
//!
//! Text is free until a token `Action` is chosen. Fixed sections, a name and the arguments follow, each checked by
//! decoding all text of the section so far. Tokens of arguments are tried in descending order of the logits, and the
//! first one is taken after which the text can still become arguments. The end of the sequence adds no text, so it is
//! always possible.

use grammata::error::Result;
use grammata::vocabulary::{TokenId, Vocabulary};
use grammata_decode::{
    Feed, FinishReason, Generation, Model, OutputStatus, Rows, Sampler, SamplingParams, Timings,
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The section of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Section {
    Free,
    /// After a token `Action`, or after a name: this text must be completed, and a token `:` ends it.
    Fixed(&'static str),
    Name,
    Arguments,
}

/// The decoder's state.
pub(super) struct Published<'v> {
    vocabulary: &'v Vocabulary,
    prefixes: BTreeSet<String>,
    schemas: Vec<(String, Value)>,
    section: Section,
    /// The called tool, with the space before its name.
    called: String,
    /// The bytes since the section began.
    text: Vec<u8>,
    /// Whether the parser met a schema that it has no case for.
    is_exception: bool,
}

impl<'v> Published<'v> {
    pub(super) fn new(
        vocabulary: &'v Vocabulary,
        tools: impl IntoIterator<Item = (String, Value)>,
    ) -> Published<'v> {
        let schemas: Vec<(String, Value)> =
            tools.into_iter().map(|(name, schema)| (format!(" {name}"), schema)).collect();
        let prefixes = schemas
            .iter()
            .flat_map(|(name, _)| {
                (0..=name.len())
                    .filter(|&end| name.is_char_boundary(end))
                    .map(move |end| name[..end].to_owned())
            })
            .collect();
        Published {
            vocabulary,
            prefixes,
            schemas,
            section: Section::Free,
            called: String::new(),
            text: Vec::new(),
            is_exception: false,
        }
    }

    /// Returns the next token; `None` if no token fits. Greedy decoding takes the fitting token with the greatest
    /// logit. Sampling draws from all fitting tokens, but for arguments from all tokens that are not more probable than
    /// the first fitting one: the others among them may be wrong.
    fn choose(&mut self, logits: &[f32], sampler: &mut Sampler) -> Result<Option<u32>> {
        let mut order: Vec<u32> = (0..logits.len() as u32).collect();
        order.sort_by(|a, b| logits[*b as usize].total_cmp(&logits[*a as usize]));
        let Some(first) = order.iter().position(|&token| self.fits(token)) else { return Ok(None) };
        if sampler.settings().temperature == 0.0 {
            return Ok(Some(order[first]));
        }
        let mut mask = vec![0_u32; logits.len().div_ceil(32)];
        for &token in &order[first..] {
            if self.section == Section::Arguments || self.fits(token) {
                mask[token as usize / 32] |= 1 << (token % 32);
            }
        }
        sampler.sample(logits, Some(&mask)).map(Some)
    }

    fn fits(&mut self, token: u32) -> bool {
        let id = TokenId::new(token);
        let Some(bytes) = self.vocabulary.bytes(id) else { return self.section == Section::Free };
        let is_end = self.vocabulary.is_eos(id);
        let bytes: &[u8] = if is_end || self.vocabulary.special(id).is_some() { b"" } else { bytes };
        let mut next = self.text.clone();
        next.extend_from_slice(bytes);
        let text = String::from_utf8_lossy(&next);
        match &self.section {
            Section::Free => true,
            Section::Fixed(whole) => !bytes.is_empty() && whole.starts_with(text.as_ref()),
            Section::Name => {
                let name = String::from_utf8_lossy(&self.text);
                let is_whole = self.schemas.iter().any(|(known, _)| *known == name);
                (bytes == b"\n" && is_whole) || (!bytes.is_empty() && self.prefixes.contains(text.as_ref()))
            }
            Section::Arguments => {
                if is_end {
                    return true;
                }
                if bytes.is_empty() || text.ends_with("  ") {
                    return false;
                }
                let Some((_, schema)) = self.schemas.iter().find(|(known, _)| *known == self.called) else {
                    return false;
                };
                let root = Parser { root: schema };
                match root.value(&text, schema, 0) {
                    Step::Exception => {
                        self.is_exception = true;
                        true
                    }
                    Step::Whole(rest) => rest.is_empty(),
                    Step::Open => true,
                    Step::Wrong => false,
                }
            }
        }
    }

    /// Advances the state by a token.
    fn accept(&mut self, token: u32) {
        let bytes = self.vocabulary.bytes(TokenId::new(token)).unwrap_or_default();
        self.text.extend_from_slice(bytes);
        let name = String::from_utf8_lossy(&self.text).into_owned();
        match &self.section {
            Section::Free if bytes == b"Action" => {
                self.section = Section::Fixed("Action:");
                self.text = b"Action".to_vec();
            }
            Section::Free => self.text.clear(),
            Section::Fixed("Action:") if bytes == b":" => {
                self.section = Section::Name;
                self.text.clear();
            }
            Section::Fixed(_) if bytes == b":" => {
                self.section = Section::Arguments;
                self.text.clear();
            }
            Section::Name if bytes == b"\n" => {
                self.called = name.trim_end_matches('\n').to_owned();
                self.section = Section::Fixed("Action Input:");
                self.text.clear();
            }
            _ => {}
        }
    }

    /// Generates an output. Also returns whether the parser had no case for the schema.
    ///
    /// # Errors
    /// Errors of the model and the sampler.
    pub(super) fn generate(
        mut self,
        prompt: &[u32],
        max_tokens: usize,
        sampling: SamplingParams,
        model: &mut dyn Model,
    ) -> Result<(Generation, bool)> {
        let mut sampler = Sampler::new(sampling)?;
        let sequence = model.open()?;
        let mut tokens: Vec<u32> = Vec::new();
        let mut pending = prompt.to_vec();
        let mut finish = FinishReason::EndOfSequence;
        let mut steps = 0;
        let mut buffer = Vec::new();
        let outcome = loop {
            if tokens.len() >= max_tokens {
                finish = FinishReason::TokenLimit { limit: max_tokens, status: OutputStatus::Unconstrained };
                break Ok(());
            }
            let fed = model.feed(&[Feed { sequence, tokens: &pending, rows: Rows::Last }]);
            let chosen = fed.and_then(|logits| self.choose(logits.row(0, &mut buffer)?, &mut sampler));
            steps += 1;
            let chosen = match chosen {
                Ok(chosen) => chosen,
                Err(error) => break Err(error),
            };
            let Some(token) = chosen.filter(|token| !self.vocabulary.is_eos(TokenId::new(*token))) else {
                break Ok(());
            };
            if self.is_exception {
                break Ok(());
            }
            self.accept(token);
            tokens.push(token);
            pending = vec![token];
        };
        model.close(sequence);
        outcome?;
        let bytes: Vec<u8> = tokens
            .iter()
            .flat_map(|token| self.vocabulary.bytes(TokenId::new(*token)).unwrap_or_default().to_vec())
            .collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let timings = Timings { model_steps: steps, tokens: tokens.len(), ..Timings::default() };
        let (log_probabilities, refused_mass) = (Vec::new(), Vec::new());
        let generation =
            Generation { text, tokens, log_probabilities, refused_mass, exact: None, finish, timings };
        Ok((generation, self.is_exception))
    }
}

/// The result of reading a value at the start of a text.
enum Step<'t> {
    /// A value, and the text after it.
    Whole(&'t str),
    /// The text ends within a value.
    Open,
    Wrong,
    /// The parser has no case for the schema, or schemas are nested more than [`DEPTH`] deep.
    Exception,
}

struct Parser<'s> {
    root: &'s Value,
}

/// The most levels of nested schemas; the text is short, but a schema may refer to itself.
const DEPTH: u32 = 40;

impl<'s> Parser<'s> {
    fn value<'t>(&self, text: &'t str, schema: &'s Value, depth: u32) -> Step<'t> {
        if depth > DEPTH {
            return Step::Exception;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let target =
                reference.strip_prefix("#/definitions/").and_then(|name| self.root["definitions"].get(name));
            return target.map_or(Step::Exception, |target| self.value(text, target, depth + 1));
        }
        if let Some(values) = schema["enum"].as_array() {
            return listed(text, values);
        }
        if let Some(list) = schema["anyOf"].as_array() {
            let mut best = Step::Wrong;
            for one in list {
                match (self.value(text, one, depth + 1), &best) {
                    (Step::Exception, _) => return Step::Exception,
                    (Step::Whole(rest), _) => return Step::Whole(rest),
                    (Step::Open, Step::Wrong) => best = Step::Open,
                    _ => {}
                }
            }
            return best;
        }
        match schema["type"].as_str() {
            Some("string") => string(text.trim_start()),
            Some("integer" | "number") => number(text),
            Some("array") if schema["items"].is_object() => {
                self.array(text.trim_start(), &schema["items"], depth)
            }
            Some("object") => match (schema["properties"].as_object(), schema["required"].as_array()) {
                (Some(properties), Some(required)) => {
                    self.object(text.trim_start(), properties, required, depth)
                }
                _ => Step::Exception,
            },
            _ => Step::Exception,
        }
    }

    fn array<'t>(&self, text: &'t str, items: &'s Value, depth: u32) -> Step<'t> {
        if text.is_empty() {
            return Step::Open;
        }
        let Some(mut rest) = text.strip_prefix('[') else { return Step::Wrong };
        if let Some(after) = rest.trim_start().strip_prefix(']') {
            return Step::Whole(after);
        }
        loop {
            rest = match self.value(rest, items, depth + 1) {
                Step::Whole(rest) => rest.trim_start(),
                other => return other,
            };
            match rest.chars().next() {
                None => return Step::Open,
                Some(']') => return Step::Whole(&rest[1..]),
                Some(',') => rest = rest[1..].trim_start(),
                Some(_) => return Step::Wrong,
            }
            if rest.is_empty() {
                return Step::Open;
            }
        }
    }

    fn object<'t>(
        &self,
        text: &'t str,
        properties: &'s Map<String, Value>,
        required: &[Value],
        depth: u32,
    ) -> Step<'t> {
        if text.is_empty() {
            return Step::Open;
        }
        let Some(mut rest) = text.strip_prefix('{') else { return Step::Wrong };
        let mut seen: Vec<&str> = Vec::new();
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return Step::Open;
            }
            let names = properties.keys().filter(|name| !seen.contains(&name.as_str()));
            let quoted = names
                .map(|name| (name, format!("\"{name}\":")))
                .find(|(_, quoted)| quoted.starts_with(rest) || rest.starts_with(quoted.as_str()));
            let Some((name, quoted)) = quoted else { return Step::Wrong };
            let Some(after) = rest.strip_prefix(quoted.as_str()) else { return Step::Open };
            seen.push(name);
            let Some(schema) = properties.get(name) else { return Step::Wrong };
            rest = match self.value(after, schema, depth + 1) {
                Step::Whole(rest) => rest.trim_start(),
                other => return other,
            };
            match rest.chars().next() {
                None => return Step::Open,
                Some(',') => rest = &rest[1..],
                Some('}') => {
                    let has_all = required.iter().filter_map(Value::as_str).all(|name| seen.contains(&name));
                    return if has_all { Step::Whole(&rest[1..]) } else { Step::Wrong };
                }
                Some(_) => return Step::Wrong,
            }
        }
    }
}

fn listed<'t>(text: &'t str, values: &[Value]) -> Step<'t> {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    if let Some(whole) = texts.iter().find(|one| text.starts_with(one.as_str())) {
        return Step::Whole(&text[whole.len()..]);
    }
    if texts.iter().any(|one| one.starts_with(text)) { Step::Open } else { Step::Wrong }
}

/// Reads a string: any text between quotes.
fn string(text: &str) -> Step<'_> {
    if text.is_empty() {
        return Step::Open;
    }
    let Some(inner) = text.strip_prefix('"') else { return Step::Wrong };
    let mut is_escaped = false;
    for (at, c) in inner.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Step::Whole(&inner[at + 1..]),
            _ => {}
        }
    }
    Step::Open
}

/// Reads a number: digits and points.
fn number(text: &str) -> Step<'_> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    match (end, text.len()) {
        (_, 0) => Step::Open,
        (0, _) => Step::Wrong,
        (end, length) if end == length => Step::Open,
        (end, _) => Step::Whole(&text[end..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammata::vocabulary::VocabularyBuilder;
    use serde_json::json;

    /// Checks which texts the published parser accepts and refuses, partial and complete ones.
    #[test]
    fn the_parser_has_the_published_faults() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {
            "n": {"type": "integer"}, "s": {"type": "string"}, "e": {"enum": ["x"]}, "b": {"type": "boolean"}}});
        let fits = |text: &str| match (Parser { root: &schema }).value(text, &schema, 0) {
            Step::Whole(rest) => {
                if rest.is_empty() {
                    "whole"
                } else {
                    "wrong"
                }
            }
            Step::Open => "open",
            Step::Wrong => "wrong",
            Step::Exception => "exception",
        };
        for (text, expected) in [
            ("{\"n\":5}", "whole"),
            ("{\"n\":007}", "whole"),
            ("{\"n\":5.5}", "whole"),
            ("{\"n\":.", "open"),
            ("{\"n\":-5}", "wrong"),
            ("{\"n\":5e3}", "wrong"),
            ("{\"n\": 5}", "wrong"),
            ("{\"s\": \"a\nb\\q", "open"),
            ("{\"e\": \"x\"", "wrong"),
            ("{\"e\":\"x\"", "open"),
            ("{}", "wrong"),
            ("{\"s\":\"a\"}", "wrong"),
            ("{\"n\":1,\"n\"", "wrong"),
            ("{\"b\":", "exception"),
            ("{\"n\":1} ", "wrong"),
        ] {
            assert_eq!(fits(text), expected, "{text}");
        }
    }

    /// In arguments, a token less probable than the first fitting one may be wrong; elsewhere only fitting tokens are
    /// drawn.
    #[test]
    fn draws_are_masked_as_published() {
        let bytes = (0..=255_u8).map(|byte| vec![byte]);
        let vocabulary = VocabularyBuilder::from_tokens(bytes).special(TokenId::new(256), "<end>");
        let vocabulary = vocabulary.eos([TokenId::new(256)]).build().unwrap();
        let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
        let chosen =
            |section: Section, text: &[u8], logits: &[(u8, f32)], temperature: f32| -> BTreeSet<char> {
                let mut row = vec![-90.0; 257];
                logits.iter().for_each(|&(byte, logit)| row[usize::from(byte)] = logit);
                let draw = |seed| {
                    let mut published = Published::new(&vocabulary, [("get".to_owned(), schema.clone())]);
                    (published.section, published.text) = (section.clone(), text.to_vec());
                    published.called = " get".to_owned();
                    let sampling = SamplingParams::default().temperature(temperature).seed(seed);
                    let token =
                        published.choose(&row, &mut Sampler::new(sampling).unwrap()).unwrap().unwrap();
                    char::from(token as u8)
                };
                (0..40).map(draw).collect()
            };
        let logits = [(b'x', 9.0), (b'}', 8.0), (b'y', 7.9)];
        assert_eq!(chosen(Section::Arguments, b"{\"n\":5", &logits, 0.0), BTreeSet::from(['}']));
        assert_eq!(chosen(Section::Arguments, b"{\"n\":5", &logits, 1.0), BTreeSet::from(['}', 'y']));
        let logits = [(b'x', 9.0), (b'e', 8.0), (b'y', 8.0), (b'\n', 8.0)];
        assert_eq!(chosen(Section::Name, b" g", &logits, 1.0), BTreeSet::from(['e']));
        assert_eq!(chosen(Section::Name, b" get", &logits, 1.0), BTreeSet::from(['\n']));
        assert_eq!(chosen(Section::Free, b"", &logits, 1.0).len(), 4);
    }
}
