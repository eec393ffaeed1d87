//! Turns with tools by chat models.

use crate::chat::{self, Answer, Chat, Form, Message, Request};
use grammata::error::{ErrorKind, Result};
use grammata_agents::tools::session::{CompiledTools, TurnOptions};
use grammata_agents::tools::{Call, Choice, Tool, Turn, restricted_names};
use serde_json::Value;

/// The maximum number of characters of a tool's name in a request, because servers reject longer names.
const MOST_NAME: usize = 64;

/// Asks a chat model for a turn, and returns the turn with its text in the format of the tools. Unless calls are
/// forbidden, the request has the tools of the turn with their schemas; names that servers do not accept are replaced.
/// The grammar of the turn checks the answer. If the check fails, the model is asked once more; a second failure is an
/// error. Text around calls is dropped.
///
/// # Errors
/// `chat/refused` if two answers fail the check; errors of the model; those of [`turn`](CompiledTools::turn); limits.
pub fn ask(
    tools: &CompiledTools,
    model: &mut dyn Chat,
    messages: Vec<Message>,
    options: &TurnOptions,
    max_tokens: u32,
) -> Result<(Turn, String)> {
    let subset = options.subset.as_ref().unwrap_or(tools.all());
    let offered = OfferedTools::new(tools.names(subset).filter_map(|name| tools.set().tool(name)));
    let form = match options.choice {
        Choice::None => Form::Text,
        choice => Form::Tools {
            tools: offered.requested(),
            is_required: choice == Choice::Required,
            is_several: options.max_calls.is_none_or(|most| most > 1),
        },
    };
    chat::ask(model, Request { messages, form, max_tokens }, |answer| {
        let mut turn = match offered.calls(answer) {
            Ok(calls) => Turn { calls, ..Turn::default() },
            Err(wrong) => return Ok(Err(wrong)),
        };
        if turn.calls.is_empty() {
            turn.text = without_lead(&answer.text, tools.format().lead()).to_owned();
        }
        let judged = tools.format().render(&turn, tools.set()).and_then(|text| {
            let mut matcher = tools.turn(options)?;
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

/// Tools that are offered to a chat model, each with its name in the request, which servers accept.
pub(crate) struct OfferedTools<'t>(Vec<(&'t Tool, String)>);

impl<'t> OfferedTools<'t> {
    pub(crate) fn new(tools: impl IntoIterator<Item = &'t Tool>) -> OfferedTools<'t> {
        let tools: Vec<&Tool> = tools.into_iter().collect();
        let names = restricted_names(tools.iter().map(|tool| tool.name.as_str()), MOST_NAME);
        OfferedTools(tools.into_iter().zip(names).collect())
    }

    /// Returns the tools as a request has them.
    pub(crate) fn requested(&self) -> Vec<chat::Tool> {
        let requested = |(tool, name): &(&Tool, String)| chat::Tool {
            name: name.clone(),
            description: tool.description.clone(),
            parameters: tool.arguments.value(),
        };
        self.0.iter().map(requested).collect()
    }

    /// Returns the calls of an answer with the names of the set. An error says why that is not possible: a tool that
    /// was not offered, or arguments that are not an object.
    pub(crate) fn calls(&self, answer: &Answer) -> std::result::Result<Vec<Call>, String> {
        let call = |call: &chat::Call| {
            let offered = self.0.iter().find(|(_, name)| *name == call.name);
            let (tool, _) = offered.ok_or_else(|| format!("the tool `{}` is not offered", call.name))?;
            let Value::Object(arguments) = &call.arguments else {
                return Err(format!("the arguments of `{}` are not a JSON object", tool.name));
            };
            Ok(Call { tool: tool.name.clone(), arguments: arguments.clone() })
        };
        answer.calls.iter().map(call).collect()
    }
}

/// Returns `text` without `lead`, which the format writes itself at the start of each turn.
fn without_lead<'t>(text: &'t str, lead: &str) -> &'t str {
    text.trim_start().strip_prefix(lead).filter(|_| !lead.is_empty()).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_of_a_format_is_not_written_twice() {
        assert_eq!(without_lead("Thought: save", "Thought:"), " save");
        assert_eq!(without_lead("\nThought: save", "Thought:"), " save");
        assert_eq!(without_lead("save Thought:", "Thought:"), "save Thought:");
        assert_eq!(without_lead(" save", ""), " save");
    }
}
