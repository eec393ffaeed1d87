//! Templates from outside, rendered at a bounded cost: the one sandbox for chat templates, the templates of specs and
//! those of questions.
//!
//! The language is Jinja as minijinja has it, with Python's string methods, without `include`, `import`, `extends`,
//! `block` and `recursive` loops. Nothing a template says is trusted:
//! - its tokens are counted before it is parsed, so that no recursion is deep (`scan`), and it is parsed and run on a
//!   thread whose stack has a known size;
//! - its instructions are counted (minijinja's fuel), and what each of them makes or visits is charged to a budget before
//!   it is done (`program`, `costs`, `meter`), which bounds time and memory alike;
//! - a value can only hold values that cannot change, so that none holds itself (`functions`);
//! - its output has at most a given number of bytes.

mod costs;
mod functions;
mod meter;
mod namespace;
mod program;
mod scan;

use grammata_base::Error;
use grammata_base::Place;
use grammata_base::{LimitKind, Limits};
use meter::metered;
use minijinja::machinery::{eval, make_string_output};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Output, UndefinedBehavior};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Bytes of the stack of a thread that renders. The deepest recursion is along the [`scan`]'s bounds and takes some MB.
const STACK: usize = 32 << 20;
/// Units of work that allow one instruction.
const INSTRUCTION: usize = 64;
/// Frames of loops, macros (four each) and blocks within one another.
const FRAMES: usize = 100;

/// How values are put out; gets only values that may be written.
pub type Put = fn(&mut Output<'_>, &Value) -> Result<(), minijinja::Error>;

/// How templates of one kind are rendered.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// Line breaks after block tags, and spaces before them, are left out.
    pub trim_blocks: bool,
    /// A name that is not defined may not be put out.
    pub strict: bool,
    /// How values are put out, if not as their text.
    pub put: Option<Put>,
    /// Functions beside those that all templates have.
    pub functions: Vec<(&'static str, Value)>,
}

impl Dialect {
    fn syntax(&self) -> SyntaxConfig {
        let trim = self.trim_blocks;
        let built = SyntaxConfig::builder().trim_blocks(trim).lstrip_blocks(trim).build();
        // only delimiters can be wrong
        built.unwrap_or_default()
    }

    /// The template with `{% generation %}` blocks as plain text. One that cannot be read is returned as it is.
    pub fn without_generation_tags(&self, source: &str) -> String {
        let changed = match source.contains("generation") {
            true => on_own_stack(|| scan::without_generation_tags(source, self.syntax())).ok(),
            false => None,
        };
        changed.unwrap_or_else(|| source.to_owned())
    }

    /// Reads a template without rendering it.
    pub fn check(&self, source: &str) -> Result<(), Fault> {
        on_own_stack(|| {
            let tree = scan::read(source, self.syntax())?;
            program::compile(source, &tree);
            Ok(())
        })?
    }

    /// The output of a template, given what `context` makes.
    pub fn render(
        &self,
        source: &str,
        context: impl FnOnce() -> Value + Send,
        limits: &Limits,
    ) -> Result<String, Fault> {
        on_own_stack(|| self.render_here(source, context(), limits))?
    }

    /// As [`render`](Dialect::render), for those who are [on a stack of their own](on_own_stack) already.
    pub fn render_here(&self, source: &str, context: Value, limits: &Limits) -> Result<String, Fault> {
        let tree = scan::read(source, self.syntax())?;
        let program = program::compile(source, &tree);
        drop(tree);
        let environment = self.environment(limits);
        let mut out = String::new();
        let blocks = BTreeMap::new();
        let mut output = make_string_output(&mut out);
        metered(|meter| meter.begin(limits.template_work));
        let done = eval(&environment, &program, context, &blocks, &mut output, AutoEscape::None);
        done.map(drop).map_err(|e| Fault::of(&e, source))?;
        if out.len() > limits.source_bytes {
            return Err(Fault { reason: Reason::Output, place: Place::in_text(source, 0) });
        }
        Ok(out)
    }

    fn environment(&self, limits: &Limits) -> Environment<'static> {
        static SHARED: LazyLock<Environment<'static>> = LazyLock::new(functions::environment);
        let mut environment = SHARED.clone();
        environment.set_fuel(Some((limits.template_work / INSTRUCTION) as u64));
        environment.set_recursion_limit(FRAMES);
        environment.set_debug(true);
        if self.strict {
            environment.set_undefined_behavior(UndefinedBehavior::Strict);
        }
        for (name, function) in &self.functions {
            environment.add_global(*name, function.clone());
        }
        let (put, strict) = (self.put, self.strict);
        environment.set_formatter(move |out, state, value| {
            if strict && value.is_undefined() {
                return Err(minijinja::Error::from(minijinja::ErrorKind::UndefinedError));
            }
            metered(|meter| {
                let size = meter.measure(value)?;
                meter.spend(if value.as_str().is_some() && put.is_none() {
                    size.bytes
                } else {
                    size.written()
                })
            })?;
            match put {
                Some(put) => put(out, value),
                None => minijinja::escape_formatter(out, state, value),
            }
        });
        environment
    }
}

/// Does `work` on a thread of its own, with a stack of 32 MiB.
pub fn on_own_stack<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, Fault> {
    let failed = |text: String| Fault {
        reason: Reason::Template(text),
        place: Place::LineColumn { line: 1, column: 1 },
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("template".to_owned()).stack_size(STACK);
        match thread.spawn_scoped(scope, work) {
            Ok(running) => running.join().map_err(|_| failed("the template engine failed".to_owned())),
            Err(cause) => Err(failed(format!("no thread to render on: {cause}"))),
        }
    })
}

/// Why a template could not be read or rendered, and where.
#[derive(Clone, Debug)]
pub struct Fault {
    reason: Reason,
    place: Place,
}

#[derive(Clone, Debug)]
enum Reason {
    /// The template is wrong, or refuses what it is given.
    Template(String),
    /// It does too much.
    Work,
    /// It writes too much.
    Output,
}

impl Fault {
    fn at(source: &str, offset: usize, found: impl Into<String>) -> Fault {
        Fault { reason: Reason::Template(found.into()), place: Place::in_text(source, offset) }
    }

    fn of(error: &minijinja::Error, source: &str) -> Fault {
        let place = match (error.range(), error.line()) {
            (Some(range), _) => Place::in_text(source, range.start),
            (None, Some(line)) => Place::LineColumn { line, column: 1 },
            (None, None) => Place::Whole,
        };
        let reason = match (error.kind(), error.detail()) {
            (minijinja::ErrorKind::OutOfFuel, _) => Reason::Work,
            (kind, Some(detail)) => Reason::Template(format!("{kind}: {detail}")),
            (kind, None) => Reason::Template(kind.to_string()),
        };
        Fault { reason, place }
    }

    /// The error: that of a limit, or what `wrong` makes of the fault's text and its place.
    pub fn into_error(self, limits: &Limits, wrong: impl FnOnce(String, Place) -> Error) -> Error {
        let (kind, limit, found) = match self.reason {
            Reason::Template(text) => return wrong(text, self.place),
            Reason::Work => (LimitKind::TemplateWork, limits.template_work, "a template that does more"),
            Reason::Output => {
                (LimitKind::SourceBytes, limits.source_bytes, "a template that writes more bytes")
            }
        };
        Limits::exceeded(kind, limit, found).or_at(&self.place)
    }
}
