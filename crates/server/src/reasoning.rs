//! Whether the model reasons: the prompt and the grammar of an output must agree on it.

use crate::app::Family;
use crate::errors::ApiError;
use crate::request::{Order, Reasoning};
use grammata_agents::tools::ReasoningMode;
use serde_json::{Map, Value};

/// The values of `reasoning_effort`.
const EFFORTS: [&str; 6] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/// The variables of chat templates that turn reasoning on or off.
const SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

impl Reasoning {
    /// Reads the effort, which is at `place` in the body, and the variables of the chat template.
    ///
    /// # Errors
    /// There is no such effort, or the two disagree.
    pub(crate) fn read(
        effort: Option<String>,
        place: &'static str,
        variables: Option<&Map<String, Value>>,
    ) -> Result<Reasoning, ApiError> {
        if let Some(effort) = effort.as_deref().filter(|effort| !EFFORTS.contains(effort)) {
            let message = format!("`{place}` is `{effort}`; it must be one of {}", EFFORTS.join(", "));
            return Err(ApiError::invalid(place, message));
        }
        let switch = SWITCHES.iter().find_map(|name| {
            let value = variables?.get(*name)?.as_bool()?;
            Some((*name, value))
        });
        let by_effort = effort.as_deref().map(|effort| effort != "none");
        if let (Some((name, is_on)), Some(by_effort)) = (switch, by_effort)
            && is_on != by_effort
        {
            let at = format!("chat_template_kwargs.{name}");
            return Err(ApiError::invalid(&at, format!("`{at}` and `{place}` contradict each other")));
        }
        Ok(Reasoning { is_on: switch.map(|(_, is_on)| is_on).or(by_effort), effort, place })
    }
}

/// Returns whether the model of a family reasons in the outputs of an order.
///
/// # Errors
/// The order wants reasoning, and the model does none.
pub(crate) fn mode(order: &Order, family: &Family) -> Result<ReasoningMode, ApiError> {
    let place = order.reasoning.place;
    match order.reasoning.is_on {
        None => Ok(family.reasoning),
        Some(false) => Ok(ReasoningMode::Disabled),
        Some(true) if !family.preset.has_reasoning() => {
            Err(ApiError::unsupported(place, format!("`{place}`: this model does not reason; leave it out")))
        }
        Some(true) if family.reasoning == ReasoningMode::Disabled => {
            let message =
                format!("`{place}`: this server was started with `--reasoning disabled`; leave it out");
            Err(ApiError::unsupported(place, message))
        }
        Some(true) => Ok(family.reasoning),
    }
}
