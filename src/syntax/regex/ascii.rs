//! Restricts `\d`, `\w` and `\s` to ASCII. Their negations match all other characters, those outside ASCII included.

use regex_syntax::ast::{
    Ast, ClassAscii, ClassAsciiKind, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem,
};

/// Replaces every `\d`, `\w` and `\s` of a pattern, and their negations, in place. Does not recurse.
pub(super) fn narrow(ast: &mut Ast) {
    let mut todo = vec![ast];
    while let Some(ast) = todo.pop() {
        match ast {
            Ast::Group(group) => todo.push(&mut group.ast),
            Ast::Repetition(repetition) => todo.push(&mut repetition.ast),
            Ast::Concat(concat) => todo.extend(&mut concat.asts),
            Ast::Alternation(alternation) => todo.extend(&mut alternation.asts),
            Ast::ClassBracketed(class) => narrow_set(&mut class.kind),
            Ast::ClassPerl(class) => {
                let kind = ClassSet::Item(ClassSetItem::Ascii(ascii(class)));
                *ast = Ast::class_bracketed(ClassBracketed { span: class.span, negated: false, kind });
            }
            Ast::Empty(_) | Ast::Flags(_) | Ast::Literal(_) | Ast::Dot(_) | Ast::Assertion(_) => {}
            Ast::ClassUnicode(_) => {}
        }
    }
}

/// Replaces every `\d`, `\w` and `\s` within a class, and their negations, in place. Does not recurse.
fn narrow_set(set: &mut ClassSet) {
    let mut sets = vec![set];
    let mut items: Vec<&mut ClassSetItem> = Vec::new();
    loop {
        if let Some(set) = sets.pop() {
            match set {
                ClassSet::Item(item) => items.push(item),
                ClassSet::BinaryOp(op) => sets.extend([&mut *op.lhs, &mut *op.rhs]),
            }
        } else if let Some(item) = items.pop() {
            match item {
                ClassSetItem::Perl(class) => *item = ClassSetItem::Ascii(ascii(class)),
                ClassSetItem::Bracketed(class) => sets.push(&mut class.kind),
                ClassSetItem::Union(union) => items.extend(&mut union.items),
                ClassSetItem::Empty(_) | ClassSetItem::Literal(_) | ClassSetItem::Range(_) => {}
                ClassSetItem::Ascii(_) | ClassSetItem::Unicode(_) => {}
            }
        } else {
            return;
        }
    }
}

/// The ASCII class that corresponds to `\d`, `\w` or `\s`, or to its negation.
fn ascii(class: &ClassPerl) -> ClassAscii {
    let kind = match class.kind {
        ClassPerlKind::Digit => ClassAsciiKind::Digit,
        ClassPerlKind::Space => ClassAsciiKind::Space,
        ClassPerlKind::Word => ClassAsciiKind::Word,
    };
    ClassAscii { span: class.span, kind, negated: class.negated }
}
