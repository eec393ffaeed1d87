//! Attributes of rules: `name[lazy, max_chars=9] ::= …`.

use super::errors;
use super::parser::Parser;
use crate::error::Result;
use crate::grammar::{ExprId, GrammarBuilder};

/// The attributes in brackets after the name of a rule. `capture` and `temperature` do not change the language of the
/// rule; only their values are checked.
#[derive(Default)]
pub(super) struct Attributes {
    is_lazy: bool,
    max_chars: Option<u32>,
    max_tokens: Option<u32>,
}

impl Attributes {
    /// Restricts the body of a rule: with `lazy`, to the words that have no proper prefix in the body; then to the
    /// words within the bounds on characters and tokens.
    pub(super) fn apply(&self, builder: &mut GrammarBuilder, mut body: ExprId) -> ExprId {
        if self.is_lazy {
            body = builder.shortest(body);
        }
        if let Some(most) = self.max_chars {
            body = builder.max_chars(body, most);
        }
        if let Some(most) = self.max_tokens {
            body = builder.max_tokens(body, most);
        }
        body
    }
}

impl Parser<'_> {
    /// Parses the attributes directly after a rule's name, up to and including `]`. Without `[` there are none.
    pub(super) fn attributes(&mut self) -> Result<Attributes> {
        let mut read = Attributes::default();
        if !self.scanner.eat("[") {
            return Ok(read);
        }
        let source = self.scanner.source;
        let mut seen: Vec<&str> = Vec::new();
        loop {
            self.scanner.space(false);
            let at = self.scanner.offset;
            let name = self.scanner.name();
            if seen.contains(&name) {
                return Err(errors::attribute_twice(source, at, name));
            }
            seen.push(name);
            self.scanner.space(false);
            let has_value = self.scanner.eat("=");
            self.scanner.space(false);
            let value = self.scanner.offset;
            match name {
                "lazy" if !has_value => read.is_lazy = true,
                "capture" if !has_value => {}
                "capture" => {
                    let allowed = "a name in quotes, of letters, digits, `_`, `-` and `.`";
                    let bad = || errors::attribute_value(source, value, name, allowed);
                    let text = if self.scanner.eat("\"") { self.scanner.literal()? } else { String::new() };
                    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
                    if text.is_empty() || !text.chars().all(is_name) {
                        return Err(bad());
                    }
                }
                "temperature" if has_value => {
                    let read = self.scanner.decimal().parse::<f64>().ok();
                    if read.is_none_or(|number| !number.is_finite() || number < 0.0) {
                        let allowed = "a number from 0";
                        return Err(errors::attribute_value(source, value, name, allowed));
                    }
                }
                "max_chars" | "max_tokens" if has_value => {
                    let most = self.scanner.number()?;
                    let most =
                        most.ok_or_else(|| errors::attribute_value(source, value, name, "0 to 4294967295"))?;
                    let bound = if name == "max_chars" { &mut read.max_chars } else { &mut read.max_tokens };
                    *bound = Some(most);
                }
                "lazy" | "temperature" | "max_chars" | "max_tokens" => {
                    let allowed = if name == "lazy" { "no value" } else { "`=` and a number" };
                    return Err(errors::attribute_value(source, value, name, allowed));
                }
                _ => return Err(errors::unknown_attribute(source, at, name)),
            }
            self.scanner.space(false);
            if self.scanner.eat("]") {
                return Ok(read);
            }
            if !self.scanner.eat(",") {
                let at = self.scanner.offset;
                return Err(errors::attribute_value(source, at, name, "`,` or `]`"));
            }
        }
    }
}
