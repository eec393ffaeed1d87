//! Trains a small softmax policy with REINFORCE on the choices of the OpenAGI tasks, once with the automaton's
//! guarantee and once without, and draws the reward curves: `cargo run --profile quick --example plan_policy --
//! docs/plan-policy.svg`.
//!
//! The reward is synthetic. A plan gets 1 for each thing that the task asks for and the plan does (denoise a noisy
//! image, translate into German, …), and loses 0.1 for each tool. A plan that the automaton does not allow is worth 0
//! and is not learnt from, as in RLTF (the reinforcement learning of OpenAGI).

#![allow(clippy::print_stdout)] // an example prints its results

use grammata::syntax::automaton_spec::{Options, Spec};
use grammata_agents::plan::{PartialPlan, PlanAutomaton, Step, Successor};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use std::fmt::Write;

#[path = "openagi/modalities.rs"]
#[allow(dead_code, unreachable_pub)] // the example `openagi` uses more of this module
mod modalities;

const ROUNDS: usize = 400;
const RATE: f64 = 0.5;
/// The most choices of a plan. A plan that is not finished by then is given up.
const LONGEST: usize = 24;

/// What the words of a task ask for, each with the tool that does it.
const WANTED: [(&str, &str); 12] = [
    ("low-resolution", "a2"),
    ("noisy", "a3"),
    ("blurry", "a4"),
    ("black-and-white", "a1"),
    ("class", "b1"),
    ("objects", "b2"),
    ("caption", "b3"),
    ("draw", "c1"),
    ("sentiment", "d1"),
    ("summary", "d2"),
    ("German", "d3"),
    ("gaps", "d4"),
];

struct Task {
    automaton: PlanAutomaton,
    wanted: Vec<&'static str>,
}

/// One weight for each action in each context: what was done last and what the task asks for.
#[derive(Default)]
struct Policy(HashMap<(String, usize), f64>);

impl Policy {
    fn probabilities(&self, context: &str, actions: &[usize]) -> Vec<f64> {
        let weight = |&action: &usize| self.0.get(&(context.to_owned(), action)).copied().unwrap_or_default();
        let weights: Vec<f64> = actions.iter().map(weight).collect();
        let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exps: Vec<f64> = weights.iter().map(|weight| (weight - top).exp()).collect();
        let sum: f64 = exps.iter().sum();
        exps.into_iter().map(|exp| exp / sum).collect()
    }
}

/// The choices of a plan, each with the context, the actions and the action taken; and the reward, `None` if the plan
/// is not valid.
struct Run {
    choices: Vec<(String, Vec<usize>, usize)>,
    reward: Option<f64>,
}

fn main() -> grammata::Result<()> {
    let path = std::env::args().nth(1);
    let mut curves = Vec::new();
    for guaranteed in [true, false] {
        let (curve, valid) = train(guaranteed)?;
        println!(
            "{}: mean reward {:.2} in the first round, {:.2} in the last; {:.1} % of plans valid in the first, {:.1} % in the last",
            if guaranteed { "with the automaton" } else { "without it" },
            curve[0],
            curve[ROUNDS - 1],
            100.0 * valid[0],
            100.0 * valid[ROUNDS - 1]
        );
        curves.push(curve);
    }
    if let Some(path) = path {
        std::fs::write(&path, draw(&curves)).map_err(|cause| grammata::Error::io(path.as_ref(), &cause))?;
    }
    Ok(())
}

fn tasks() -> grammata::Result<Vec<Task>> {
    let source = include_str!("../grammars/openagi/spec.toml");
    let mut tasks = Vec::new();
    for line in include_str!("../grammars/openagi/tasks.txt").lines() {
        let Some(found) = modalities::modalities(line) else { continue };
        let parameters =
            [("inputs".to_owned(), found.inputs.join(",")), ("output".to_owned(), found.output.to_owned())]
                .into();
        let spec = Spec::read(source, &Options::default().parameters(parameters))?;
        let wanted = WANTED.iter().filter(|(word, _)| line.contains(word)).map(|(_, tool)| *tool).collect();
        tasks.push(Task { automaton: PlanAutomaton::new(spec)?, wanted });
    }
    Ok(tasks)
}

/// Trains a policy. Returns the mean reward and the share of valid plans of each round.
fn train(guaranteed: bool) -> grammata::Result<(Vec<f64>, Vec<f64>)> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut tasks, mut policy) = (tasks()?, Policy::default());
    let mut baseline = 0.0;
    let (mut rewards, mut valid) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (mut sum, mut count) = (0.0, 0);
        for task in &mut tasks {
            let run = run(task, &policy, guaranteed, &mut random)?;
            let Some(reward) = run.reward else { continue };
            sum += reward;
            count += 1;
            let advantage = reward - baseline;
            baseline += 0.01 * advantage;
            for (context, actions, taken) in run.choices {
                let probabilities = policy.probabilities(&context, &actions);
                for (action, probability) in actions.into_iter().zip(probabilities) {
                    let gradient = f64::from(u8::from(action == taken)) - probability;
                    *policy.0.entry((context.clone(), action)).or_default() += RATE * advantage * gradient;
                }
            }
        }
        rewards.push(sum / tasks.len() as f64);
        valid.push(f64::from(count) / tasks.len() as f64);
    }
    Ok((rewards, valid))
}

fn run(task: &mut Task, policy: &Policy, guaranteed: bool, random: &mut ChaCha8Rng) -> grammata::Result<Run> {
    let spec = task.automaton.shared_spec();
    let mut walk = PartialPlan::new(&task.automaton);
    let mut choices = Vec::new();
    while !task.automaton.is_complete(walk.position().state) {
        let successors: Vec<Successor> = if guaranteed {
            task.automaton.live_successors(&walk)?
        } else {
            task.automaton.allowed(&walk)?
        };
        let actions: Vec<usize> = match guaranteed {
            true => successors.iter().map(|successor| successor.action).collect(),
            false => (0..spec.symbols().len()).collect(),
        };
        let last = walk.plan().steps.last().map_or("start", |step| &spec.symbols()[step.action].id);
        let context = format!("{last} {}", task.wanted.join(" "));
        let probabilities = policy.probabilities(&context, &actions);
        let mut drawn: f64 = random.random();
        let mut taken = actions[actions.len() - 1];
        for (&action, probability) in actions.iter().zip(&probabilities) {
            if drawn < *probability {
                taken = action;
                break;
            }
            drawn -= probability;
        }
        choices.push((context, actions, taken));
        match successors.iter().find(|successor| successor.action == taken) {
            Some(successor) if choices.len() < LONGEST => walk.push(Step::of(taken), successor.to),
            // the plan is not valid, and is not learnt from
            _ => return Ok(Run { choices, reward: None }),
        }
    }
    let used: Vec<&str> =
        walk.plan().steps.iter().map(|step| spec.symbols()[step.action].id.as_str()).collect();
    let done = task.wanted.iter().filter(|tool| used.contains(tool)).count() as f64;
    let tools = used.iter().filter(|id| !["i", "t"].contains(id)).count() as f64;
    Ok(Run { choices, reward: Some(done - 0.1 * tools) })
}

/// Draws the reward curves as SVG.
fn draw(curves: &[Vec<f64>]) -> String {
    let (width, height) = (640, 320);
    let most = curves.iter().flatten().copied().fold(1.0, f64::max);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <path d=\"M50 20V280H620\" fill=\"none\" stroke=\"black\"/>\n\
         <text x=\"335\" y=\"310\" text-anchor=\"middle\">round of 185 tasks</text>\n\
         <text x=\"10\" y=\"15\">mean reward (a plan that is not valid: 0)</text>\n\
         <text x=\"45\" y=\"284\" text-anchor=\"end\">0</text>\n\
         <text x=\"45\" y=\"28\" text-anchor=\"end\">{most:.1}</text>\n\
         <text x=\"620\" y=\"296\" text-anchor=\"end\">{ROUNDS}</text>\n"
    );
    for ((curve, color), name) in
        curves.iter().zip(["#1b6", "#c33"]).zip(["with the automaton", "without it"])
    {
        let points: Vec<String> = curve
            .iter()
            .enumerate()
            .map(|(round, reward)| {
                let x = 50.0 + 570.0 * (round + 1) as f64 / ROUNDS as f64;
                format!("{x:.1},{:.1}", 280.0 - 255.0 * reward.max(0.0) / most)
            })
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            points.join(" ")
        );
        let last = curve.last().copied().unwrap_or_default();
        let y = 272.0 - 255.0 * last.max(0.0) / most;
        let _ =
            writeln!(svg, "<text x=\"610\" y=\"{y:.0}\" text-anchor=\"end\" fill=\"{color}\">{name}</text>");
    }
    svg.push_str("</svg>\n");
    svg
}
