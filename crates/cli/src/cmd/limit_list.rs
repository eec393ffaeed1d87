//! `grammata limits`: lists the limits on the cost of input.

use crate::io::output::{Exit, Failure, Output};
use grammata::limits::{LimitKind, Limits};
use serde::Serialize;
use std::io::Write;

/// Each can be set with `--set-limit NAME=N` in the commands that read input. An input that exceeds one ends with exit code 4.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

/// For each limit, the quantity that it bounds and its unit.
const BOUNDED: &[(&str, &str)] = &[
    ("source_bytes", "bytes of a grammar, schema, spec or template"),
    ("source_depth", "levels of nesting in a source (JSON Schema: 127, fixed)"),
    ("pattern_bytes", "bytes of a regular expression"),
    ("formula_bytes", "bytes of a formula in `requires`"),
    ("grammar_nodes", "nodes of a grammar"),
    ("automaton_states", "states of a grammar's automaton"),
    ("compile_work", "steps of a compilation"),
    ("compile_work_per_byte", "further steps of a compilation for each byte of the source"),
    ("completion_search", "places in a search for the shortest completion"),
    ("condition_search", "decisions in a search for members that hold together"),
    ("lockstep_search", "tuples of states in a search for a word of an intersection"),
    ("cache_bytes", "bytes of a compiled grammar's tables and masks"),
    ("mask_work", "steps of one mask or one accepted token"),
    ("words_work", "steps of counting and listing words"),
    ("plan_states", "states of plans, procedures and flows"),
    ("procedure_nodes", "APIs and answers of a procedure"),
    ("template_work", "units of work of a template"),
    ("tokenizer_bytes", "bytes of a tokenizer file"),
    ("vocabulary_tokens", "tokens of a vocabulary"),
    ("token_bytes", "bytes of a token"),
    ("trie_bytes", "bytes of the tries of a vocabulary"),
    ("embedding_texts", "texts that are embedded in one call"),
    ("embedding_text_bytes", "bytes of a text that is embedded"),
    ("catalogue_bytes", "bytes of a catalogue of tools"),
    ("catalogue_tools", "tools of a catalogue or a set"),
    ("tool_depth", "levels of nesting in a document of tools"),
    ("mask_file_bytes", "bytes of a mask file"),
    ("mask_archive_bytes", "bytes of an archive of mask files"),
];

/// A limit, in JSON.
#[derive(Serialize)]
struct LimitReport {
    name: &'static str,
    default: usize,
    bounds: &'static str,
}

fn bounds(kind: LimitKind) -> &'static str {
    BOUNDED.iter().find(|(name, _)| *name == kind.name()).map_or("", |(_, what)| what)
}

pub(crate) fn run(output: &mut Output) -> Result<Exit, Failure> {
    let defaults = Limits::default();
    let limits = LimitKind::ALL.iter().map(|&kind| LimitReport {
        name: kind.name(),
        default: defaults.get(kind),
        bounds: bounds(kind),
    });
    if output.is_json() {
        output.list("limits")?;
        for limit in limits {
            output.item(&limit)?;
        }
        return Ok(Exit::Done);
    }
    for LimitReport { name, default, bounds } in limits {
        writeln!(output, "{name:<22} {default:>11}  {bounds}")?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_described() {
        assert_eq!(BOUNDED.len(), LimitKind::ALL.len());
        LimitKind::ALL.iter().for_each(|&kind| assert!(!bounds(kind).is_empty(), "{kind}"));
    }
}
