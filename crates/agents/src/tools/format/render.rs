//! Writing calls as text.

use super::read::Turn;
use super::{CallFormat, Piece, numbers};
use crate::tools::errors;
use crate::tools::set::ToolSet;
use grammata::diagnostic::Place;
use grammata::error::Result;
use serde_json::Value;

impl CallFormat {
    /// Writes a turn as text. Fixed pieces and JSON arguments are written without optional spaces. Special tokens are
    /// written as their names, numbers in plain notation.
    ///
    /// # Errors
    /// `tools/call-text`: the set does not have the tool of a call, the format cannot write its arguments or its
    /// request, or there are several calls but the format writes only one.
    pub fn render(&self, turn: &Turn, set: &ToolSet) -> Result<String> {
        let mut text = format!("{}{}", self.lead, turn.text);
        if turn.calls.is_empty() {
            text.push_str(self.nothing.as_deref().unwrap_or_default());
            return Ok(text);
        }
        if turn.calls.len() > 1 && !self.several {
            let found = format!("{} calls", turn.calls.len());
            return Err(errors::call_text(Place::Byte(text.len()), &found, "one call in a turn"));
        }
        fixed(&self.begin, &mut text);
        for (at, call) in turn.calls.iter().enumerate() {
            let Some(tool) = set.tool(&call.tool) else {
                return Err(errors::call_text(Place::Byte(text.len()), &call.tool, "the name of a tool"));
            };
            if let Some(before) = at.checked_sub(1) {
                fixed(&self.separator, &mut text);
                text.push_str(turn.between.get(before).map_or("", String::as_str));
            }
            let call = &*numbers::in_plain_notation(call);
            let arguments = Value::Object(call.arguments.clone());
            for piece in &self.call {
                match piece {
                    Piece::Text(_) | Piece::Token(_) | Piece::Gap(_) => {
                        fixed(std::slice::from_ref(piece), &mut text)
                    }
                    Piece::Name(_) => text.push_str(&call.tool),
                    Piece::Arguments(_) => text.push_str(&arguments.to_string()),
                    Piece::Object([name, member]) => {
                        let quoted = |text: &str| Value::from(text).to_string();
                        let (name, member, tool) = (quoted(name), quoted(member), quoted(&call.tool));
                        text.push_str(&format!("{{{name}:{tool},{member}:{arguments}}}"));
                    }
                    piece => text.push_str(&piece.arguments(tool, call).map_err(|allowed| {
                        errors::call_text(Place::Byte(text.len()), &call.tool, allowed)
                    })?),
                }
            }
        }
        fixed(&self.end, &mut text);
        text.push_str(&turn.after);
        Ok(text)
    }
}

fn fixed(pieces: &[Piece], text: &mut String) {
    pieces.iter().filter_map(Piece::fixed_text).for_each(|piece| text.push_str(piece));
}
