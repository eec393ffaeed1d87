//! Checks of a template before it is compiled: the number of its tokens, unsupported syntax, and repeated constants.
//!
//! Parser, compiler and the drop of the syntax tree recurse along chains (`1+1+…`, `x.a.b`, `elif`). Only the bounds on
//! the tokens of a tag and on the number of `elif` in a template keep these chains short. The compiler evaluates
//! constant expressions before any step of a rendering is counted, so repeated constants are bounded too.

use crate::Fault;
use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt, UnaryOpKind};
use minijinja::machinery::{Span, Token, parse, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;

/// Maximum number of tokens of a template. The largest templates that come with models have some 8,000.
const TOKENS: usize = 50_000;
/// Maximum number of tokens of one tag, from `{{` or `{%` to its end. Each token may be a level of the syntax tree.
const TAG_TOKENS: usize = 1_000;
/// Maximum number of `elif` in a template; each is a level of the syntax tree.
const BRANCHES: usize = 500;
/// Maximum size of a repeated constant, in bytes or items.
const REPEATED: u64 = 4_096;

/// Parses a template, and checks its number of tokens, its syntax and its constants.
///
/// # Errors
/// The template is not valid Jinja, exceeds a bound, or uses syntax that the sandbox does not support.
pub(crate) fn read(source: &str, syntax: SyntaxConfig) -> Result<Stmt<'_>, Fault> {
    count(source, syntax.clone())?;
    let tree = parse(source, "template", syntax).map_err(|e| Fault::of(&e, source))?;
    check(source, &tree)?;
    Ok(tree)
}

/// Replaces the tags `{% generation %}` by `{% with %}`, and `{% endgeneration %}` by `{% endwith %}`. Training tools
/// mark the assistant's words with these tags; the words are printed unchanged, and variables that are set there end
/// there. The replacements have the same length,
/// so places in the template do not move. A template that cannot be tokenized is returned unchanged.
pub(crate) fn without_generation_tags(source: &str, syntax: SyntaxConfig) -> String {
    let mut out = source.to_owned();
    let mut begins = false;
    for token in tokenize(source, false, syntax) {
        let Ok((token, span)) = token else { return source.to_owned() };
        let replaced = match token {
            Token::Ident("generation") if begins => "with      ",
            Token::Ident("endgeneration") if begins => "endwith      ",
            _ => "",
        };
        let range = span.start_offset as usize..span.end_offset as usize;
        if !replaced.is_empty() && range.len() == replaced.len() && out.get(range.clone()).is_some() {
            out.replace_range(range, replaced);
        }
        begins = matches!(token, Token::BlockStart);
    }
    out
}

fn count(source: &str, syntax: SyntaxConfig) -> Result<(), Fault> {
    let (mut all, mut of_tag, mut branches) = (0, 0, 0);
    let mut begins = false;
    for token in tokenize(source, false, syntax) {
        let (token, span) = token.map_err(|e| Fault::of(&e, source))?;
        all += 1;
        of_tag += 1;
        match token {
            Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => of_tag = 0,
            Token::Ident("elif") if begins => branches += 1,
            _ => {}
        }
        begins = matches!(token, Token::BlockStart);
        for (found, most, what) in [
            (all, TOKENS, "tokens"),
            (of_tag, TAG_TOKENS, "tokens in one tag"),
            (branches, BRANCHES, "`elif`"),
        ] {
            if found > most {
                return Err(at(source, span, format!("more than {most} {what}")));
            }
        }
    }
    Ok(())
}

fn at(source: &str, span: Span, found: impl Into<String>) -> Fault {
    Fault::at(source, span.start_offset as usize, found)
}

/// A part of the syntax tree that must still be checked.
enum Part<'t, 's> {
    Statement(&'t Stmt<'s>),
    Expression(&'t Expr<'s>),
}

/// Rejects unsupported syntax, and constants that are repeated too often.
fn check<'s>(source: &str, tree: &Stmt<'s>) -> Result<(), Fault> {
    let mut open = vec![Part::Statement(tree)];
    while let Some(part) = open.pop() {
        match part {
            Part::Statement(statement) => statements(source, statement, &mut open)?,
            Part::Expression(expression) => expressions(source, expression, &mut open)?,
        }
    }
    Ok(())
}

fn statements<'t, 's>(source: &str, tree: &'t Stmt<'s>, open: &mut Vec<Part<'t, 's>>) -> Result<(), Fault> {
    let mut bodies: Vec<&'t [Stmt<'s>]> = Vec::new();
    let mut inner: Vec<&'t Expr<'s>> = Vec::new();
    match tree {
        Stmt::Template(t) => bodies.push(&t.children),
        Stmt::EmitExpr(e) => inner.push(&e.expr),
        Stmt::ForLoop(f) => {
            if f.recursive {
                return Err(at(source, f.span(), "a `recursive` loop; a macro can call itself instead"));
            }
            inner.extend([&f.target, &f.iter].into_iter().chain(&f.filter_expr));
            bodies.extend([&f.body[..], &f.else_body]);
        }
        Stmt::IfCond(i) => {
            inner.push(&i.expr);
            bodies.extend([&i.true_body[..], &i.false_body]);
        }
        Stmt::WithBlock(w) => {
            inner.extend(w.assignments.iter().flat_map(|(target, value)| [target, value]));
            bodies.push(&w.body);
        }
        Stmt::Set(s) => inner.extend([&s.target, &s.expr]),
        Stmt::SetBlock(s) => {
            inner.extend([&s.target].into_iter().chain(&s.filter));
            bodies.push(&s.body);
        }
        Stmt::AutoEscape(a) => {
            inner.push(&a.enabled);
            bodies.push(&a.body);
        }
        Stmt::FilterBlock(f) => {
            inner.push(&f.filter);
            bodies.push(&f.body);
        }
        Stmt::Macro(m) => {
            inner.extend(&m.defaults);
            bodies.push(&m.body);
        }
        Stmt::CallBlock(c) => {
            call(source, &c.call.expr, &c.call.args, c.call.span(), open)?;
            inner.extend(&c.macro_decl.defaults);
            bodies.push(&c.macro_decl.body);
        }
        Stmt::Do(d) => call(source, &d.call.expr, &d.call.args, d.call.span(), open)?,
        Stmt::Block(b) => return Err(at(source, b.span(), "`block`: a template is a single file")),
        Stmt::Import(i) => return Err(at(source, i.span(), "`import`: a template is a single file")),
        Stmt::FromImport(i) => return Err(at(source, i.span(), "`from`: a template is a single file")),
        Stmt::Extends(e) => return Err(at(source, e.span(), "`extends`: a template is a single file")),
        Stmt::Include(i) => return Err(at(source, i.span(), "`include`: a template is a single file")),
        Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
    }
    open.extend(bodies.into_iter().flatten().map(Part::Statement));
    open.extend(inner.into_iter().map(Part::Expression));
    Ok(())
}

fn expressions<'t, 's>(source: &str, tree: &'t Expr<'s>, open: &mut Vec<Part<'t, 's>>) -> Result<(), Fault> {
    let mut inner: Vec<&'t Expr<'s>> = Vec::new();
    match tree {
        Expr::Var(_) | Expr::Const(_) => {}
        Expr::Slice(s) => inner.extend([&s.expr].into_iter().chain(&s.start).chain(&s.stop).chain(&s.step)),
        Expr::UnaryOp(u) => inner.push(&u.expr),
        Expr::BinOp(b) => {
            if matches!(b.op, BinOpKind::Mul | BinOpKind::Pow) && !modest(&b.left, &b.right) {
                return Err(at(
                    source,
                    b.span(),
                    format!("a constant repeated to more than {REPEATED} bytes"),
                ));
            }
            inner.extend([&b.left, &b.right]);
        }
        Expr::Compare(c) => inner.extend([&c.expr].into_iter().chain(c.ops.iter().map(|op| &op.expr))),
        Expr::IfExpr(i) => inner.extend([&i.test_expr, &i.true_expr].into_iter().chain(&i.false_expr)),
        Expr::Filter(f) => {
            inner.extend(&f.expr);
            arguments(source, &f.args, f.span(), open)?;
        }
        Expr::Test(t) => call(source, &t.expr, &t.args, t.span(), open)?,
        Expr::GetAttr(a) => inner.push(&a.expr),
        Expr::GetItem(i) => inner.extend([&i.expr, &i.subscript_expr]),
        Expr::Call(c) => call(source, &c.expr, &c.args, c.span(), open)?,
        Expr::List(l) => inner.extend(&l.items),
        Expr::Tuple(t) => inner.extend(&t.items),
        Expr::Map(m) => inner.extend(m.keys.iter().chain(&m.values)),
    }
    open.extend(inner.into_iter().map(Part::Expression));
    Ok(())
}

fn call<'t, 's>(
    source: &str,
    called: &'t Expr<'s>,
    list: &'t [CallArg<'s>],
    span: Span,
    open: &mut Vec<Part<'t, 's>>,
) -> Result<(), Fault> {
    open.push(Part::Expression(called));
    arguments(source, list, span, open)
}

fn arguments<'t, 's>(
    source: &str,
    list: &'t [CallArg<'s>],
    span: Span,
    open: &mut Vec<Part<'t, 's>>,
) -> Result<(), Fault> {
    for argument in list {
        match argument {
            CallArg::Pos(value) | CallArg::Kwarg(_, value) => open.push(Part::Expression(value)),
            CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
                return Err(at(source, span, "`*` or `**` before an argument"));
            }
        }
    }
    Ok(())
}

/// Returns whether a product or power that the compiler would evaluate is small: all literals are numbers, or a literal
/// constant is repeated to at most `REPEATED` bytes or items. True if the compiler cannot evaluate it.
fn modest(left: &Expr<'_>, right: &Expr<'_>) -> bool {
    if !constant(left) || !constant(right) {
        return true;
    }
    let sizes = [left, right].map(|side| match side {
        Expr::Const(value) => Some(factor(&value.value)),
        Expr::List(list) => Some((list.items.len() as u64, false)),
        Expr::Tuple(tuple) => Some((tuple.items.len() as u64, false)),
        // a negative number repeats nothing
        Expr::UnaryOp(minus) if matches!(minus.op, UnaryOpKind::Neg) => match &minus.expr {
            Expr::Const(value) if value.value.is_number() => Some((0, true)),
            _ => None,
        },
        _ => None,
    });
    match sizes {
        [Some((_, true)), Some((_, true))] => true,
        [Some((a, _)), Some((b, _))] => a.saturating_mul(b) <= REPEATED,
        _ => numbers(left) && numbers(right),
    }
}

/// Returns the length of a text in bytes; for any other constant, the number of times that it repeats a text or a list,
/// [`u64::MAX`] if it is not an `i64`. Also returns whether the constant is a number.
fn factor(value: &Value) -> (u64, bool) {
    match value.as_str() {
        Some(text) => (text.len() as u64, false),
        None => (value.as_i64().map_or(u64::MAX, |n| n.max(0).unsigned_abs()), value.is_number()),
    }
}

/// Returns whether the compiler may evaluate the expression as a constant.
fn constant(tree: &Expr<'_>) -> bool {
    !any(tree, |part| {
        !matches!(
            part,
            Expr::Const(_)
                | Expr::UnaryOp(_)
                | Expr::BinOp(_)
                | Expr::Compare(_)
                | Expr::List(_)
                | Expr::Tuple(_)
                | Expr::Map(_)
        )
    })
}

/// Returns whether the expression consists only of numbers, unary and binary operators.
fn numbers(tree: &Expr<'_>) -> bool {
    !any(tree, |part| match part {
        Expr::Const(value) => !value.value.is_number(),
        Expr::BinOp(_) | Expr::UnaryOp(_) => false,
        _ => true,
    })
}

/// Returns whether `found` holds for the expression or one of the operands, at any depth, of its operators and
/// comparisons. Items of lists and mappings are not visited.
fn any(tree: &Expr<'_>, found: impl Fn(&Expr<'_>) -> bool) -> bool {
    let mut open = vec![tree];
    while let Some(part) = open.pop() {
        if found(part) {
            return true;
        }
        match part {
            Expr::UnaryOp(u) => open.push(&u.expr),
            Expr::BinOp(b) => open.extend([&b.left, &b.right]),
            Expr::Compare(c) => open.extend([&c.expr].into_iter().chain(c.ops.iter().map(|op| &op.expr))),
            _ => {}
        }
    }
    false
}
