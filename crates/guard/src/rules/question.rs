//! Questions for the person who uses the client.

use serde_json::Value;
use std::time::Duration;

/// Who decides what the rules leave to a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ask {
    /// The guard asks the person through the client. Without an answer, nothing is decided.
    #[default]
    Elicit,
    /// The agent reports what the person decided. The guard cannot check it.
    Agent,
    /// Nobody: nothing is decided.
    Refuse,
}

/// A value that the person is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name of the value.
    pub name: String,
    /// The JSON Schema of the allowed values.
    pub schema: Value,
    /// The meaning of the value; empty if the rules do not describe it.
    pub description: String,
}

/// A question for the person. Without fields, the person only accepts or declines.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The text of the question, without hidden characters other than line ends.
    pub text: String,
    /// The values that the person gives. All are required.
    pub fields: Vec<Field>,
}

/// The end of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The person accepted, and gave these values. They are not checked yet.
    Accepted(super::Values),
    /// The person declined.
    Declined,
    /// The person closed the question without a decision.
    Cancelled,
    /// The person did not answer within this time.
    Late(Duration),
    /// The client's answer cannot be used, for this reason.
    Invalid(String),
    /// The client cannot ask the person.
    Impossible,
}

impl Reply {
    /// Returns the accepted values.
    ///
    /// # Errors
    /// The reason why nothing is decided, in one line.
    pub fn accepted(self) -> Result<super::Values, String> {
        Err(match self {
            Reply::Accepted(values) => return Ok(values),
            Reply::Declined => "the user was asked and declined".to_owned(),
            Reply::Cancelled => "the user was asked and dismissed the question".to_owned(),
            Reply::Late(time) => {
                format!("the user was asked and did not answer within {} s", time.as_secs_f64())
            }
            Reply::Invalid(why) => format!("the user was asked, but {why}"),
            Reply::Impossible => {
                "the client cannot ask the user, because it does not support elicitation".to_owned()
            }
        })
    }
}
