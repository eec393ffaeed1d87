//! Asks a chat model for a turn.

use super::compiled::{CompiledTools, TurnOptions};
use crate::chat::{self, Answer, Chat, Form, Message, Request};
use crate::tools::format::{Call, Choice, Turn};
use crate::tools::name::restricted;
use grammata::error::{ErrorKind, Result};
use serde_json::Value;

/// The maximum number of characters of a tool's name in a request, because servers reject longer names.
const MOST_NAME: usize = 64;

impl CompiledTools {
    /// Asks a chat model for a turn, and returns the turn with its text in the format of the tools. Unless calls are
    /// forbidden, the request has the tools of the turn with their schemas; names that servers do not accept are
    /// replaced. The grammar of the turn checks the answer. If the check fails, the model is asked once more; a second
    /// failure is an error. Text around calls is dropped.
    ///
    /// # Errors
    /// `chat/refused` if two answers fail the check; errors of the model; those of [`turn`](CompiledTools::turn);
    /// limits.
    pub fn ask(
        &self,
        model: &mut dyn Chat,
        messages: Vec<Message>,
        options: &TurnOptions,
        max_tokens: u32,
    ) -> Result<(Turn, String)> {
        let subset = options.subset.as_ref().unwrap_or(self.all());
        let names: Vec<&str> = self.names(subset).collect();
        let sent = restricted(names.iter().copied(), MOST_NAME);
        let tools = names.iter().zip(&sent).filter_map(|(name, sent)| {
            let tool = self.set().tool(name)?;
            let (name, description) = (sent.clone(), tool.description.clone());
            Some(chat::Tool { name, description, parameters: tool.arguments.value() })
        });
        let form = match options.choice {
            Choice::None => Form::Text,
            choice => Form::Tools {
                tools: tools.collect(),
                is_required: choice == Choice::Required,
                is_several: options.max_calls.is_none_or(|most| most > 1),
            },
        };
        chat::ask(model, Request { messages, form, max_tokens }, |answer| {
            let turn = match turn(answer, &names, &sent, self.format().lead()) {
                Ok(turn) => turn,
                Err(wrong) => return Ok(Err(wrong)),
            };
            let judged = self.format().render(&turn, self.set()).and_then(|text| {
                let mut matcher = self.turn(options)?;
                matcher.accept_bytes(text.as_bytes())?;
                Ok((text, matcher.is_accepting()?))
            });
            match judged {
                Ok((text, true)) => Ok(Ok((turn, text))),
                Ok((_, false)) if turn.calls.is_empty() => Ok(Err("it calls no tool".to_owned())),
                Ok((_, false)) => Ok(Err("it calls too few tools".to_owned())),
                Err(error) if matches!(error.kind(), ErrorKind::Rejected | ErrorKind::Grammar) => {
                    let diagnostic = error.diagnostic();
                    let found = diagnostic.found_text().map(|found| format!(": {found}")).unwrap_or_default();
                    Ok(Err(format!("{}{found}", diagnostic.message())))
                }
                Err(error) => Err(error),
            }
        })
    }
}

/// Converts an answer to a turn with the names of the set; text is dropped if there are calls. An error says why that
/// is not possible: an unknown tool, or arguments that are not an object. `lead` is the text with which the format
/// begins each turn; a model that writes it does not mean it twice.
fn turn(answer: &Answer, names: &[&str], sent: &[String], lead: &str) -> std::result::Result<Turn, String> {
    let mut turn = Turn::default();
    for call in &answer.calls {
        let name = sent.iter().position(|name| *name == call.name).and_then(|place| names.get(place));
        let name = name.ok_or_else(|| format!("unknown tool `{}`", call.name))?;
        let Value::Object(arguments) = &call.arguments else {
            return Err(format!("the arguments of `{name}` are not a JSON object"));
        };
        turn.calls.push(Call { tool: (*name).to_owned(), arguments: arguments.clone() });
    }
    if turn.calls.is_empty() {
        let text = answer.text.as_str();
        let bare = text.trim_start().strip_prefix(lead).filter(|_| !lead.is_empty());
        turn.text = bare.unwrap_or(text).to_owned();
    }
    Ok(turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_of_a_format_is_not_written_twice() {
        let of = |text: &str, lead: &str| {
            let answer = Answer { text: text.to_owned(), ..Answer::default() };
            turn(&answer, &[], &[], lead).unwrap().text
        };
        assert_eq!(of("Thought: save", "Thought:"), " save");
        assert_eq!(of("\nThought: save", "Thought:"), " save");
        assert_eq!(of("save Thought:", "Thought:"), "save Thought:");
        assert_eq!(of(" save", ""), " save");
    }
}
