//! Requests: messages, and the required form of the answer.

use serde_json::{Value, json};

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Instructions for the whole conversation.
    System,
    /// The user, who asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Returns the name of the role in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The speaker of the message.
    pub role: Role,
    /// The text of the message.
    pub text: String,
}

impl Message {
    /// Creates a message of the role [`Role::System`]: instructions for the whole conversation.
    pub fn system(text: impl Into<String>) -> Message {
        Message { role: Role::System, text: text.into() }
    }

    /// Creates a message of the role [`Role::User`].
    pub fn user(text: impl Into<String>) -> Message {
        Message { role: Role::User, text: text.into() }
    }

    /// Creates a message of the role [`Role::Assistant`]: an earlier answer of the model.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message { role: Role::Assistant, text: text.into() }
    }
}

/// A tool that an answer may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name by which the model calls the tool.
    pub name: String,
    /// What the tool does, as a text for the model.
    pub description: String,
    /// The JSON Schema of the arguments, which are an object.
    pub parameters: Value,
}

/// The required form of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Any text.
    Text,
    /// Exactly one of the given texts.
    Choice(Vec<String>),
    /// A JSON text that a schema allows. Servers require that the schema allows only objects at the root.
    Json {
        /// A name for the schema: at most 64 letters, digits, `_` and `-`.
        name: String,
        /// The JSON Schema that the answer must match.
        schema: Value,
    },
    /// A text that a regular expression matches from its beginning to its end.
    Regex(String),
    /// A text of a grammar in GBNF.
    Grammar(String),
    /// Calls of tools.
    Tools {
        /// The tools that the answer may call.
        tools: Vec<Tool>,
        /// Whether at least one call is required.
        is_required: bool,
        /// Whether several calls are allowed.
        is_several: bool,
    },
}

/// The kind of a [`Form`]. A [`Dialect`](crate::Dialect) lists encodings for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// Any text: [`Form::Text`].
    Text,
    /// One of several texts: [`Form::Choice`].
    Choice,
    /// A JSON text of a schema: [`Form::Json`].
    Json,
    /// A match of a regular expression: [`Form::Regex`].
    Regex,
    /// A text of a GBNF grammar: [`Form::Grammar`].
    Grammar,
    /// Calls of tools: [`Form::Tools`].
    Tools,
}

/// The name of the member that holds the answer's text, if the encoding requires a JSON object.
pub(crate) const ANSWER: &str = "answer";
/// The name of the member that holds the answer's calls, if the encoding requires a JSON object.
pub(crate) const CALLS: &str = "calls";

impl Form {
    /// Returns the kind of the form.
    pub fn kind(&self) -> FormKind {
        match self {
            Form::Text => FormKind::Text,
            Form::Choice(_) => FormKind::Choice,
            Form::Json { .. } => FormKind::Json,
            Form::Regex(_) => FormKind::Regex,
            Form::Grammar(_) => FormKind::Grammar,
            Form::Tools { .. } => FormKind::Tools,
        }
    }

    /// Returns a JSON Schema of the form: the schema of [`Form::Json`], otherwise that of an object with the member
    /// `answer` or `calls`. `None` for [`Form::Text`] and [`Form::Grammar`].
    pub fn schema(&self) -> Option<Value> {
        let object = |name: &str, member: Value| json!({"type": "object", "properties": {name: member}, "required": [name], "additionalProperties": false});
        match self {
            Form::Text | Form::Grammar(_) => None,
            Form::Choice(texts) => Some(object(ANSWER, json!({"type": "string", "enum": texts}))),
            Form::Json { schema, .. } => Some(schema.clone()),
            Form::Regex(pattern) => {
                Some(object(ANSWER, json!({"type": "string", "pattern": format!("^({pattern})$")})))
            }
            Form::Tools { tools, is_required, is_several } => {
                let call = |tool: &Tool| {
                    json!({"type": "object", "properties": {
                        "name": {"type": "string", "enum": [tool.name]}, "arguments": tool.parameters,
                    }, "required": ["name", "arguments"], "additionalProperties": false})
                };
                let calls: Vec<Value> = tools.iter().map(call).collect();
                let mut list = json!({"type": "array", "items": {"anyOf": calls}});
                if *is_required {
                    list["minItems"] = 1.into();
                }
                if !*is_several {
                    list["maxItems"] = 1.into();
                }
                Some(object(CALLS, list))
            }
        }
    }
}

/// A request to a model: a conversation, and the required form of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The conversation so far. The answer is the model's next message.
    pub messages: Vec<Message>,
    /// The required form of the answer.
    pub form: Form,
    /// Maximum number of tokens of the answer.
    pub max_tokens: u32,
}

impl Request {
    /// Creates a request with one message, a question of the user.
    pub fn new(question: impl Into<String>, form: Form, max_tokens: u32) -> Request {
        Request { messages: vec![Message::user(question)], form, max_tokens }
    }
}
