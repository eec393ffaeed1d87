//! Gives each name of a grammar its definition: imports from other grammars, `%override` and `%extend`.
//!
//! As in the package Lark, each import of a file makes names of its own: two grammars that import one file have two
//! copies of its rules, and overriding a rule changes one copy, everywhere in it.

use super::common;
use super::errors;
use super::files::Texts;
use super::templates;
use super::tree::{Definition, Import, Item, Kind, Name, Parsed, Part};
use crate::error::{Errors, Result};
use crate::limits::{LimitKind, Limits};
use rustc_hash::FxHashMap;
use std::mem::take;

/// A grammar, or one import of a file.
struct Scope<'s> {
    /// The index of the file; that of the importing file for a nested grammar.
    file: usize,
    /// The scope that imports this one.
    parent: Option<usize>,
    definitions: Vec<Definition<'s>>,
    imports: Vec<Import<'s>>,
    names: FxHashMap<&'s str, Target<'s>>,
}

/// The meaning of a name in a scope.
#[derive(Clone, Copy)]
enum Target<'s> {
    Own,
    /// A name in another scope.
    Imported(usize, &'s str),
}

/// The parsed files of a grammar.
pub(super) struct Files<'s> {
    pub(super) texts: &'s Texts<'s>,
    /// By index; the grammar itself has no definitions here.
    pub(super) parsed: Vec<Parsed<'s>>,
    pub(super) limits: Limits,
}

/// Resolves the names of the grammar `main`, which is in the file `file`, and expands its templates. Errors are added to
/// `errors`; the items with errors have no words in the result.
///
/// # Errors
/// `limit/exceeded` if too much is imported, or templates have too many different uses.
pub(super) fn resolve<'s>(
    main: Parsed<'s>,
    file: usize,
    files: &Files<'s>,
    start: &str,
    errors: &mut Errors,
) -> Result<Parsed<'s>> {
    let Parsed { definitions, mut ignored, skips_first, priorities, imports, .. } = main;
    let root = Scope { file, parent: None, definitions, imports, names: FxHashMap::default() };
    let mut resolver = Resolver { source: &files.texts.text, files, scopes: vec![root], bytes: 0, errors };
    let mut at = 0;
    while at < resolver.scopes.len() {
        resolver.declare(at)?;
        at += 1;
    }
    resolver.check_imports();
    let mut flat = templates::Definitions::default();
    for scope in (0..resolver.scopes.len()).rev() {
        resolver.define(scope, &mut flat)?;
    }
    for part in ignored.iter_mut().flatten().flatten() {
        resolver.part(part, 0)?;
    }
    let first = resolver.lookup(0, start).filter(|name| flat.has(*name));
    if first.is_none() && !resolver.errors.is_full() {
        let known = resolver.scopes[0].names.keys().copied();
        let error = errors::no_start(&files.texts.text, files.texts.end(), start, known);
        resolver.errors.push(error);
    }
    let Resolver { errors, source, .. } = resolver;
    let definitions = flat.expanded(source, &mut ignored, first, &files.limits, errors)?;
    Ok(Parsed { definitions, ignored, skips_first, priorities, imports: Vec::new(), start: first })
}

struct Resolver<'s, 'f, 'e> {
    source: &'s str,
    files: &'f Files<'s>,
    scopes: Vec<Scope<'s>>,
    /// The bytes of the imported files so far; a file counts once for each import.
    bytes: usize,
    errors: &'e mut Errors,
}

impl<'s> Resolver<'s, '_, '_> {
    /// Fills the names of a scope, and opens the scopes of the files that it imports.
    fn declare(&mut self, scope: usize) -> Result<()> {
        let mut names = FxHashMap::default();
        for Definition { at, name, kind, .. } in &self.scopes[scope].definitions {
            if *kind == Kind::Define && names.insert(name.text, Target::Own).is_some() {
                self.errors.push(errors::defined_twice(self.source, *at, name.text));
            }
        }
        let mut opened: FxHashMap<usize, usize> = FxHashMap::default();
        for import in take(&mut self.scopes[scope].imports) {
            let target = match import.from.is_common() {
                true => {
                    let pattern = common::pattern(import.name);
                    if pattern.is_none() {
                        self.errors.push(errors::unknown_terminal(self.source, import.at, import.name));
                    }
                    self.scopes[scope].definitions.push(imported(&import, pattern));
                    Target::Own
                }
                false => match self.open(scope, &import, &mut opened)? {
                    Some(other) => Target::Imported(other, import.name),
                    None => {
                        self.scopes[scope].definitions.push(imported(&import, None));
                        Target::Own
                    }
                },
            };
            if names.insert(import.alias, target).is_some() {
                self.errors.push(errors::defined_twice(self.source, import.at, import.alias));
            }
            self.scopes[scope].imports.push(import);
        }
        self.scopes[scope].names = names;
        Ok(())
    }

    /// Returns the scope of the file that an import names; `None` after an error.
    fn open(
        &mut self,
        scope: usize,
        import: &Import<'s>,
        opened: &mut FxHashMap<usize, usize>,
    ) -> Result<Option<usize>> {
        let texts = self.files.texts;
        let file = match texts.file(&import.from, self.scopes[scope].file) {
            Ok(file) => file,
            Err((name, reason)) => {
                self.errors.push(errors::unknown_import(self.source, import.from.at, &name, reason));
                return Ok(None);
            }
        };
        if let Some(&known) = opened.get(&file) {
            return Ok(Some(known));
        }
        let mut above = Some(scope);
        while let Some(scope) = above {
            let Scope { file: importing, parent, .. } = &self.scopes[scope];
            if *importing == file {
                self.errors.push(errors::import_cycle(self.source, import.from.at));
                return Ok(None);
            }
            above = *parent;
        }
        self.bytes += 1 + texts.length(file);
        if self.bytes > self.files.limits.source_bytes {
            let found = format!("{} bytes of imported files, counted for each import", self.bytes);
            let error = Limits::exceeded(LimitKind::SourceBytes, self.files.limits.source_bytes, found);
            return Err(errors::at_place(error, self.source, import.from.at));
        }
        let Parsed { definitions, imports, .. } = self.files.parsed[file].clone();
        let names = FxHashMap::default();
        self.scopes.push(Scope { file, parent: Some(scope), definitions, imports, names });
        opened.insert(file, self.scopes.len() - 1);
        Ok(Some(self.scopes.len() - 1))
    }

    /// Checks that the files have the rules and terminals that are imported from them.
    fn check_imports(&mut self) {
        for scope in 0..self.scopes.len() {
            for import in take(&mut self.scopes[scope].imports) {
                if let Some(&Target::Imported(other, name)) = self.scopes[scope].names.get(import.alias)
                    && self.lookup(other, name).is_none()
                {
                    let known = self.scopes[other].names.keys().copied();
                    self.errors.push(errors::not_in_file(self.source, import.at, name, known));
                    self.scopes[scope].names.insert(import.alias, Target::Own);
                    self.scopes[scope].definitions.push(imported(&import, None));
                }
            }
        }
    }

    /// The definition's name for a name in a scope; `None` if it is not defined.
    fn lookup(&self, scope: usize, text: &str) -> Option<Name<'s>> {
        let (mut scope, (mut text, mut target)) = (scope, self.scopes[scope].names.get_key_value(text)?);
        while let Target::Imported(other, name) = *target {
            scope = other;
            (text, target) = self.scopes[scope].names.get_key_value(name)?;
        }
        Some(Name { text, scope: scope as u32 })
    }

    /// Adds the definitions of a scope to `flat`, after those of the scopes that it imports.
    fn define(&mut self, scope: usize, flat: &mut templates::Definitions<'s>) -> Result<()> {
        let mut definitions = take(&mut self.scopes[scope].definitions);
        for definition in &mut definitions {
            for part in definition.body.iter_mut().flatten() {
                self.part(part, scope)?;
            }
            if let Some((at, end)) = &mut definition.attributes.end {
                self.item(end, *at, scope)?;
            }
            definition.name.scope = scope as u32;
        }
        let (own, changes): (Vec<_>, Vec<_>) =
            definitions.into_iter().partition(|it| it.kind == Kind::Define);
        own.into_iter().for_each(|definition| flat.add(definition));
        for change in changes {
            let (at, name) = (change.at, change.name.text);
            let target = self.lookup(scope, name).and_then(|name| flat.definition(name));
            let Some(target) = target else {
                let known = self.scopes[scope].names.keys().copied();
                self.errors.push(errors::nothing_to_change(self.source, at, name, known));
                continue;
            };
            match change.kind {
                Kind::Extend if target.parameters == change.parameters => target.body.extend(change.body),
                Kind::Extend => self.errors.push(errors::extend_parameters(self.source, at, name)),
                _ => *target = Definition { name: target.name, kind: Kind::Define, ..change },
            }
        }
        Ok(())
    }

    fn part(&mut self, part: &mut Part<'s>, scope: usize) -> Result<()> {
        self.item(&mut part.item, part.at, scope)
    }

    /// Resolves the names in an item, and the grammars in it.
    fn item(&mut self, item: &mut Item<'s>, at: usize, scope: usize) -> Result<()> {
        match item {
            Item::Name(name) | Item::Template(name, _) => match self.lookup(scope, name.text) {
                Some(found) => *name = found,
                None => {
                    if !self.errors.is_full() {
                        let known = self.scopes[scope].names.keys().copied();
                        let known = known.chain(common::names().map(|name| -> &'s str { name }));
                        self.errors.push(errors::undefined(self.source, at, name.text, known));
                    }
                    *item = Item::Group(Vec::new());
                }
            },
            Item::Group(body) | Item::And(body) => {
                for part in body.iter_mut().flatten() {
                    self.part(part, scope)?;
                }
            }
            Item::Not(inner) => self.item(inner, at, scope)?,
            Item::Lark(parsed) => {
                let file = self.scopes[scope].file;
                **parsed = resolve(take(&mut **parsed), file, self.files, "start", self.errors)?;
            }
            _ => {}
        }
        if let Item::Template(_, arguments) = item {
            for argument in arguments {
                self.item(argument, at, scope)?;
            }
        }
        Ok(())
    }
}

/// The definition of a terminal of `common`. Without a pattern, that of a name whose import is an error.
fn imported<'s>(import: &Import<'s>, pattern: Option<&'static str>) -> Definition<'s> {
    let at = import.at;
    let mut definition = Definition::without_words(at, Name::new(import.alias));
    let part = |pattern| vec![Part { at, item: Item::Common(pattern), min: 1, max: Some(1) }];
    definition.body.extend(pattern.map(part));
    definition
}
