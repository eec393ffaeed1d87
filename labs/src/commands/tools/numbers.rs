//! Turns in which the host computes.

use super::arithmetic;
use super::arms::{Output, Runner, Values};
use super::fault::Fault;
use super::record::{Arm, Record};
use super::tasks::{Gold, Task};
use grammata::error::Result;
use grammata_agents::tools::ToolSet;
use grammata_decode::{FinishReason, Model};
use serde_json::json;
use std::time::Instant;

impl Runner<'_> {
    /// Generates a text with calls. The host computes their results and writes them after the calls.
    ///
    /// # Errors
    /// Errors of the model and the engine.
    pub(super) fn numbers(
        &mut self,
        arm: Arm,
        task: &Task,
        prompt: &[u32],
        model: &mut dyn Model,
    ) -> Result<Record> {
        let start = Instant::now();
        let mut so_far = String::new();
        let mut context = prompt.to_vec();
        let (mut tokens, mut calls, mut forced, mut mask_ms) = (0, 0, 0, 0.0);
        let mut fault = None;
        for _ in 0..self.max_turns {
            let output = match arm {
                Arm::Full => Output::whole(Box::new(self.grammar(&task.tools, Values::Typed)?.matcher())),
                _ => Output::free(None, vec![")".to_owned(), "\n".to_owned()]),
            };
            let generation = self.generate(output, &context, model)?;
            let timings = &generation.timings;
            tokens += generation.tokens.len();
            calls += timings.model_steps + 1;
            forced += timings.forced_tokens;
            mask_ms += timings.mask.as_secs_f64() * 1e3;
            let mut text = generation.text.clone();
            // a word of the grammar is complete, even if a longer one was possible
            let is_cut = !generation.finish.is_complete();
            if matches!(&generation.finish, FinishReason::StopString { stop, .. } if stop == ")") {
                text.push(')');
            }
            so_far.push_str(&text);
            context.extend(self.encode(&text));
            match called(&text, &task.tools) {
                Some(Ok(result)) => {
                    let result = format!("={}", arithmetic::shown(result));
                    so_far.push_str(&result);
                    context.extend(self.encode(&result));
                }
                Some(Err(found)) => {
                    fault = found;
                    break;
                }
                None if is_cut => {
                    fault = Some(Fault::Cut);
                    break;
                }
                None if text.ends_with(')') => {}
                None => break,
            }
        }
        let answer = so_far.split("####").nth(1).map_or(so_far.as_str(), |answer| answer);
        let number = last_number(answer);
        let right = match (&task.gold, number, fault) {
            (Gold::Number(gold), Some(number), None) => (number - gold).abs() <= gold.abs() * 1e-3,
            _ => false,
        };
        Ok(Record {
            arm,
            text: so_far,
            fault,
            tool: None,
            arguments: json!(number),
            right,
            lenient: None,
            has_path: None,
            tokens,
            model_calls: calls,
            forced_tokens: forced,
            mask_ms,
            time_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }
}

/// Returns the result of the call at the end of a text; `None` without a call. An error without a fault is
/// arithmetical, such as a division by zero.
fn called(text: &str, set: &ToolSet) -> Option<std::result::Result<f64, Option<Fault>>> {
    let call = text.strip_suffix(')')?;
    let (_, call) = call.rsplit_once('<')?;
    let Some((name, numbers)) = call.split_once(">(") else { return Some(Err(Some(Fault::Format))) };
    let Some(tool) = set.tool(name) else { return Some(Err(Some(Fault::Name))) };
    let parsed: std::result::Result<Vec<f64>, _> =
        numbers.split(',').map(|number| number.trim().parse::<f64>()).collect();
    let Ok(parsed) = parsed else { return Some(Err(Some(Fault::Type))) };
    let arguments = tool.arguments.value();
    let properties = arguments["properties"].as_object()?;
    let required = arguments["required"].as_array().map_or(0, Vec::len);
    let items = properties.values().next_back().filter(|last| last["type"] == "array");
    let (least, most) = match items {
        Some(items) => (items["minItems"].as_u64().unwrap_or(1) as usize, usize::MAX),
        None => (required, properties.len()),
    };
    if parsed.len() < least {
        return Some(Err(Some(Fault::Missing)));
    }
    if parsed.len() > most {
        return Some(Err(Some(Fault::Undeclared)));
    }
    let is_whole =
        properties.values().any(|schema| schema["type"] == "integer" || schema["items"]["type"] == "integer");
    if is_whole && numbers.contains('.') {
        return Some(Err(Some(Fault::Type)));
    }
    Some(arithmetic::compute(name, &parsed).ok_or(None))
}

fn last_number(text: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let words = text.split(|c: char| !digits(c)).filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    words.filter_map(|word| word.trim_matches('.').parse::<f64>().ok()).next_back()
}
