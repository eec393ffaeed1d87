//! Compiled templates with a charge for every instruction that can multiply work.
//!
//! minijinja's fuel counts each instruction as one, though a single instruction may join, repeat, compare or walk
//! values of any size. So calls of filters of this crate are inserted around such instructions, or replace them. A
//! filter before an instruction sees the operands and charges for the result ([`costs`](crate::costs)). A filter after
//! an instruction that may return a lazily computed or deeply nested value replaces the first and refuses the second.

use crate::methods;
use minijinja::machinery::{CodeGenerator, Instruction, Instructions, ast};
use minijinja::value::Value;

/// Name of the filter that charges for an operation. It takes the operands and then the name of the operation, and
/// returns the operands as a tuple, last first.
pub(crate) const BEFORE: &str = "+before";
/// Name of the filter that checks the result of an operation: it replaces a lazy iterable by a list, and refuses deep
/// nesting and mutable parts.
pub(crate) const AFTER: &str = "+after";
/// Name of the filter that charges a number of units.
pub(crate) const CHARGE: &str = "+charge";
/// Name of the filter that charges for the items of a value before an iteration over it.
pub(crate) const ITEMS: &str = "+items";
/// Name of the filter that builds a mapping from alternating keys and values.
pub(crate) const MAPPING: &str = "+mapping";
/// Name of the filter that returns an item of a value, and charges for the length of a text.
pub(crate) const ITEM: &str = "+item";
/// Name of the filter that returns an item of a value, or its method of that name.
pub(crate) const ITEM_OR_METHOD: &str = "+item-or-method";
/// Name of the filter that returns an attribute that may be a method of mappings, given the value and the name.
pub(crate) const ATTRIBUTE: &str = "+attribute";
/// Name of the filter of the operator `+`.
pub(crate) const ADD: &str = "+add";
/// Name of the filter of the operator `~`.
pub(crate) const CONCAT: &str = "+concat";
/// Name of the filter that takes a slice, given the value, the start, the stop and the step.
pub(crate) const SLICE: &str = "+slice";
/// Name of the filter of the operator `%`.
pub(crate) const REMAINDER: &str = "+remainder";
/// Name of the filter that sets an attribute of a namespace, given the value, the namespace and the name.
pub(crate) const SET: &str = "+set";

/// Maximum bytes of text between tags that one instruction prints without an additional charge.
const SHORT: usize = 16;
/// Units for building a macro, or for a variable that a macro captures.
const CLOSURE: usize = 512;

/// Filters that inspect only the outermost level of their operands, and produce nothing.
const CHEAP_FILTERS: [&str; 2] = ["d", "default"];
/// Tests that inspect only the outermost level of their operands.
const CHEAP_TESTS: [&str; 18] = [
    "boolean",
    "callable",
    "defined",
    "divisibleby",
    "even",
    "false",
    "float",
    "int",
    "integer",
    "iterable",
    "mapping",
    "none",
    "number",
    "odd",
    "sequence",
    "string",
    "true",
    "undefined",
];

/// Compiles a template to instructions with charges. With `methods_first`, an attribute of a mapping that has the name
/// of a method is the method, as in Jinja.
pub(crate) fn compile<'s>(source: &'s str, tree: &ast::Stmt<'s>, methods_first: bool) -> Instructions<'s> {
    let mut generator = CodeGenerator::new("template", source);
    generator.compile_stmt(tree);
    let (plain, _) = generator.finish();
    let charged: Vec<Vec<Instruction<'s>>> = (0..)
        .map_while(|at| plain.get(at))
        .map(|instruction| charge(instruction.clone(), methods_first))
        .collect();
    // a jump must target the charge that is inserted before its original target
    let mut starts = Vec::with_capacity(charged.len() + 1);
    let mut length = 0;
    for part in &charged {
        starts.push(length);
        length += u32::try_from(part.len()).unwrap_or(u32::MAX);
    }
    starts.push(length);
    let mut program = Instructions::new("template", source);
    for (part, at) in charged.into_iter().zip(0..) {
        for instruction in part {
            let moved = relocate(instruction, &starts);
            match (plain.get_span(at), plain.get_line(at)) {
                (Some(span), _) => program.add_with_span(moved, span),
                (None, Some(line)) => program.add_with_line(moved, u16::try_from(line).unwrap_or(u16::MAX)),
                (None, None) => program.add(moved),
            };
        }
    }
    program
}

fn relocate<'s>(instruction: Instruction<'s>, starts: &[u32]) -> Instruction<'s> {
    use Instruction as I;
    let moved = |target: u32| starts.get(target as usize).copied().unwrap_or(target);
    match instruction {
        I::Jump(target) => I::Jump(moved(target)),
        I::JumpIfFalse(target) => I::JumpIfFalse(moved(target)),
        I::JumpIfFalseOrPop(target) => I::JumpIfFalseOrPop(moved(target)),
        I::JumpIfTrueOrPop(target) => I::JumpIfTrueOrPop(moved(target)),
        I::Iterate(target) => I::Iterate(moved(target)),
        I::BuildMacro(name, offset, flags) => I::BuildMacro(name, moved(offset), flags),
        other => other,
    }
}

/// Returns the instructions that replace `instruction`: the instruction, or a filter in its place, with the charges
/// around it.
fn charge(instruction: Instruction<'_>, methods_first: bool) -> Vec<Instruction<'_>> {
    use Instruction as I;
    let filter = |name, operands: u16| I::ApplyFilter(name, Some(operands), !0);
    let after = || filter(AFTER, 1);
    match &instruction {
        I::EmitRaw(text) if text.len() > SHORT => units(text.len(), instruction),
        I::BuildMacro(..) | I::Enclose(_) => units(CLOSURE, instruction),
        I::PushLoop(_) | I::UnpackList(_) => vec![filter(ITEMS, 1), instruction],
        I::GetItem => vec![filter(if methods_first { ITEM_OR_METHOD } else { ITEM }, 2)],
        I::SetAttr(name) => vec![I::LoadConst(Value::from(*name)), filter(SET, 3), I::DiscardTop],
        I::BuildMap(pairs) => vec![filter(MAPPING, u16::try_from(2 * pairs).unwrap_or(u16::MAX))],
        I::BuildList(_) | I::BuildTuple(_) => vec![instruction, after()],
        I::Slice => operation("slice of", 4, vec![filter(SLICE, 4), after()]),
        I::Add => operation("+", 2, vec![filter(ADD, 2), after()]),
        I::Mul => operation("*", 2, vec![instruction, after()]),
        I::StringConcat => operation("~", 2, vec![filter(CONCAT, 2)]),
        I::Rem => operation("%", 2, vec![filter(REMAINDER, 2)]),
        I::GetAttr(name) if methods_first && methods::is_known(name) => {
            vec![I::LoadConst(Value::from(*name)), filter(ATTRIBUTE, 2)]
        }
        I::In => operation("in", 2, vec![instruction]),
        I::Gt | I::Gte | I::Lt | I::Lte => operation("order", 2, vec![instruction]),
        I::Eq | I::Ne | I::CompareAndPreserve(_) => operation("compare", 2, vec![instruction]),
        I::ApplyFilter(name, Some(operands), _) if !CHEAP_FILTERS.contains(name) => {
            operation(name, *operands, vec![instruction, after()])
        }
        I::PerformTest(name, Some(operands), _) if !CHEAP_TESTS.contains(name) => {
            operation(&format!("is {name}"), *operands, vec![instruction])
        }
        I::CallFunction(_, Some(operands)) | I::CallObject(Some(operands)) => {
            operation("call", *operands, vec![instruction])
        }
        I::CallMethod("get", Some(operands)) => operation(".get", *operands, vec![instruction]),
        I::CallMethod(name, Some(operands)) => {
            operation(&format!(".{name}"), *operands, vec![instruction, after()])
        }
        _ => vec![instruction],
    }
}

fn units(units: usize, instruction: Instruction<'_>) -> Vec<Instruction<'_>> {
    let charge = Instruction::ApplyFilter(CHARGE, Some(1), !0);
    vec![Instruction::LoadConst(Value::from(units)), charge, Instruction::DiscardTop, instruction]
}

/// Returns the instructions that charge for the operation `name` on the topmost `operands` values of the stack,
/// followed by `rest`; only `rest` without operands.
fn operation<'s>(name: &str, operands: u16, rest: Vec<Instruction<'s>>) -> Vec<Instruction<'s>> {
    if operands == 0 {
        return rest;
    }
    let mut all = vec![
        Instruction::LoadConst(Value::from(name)),
        Instruction::ApplyFilter(BEFORE, Some(operands.saturating_add(1)), !0),
        Instruction::UnpackList(usize::from(operands)),
    ];
    all.extend(rest);
    all
}
