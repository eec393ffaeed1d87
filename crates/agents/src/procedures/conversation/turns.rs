//! Steps written as turns of a model that calls tools: calls in a call format of `tools`, answers as plain text.

use super::act::Act;
use super::arguments::{Arguments, Origin};
use super::session::Values;
use super::step::{Maker, Offer, StepFormat, StepOptions, Text};
use crate::procedures::language::errors;
use crate::procedures::language::tools::ApiTool;
use crate::procedures::semantics::procedure::Procedure;
use crate::procedures::semantics::shape;
use crate::procedures::semantics::word::word_error;
use crate::tools::{Call, CallFormat, Choice, GrammarOptions, Markers, Tool, ToolSet, Turn};
use grammata::error::{ErrorKind, Result};
use grammata::grammar::Grammar;
use serde_json::json;

/// The turns in a call format that write one of the offered steps. An offered call is a tool with the name of the API.
/// Its arguments have the parameter names of the document if the API names a tool of one, otherwise the names of slots.
/// An answer is a turn without calls.
pub struct Turns<'a> {
    procedure: &'a Procedure,
    offers: &'a [Offer],
    format: &'a CallFormat,
    options: StepOptions,
    set: ToolSet,
}

impl std::fmt::Debug for Turns<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns").field("offers", &self.offers.len()).finish_non_exhaustive()
    }
}

impl<'a> Turns<'a> {
    /// Creates the turns of a format. The thought and the step format of `options` are ignored.
    ///
    /// # Errors
    /// `procedure/call-format`: the format has no turns with text, so it cannot write answers; limits.
    pub fn new(
        procedure: &'a Procedure,
        offers: &'a [Offer],
        format: &'a CallFormat,
        options: &StepOptions,
    ) -> Result<Turns<'a>> {
        if !format.has_text() {
            return Err(errors::call_format(&format.description));
        }
        let tools = offers.iter().filter_map(|offer| match offer {
            Offer::Call { api, arguments } => Some(tool(procedure, api, arguments)),
            Offer::Control(name) => {
                let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
                Some(Tool::of_host(name.as_str(), "", none.into()))
            }
            Offer::Answer { .. } => None,
        });
        let set = ToolSet::of(tools, &options.limits)?;
        let options = StepOptions { format: StepFormat::Published, thought: None, ..options.clone() };
        Ok(Turns { procedure, offers, format, options, set })
    }

    /// Returns the tools that a turn may call, with schemas narrowed to the offered arguments.
    pub fn tools(&self) -> &ToolSet {
        &self.set
    }

    fn grammar_options(&self, choice: Choice) -> GrammarOptions {
        let schema = GrammarOptions::arguments(self.options.limits.clone());
        GrammarOptions::default().choice(choice).max_calls(Some(1)).markers(Markers::Text).schema(schema)
    }

    /// Builds the grammar of the turns. Tools that the format cannot write are left out.
    ///
    /// # Errors
    /// Unsupported schemas of slots, invalid patterns of claims, limits.
    pub fn grammar(&self) -> Result<Grammar> {
        let calls = match self.set.tools() {
            [] => None,
            _ => {
                let options = self.grammar_options(Choice::Required);
                match self.format.of_calls_alone().grammar(&self.set, &options) {
                    Ok(made) => Some(made.grammar),
                    Err(error) if error.code() == "tools/no-tools" => None,
                    Err(error) => return Err(error),
                }
            }
        };
        let mut maker = Maker::new(&self.options);
        let mut turns: Vec<_> = calls.iter().map(|calls| maker.builder.import(calls)).collect();
        let mut texts = Vec::new();
        for offer in self.offers {
            if let Offer::Answer { text, forbidden, .. } = offer {
                texts.push(maker.text(text, forbidden)?);
            }
        }
        if !texts.is_empty() {
            // a text that would be read as a call is not an answer
            let plain = self.format.grammar(&self.set, &self.grammar_options(Choice::None))?;
            let plain = maker.builder.import(&plain.grammar);
            let (lead, texts) = (maker.builder.text(self.format.lead()), maker.builder.choice(texts));
            let answers = maker.builder.sequence([lead, texts]);
            turns.push(maker.builder.intersection([answers, plain]));
        }
        let body = maker.builder.choice(turns);
        let root = maker.builder.declare("turn");
        maker.builder.define(root, body);
        maker.builder.build(root)
    }

    /// Reads a turn as a call or an answer. If several answers allow the text, verbatim ones precede guided ones, and
    /// these free ones; of equal rank the first offer counts. If none allows the text, the answer has an empty name.
    /// Returns `None` if the turn has several calls, a call with text around it, or a form that the format does not
    /// read.
    ///
    /// # Errors
    /// Limits, and invalid patterns of claims (`regex/…`).
    pub fn read(&self, text: &str) -> Result<Option<Act>> {
        let turn = match self.format.read(text, &self.set) {
            Ok(turn) => turn,
            Err(error) if error.kind() == ErrorKind::Limit => return Err(error),
            Err(_) => return Ok(None),
        };
        match turn.calls.as_slice() {
            [] => self.answer(&turn.text).map(Some),
            [call] if turn.text.trim().is_empty() && turn.after.trim().is_empty() => {
                let arguments = self.slots(&call.tool, &call.arguments);
                Ok(Some(Act::Call { name: call.tool.clone(), arguments }))
            }
            _ => Ok(None),
        }
    }

    fn answer(&self, written: &str) -> Result<Act> {
        let rank = |text: &Text| match text {
            Text::Verbatim(_) => 0,
            Text::Guided(_) => 1,
            Text::Free => 2,
        };
        let mut answers: Vec<(&String, &Text, &Vec<String>)> = Vec::new();
        for offer in self.offers {
            if let Offer::Answer { name, text, forbidden } = offer {
                answers.push((name, text, forbidden));
            }
        }
        answers.sort_by_key(|(_, text, _)| rank(text));
        for (name, text, forbidden) in answers {
            let has_text = match text {
                Text::Verbatim(text) => text == written,
                Text::Guided(_) | Text::Free => self.is_text(text, forbidden, written)?,
            };
            if has_text {
                return Ok(Act::answer(name, written));
            }
        }
        Ok(Act::answer("", written))
    }

    fn is_text(&self, text: &Text, forbidden: &[String], written: &str) -> Result<bool> {
        let mut maker = Maker::new(&self.options);
        let body = maker.text(text, forbidden)?;
        let root = maker.builder.declare("text");
        maker.builder.define(root, body);
        let grammar = maker.builder.build(root)?;
        Ok(word_error(&grammar, &self.options.limits, written)?.is_none())
    }

    /// Writes an act as a turn.
    ///
    /// # Errors
    /// `tools/call-text`: a call that is not offered, or that the format cannot write.
    pub fn write(&self, act: &Act) -> Result<String> {
        let turn = match act {
            Act::Call { name, arguments } => {
                let arguments = match self.tool(name) {
                    Some(tool) => tool.arguments(arguments),
                    None => arguments.clone(),
                };
                Turn { calls: vec![Call { tool: name.clone(), arguments }], ..Turn::default() }
            }
            Act::Answer { text, .. } => Turn { text: text.clone(), ..Turn::default() },
        };
        self.format.render(&turn, &self.set)
    }

    fn tool(&self, api: &str) -> Option<&ApiTool> {
        let node = self.procedure.node(api)?;
        self.procedure.nodes()[node].tool.as_deref()
    }

    /// Renames arguments from parameters of a document to slots.
    fn slots(&self, api: &str, arguments: &Values) -> Values {
        self.tool(api).map_or_else(|| arguments.clone(), |tool| tool.slots(arguments))
    }
}

/// Returns the tool of an offered API. Its schema has the offered arguments, and excludes those that would repeat a
/// call of the current turn.
fn tool(procedure: &Procedure, api: &str, arguments: &Arguments) -> Tool {
    let node = procedure.node(api).map(|node| &procedure.nodes()[node]);
    let of_document = node.and_then(|node| node.tool.as_deref());
    let name = |slot: &str| of_document.map_or(slot, |tool| tool.parameter(slot)).to_owned();
    let (mut properties, mut required) = (Values::new(), Vec::new());
    for slot in &arguments.slots {
        let schema = match slot.origin {
            Origin::Schema => shape::canonical(&slot.schema),
            _ => slot.narrowed(),
        };
        properties.insert(name(&slot.slot), schema);
        required.extend(slot.is_required.then(|| name(&slot.slot)));
    }
    let mut schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    if !arguments.excluded.is_empty() {
        let excluded = arguments.excluded.iter();
        let excluded: Vec<Values> = excluded
            .map(|values| values.iter().map(|(slot, value)| (name(slot), value.clone())).collect())
            .collect();
        schema["not"] = json!({"enum": excluded});
    }
    let description = node.map_or("", |node| node.description.as_str());
    match of_document {
        Some(of_document) => {
            let mut tool = of_document.tool.clone().with_arguments(schema.into());
            tool.name = api.to_owned();
            tool.description = description.to_owned();
            tool
        }
        None => Tool::of_host(api, description, schema.into()),
    }
}
