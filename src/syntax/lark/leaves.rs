//! Lowers leaves: patterns, schemas and token ids.

use super::lower::Lowering;
use super::{errors, guidance};
use crate::error::Result;
use crate::grammar::{CharClass, ExprId, GrammarBuilder, TokenScope, TokenSelector, TokenTerminal};
use crate::syntax::{json_schema, regex};

impl Lowering<'_, '_, '_> {
    /// Lowers a pattern with the flags `i`, `m`, `s`, `u` and, in Rust's dialect, `x`.
    pub(super) fn pattern(
        &mut self,
        pattern: &str,
        flags: &str,
        at: usize,
        dialect: regex::Dialect,
    ) -> Result<ExprId> {
        let mut options = regex::Options::default()
            .dialect(dialect)
            .embedded(true)
            .limits(self.options.json_schema.limits.clone());
        let mut inline = String::new();
        for flag in flags.chars() {
            match flag {
                'i' => options = options.case_insensitive(true),
                's' => options = options.dot_matches_newline(true),
                'm' => inline.push('m'),
                'x' if dialect == regex::Dialect::Rust => inline.push('x'),
                // patterns always match characters, not bytes
                'u' => {}
                _ => return Err(errors::flag(self.source, at, flag, dialect)),
            }
        }
        let pattern = if inline.is_empty() { pattern.to_owned() } else { format!("(?{inline}){pattern}") };
        let classes = &mut |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
        regex::lower_into(&mut self.builder, &pattern, &options, classes)
            .map_err(|error| errors::inside(error, self.source, at, "this pattern"))
    }

    /// Lowers a JSON Schema, given as text, with the options in its `x-guidance`.
    pub(super) fn json(&mut self, text: &str, at: usize) -> Result<ExprId> {
        let mut schema =
            serde_json::from_str(text).map_err(|cause| errors::not_json(self.source, at, &cause))?;
        let options = guidance::options(&mut schema, &self.options.json_schema)
            .map_err(|refused| errors::guidance(self.source, at, refused.0))?;
        let compiled = json_schema::compile_value(&schema, &options)
            .map_err(|error| errors::inside(error, self.source, at, "this schema"))?;
        self.warnings.extend(compiled.warnings);
        Ok(self.builder.import(&compiled.grammar))
    }

    /// Parses a list of token ids: `5,7-9` selects the listed ids, `^5` all other tokens, `*` all tokens.
    /// End-of-sequence tokens are selected only if they are listed.
    pub(super) fn ids(&self, ids: &str, at: usize) -> Result<TokenTerminal> {
        let (scope, listed) = match ids.strip_prefix('^') {
            Some(others) => (TokenScope::AllBut, others),
            None => (TokenScope::Listed, ids),
        };
        if ids.trim() == "*" {
            return Ok(TokenTerminal::new(TokenScope::AllBut, []));
        }
        let one = |part: &str| {
            let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(TokenSelector::Ids { first, last })
        };
        let listed = listed.split(',').map(|part| one(part).ok_or_else(|| errors::ids(self.source, at)));
        Ok(TokenTerminal::new(scope, listed.collect::<Result<Vec<_>>>()?))
    }
}
