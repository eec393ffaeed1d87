//! Expands templates: each use of a template with other arguments is a rule of its own.

use super::errors;
use super::tree::{Attributes, Body, Definition, Item, Name, Part};
use crate::error::{Errors, Result};
use crate::limits::{LimitKind, Limits};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::mem::take;

/// Nodes charged to `grammar_nodes` for each part of a template, each time it is copied.
const PART_NODES: usize = 16;

/// The definitions of a grammar and of the files that it imports, with resolved names.
#[derive(Default)]
pub(super) struct Definitions<'s> {
    list: Vec<Definition<'s>>,
    places: FxHashMap<Name<'s>, usize>,
}

impl<'s> Definitions<'s> {
    pub(super) fn add(&mut self, definition: Definition<'s>) {
        // of two definitions of one name, which are an error, the first counts
        self.places.entry(definition.name).or_insert(self.list.len());
        self.list.push(definition);
    }

    pub(super) fn definition(&mut self, name: Name<'s>) -> Option<&mut Definition<'s>> {
        self.list.get_mut(*self.places.get(&name)?)
    }

    /// Whether a name is that of a rule or terminal, not of a template.
    pub(super) fn has(&self, name: Name<'s>) -> bool {
        self.places.get(&name).is_some_and(|&place| self.list[place].parameters.is_empty())
    }

    /// Expands the templates in all definitions and in `ignored`. Returns the definitions of the grammar itself, those
    /// of other files that they use, and the uses of templates.
    ///
    /// # Errors
    /// `limit/exceeded` if the copies of templates are too large.
    pub(super) fn expanded(
        self,
        source: &'s str,
        ignored: &mut [Body<'s>],
        start: Option<Name<'s>>,
        limits: &Limits,
        errors: &mut Errors,
    ) -> Result<Vec<Definition<'s>>> {
        let is_template = |it: &Definition<'s>| !it.parameters.is_empty();
        let is_wanted: Vec<bool> =
            self.list.iter().map(|it| it.name.scope == 0 && !is_template(it)).collect();
        let open = (0..is_wanted.len()).filter(|&place| is_wanted[place]).collect();
        let mut expander = Expander {
            source,
            scopes: self.list.iter().map(|it| it.name.scope).max().unwrap_or(0),
            definitions: self,
            is_wanted,
            open,
            uses: FxHashMap::default(),
            nodes: 0,
            limits,
            errors,
        };
        for part in ignored.iter_mut().flatten().flatten() {
            expander.item(&mut part.item, part.at)?;
        }
        if let Some(start) = start {
            expander.want(start);
        }
        while let Some(place) = expander.open.pop_front() {
            let definition = &mut expander.definitions.list[place];
            let (mut body, mut end) = (take(&mut definition.body), definition.attributes.end.take());
            for part in body.iter_mut().flatten() {
                expander.item(&mut part.item, part.at)?;
            }
            if let Some((at, item)) = &mut end {
                expander.item(item, *at)?;
            }
            let definition = &mut expander.definitions.list[place];
            definition.body = body;
            definition.attributes.end = end;
        }
        let list = expander.definitions.list.into_iter().zip(expander.is_wanted);
        let wanted = list.filter(|(_, is_wanted)| *is_wanted).map(|(definition, _)| definition);
        let (own, others): (Vec<_>, Vec<_>) = wanted.partition(|it| it.name.scope == 0);
        Ok(own.into_iter().chain(others).collect())
    }
}

struct Expander<'s, 'e> {
    source: &'s str,
    definitions: Definitions<'s>,
    /// By definition: whether it is part of the result.
    is_wanted: Vec<bool>,
    /// The definitions of the result that are not expanded yet.
    open: VecDeque<usize>,
    /// The last number of a scope.
    scopes: u32,
    /// The rules of the uses so far, by template and arguments.
    uses: FxHashMap<(Name<'s>, Vec<Item<'s>>), Name<'s>>,
    nodes: usize,
    limits: &'e Limits,
    errors: &'e mut Errors,
}

impl<'s> Expander<'s, '_> {
    fn want(&mut self, name: Name<'s>) {
        if let Some(&place) = self.definitions.places.get(&name)
            && !std::mem::replace(&mut self.is_wanted[place], true)
        {
            self.open.push_back(place);
        }
    }

    /// Replaces the uses of templates in an item by the names of rules.
    fn item(&mut self, item: &mut Item<'s>, at: usize) -> Result<()> {
        match item {
            Item::Name(name) => match self.definitions.has(*name) {
                true => self.want(*name),
                false => {
                    let expected = self.definitions.definition(*name).map_or(0, |it| it.parameters.len());
                    self.errors.push(errors::template_arguments(self.source, at, name.text, 0, expected));
                    *item = Item::Group(Vec::new());
                }
            },
            Item::Template(name, arguments) => {
                for argument in &mut *arguments {
                    self.item(argument, at)?;
                }
                let (name, arguments) = (*name, take(arguments));
                *item = self.instance(name, arguments, at)?;
            }
            Item::Group(body) | Item::And(body) => {
                for part in body.iter_mut().flatten() {
                    self.item(&mut part.item, part.at)?;
                }
            }
            Item::Not(inner) => self.item(inner, at)?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the name of the rule for a use of a template, which is defined if it is new.
    fn instance(&mut self, name: Name<'s>, arguments: Vec<Item<'s>>, at: usize) -> Result<Item<'s>> {
        let Some(&place) = self.definitions.places.get(&name) else { return Ok(Item::Group(Vec::new())) };
        let template = &self.definitions.list[place];
        let expected = template.parameters.len();
        if expected != arguments.len() {
            let found = arguments.len();
            self.errors.push(errors::template_arguments(self.source, at, name.text, found, expected));
            return Ok(Item::Group(Vec::new()));
        }
        let key = (name, arguments);
        if let Some(&known) = self.uses.get(&key) {
            return Ok(Item::Name(known));
        }
        let arguments = &key.1;
        let own: usize = arguments.iter().map(size).sum();
        let body: usize = template.body.iter().flatten().map(|part| copied(&part.item, arguments)).sum();
        self.nodes = self.nodes.saturating_add((1 + own + body).saturating_mul(PART_NODES));
        if self.nodes > self.limits.grammar_nodes {
            let found = format!("{} uses of templates with different arguments", self.uses.len() + 1);
            let error = Limits::exceeded(LimitKind::GrammarNodes, self.limits.grammar_nodes, found);
            return Err(errors::at_place(error, self.source, at));
        }
        self.scopes += 1;
        let rule = Name { text: name.text, scope: self.scopes };
        let attributes = Attributes {
            end: template.attributes.end.as_ref().map(|(at, item)| (*at, filled(item, arguments))),
            ..template.attributes
        };
        let definition = Definition {
            name: rule,
            parameters: Vec::new(),
            attributes,
            body: filled_body(&template.body, arguments),
            ..*template
        };
        self.is_wanted.push(false);
        self.definitions.add(definition);
        self.want(rule);
        self.uses.insert(key, rule);
        Ok(Item::Name(rule))
    }
}

/// The size of an item, in parts; long texts count more.
fn size(item: &Item<'_>) -> usize {
    copied(item, &[])
}

/// The size of an item after parameters are replaced by arguments.
fn copied(item: &Item<'_>, arguments: &[Item<'_>]) -> usize {
    1 + match item {
        Item::Parameter(parameter) => arguments.get(*parameter).map_or(0, size),
        Item::Text { text, .. } | Item::Pattern { pattern: text, .. } => text.len() / PART_NODES,
        Item::Chunks(chunks) => chunks.iter().map(|chunk| 1 + chunk.len() / PART_NODES).sum(),
        Item::Template(_, list) => list.iter().map(|item| copied(item, arguments)).sum(),
        Item::Not(inner) => copied(inner, arguments),
        Item::Lark(parsed) => parsed.definitions.iter().map(|it| size_of_body(&it.body, arguments)).sum(),
        item => item.body().map_or(0, |body| size_of_body(body, arguments)),
    }
}

fn size_of_body(body: &Body<'_>, arguments: &[Item<'_>]) -> usize {
    body.iter().map(|parts| 1 + parts.iter().map(|part| copied(&part.item, arguments)).sum::<usize>()).sum()
}

/// An item with arguments in place of parameters.
fn filled<'s>(item: &Item<'s>, arguments: &[Item<'s>]) -> Item<'s> {
    match item {
        Item::Parameter(parameter) => arguments.get(*parameter).cloned().unwrap_or(Item::Group(Vec::new())),
        Item::Template(name, list) => {
            Item::Template(*name, list.iter().map(|item| filled(item, arguments)).collect())
        }
        Item::Group(body) => Item::Group(filled_body(body, arguments)),
        Item::And(body) => Item::And(filled_body(body, arguments)),
        Item::Not(inner) => Item::Not(Box::new(filled(inner, arguments))),
        item => item.clone(),
    }
}

fn filled_body<'s>(body: &Body<'s>, arguments: &[Item<'s>]) -> Body<'s> {
    let part = |part: &Part<'s>| Part { item: filled(&part.item, arguments), ..*part };
    body.iter().map(|parts| parts.iter().map(part).collect()).collect()
}
