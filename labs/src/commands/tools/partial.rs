//! Arms that enforce only a part of the call grammar.

use grammata::error::Result;
use grammata::matcher::{Constraint, Matcher};
use grammata::vocabulary::{TokenId, Vocabulary};
use grammata_agents::tools::session::{Event, Session};
use grammata_agents::tools::{Document, ReadOptions, ToolSet, read};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A constraint that follows the grammar up to the end of the first name, and then allows any token that has bytes or
/// ends a sequence. The token in which the name ends must be allowed by the grammar as a whole.
#[derive(Clone)]
pub(super) struct UpToName {
    turn: Turn,
    vocabulary: Arc<Vocabulary>,
    /// The tokens after the name; `None` while it has not ended.
    after: Option<Vec<u32>>,
}

/// The turn, and how it shows that a name has ended.
#[derive(Clone)]
enum Turn {
    /// By a call event of the session.
    Session(Box<Session>),
    /// By this byte, which occurs neither in a name nor in the text before it.
    Grammar(Box<Matcher>, u8),
}

impl UpToName {
    pub(super) fn of_session(session: Session, vocabulary: Arc<Vocabulary>) -> UpToName {
        UpToName { turn: Turn::Session(Box::new(session)), vocabulary, after: None }
    }

    pub(super) fn of_grammar(matcher: Matcher, end: u8, vocabulary: Arc<Vocabulary>) -> UpToName {
        UpToName { turn: Turn::Grammar(Box::new(matcher), end), vocabulary, after: None }
    }
}

impl Constraint for UpToName {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        if self.after.is_none() {
            return match &mut self.turn {
                Turn::Session(session) => session.fill_mask(words),
                Turn::Grammar(matcher, _) => Constraint::fill_mask(&mut **matcher, words),
            };
        }
        words.fill(0);
        for token in (0..self.vocabulary.width() as u32).map(TokenId::new) {
            let is_there = self.vocabulary.bytes(token).is_some() || self.vocabulary.is_eos(token);
            words[token.get() as usize / 32] |= u32::from(is_there) << (token.get() % 32);
        }
        Ok(())
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        match &mut self.after {
            Some(after) => after.push(token),
            None => {
                let token = TokenId::new(token);
                let is_named = match &mut self.turn {
                    Turn::Session(session) => {
                        let events = session.accept_token(token)?;
                        events.iter().any(|event| matches!(event, Event::Call { .. }))
                    }
                    Turn::Grammar(matcher, end) => {
                        Constraint::accept_token(&mut **matcher, token.get())?;
                        self.vocabulary.bytes(token).is_some_and(|bytes| bytes.contains(end))
                    }
                };
                self.after = is_named.then(Vec::new);
            }
        }
        Ok(())
    }

    fn is_accepting(&mut self) -> Result<bool> {
        match (&self.after, &mut self.turn) {
            (Some(_), _) => Ok(true),
            (None, Turn::Session(session)) => session.is_accepting(),
            (None, Turn::Grammar(matcher, _)) => Constraint::is_accepting(&mut **matcher),
        }
    }

    fn is_finished(&mut self) -> Result<bool> {
        let last = self.after.as_ref().and_then(|after| after.last());
        Ok(last.is_some_and(|&token| self.vocabulary.is_eos(TokenId::new(token))))
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        let held = self.after.as_ref().map_or(0, Vec::len);
        match &mut self.after {
            Some(after) if tokens <= held => after.truncate(held - tokens),
            after => {
                match &mut self.turn {
                    Turn::Session(session) => session.rollback(tokens - held)?,
                    Turn::Grammar(matcher, _) => Constraint::rollback(&mut **matcher, tokens - held)?,
                }
                *after = None;
            }
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Constraint> {
        Box::new(self.clone())
    }
}

/// Returns the callable tools with arguments whose members are as declared, but whose values may be anything.
///
/// # Errors
/// A limit is exceeded.
pub(super) fn without_types(set: &ToolSet) -> Result<ToolSet> {
    let tools = set.callable().map(|tool| {
        let schema = structure(&tool.arguments.value());
        json!({"name": tool.name, "description": tool.description, "inputSchema": schema})
    });
    let text = json!({"tools": tools.collect::<Vec<_>>()}).to_string();
    // objects of arguments declare what they forbid; objects inside values forbid no members
    read([Document { label: "structure", text: &text }], &ReadOptions::default().open_objects(true))
}

/// Reduces a schema of arguments to its members: which are declared, which are required, and whether others are
/// allowed.
fn structure(schema: &Value) -> Value {
    let mut made = Map::new();
    made.insert("type".to_owned(), "object".into());
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let open = properties.keys().map(|name| (name.clone(), Value::Bool(true)));
        made.insert("properties".to_owned(), Value::Object(open.collect()));
    }
    for keyword in ["required", "dependentRequired"] {
        made.extend(schema.get(keyword).map(|value| (keyword.to_owned(), value.clone())));
    }
    let is_open = schema.get("additionalProperties").is_none_or(|value| value != &Value::Bool(false));
    made.insert("additionalProperties".to_owned(), is_open.into());
    Value::Object(made)
}
