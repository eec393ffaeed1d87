//! A model that is asked by chat as a policy.

use crate::chat::{self, CHOICE_TOKENS, Chat, Form, Request};
use grammata::error::Result;
use grammata_agents::plan::Question;
use grammata_agents::plan::policy::{Answer, ArgumentRequest, Policy, answer_of};
use serde_json::{Value, json};

/// The maximum number of tokens of the arguments of one step.
const MOST_ARGUMENT_TOKENS: u32 = 2_048;

/// Asks a model for each choice: the answer is the number of a choice, or its label. The policy does not score choices,
/// so it serves only the searches that need no scores.
pub struct ChatPolicy<'m> {
    model: &'m mut dyn Chat,
}

impl std::fmt::Debug for ChatPolicy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatPolicy").field("usage", &self.model.usage()).finish_non_exhaustive()
    }
}

impl<'m> ChatPolicy<'m> {
    /// Creates a policy that asks `model`.
    pub fn new(model: &'m mut dyn Chat) -> ChatPolicy<'m> {
        ChatPolicy { model }
    }
}

/// Returns the form of the answers to a question: a number, or an object with a list of numbers.
fn form(question: &Question) -> Form {
    let numbers = 1..=question.choices.len();
    let Some((min, max)) = question.set else {
        return Form::Choice(numbers.map(|number| number.to_string()).collect());
    };
    let list = json!({
        "type": "array", "items": {"type": "integer", "enum": numbers.collect::<Vec<_>>()},
        "minItems": min, "maxItems": max,
    });
    let schema = json!({
        "type": "object", "properties": {"numbers": list}, "required": ["numbers"], "additionalProperties": false,
    });
    Form::Json { name: "numbers".to_owned(), schema }
}

/// Parses an answer: a number, a label, or an object with a list of numbers. Returns `None` if the text is not a valid
/// answer.
fn read(question: &Question, text: &str) -> Option<Answer> {
    let object: Option<Value> = serde_json::from_str(text).ok();
    match object.as_ref().and_then(|object| object.get("numbers")).and_then(Value::as_array) {
        Some(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(Value::to_string).collect();
            answer_of(question, &numbers.join(","))
        }
        None => answer_of(question, text),
    }
}

impl Policy for ChatPolicy<'_> {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        let request = Request::new(question.text.as_str(), form(question), CHOICE_TOKENS);
        chat::ask(self.model, request, |answer| {
            Ok(read(question, &answer.text).ok_or_else(|| match question.set {
                None => format!("the answer must be a number from 1 to {}", question.choices.len()),
                Some((min, max)) => {
                    format!(
                        "the answer must be {min} to {max} different numbers from 1 to {}",
                        question.choices.len()
                    )
                }
            }))
        })
    }

    fn arguments(&mut self, request: &ArgumentRequest<'_>) -> Result<Value> {
        let Some(schema) = request.spec.arguments_schema(request.action) else { return Ok(Value::Null) };
        let form = Form::Json { name: "arguments".to_owned(), schema: schema.clone() };
        chat::ask(self.model, Request::new(request.text, form, MOST_ARGUMENT_TOKENS), |answer| {
            let value = match serde_json::from_str(&answer.text) {
                Ok(value) => value,
                Err(cause) => return Ok(Err(format!("the arguments are not JSON: {cause}"))),
            };
            Ok(match request.check(&value)? {
                None => Ok(value),
                Some(wrong) => {
                    Err(format!("the schema does not admit {} at #{}", wrong.found, wrong.pointer))
                }
            })
        })
    }
}
