//! `grammata guard --check`: says what the guard will do with a server.

use crate::io::output::Output;
use crate::io::text::counted;
use grammata_guard::{Inspected, Review};
use serde::Serialize;
use std::io::{Result, Write};

/// The report on a server that was checked.
#[derive(Serialize)]
struct Report<'r> {
    server: &'r str,
    protocol: &'r str,
    #[serde(flatten)]
    review: &'r Review,
}

/// Writes the report.
pub(super) fn write(found: &Inspected, review: &Review, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.report(&Report { server: &found.server, protocol: &found.protocol, review });
    }
    let (server, tools) = (&found.server, counted(found.tools().len(), "tool"));
    writeln!(output, "server: {server}, {tools}, protocol {}", found.protocol)?;
    for tool in &review.tools {
        let name = match tool.name == tool.tool {
            true => tool.tool.clone(),
            false => format!("{} ({} in the rules)", tool.tool, tool.name),
        };
        writeln!(output, "{name}: {} at the start", if tool.is_open { "open" } else { "not open" })?;
        if !tool.governed.is_empty() {
            writeln!(output, "  arguments checked: {}", tool.governed.join(", "))?;
        }
        if !tool.ungoverned.is_empty() {
            writeln!(output, "  passed on unchecked: {}", tool.ungoverned.join(", "))?;
        }
    }
    if !review.own.is_empty() {
        writeln!(output, "tools of the guard: {}", review.own.join(", "))?;
    }
    for remark in &review.remarks {
        writeln!(output, "{remark}")?;
    }
    if review.others.is_empty() {
        return Ok(());
    }
    let others = if review.passes_others { "passed on unchecked" } else { "hidden from the client" };
    writeln!(output, "other tools, {others}: {}", review.others.join(", "))
}
