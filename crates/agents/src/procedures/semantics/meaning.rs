//! The meaning of a procedure's text: the call to which each condition refers, and the guards of each call.
//!
//! One pass over the statements with a stack of open blocks. It tracks the reaching definitions of slots (merged after
//! branches, and in loops with the definitions of the body) and the guard of the current place.

use super::guards::{GuardId, Guards, Site, Test};
use super::registers::Registers;
use crate::procedures::language::declarations::{Node, NodeKind, normal};
use crate::procedures::language::errors::{self, Findings};
use crate::procedures::language::pdl::{Expr, ExprId, Program, StatementKind, is_name};
use grammata::diagnostic::did_you_mean;
use grammata::error::Result;
use grammata_base::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};

/// The last write of a slot: the index of the node that a call calls, and the index of the slot in its response. `None`
/// if the value is not from a response, or if branches write the slot in different ways.
type Definition = Option<(usize, usize)>;
/// The last definition of each slot, by the number of its name.
type Definitions = FxHashMap<u32, Definition>;

/// The analysis of a procedure's statements: their conditions and sites, and what the statements say about each node
/// and slot.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Meaning {
    pub(in crate::procedures) guards: Guards,
    /// The sites, in the order of the text.
    pub(in crate::procedures) sites: Vec<Site>,
    /// By node: slots that are assigned from an answer other than a request. The user decides them after the answer.
    pub(in crate::procedures) targets: Vec<Vec<String>>,
    /// Slots that a statement assigns, and slots that a call of a request names.
    pub(in crate::procedures) assigned: FxHashSet<String>,
    /// Slots that conditions and arguments name.
    pub(in crate::procedures) used: FxHashSet<String>,
    /// The roots of the conditions of loops.
    pub(in crate::procedures) loops: FxHashSet<ExprId>,
    /// By node: whether a statement or a condition in some `try` calls it, so that the `except` catches its errors.
    pub(in crate::procedures) caught: Vec<bool>,
}

enum Block {
    If(Branches),
    While {
        outer: Option<GuardId>,
        round: Definitions,
        condition: ExprId,
        at: usize,
        is_hard: bool,
    },
    /// `of` is the index in [`Guards::tries`]; `None` if the block calls no API. `after` are the definitions at the end
    /// of the block.
    Try {
        outer: Option<GuardId>,
        of: Option<usize>,
        after: Definitions,
    },
}

/// The arms of an `if` up to the current one.
struct Branches {
    /// The number of the block.
    block: u32,
    outer: Option<GuardId>,
    /// The guard under which the conditions of all earlier arms are false.
    before: Option<GuardId>,
    /// The guard of the current arm.
    arm: Option<GuardId>,
    condition: Option<ExprId>,
    /// The definitions at the head of the `if`.
    here: Definitions,
    ends: Option<Definitions>,
    leaving: Vec<GuardId>,
    has_else: bool,
    arms: usize,
}

struct Pass<'a> {
    nodes: &'a [Node],
    program: &'a mut Program,
    registers: &'a mut Registers,
    findings: &'a mut Findings,
    budget: &'a Budget,
    meaning: Meaning,
    names: FxHashMap<String, u32>,
    definitions: Definitions,
    guard: Option<GuardId>,
    /// Whether the current place is reachable.
    alive: bool,
    /// The number of `if` blocks so far.
    branches: u32,
}

/// Computes the registers of conditions and the guards of calls.
///
/// # Errors
/// The limit `compile_work`.
pub(in crate::procedures) fn of(
    nodes: &[Node],
    program: &mut Program,
    registers: &mut Registers,
    findings: &mut Findings,
    budget: &Budget,
) -> Result<Meaning> {
    name_calls(nodes, program, findings);
    let meaning = Meaning {
        targets: vec![Vec::new(); nodes.len()],
        caught: vec![false; nodes.len()],
        ..Meaning::default()
    };
    let (names, definitions) = (FxHashMap::default(), Definitions::default());
    let mut pass = Pass {
        nodes,
        program,
        registers,
        findings,
        budget,
        meaning,
        names,
        definitions,
        guard: None,
        alive: true,
        branches: 0,
    };
    pass.run()?;
    Ok(pass.meaning)
}

/// Finds the node of each call. Unknown names, and prefixes of the wrong kind, are errors.
fn name_calls(nodes: &[Node], program: &mut Program, findings: &mut Findings) {
    let index: FxHashMap<&str, usize> =
        nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
    for call in &mut program.expressions.calls {
        let prefix = ["API", "ANSWER"].into_iter().find(|prefix| {
            call.name.strip_prefix(prefix).is_some_and(|rest| rest.len() > 1 && rest.starts_with(['.', '_']))
        });
        let name = prefix.map_or(call.name.as_str(), |prefix| &call.name[prefix.len() + 1..]);
        let name = normal(name.rsplit('.').next().unwrap_or(name));
        call.node = index.get(name.as_str()).copied();
        match (call.node.map(|node| nodes[node].kind == NodeKind::Api), prefix) {
            (None, _) => {
                let near = did_you_mean(&name, index.keys().copied(), "declare it, or correct the name");
                findings.error(errors::unknown_node(call.place.clone(), &name, near));
            }
            (Some(true), Some("ANSWER")) | (Some(false), Some("API")) => {
                let is_api = prefix == Some("ANSWER");
                findings.error(errors::node_kind(call.place.clone(), &call.name, is_api));
            }
            _ => {}
        }
    }
}

/// Returns for each statement whether no call, branch, loop or `try` follows it up to a `return` or the end.
fn last_statements(program: &Program) -> Vec<bool> {
    let mut is_last = vec![false; program.statements.len()];
    // `here` belongs to the current block, `outer` to the surrounding statements
    let (mut here, mut outer) = (true, Vec::new());
    for (at, statement) in program.statements.iter().enumerate().rev() {
        is_last[at] = here;
        match statement.kind {
            StatementKind::EndIf | StatementKind::EndTry => outer.push(here),
            StatementKind::EndWhile => {
                outer.push(here);
                here = false;
            }
            StatementKind::Elif(_) | StatementKind::Else | StatementKind::Except => {
                here = outer.last().copied().unwrap_or(false);
            }
            StatementKind::If(_) | StatementKind::While(_) | StatementKind::Try => {
                outer.pop();
                here = false;
            }
            StatementKind::Call { .. } => here = false,
            StatementKind::Return => here = true,
            _ => {}
        }
    }
    is_last
}

fn merge(into: &mut Definitions, other: &Definitions) {
    for (&slot, &definition) in other {
        into.entry(slot)
            .and_modify(|known| {
                if *known != definition {
                    *known = None
                }
            })
            .or_insert(definition);
    }
}

impl Pass<'_> {
    fn run(&mut self) -> Result<()> {
        let is_last = last_statements(self.program);
        let mut blocks: Vec<Block> = Vec::new();
        let mut at = 0;
        while at < self.program.statements.len() {
            self.budget.spend(1)?;
            at = self.statement(at, is_last[at], &mut blocks)?;
            if !self.alive {
                at = self.skip(at);
            }
        }
        Ok(())
    }

    /// Skips to the end of the current block or arm, or of the text, with a warning about the first statement.
    fn skip(&mut self, from: usize) -> usize {
        let mut at = from;
        let mut first = None;
        while let Some(statement) = self.program.statements.get(at) {
            match statement.kind {
                StatementKind::EndIf
                | StatementKind::EndWhile
                | StatementKind::EndTry
                | StatementKind::Elif(_)
                | StatementKind::Else
                | StatementKind::Except => break,
                StatementKind::Prose => {}
                _ => {
                    first.get_or_insert(at);
                }
            }
            at = self.after(at);
        }
        if let Some(first) = first {
            let place = self.program.statements[first].place.clone();
            self.findings
                .warn(errors::unreachable_code(place, "a statement after one that leaves the block"));
        }
        at
    }

    /// Returns the index of the statement after `at`, or after the whole block if `at` is its head.
    fn after(&self, at: usize) -> usize {
        let mut end = at;
        loop {
            let next = self.program.statements[end].end;
            if next == end {
                return end + 1;
            }
            end = next;
        }
    }

    /// Processes a statement. Returns the index of the next statement.
    fn statement(&mut self, at: usize, is_last: bool, blocks: &mut Vec<Block>) -> Result<usize> {
        let end = self.program.statements[at].end;
        match self.program.statements[at].kind.clone() {
            StatementKind::Prose | StatementKind::Pass => {}
            StatementKind::Return | StatementKind::Break | StatementKind::Continue => self.alive = false,
            StatementKind::Call { call, targets } => self.call(call, &targets, is_last),
            StatementKind::Set { targets, .. } => {
                for target in targets {
                    let slot = self.slot(&target);
                    self.definitions.insert(slot, None);
                    self.meaning.assigned.insert(target);
                }
            }
            StatementKind::If(condition) => {
                self.budget.spend(self.definitions.len())?;
                let root = self.condition(condition)?;
                self.branches += 1;
                let block = self.branches;
                let arm = self.branch(block, self.guard, root, true);
                blocks.push(Block::If(Branches {
                    block,
                    outer: self.guard,
                    before: self.guard,
                    arm: Some(arm),
                    condition: Some(root),
                    here: self.definitions.clone(),
                    ends: None,
                    leaving: Vec::new(),
                    has_else: false,
                    arms: 1,
                }));
                self.guard = Some(arm);
            }
            StatementKind::Elif(_) | StatementKind::Else => self.next_arm(at, blocks)?,
            StatementKind::EndIf => {
                if let Some(Block::If(branches)) = blocks.pop() {
                    self.end_if(branches)?;
                }
            }
            StatementKind::While(condition) => self.begin_while(at, condition, blocks)?,
            StatementKind::EndWhile => {
                if let Some(Block::While { outer, round, condition, at, is_hard }) = blocks.pop() {
                    (self.guard, self.definitions, self.alive) = (outer, round, true);
                    if is_hard && !self.has_break(at)? {
                        self.guard = Some(self.test(outer, condition, false));
                    }
                }
            }
            StatementKind::Try => {
                let apis = self.apis_between(at + 1, end)?;
                let of = (!apis.is_empty()).then(|| {
                    apis.iter().for_each(|&api| self.meaning.caught[api] = true);
                    self.meaning.guards.tries.push(apis);
                    self.meaning.guards.tries.len() - 1
                });
                blocks.push(Block::Try { outer: self.guard, of, after: Definitions::default() });
            }
            StatementKind::Except => {
                self.budget.spend(self.definitions.len())?;
                self.alive = true;
                if let Some(Block::Try { outer, of, after }) = blocks.last_mut() {
                    // without a call of an API there is no error, so `except` is never reached
                    let Some(of) = *of else { return Ok(end) };
                    after.clone_from(&self.definitions);
                    self.guard = Some(self.meaning.guards.push(*outer, Test::Raised { of, wanted: true }));
                }
            }
            StatementKind::EndTry => {
                if let Some(Block::Try { outer, of, after }) = blocks.pop() {
                    self.guard = outer;
                    match of {
                        Some(of) if !self.alive => {
                            self.definitions = after;
                            self.guard =
                                Some(self.meaning.guards.push(outer, Test::Raised { of, wanted: false }));
                        }
                        Some(_) => merge(&mut self.definitions, &after),
                        None => {}
                    }
                    self.alive = true;
                }
            }
        }
        Ok(at + 1)
    }

    fn test(&mut self, parent: Option<GuardId>, expr: ExprId, wanted: bool) -> GuardId {
        self.meaning.guards.push(parent, Test::Condition { expr, wanted })
    }

    fn branch(&mut self, block: u32, parent: Option<GuardId>, expr: ExprId, wanted: bool) -> GuardId {
        self.meaning.guards.push_in(block, parent, Test::Condition { expr, wanted })
    }

    /// Ends the current arm of an `if`.
    fn end_arm(&mut self, branches: &mut Branches) -> Result<()> {
        self.budget.spend(self.definitions.len() + branches.here.len())?;
        if self.alive {
            match &mut branches.ends {
                Some(ends) => merge(ends, &self.definitions),
                None => branches.ends = Some(std::mem::take(&mut self.definitions)),
            }
        } else if let Some(arm) = branches.arm {
            branches.leaving.push(arm);
        }
        if let Some(condition) = branches.condition.take() {
            branches.before = Some(self.branch(branches.block, branches.before, condition, false));
        }
        self.definitions.clone_from(&branches.here);
        self.guard = branches.before;
        self.alive = true;
        Ok(())
    }

    fn next_arm(&mut self, at: usize, blocks: &mut [Block]) -> Result<()> {
        let Some(Block::If(branches)) = blocks.last_mut() else { return Ok(()) };
        self.end_arm(branches)?;
        branches.arms += 1;
        match self.program.statements[at].kind {
            StatementKind::Elif(condition) => {
                let root = self.condition(condition)?;
                let arm = self.branch(branches.block, branches.before, root, true);
                (branches.arm, branches.condition) = (Some(arm), Some(root));
                self.guard = Some(arm);
            }
            _ => (branches.arm, branches.has_else) = (branches.before, true),
        }
        Ok(())
    }

    fn end_if(&mut self, mut branches: Branches) -> Result<()> {
        self.end_arm(&mut branches)?;
        if !branches.has_else {
            match &mut branches.ends {
                Some(ends) => merge(ends, &branches.here),
                None => branches.ends = Some(std::mem::take(&mut branches.here)),
            }
        }
        self.definitions = branches.ends.unwrap_or_default();
        self.guard = branches.outer;
        self.alive = !branches.has_else || branches.leaving.len() < branches.arms;
        for from in branches.leaving {
            let until = branches.outer;
            self.guard = Some(self.meaning.guards.push(self.guard, Test::NotAll { from, until }));
        }
        Ok(())
    }

    fn begin_while(&mut self, at: usize, condition: usize, blocks: &mut Vec<Block>) -> Result<()> {
        self.written_between(at + 1, self.program.statements[at].end)?;
        self.budget.spend(self.definitions.len())?;
        let root = self.condition(condition)?;
        self.meaning.loops.insert(root);
        // the user decides whether another round follows, unless an API has decided it
        let is_hard = self.is_about_results(condition);
        let (outer, round) = (self.guard, self.definitions.clone());
        blocks.push(Block::While { outer, round, condition: root, at, is_hard });
        if is_hard {
            self.guard = Some(self.test(outer, root, true));
        }
        Ok(())
    }

    fn slot(&mut self, name: &str) -> u32 {
        let next = self.names.len() as u32;
        *self.names.entry(name.to_owned()).or_insert(next)
    }

    fn call(&mut self, call: usize, targets: &[String], is_last: bool) {
        let call = self.program.expressions.calls[call].clone();
        let Some(node) = call.node else { return };
        let declared = &self.nodes[node];
        self.meaning.sites.push(Site { node, guard: self.guard, place: call.place.clone(), is_last });
        let named = call.arguments.iter().filter(|argument| is_name(argument));
        self.meaning.used.extend(named.clone().cloned());
        if declared.kind == NodeKind::Api {
            // an error that nothing catches ends the run
            self.guard = Some(self.meaning.guards.push(self.guard, Test::NoError(node)));
            for argument in named.clone().filter(|argument| !declared.request.contains(argument)) {
                let place = call.place.clone();
                self.findings.warn(errors::argument(place, argument, &declared.name, &declared.request));
            }
            for target in targets {
                if !declared.response.contains(target) && declared.response.len() != targets.len() {
                    let place = call.place.clone();
                    self.findings.warn(errors::result(place, target, &declared.name, &declared.response));
                }
            }
        }
        if declared.kind == NodeKind::Request {
            self.meaning.assigned.extend(named.cloned());
        } else if declared.kind != NodeKind::Api {
            for target in targets {
                if !self.meaning.targets[node].contains(target) {
                    self.meaning.targets[node].push(target.clone());
                }
            }
        }
        for (slot, definition) in self.written_by(node, targets) {
            self.definitions.insert(slot, definition);
        }
        self.meaning.assigned.extend(targets.iter().cloned());
    }

    /// Returns the targets of a call with their definitions: the slot of the response with the name of the target, or
    /// otherwise the slot at its position if there are as many slots as targets. The definition is `None` if neither
    /// exists.
    fn written_by(&mut self, node: usize, targets: &[String]) -> Vec<(u32, Definition)> {
        let response = &self.nodes[node].response;
        let mut written = Vec::new();
        for (place, target) in targets.iter().enumerate() {
            let by_name = response.iter().position(|slot| slot == target);
            let by_place = (response.len() == targets.len()).then_some(place);
            written.push((self.slot(target), by_name.or(by_place).map(|slot| (node, slot))));
        }
        written
    }

    /// Merges the definitions of the statements `from..to`, the body of a loop, into the current ones.
    fn written_between(&mut self, from: usize, to: usize) -> Result<()> {
        self.budget.spend(to - from)?;
        for at in from..to {
            let written = match self.program.statements[at].kind.clone() {
                StatementKind::Call { call, targets } => match self.program.expressions.calls[call].node {
                    Some(node) => self.written_by(node, &targets),
                    None => continue,
                },
                StatementKind::Set { targets, .. } => {
                    targets.iter().map(|target| (self.slot(target), None)).collect()
                }
                _ => continue,
            };
            // if one statement writes a slot twice, the last write counts
            merge(&mut self.definitions, &written.into_iter().collect());
        }
        Ok(())
    }

    /// Returns the distinct APIs that the statements in `from..to` and their conditions call, in the order of the nodes.
    fn apis_between(&mut self, from: usize, to: usize) -> Result<Vec<usize>> {
        let mut apis = self.program.nodes_called(from, to, self.budget)?;
        apis.retain(|&node| self.nodes[node].kind == NodeKind::Api);
        apis.sort_unstable();
        apis.dedup();
        Ok(apis)
    }

    /// Returns whether a loop has a `break` outside of inner loops.
    fn has_break(&self, head: usize) -> Result<bool> {
        let end = self.program.statements[head].end;
        self.budget.spend(end - head)?;
        let mut at = head + 1;
        while at < end {
            match self.program.statements[at].kind {
                StatementKind::Break => return Ok(true),
                StatementKind::While(_) => at = self.after(at),
                _ => at += 1,
            }
        }
        Ok(false)
    }

    /// Returns whether a condition is not prose, and reads only slots of results; it may have literals and calls.
    fn is_about_results(&self, condition: usize) -> bool {
        let condition = &self.program.expressions.conditions[condition];
        let mut nodes = condition.first..=condition.root;
        nodes.all(|node| match self.program.expressions.get(node) {
            Expr::Prose => node != condition.root,
            Expr::Slot { register: Some(register), .. } => {
                self.registers.list[*register as usize].api.is_some()
            }
            Expr::Slot { register: None, .. } => false,
            _ => true,
        })
    }

    /// Computes the registers of a condition's slots and calls, and adds the sites of its calls. Returns its root.
    fn condition(&mut self, condition: usize) -> Result<ExprId> {
        let condition = self.program.expressions.conditions[condition].clone();
        self.budget.spend((condition.root - condition.first) as usize + 1)?;
        let mut has_calls = false;
        for id in condition.first..=condition.root {
            match self.program.expressions.get(id).clone() {
                Expr::Slot { name, .. } => {
                    let slot = self.slot(&name);
                    let register = match self.definitions.get(&slot).copied().flatten() {
                        Some((api, slot)) => {
                            let slot = &self.nodes[api].response[slot];
                            self.registers.of_result(api, slot, &condition.place)
                        }
                        None => self.registers.of_name(self.nodes, &name, &condition.place),
                    };
                    self.meaning.used.insert(name.clone());
                    let slot = Expr::Slot { name, register: Some(register) };
                    self.program.expressions.nodes[id as usize] = slot;
                }
                Expr::Call { call, .. } => {
                    has_calls = true;
                    let written = &self.program.expressions.calls[call];
                    let Some(node) = written.node else { continue };
                    self.meaning.used.extend(written.arguments.iter().filter(|name| is_name(name)).cloned());
                    let first = self.nodes[node].response.first();
                    let register = first.map(|slot| self.registers.of_result(node, slot, &condition.place));
                    self.program.expressions.nodes[id as usize] = Expr::Call { call, register };
                }
                _ => {}
            }
        }
        if has_calls {
            self.call_in_condition(condition.first, condition.root);
        }
        Ok(condition.root)
    }

    /// Adds a site for each call of a condition. `and` and `or` short-circuit, so the left side guards the right one.
    fn call_in_condition(&mut self, first: ExprId, root: ExprId) {
        let mut guards: Vec<Option<GuardId>> = vec![self.guard; (root - first) as usize + 1];
        let mut sites = Vec::new();
        for id in (first..=root).rev() {
            let place = |id: ExprId| (id - first) as usize;
            let guard = guards[place(id)];
            match *self.program.expressions.get(id) {
                Expr::Not(inner) => guards[place(inner)] = guard,
                Expr::And(left, right) | Expr::Or(left, right) => {
                    let is_and = matches!(self.program.expressions.get(id), Expr::And(..));
                    guards[place(left)] = guard;
                    guards[place(right)] = Some(self.test(guard, left, is_and));
                }
                Expr::Compare(_, left, right) => {
                    guards[place(left)] = guard;
                    guards[place(right)] = guard;
                }
                Expr::Call { call, .. } => {
                    let written = &self.program.expressions.calls[call];
                    if let Some(node) = written.node {
                        sites.push(Site { node, guard, place: written.place.clone(), is_last: false });
                    }
                }
                Expr::Prose | Expr::Literal(_) | Expr::Slot { .. } => {}
            }
        }
        sites.reverse();
        // as for a statement that calls: an error of a call that is always made leaves the block
        let outer = self.guard;
        for site in
            sites.iter().filter(|site| site.guard == outer && self.nodes[site.node].kind == NodeKind::Api)
        {
            self.guard = Some(self.meaning.guards.push(self.guard, Test::NoError(site.node)));
        }
        self.meaning.sites.append(&mut sites);
    }
}
