//! Models that are asked by chat. Such models return texts, not logits, so no mask can constrain them.
//!
//! A caller describes the allowed answers in a [`Request`], as strongly as the request's form permits, and checks the
//! [`Answer`] itself. [`ask`] returns an answer that passes the check. After a refusal, [`ask`] asks once more with the
//! reason; after a second refusal, it fails. A model is a [`Chat`]: a server (`grammata_endpoint::Endpoint`), or a
//! [`CommandChat`].

mod command;
mod errors;

pub use command::CommandChat;
pub use grammata_endpoint::{Answer, Call, Chat, Form, Message, Request, Role, Tool, Usage};

use grammata::error::Result;

/// The maximum number of tokens of an answer that is one of several texts, including what a server may write around it.
pub(crate) const CHOICE_TOKENS: u32 = 256;

/// Asks a model for an answer that `check` accepts. `check` returns the meaning of an answer, or the reason why the
/// answer is refused.
///
/// # Errors
/// `chat/refused`: the first answer was refused, and so was the second, which was asked for with the reason. Errors of
/// the model and of `check`.
pub fn ask<T>(
    model: &mut dyn Chat,
    request: Request,
    mut check: impl FnMut(&Answer) -> Result<std::result::Result<T, String>>,
) -> Result<T> {
    let first = model.ask(&request)?;
    let reason = match check(&first)? {
        Ok(meaning) => return Ok(meaning),
        Err(reason) => cut(&first, reason),
    };
    let mut again = request;
    again.messages.push(Message::assistant(written(&first)));
    again.messages.push(Message::user(format!(
        "That cannot be taken: {reason}. Answer again, with an answer of the form asked for and nothing else."
    )));
    let second = model.ask(&again)?;
    match check(&second)? {
        Ok(meaning) => Ok(meaning),
        // a server may repeat its key in an answer, and a reason may quote the answer
        Err(reason) => {
            Err(errors::refused(&model.hide(&written(&second)), &model.hide(&cut(&second, reason))))
        }
    }
}

/// Adds to the reason of a refusal that the bound on tokens cut the answer, if it did.
fn cut(answer: &Answer, reason: String) -> String {
    if answer.is_cut { format!("{reason}; the bound on tokens cut it") } else { reason }
}

/// Returns an answer as a text, with its calls as `NAME(ARGUMENTS)`.
fn written(answer: &Answer) -> String {
    let calls: Vec<String> =
        answer.calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect();
    match answer.calls.is_empty() {
        true => answer.text.clone(),
        false => format!("{}{}", answer.text, calls.join(" ")),
    }
}
