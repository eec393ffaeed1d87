//! The names of methods and members in messages of the client. A message with names that the protocol does not have is
//! refused, because a server could read it otherwise than the guard has judged it.

use super::Guard;
use crate::wire::{self, MESSAGE, Message, error};
use grammata::diagnostic::excerpt;

/// The code and the text of an error for the client.
type Refusal = (i32, String);

impl Guard<'_> {
    /// Checks the members of a message of the client.
    ///
    /// # Errors
    /// A member that JSON-RPC does not have, and that the options do not allow.
    pub(super) fn check_message(&self, message: &Message) -> Result<(), Refusal> {
        self.check_members("the message", message.names(), &MESSAGE)
            .map_err(|text| (error::INVALID_REQUEST, text))
    }

    /// Checks the method of a request or notification of the client, and the members of its `params`.
    ///
    /// # Errors
    /// A method or a member that the version of the session does not have, and that the options do not allow; `params`
    /// that are not an object, or have a member twice.
    pub(super) fn check_method(&self, method: &str, message: &Message) -> Result<(), Refusal> {
        let Some(known) = wire::members(method, self.version_of(method, message)) else {
            if self.options.allow_methods.iter().any(|allowed| allowed == method) {
                return Ok(());
            }
            let text = match wire::alike(method) {
                Some(alike) if alike != method => format!("unknown method {}: write {alike}", quoted(method)),
                Some(_) => format!("this version of the protocol has no method {}", quoted(method)),
                None => {
                    format!(
                        "unknown method {}: the guard's option --allow-methods passes it on",
                        quoted(method)
                    )
                }
            };
            return Err((error::UNKNOWN_METHOD, text));
        };
        let params =
            message.param_names().map_err(|cause| (error::INVALID_PARAMS, format!("`params`: {cause}")))?;
        self.check_members(method, params.iter().map(String::as_str), &known)
            .map_err(|text| (error::INVALID_PARAMS, text))
    }

    fn check_members<'m>(
        &self,
        of: &str,
        names: impl Iterator<Item = &'m str>,
        known: &[&str],
    ) -> Result<(), String> {
        let mut names = names.filter(|name| !known.contains(name));
        let refused = names.find_map(|name| match wire::confused(name, known.iter().copied()) {
            Some(alike) => Some(format!("unknown member {} of {of}: write `{alike}`", quoted(name))),
            None if self.options.allow_members.iter().any(|allowed| allowed == name) => None,
            None => Some(format!(
                "unknown member {} of {of}: the guard's option --allow-members passes it on",
                quoted(name)
            )),
        });
        refused.map_or(Ok(()), Err)
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", excerpt(name))
}
