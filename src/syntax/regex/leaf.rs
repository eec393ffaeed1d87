//! Lowers single characters, bytes and classes to expressions.

use super::Options;
use super::errors;
use super::source::Source;
use crate::error::Result;
use crate::grammar::{ByteSet, CharClass, ExprId, GrammarBuilder};
use regex_syntax::ast::{self, Ast, ClassBracketed, ClassSet, ClassSetItem, Flag, FlagsItemKind, Span};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A function that returns the expression of a set of characters.
pub(super) type Hook<'h> = dyn FnMut(&mut GrammarBuilder, &CharClass) -> ExprId + 'h;

/// Maximum length in bytes of a class of characters with set operations or nested classes. regex-syntax translates such
/// a class and sorts it again for each of its items, which takes quadratic time. Other classes of characters are
/// assembled here, at any length.
const MAX_NESTED_CLASS_BYTES: usize = 1 << 14;

/// The flags that can change the meaning of a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Flags {
    case_insensitive: bool,
    pub(super) multi_line: bool,
    dot_matches_newline: bool,
    pub(super) unicode: bool,
    pub(super) crlf: bool,
    /// The flag `x`. The parser has applied it, but it is part of the key of `by_text`: equal texts mean the same only
    /// under equal flags.
    verbose: bool,
}

impl Flags {
    pub(super) fn new(options: &Options) -> Flags {
        Flags {
            case_insensitive: options.case_insensitive,
            multi_line: false,
            dot_matches_newline: options.dot_matches_newline,
            unicode: options.unicode,
            crlf: false,
            verbose: false,
        }
    }

    /// These flags, changed by flags as in `(?i-s)`.
    pub(super) fn with(mut self, changes: &ast::Flags) -> Flags {
        let mut on = true;
        for item in &changes.items {
            match item.kind {
                FlagsItemKind::Negation => on = false,
                FlagsItemKind::Flag(Flag::CaseInsensitive) => self.case_insensitive = on,
                FlagsItemKind::Flag(Flag::MultiLine) => self.multi_line = on,
                FlagsItemKind::Flag(Flag::DotMatchesNewLine) => self.dot_matches_newline = on,
                FlagsItemKind::Flag(Flag::Unicode) => self.unicode = on,
                FlagsItemKind::Flag(Flag::CRLF) => self.crlf = on,
                FlagsItemKind::Flag(Flag::IgnoreWhitespace) => self.verbose = on,
                // greedy and lazy repeats have the same language
                FlagsItemKind::Flag(Flag::SwapGreed) => {}
            }
        }
        self
    }
}

/// The lowered leaves of a pattern: literals, dots and classes.
pub(super) struct Leaves<'p, 'h, 'f> {
    source: &'p Source<'p>,
    hook: Option<&'h mut Hook<'f>>,
    /// The expressions that the hook returned for single characters.
    chars: FxHashMap<char, ExprId>,
    /// The expressions of other leaves, by their flags and their text.
    by_text: FxHashMap<(Flags, &'p str), ExprId>,
    /// The characters of named classes within classes, by their flags and their text. Patterns repeat the same few.
    parts: FxHashMap<(Flags, &'p str), ClassUnicode>,
}

impl<'p, 'h, 'f> Leaves<'p, 'h, 'f> {
    pub(super) fn new(source: &'p Source<'p>, hook: Option<&'h mut Hook<'f>>) -> Leaves<'p, 'h, 'f> {
        Leaves {
            source,
            hook,
            chars: FxHashMap::default(),
            by_text: FxHashMap::default(),
            parts: FxHashMap::default(),
        }
    }

    fn text(&self, span: &Span) -> &'p str {
        self.source.text.get(span.start.offset..span.end.offset).unwrap_or("")
    }

    /// Lowers a character; with a hook, the hook is called once for each different character.
    fn char(&mut self, builder: &mut GrammarBuilder, c: char) -> ExprId {
        match (self.chars.get(&c), &mut self.hook) {
            (Some(&id), _) => id,
            (None, None) => builder.text(c.encode_utf8(&mut [0; 4])),
            (None, Some(hook)) => {
                let id = hook(builder, &CharClass::new([(c, c)]));
                self.chars.insert(c, id);
                id
            }
        }
    }

    /// Lowers a set of characters; an empty one to the builder's `never`, without the hook.
    fn class(&mut self, builder: &mut GrammarBuilder, class: CharClass) -> ExprId {
        match &mut self.hook {
            _ if class.is_empty() => builder.never(),
            None => builder.char_class(class),
            Some(hook) => hook(builder, &class),
        }
    }

    /// An expression for any number of characters; of bytes, if `unicode` is off and there is no hook.
    pub(super) fn any_text(&mut self, builder: &mut GrammarBuilder, options: &Options) -> ExprId {
        let one = if options.unicode || self.hook.is_some() {
            self.class(builder, CharClass::any())
        } else {
            builder.byte_set(ByteSet::FULL)
        };
        builder.star(one)
    }

    /// Lowers a literal, a dot or a class under the given flags.
    pub(super) fn lower(&mut self, builder: &mut GrammarBuilder, ast: &Ast, flags: Flags) -> Result<ExprId> {
        if let Ast::Literal(literal) = ast
            && flags.unicode
            && !flags.case_insensitive
        {
            return Ok(self.char(builder, literal.c));
        }
        let key = (flags, self.text(ast.span()));
        if let Some(&id) = self.by_text.get(&key) {
            return Ok(id);
        }
        let id = match ast {
            Ast::ClassBracketed(class) if flags.unicode => self.bracketed(builder, class, ast, flags)?,
            _ => self.translated(builder, ast, flags)?,
        };
        self.by_text.insert(key, id);
        Ok(id)
    }

    /// Lowers a leaf from its translation by regex-syntax.
    fn translated(&mut self, builder: &mut GrammarBuilder, ast: &Ast, flags: Flags) -> Result<ExprId> {
        let hir = self.translate(ast, flags)?;
        let bytes = match hir.kind() {
            HirKind::Literal(literal) => &literal.0,
            HirKind::Class(Class::Unicode(class)) => return Ok(self.class(builder, char_class(class))),
            HirKind::Class(Class::Bytes(class)) if self.hook.is_some() => {
                // with a hook, regex-syntax refuses bytes outside ASCII, see `translate`
                let ranges = class.ranges().iter().map(|r| (char::from(r.start()), char::from(r.end())));
                let class = CharClass::new(ranges);
                return Ok(self.class(builder, class));
            }
            HirKind::Class(Class::Bytes(class)) => {
                let set = class.ranges().iter().flat_map(|r| r.start()..=r.end()).collect();
                return Ok(builder.byte_set(set));
            }
            _ => return Err(errors::unknown_leaf(self.source, ast.span())),
        };
        if self.hook.is_none() {
            return Ok(builder.bytes(bytes));
        }
        let text = str::from_utf8(bytes).map_err(|_| errors::not_utf8(self.source, ast.span()))?;
        let chars: Vec<ExprId> = text.chars().map(|c| self.char(builder, c)).collect();
        Ok(builder.sequence(chars))
    }

    fn translate(&self, ast: &Ast, flags: Flags) -> Result<Hir> {
        TranslatorBuilder::new()
            .utf8(self.hook.is_some())
            .unicode(flags.unicode)
            .case_insensitive(flags.case_insensitive)
            .dot_matches_new_line(flags.dot_matches_newline)
            .crlf(flags.crlf)
            .build()
            .translate(&self.source.text, ast)
            .map_err(|e| errors::from_hir(self.source, &e))
    }

    /// Lowers a class in brackets. One with set operations or nested classes is translated by regex-syntax and may have
    /// at most [`MAX_NESTED_CLASS_BYTES`].
    fn bracketed(
        &mut self,
        builder: &mut GrammarBuilder,
        class: &ClassBracketed,
        ast: &Ast,
        flags: Flags,
    ) -> Result<ExprId> {
        let items = match &class.kind {
            ClassSet::Item(ClassSetItem::Union(union)) => &union.items[..],
            ClassSet::Item(item) => std::slice::from_ref(item),
            ClassSet::BinaryOp(_) => &[],
        };
        let nested =
            |item: &ClassSetItem| matches!(item, ClassSetItem::Bracketed(_) | ClassSetItem::Union(_));
        if matches!(class.kind, ClassSet::BinaryOp(_)) || items.iter().any(nested) {
            let size = class.span.end.offset - class.span.start.offset;
            if size > MAX_NESTED_CLASS_BYTES {
                return Err(errors::nested_class_too_big(
                    self.source,
                    &class.span,
                    size,
                    MAX_NESTED_CLASS_BYTES,
                ));
            }
            return self.translated(builder, ast, flags);
        }
        let mut ranges = Vec::new();
        let mut seen = FxHashSet::default();
        for item in items {
            match item {
                ClassSetItem::Literal(literal) => ranges.push(ClassUnicodeRange::new(literal.c, literal.c)),
                ClassSetItem::Range(range) => {
                    ranges.push(ClassUnicodeRange::new(range.start.c, range.end.c));
                }
                ClassSetItem::Empty(_) => {}
                item => {
                    let text = self.text(item.span());
                    if seen.insert(text) {
                        ranges.extend_from_slice(self.part(item, text, flags)?.ranges());
                    }
                }
            }
        }
        let mut all = ClassUnicode::new(ranges);
        if flags.case_insensitive {
            all.case_fold_simple();
        }
        if class.negated {
            all.negate();
        }
        Ok(self.class(builder, char_class(&all)))
    }

    /// The characters of a named class, such as `\d` or `[:alpha:]`, within a class; `text` is its text.
    fn part(&mut self, item: &ClassSetItem, text: &'p str, flags: Flags) -> Result<&ClassUnicode> {
        if !self.parts.contains_key(&(flags, text)) {
            let span = *item.span();
            // a named class has no operands, so the clone is cheap
            let kind = ClassSet::Item(item.clone());
            let ast = Ast::class_bracketed(ClassBracketed { span, negated: false, kind });
            let hir = self.translate(&ast, flags)?;
            let class = match hir.kind() {
                HirKind::Class(Class::Unicode(class)) => class.clone(),
                // regex-syntax turns a class of one character into a literal
                HirKind::Literal(literal) => {
                    let text = str::from_utf8(&literal.0).unwrap_or_default();
                    ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c)))
                }
                _ => return Err(errors::unknown_leaf(self.source, &span)),
            };
            self.parts.insert((flags, text), class);
        }
        Ok(&self.parts[&(flags, text)])
    }
}

fn char_class(class: &ClassUnicode) -> CharClass {
    CharClass::new(class.ranges().iter().map(|r| (r.start(), r.end())))
}
