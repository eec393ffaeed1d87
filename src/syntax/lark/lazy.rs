//! Lowers lazy rules: those with the attribute `lazy`, `suffix` or `stop`.
//!
//! A lazy rule that is any text up to a string becomes [free text](FreeText). Any other lazy rule is intersected with
//! the complement of the texts that have one of its words as a proper prefix.

use super::beside::{Lazy, Lexeme};
use super::bytes::Facts;
use super::errors;
use super::lower::Lowering;
use super::tree::{Definition, Item, Name, Part};
use crate::error::Result;
use crate::grammar::{ByteSet, ExprId, FreeText};
use crate::limits::{LimitKind, Limits};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes that are copied or compared in a step of work.
const BESIDE_BYTES: usize = 8;

/// Nodes charged to `grammar_nodes` for each ordered pair of lazy rules with numbers.
const PAIR_NODES: usize = 16;

impl<'s> Lowering<'s, '_, '_> {
    /// Whether the form of a lazy rule shows that each of its words ends with a token terminal and contains no other.
    fn ends_in_token(&self, definition: &Definition<'s>) -> bool {
        let is_token = |item: &Item<'s>| matches!(item, Item::Special(_) | Item::Ids(_));
        if let Some((_, end)) = &definition.attributes.end {
            return is_token(end) && !self.has_token(definition.body.iter().flatten());
        }
        definition.body.iter().all(|parts| match parts.split_last() {
            Some((last, before)) => {
                let is_once = last.min == 1 && last.max == Some(1);
                is_once && is_token(&last.item) && !self.has_token(before)
            }
            None => false,
        })
    }

    /// Whether the parts, or the definitions to which they refer, may contain a token terminal.
    fn has_token<'b>(&'b self, parts: impl IntoIterator<Item = &'b Part<'s>>) -> bool {
        let mut open: Vec<&Item<'s>> = parts.into_iter().map(|part| &part.item).collect();
        let mut seen = FxHashSet::default();
        while let Some(item) = open.pop() {
            open.extend(item.inner());
            match item {
                Item::Special(_) | Item::Ids(_) | Item::Lark(_) => return true,
                Item::Name(name) if seen.insert(*name) => {
                    let Some(definition) = self.definition(*name) else { continue };
                    open.extend(definition.body.iter().flatten().map(|part| &part.item));
                    open.extend(definition.attributes.end.as_ref().map(|(_, end)| end));
                }
                _ => {}
            }
        }
        false
    }

    /// Registers all lazy rules of the grammar and numbers those with which other parts may compete. Lazy rules that
    /// are any text up to the same string share one number. Lazy rules whose words end in a token get none.
    ///
    /// # Errors
    /// The errors of the bodies; `limit/exceeded` if the number of numbered rules, squared, times [`PAIR_NODES`]
    /// exceeds `grammar_nodes`: each numbered rule is distinguished from each other one.
    pub(super) fn find_lazy(&mut self, facts: &Facts<'s, '_>) -> Result<()> {
        let limit = self.options.json_schema.limits.grammar_nodes;
        let mut triggers: FxHashMap<String, u32> = FxHashMap::default();
        for definition in self.parsed.definitions.iter().filter(|definition| definition.attributes.is_lazy) {
            let body = self.body(&definition.body, true, &[], &[])?.0;
            let mut part = body;
            if let Some((at, item)) = &definition.attributes.end {
                let end = self.item(item, *at, true, &[], &[])?.0;
                part = self.builder.sequence([body, end]);
            }
            let ends_in_token = self.ends_in_token(definition);
            let mut trigger = self.names.trigger(definition);
            if let Some(most) = definition.attributes.max_chars {
                (part, trigger) = (self.builder.max_chars(part, most), None);
            }
            // text contains no token, so a rule that ends in a token cannot be confused with other parts
            let known = trigger.as_ref().and_then(|trigger| triggers.get(trigger)).copied();
            let number = match (ends_in_token, known) {
                (true, _) => None,
                (false, Some(known)) => Some(known),
                (false, None) => {
                    let number = self.lazies.len() as u32;
                    triggers.extend(trigger.clone().map(|trigger| (trigger, number)));
                    let Definition { name, at, .. } = *definition;
                    let bytes = facts.name(name);
                    self.lazies.push(Lazy { at, name, part, trigger, bytes });
                    Some(number)
                }
            };
            if self.lazies.len().saturating_mul(self.lazies.len()).saturating_mul(PAIR_NODES) > limit {
                let found = format!("{} lazy rules, each distinguished from each other", self.lazies.len());
                let error = Limits::exceeded(LimitKind::GrammarNodes, limit, found);
                return Err(errors::at_place(error, self.source, definition.at));
            }
            self.lazy_of.insert(definition.name, (number, part));
        }
        Ok(())
    }

    /// The words of the lazy rule `name` where it competes with the lazy rules `beside`: its shortest words, except
    /// those with a proper prefix that is a word of another one. The bounds of the rule apply. A rule whose words end
    /// in a token competes with none.
    pub(super) fn lazy(&mut self, name: Name<'s>, beside: &[u32]) -> Result<ExprId> {
        let Some(&(number, part)) = self.lazy_of.get(&name) else { return Ok(ExprId::NEVER) };
        let Some(number) = number else { return Ok(self.bounded(name, part)) };
        let others: Vec<u32> = beside.iter().copied().filter(|&other| other != number).collect();
        self.charge_beside(&Lexeme::Other, others.iter().copied())?;
        let key = (number, others);
        if let Some(&known) = self.lazy_words.get(&key) {
            return Ok(self.bounded(name, known));
        }
        let others = &key.1;
        let own = self.lazies[number as usize].trigger.clone();
        let mut words = if let Some(trigger) = &own {
            let mut text =
                FreeText { triggers: vec![(trigger.as_str().into(), ExprId::EMPTY)], ..FreeText::default() };
            for other in self.triggers(others).into_iter().filter(|other| other != trigger) {
                // if this trigger is a suffix of the other one, both rules end at the same place
                let end = if other.ends_with(&**trigger) { ExprId::EMPTY } else { ExprId::NEVER };
                text.triggers.push((other.into(), end));
            }
            self.text(text)
        } else {
            self.builder.shortest(part)
        };
        for &other in others {
            let other = &self.lazies[other as usize];
            if own.is_some() && other.trigger.is_some() {
                continue;
            }
            let begun = self.begun_by(other.part, other.trigger.clone());
            let more = self.builder.byte_set(ByteSet::FULL);
            let longer = self.builder.sequence([begun, more]);
            words = self.builder.without_beginnings(words, longer);
        }
        self.lazy_words.insert(key, words);
        Ok(self.bounded(name, words))
    }

    /// Charges for distinguishing a lexeme from lazy rules: for each, the string up to which it is any text is copied,
    /// searched and compared.
    pub(super) fn charge_beside(
        &self,
        lexeme: &Lexeme<'_>,
        beside: impl IntoIterator<Item = u32>,
    ) -> Result<()> {
        let text = if let Lexeme::Text(text) = lexeme { text.len() } else { 0 };
        let of = |lazy: u32| self.lazies[lazy as usize].trigger.as_ref().map_or(0, String::len);
        let bytes = beside.into_iter().map(|lazy| BESIDE_BYTES + of(lazy) + text).sum::<usize>();
        self.builder.work().spend(self.texts.len() / 8 + bytes / BESIDE_BYTES)
    }

    /// Restricts a lexeme to the words that neither are nor begin with a word of one of the lazy rules `beside`, which
    /// may begin where the lexeme begins.
    pub(super) fn beside(&mut self, made: ExprId, lexeme: &Lexeme<'_>, beside: &[u32]) -> ExprId {
        if beside.is_empty() {
            return made;
        }
        let triggers = self.triggers(beside);
        let mut others: Vec<ExprId> = beside
            .iter()
            .map(|&other| &self.lazies[other as usize])
            .filter(|other| other.trigger.is_none())
            .map(|other| other.part)
            .collect();
        let mut words = made;
        match lexeme {
            Lexeme::AnyText if !triggers.is_empty() => {
                let forbidden = triggers.iter().map(|trigger| trigger.as_str().into()).collect();
                let text = FreeText { forbidden, end: Some(ExprId::EMPTY), ..FreeText::default() };
                words = self.text(text);
            }
            Lexeme::Text(text) if triggers.iter().any(|trigger| text.contains(&**trigger)) => {
                return ExprId::NEVER;
            }
            Lexeme::Text(_) => {}
            _ => {
                let begun: Vec<ExprId> =
                    triggers.into_iter().map(|trigger| self.begun_by(made, Some(trigger))).collect();
                others.extend(begun);
            }
        }
        if others.is_empty() {
            return words;
        }
        let others = self.builder.choice(others);
        self.builder.without_beginnings(words, others)
    }

    /// The strings up to which lazy rules of these numbers are any text, sorted and without duplicates.
    fn triggers(&self, lazies: &[u32]) -> Vec<String> {
        let mut triggers: Vec<String> =
            lazies.iter().filter_map(|&lazy| self.lazies[lazy as usize].trigger.clone()).collect();
        triggers.sort_unstable();
        triggers.dedup();
        triggers
    }

    /// Returns the expression of a free text. Equal texts share one expression.
    fn text(&mut self, text: FreeText) -> ExprId {
        if let Some((_, known)) = self.texts.iter().find(|(known, _)| *known == text) {
            return *known;
        }
        let made = self.builder.free_text(&text);
        self.texts.push((text, made));
        made
    }

    /// Any bytes that end with `trigger`, if there is one; otherwise `part`.
    fn begun_by(&mut self, part: ExprId, trigger: Option<String>) -> ExprId {
        let Some(trigger) = trigger else { return part };
        let any = self.builder.byte_set(ByteSet::FULL);
        let any = self.builder.star(any);
        let trigger = self.builder.text(trigger);
        self.builder.sequence([any, trigger])
    }

    /// Restricts the words of a definition by its attributes `max_chars` and `max_tokens`.
    pub(super) fn bounded(&mut self, name: Name<'s>, mut body: ExprId) -> ExprId {
        let Some(definition) = self.definition(name) else { return body };
        let (max_chars, max_tokens) = (definition.attributes.max_chars, definition.attributes.max_tokens);
        if let Some(most) = max_chars {
            body = self.builder.max_chars(body, most);
        }
        if let Some(most) = max_tokens {
            body = self.builder.max_tokens(body, most);
        }
        body
    }
}
