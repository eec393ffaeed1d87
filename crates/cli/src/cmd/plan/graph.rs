//! `grammata plan graph`: draws the plan automaton, or one plan as a tree.

use super::spec::SpecArgs;
use crate::args::source;
use crate::cmd::graph::{Format, at_least_one, show};
use crate::io::output::{Exit, Failure, Output};
use crate::io::{errors, messages};
use clap::ValueEnum;
use grammata_agents::plan::{ReadPlan, Verdict, tree_dot, tree_text};
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    spec: SpecArgs,
    /// Draw this plan instead, with the step whose output each step uses; a file as `plan verify` reads it, or `-`
    #[arg(long, value_name = "PLAN")]
    plan: Option<PathBuf>,
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = PlanFormat::Dot)]
    format: PlanFormat,
    /// The file to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most states to draw [default: 200; 40 as SVG]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "plan")]
    max_states: Option<usize>,
    /// Draw dead ends too
    #[arg(long, conflicts_with = "plan")]
    dead_ends: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlanFormat {
    /// Graphviz's notation
    Dot,
    /// A picture
    Svg,
    /// Lines of text; for a plan
    Text,
}

impl PlanFormat {
    fn drawn(self) -> Option<Format> {
        match self {
            PlanFormat::Dot => Some(Format::Dot),
            PlanFormat::Svg => Some(Format::Svg),
            PlanFormat::Text => None,
        }
    }
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut plans = arguments.spec.load()?;
    let spec = plans.shared_spec();
    let drawn = arguments.format.drawn();
    let limit = drawn.unwrap_or(Format::Dot).limit(arguments.max_states);
    let mut truncated = false;
    let (dot, text) = match &arguments.plan {
        Some(path) => {
            let text = source::text(path, &arguments.spec.limits.get())?;
            match plans.verify(&ReadPlan::parse(&text, &spec)?, &[])? {
                Verdict::Valid(plan) => (tree_dot(&plan, &spec), Some(tree_text(&plan, &spec))),
                Verdict::Wrong { step, .. } => return Err(errors::not_a_plan(step + 1).into()),
            }
        }
        None => {
            let graph = plans.graph(limit, arguments.dead_ends)?;
            truncated = graph.truncated;
            (graph.dot, None)
        }
    };
    let drawing = match (drawn, text) {
        (Some(format), _) => format.render(dot)?,
        (None, Some(text)) => text,
        (None, None) => return Err(errors::text_needs_plan().into()),
    };
    let format = drawn.map_or("text", Format::name);
    show(&drawing, format, arguments.output.as_deref(), truncated, output)?;
    if truncated {
        output.flush()?;
        messages::note(&format!("only the first {limit} states are drawn (--max-states N draws more)"));
    }
    Ok(Exit::Done)
}
