//! Reading a procedure: declarations, text, meaning, checks.

use super::checks;
use crate::document::{Document, Format};
use crate::procedures::language::declarations::{Declarations, Node, NodeKind};
use crate::procedures::language::errors::{Findings, Severity};
use crate::procedures::language::pdl::Program;
use crate::procedures::language::status::Status;
use crate::procedures::language::tools::Documents;
use crate::procedures::language::{declarations, errors};
use crate::procedures::semantics::flow::Flow;
use crate::procedures::semantics::guards::Site;
use crate::procedures::semantics::meaning::{self, Meaning};
use crate::procedures::semantics::procedure::Procedure;
use crate::procedures::semantics::registers::Registers;
use crate::procedures::semantics::shape::{self, Shape};
use grammata::error::{Error, ErrorKind, Errors, Result};
use grammata::limits::{LimitKind, Limits};
use grammata::syntax::json_schema;
use grammata_base::work::Budget;
use rustc_hash::FxHashMap;
use std::path::Path;

impl Procedure {
    /// Reads a procedure that names no documents of tools. The checks that need its automaton are left to
    /// [`check`](fn@crate::procedures::check).
    ///
    /// # Errors
    /// The errors of the file (`pdl/…`), at most 20 in one error; the limits `source_bytes`, `procedure_nodes` and
    /// `compile_work`.
    pub fn read(text: &str, format: Format, limits: &Limits) -> Result<Procedure> {
        Procedure::read_in(text, format, None, limits)
    }

    /// Reads a procedure whose APIs may name tools of documents (`tool: FILE#NAME`). The documents are in `folder` or
    /// in folders below it. Without a folder such names are errors.
    ///
    /// # Errors
    /// Those of [`read`](Procedure::read).
    pub fn read_in(text: &str, format: Format, folder: Option<&Path>, limits: &Limits) -> Result<Procedure> {
        let mut findings = Findings::default();
        let procedure = read(text, format, folder, limits, &mut findings)?;
        let mut errors = Errors::default();
        for finding in findings.0 {
            if finding.severity == Severity::Error {
                errors.push(Error::new(ErrorKind::Grammar, finding.diagnostic));
            }
        }
        errors.finish()?;
        procedure.ok_or_else(|| errors::syntax(grammata::Place::Whole, "nothing", "a procedure"))
    }
}

/// Reads a file and collects its findings. Returns `None` if the file has no readable declarations or its text cannot
/// be parsed.
pub(in crate::procedures) fn read(
    text: &str,
    format: Format,
    folder: Option<&Path>,
    limits: &Limits,
    findings: &mut Findings,
) -> Result<Option<Procedure>> {
    let budget = Budget::of_compilation(limits, text.len());
    limits.check_source(text)?;
    let document = match Document::read(text, format) {
        Ok(document) => document,
        Err(malformed) => {
            findings.error(errors::form(malformed.place, &malformed.found, &malformed.allowed));
            return Ok(None);
        }
    };
    let mut documents = Documents::new(folder, limits);
    let Some(declarations) = declarations::read(&document, &mut documents, findings) else { return Ok(None) };
    schemas(&declarations, limits, findings);
    if declarations.nodes.len() > limits.procedure_nodes {
        let found = format!("{} APIs and answers", declarations.nodes.len());
        return Err(Limits::exceeded(LimitKind::ProcedureNodes, limits.procedure_nodes, found));
    }
    let program = Program::read(text, &declarations.procedure, &declarations.procedure_place);
    match program {
        Ok(program) => build(declarations, program, findings, &budget).map(Some),
        Err(error) => {
            findings.error(error.diagnostic().clone());
            Ok(None)
        }
    }
}

/// Compiles the schemas of the slots of tool calls, in the spelling of steps. A schema that cannot be compiled, for
/// instance because it has no value, is an error.
fn schemas(declarations: &Declarations, limits: &Limits, findings: &mut Findings) {
    let of_tools = declarations.nodes.iter().filter_map(|node| Some((node, node.tool.as_ref()?)));
    for (node, tool) in of_tools {
        let slots = declarations.slots.iter().filter(|slot| node.request.contains(&slot.name));
        let schemas = slots.filter_map(|slot| Some((&slot.name, slot.schema.as_ref()?)));
        for (slot, schema) in schemas {
            let compiled = json_schema::compile_value(&shape::canonical(schema), &shape::options(limits));
            if let Err(error) = compiled {
                let cause = format!("`{slot}`: {}", error.diagnostic().message());
                findings.error(errors::tool_arguments(node.place.clone(), &tool.reference, &cause));
            }
        }
    }
}

fn build(
    declarations: Declarations,
    mut program: Program,
    findings: &mut Findings,
    budget: &Budget,
) -> Result<Procedure> {
    let Declarations { name, description, slots, nodes, procedure: text, procedure_place } = declarations;
    let index: FxHashMap<String, usize> =
        nodes.iter().enumerate().map(|(index, node)| (node.name.clone(), index)).collect();
    let preconditions = checks::preconditions(&nodes, &index, findings);
    let closure = checks::closure(&nodes, &preconditions, findings, budget)?;
    let mut registers = Registers::default();
    let Meaning { guards, sites, targets, assigned, used, loops, mut caught } =
        meaning::of(&nodes, &mut program, &mut registers, findings, budget)?;
    checks::tested(&mut registers, &program, &guards, &sites, budget)?;
    let is_result = |slot: &str| nodes.iter().any(|node| node.response.iter().any(|known| known == slot));
    let decided: rustc_hash::FxHashSet<&str> = targets.iter().flatten().map(String::as_str).collect();
    registers.complete(&nodes, &slots, |slot| decided.contains(slot) && !is_result(slot));
    let writes = writes(&nodes, &targets, &registers);
    let mut is_required = vec![false; nodes.len()];
    for precondition in preconditions.iter().flatten() {
        is_required[precondition.node] = true;
        caught[precondition.node] |= precondition.status == Some(Status::Error);
    }
    let mut sites_of = vec![Vec::new(); nodes.len()];
    sites.iter().enumerate().for_each(|(at, site)| sites_of[site.node].push(at));
    let closing = closing(&nodes, &sites);
    let flow = Flow::of(&program);
    let shapes = slots.iter().map(|_| Shape::default()).collect();
    let procedure = Procedure {
        name,
        description,
        text,
        slots,
        nodes,
        index,
        preconditions,
        closure,
        program,
        guards,
        sites,
        sites_of,
        registers: registers.list,
        writes,
        targets,
        is_required,
        is_caught: caught,
        flow,
        closing,
        shapes,
    };
    let text = checks::Text { assigned, used, loops, place: procedure_place };
    checks::text(&procedure, &text, findings, budget)?;
    Ok(procedure)
}

/// Returns for each node the registers that it unsets and that its answer sets.
fn writes(nodes: &[Node], targets: &[Vec<String>], registers: &Registers) -> Vec<Vec<u32>> {
    let mut writes: Vec<Vec<u32>> = targets
        .iter()
        .map(|targets| targets.iter().filter_map(|target| registers.named(target)).collect())
        .collect();
    for (id, register) in registers.list.iter().enumerate() {
        for &api in &register.writers {
            writes[api].push(id as u32);
        }
    }
    // in the order of the response; the register of the call precedes the register of the slot's last value
    for (node, writes) in nodes.iter().zip(&mut writes) {
        let place = |&register: &u32| {
            let register = &registers.list[register as usize];
            (node.response.iter().position(|slot| *slot == register.slot), register.api.is_none())
        };
        if node.kind == NodeKind::Api {
            writes.sort_by_key(place);
        }
    }
    writes
}

fn closing(nodes: &[Node], sites: &[Site]) -> Vec<bool> {
    let mut closing = vec![false; nodes.len()];
    let informs = || sites.iter().filter(|site| nodes[site.node].kind == NodeKind::Inform);
    informs().filter(|site| site.is_last).for_each(|site| closing[site.node] = true);
    if !closing.contains(&true) {
        informs().for_each(|site| closing[site.node] = true);
    }
    closing
}
