//! Rendering of untrusted templates at a bounded cost: the sandbox for chat templates, templates of specs and templates
//! of questions.
//!
//! The language is Jinja with Python's methods, without `include`, `import`, `extends`, `block` and
//! `recursive` loops. Templates are not trusted:
//! - tokens are counted before parsing, so that no recursion is deep (`scan`), and parsing and rendering run on a
//!   thread with a known stack size;
//! - instructions are counted (minijinja's fuel), and the values that an instruction produces or visits are charged to
//!   a budget before it runs (`program`, `costs`, `meter`), which bounds both time and memory;
//! - a value can contain only immutable values, so that no value contains itself (`functions`);
//! - the output has a maximum number of bytes.

mod arguments;
pub mod chat;
mod checked;
mod costs;
mod filters;
mod functions;
mod json;
mod meter;
mod methods;
mod namespace;
mod number;
mod operators;
mod order;
mod program;
mod scan;
mod slice;
mod source;
mod strings;
mod text;

use grammata_base::Error;
use grammata_base::Place;
use grammata_base::{LimitKind, Limits};
use meter::metered;
use minijinja::machinery::{eval, make_string_output};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Output, UndefinedBehavior};
use source::Prepared;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Stack size in bytes of a rendering thread. The deepest recursion within the bounds of [`scan`] takes some MB.
const STACK: usize = 32 << 20;
/// Units of `template_work` per instruction.
const INSTRUCTION: usize = 64;
/// Maximum nesting of frames of minijinja. A loop or a `with` block takes one frame, a call of a macro six.
const FRAMES: usize = 100;

/// A function that writes a value to the output. It is called after the value was charged for, and in a strict dialect
/// not for undefined values.
pub type Put = fn(&mut Output<'_>, &Value) -> Result<(), minijinja::Error>;

/// Settings for rendering templates of one kind.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// Whether to remove line breaks after block tags, and spaces before them.
    pub trim_blocks: bool,
    /// Whether an undefined name is an error when it is printed, iterated over or used as a condition; otherwise it is
    /// empty or false there.
    pub strict: bool,
    /// How values are written to the output; `None` writes them as their text.
    pub put: Option<Put>,
    /// Functions and other global values, by name, in addition to those of all templates.
    pub functions: Vec<(&'static str, Value)>,
}

impl Dialect {
    fn syntax(&self) -> SyntaxConfig {
        let trim = self.trim_blocks;
        let built = SyntaxConfig::builder().trim_blocks(trim).lstrip_blocks(trim).build();
        // only delimiters could be invalid, and they are the defaults
        built.unwrap_or_default()
    }

    /// Replaces the tags `{% generation %}` and `{% endgeneration %}` so that their bodies are printed unchanged. A
    /// template that cannot be tokenized is returned unchanged.
    pub fn without_generation_tags(&self, source: &str) -> String {
        let changed = match source.contains("generation") {
            true => on_own_stack(|| scan::without_generation_tags(source, self.syntax())).ok(),
            false => None,
        };
        changed.unwrap_or_else(|| source.to_owned())
    }

    /// Parses and compiles a template without rendering it.
    ///
    /// # Errors
    /// The template is not valid Jinja, uses syntax that the sandbox does not support, has too many tokens or too many
    /// `elif`, or repeats a constant too often; or no thread can be started, or the template engine panics.
    pub fn check(&self, source: &str) -> Result<(), Fault> {
        on_own_stack(|| {
            let prepared = Prepared::new(source, self.syntax(), self.trim_blocks);
            let tree =
                scan::read(&prepared.text, self.syntax()).map_err(|fault| fault.moved(&prepared, source))?;
            program::compile(&prepared.text, &tree, !self.strict);
            Ok(())
        })?
    }

    /// Renders a template with the context that `context` returns.
    ///
    /// # Errors
    /// Errors of [`check`](Dialect::check); the template fails, rejects its input, takes more than
    /// `limits.template_work` units of work or more than 20 seconds, or writes more than `limits.source_bytes` bytes.
    pub fn render(
        &self,
        source: &str,
        context: impl FnOnce() -> Value + Send,
        limits: &Limits,
    ) -> Result<String, Fault> {
        on_own_stack(|| self.render_here(source, context(), limits))?
    }

    /// Like [`render`](Dialect::render), for callers that already run on a thread with a large stack
    /// ([`on_own_stack`]).
    pub fn render_here(&self, source: &str, context: Value, limits: &Limits) -> Result<String, Fault> {
        let prepared = Prepared::new(source, self.syntax(), self.trim_blocks);
        self.run(&prepared.text, context, limits).map_err(|fault| fault.moved(&prepared, source))
    }

    fn run(&self, source: &str, context: Value, limits: &Limits) -> Result<String, Fault> {
        let tree = scan::read(source, self.syntax())?;
        let program = program::compile(source, &tree, !self.strict);
        drop(tree);
        let environment = self.environment(limits);
        let mut out = String::new();
        let blocks = BTreeMap::new();
        let mut output = make_string_output(&mut out);
        metered(|meter| meter.begin(limits.template_work));
        let done = eval(&environment, &program, context, &blocks, &mut output, AutoEscape::None);
        done.map(drop).map_err(|e| Fault::of(&e, source))?;
        if out.len() > limits.source_bytes {
            return Err(Fault { reason: Reason::Output, place: Place::in_text(source, 0), offset: None });
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
        environment.set_formatter(move |out, _, value| {
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
            match (put, text::as_text(value)) {
                (Some(put), _) => put(out, value),
                (None, Some(text)) => out.write_str(text).map_err(minijinja::Error::from),
                (None, None) => out.write_str(&text::text(value)).map_err(minijinja::Error::from),
            }
        });
        environment
    }
}

/// Runs `work` on a new thread with a stack of 32 MiB, and returns its result.
///
/// # Errors
/// The thread cannot be started, or `work` panics.
pub fn on_own_stack<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R, Fault> {
    let failed = |text: String| Fault {
        reason: Reason::Template(text),
        place: Place::LineColumn { line: 1, column: 1 },
        offset: None,
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("template".to_owned()).stack_size(STACK);
        match thread.spawn_scoped(scope, work) {
            Ok(running) => running.join().map_err(|_| failed("the template engine failed".to_owned())),
            Err(cause) => Err(failed(format!("no thread to render on: {cause}"))),
        }
    })
}

/// The reason why a template could not be parsed or rendered, and its place.
#[derive(Clone, Debug)]
pub struct Fault {
    reason: Reason,
    place: Place,
    /// The place as an offset in bytes, if it is known.
    offset: Option<usize>,
}

#[derive(Clone, Debug)]
enum Reason {
    /// The template is wrong, or rejects its input.
    Template(String),
    /// The template does too much work, or takes too long.
    Work,
    /// The template writes too much output.
    Output,
}

impl Fault {
    fn at(source: &str, offset: usize, found: impl Into<String>) -> Fault {
        Fault {
            reason: Reason::Template(found.into()),
            place: Place::in_text(source, offset),
            offset: Some(offset),
        }
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
        Fault { reason, place, offset: error.range().map(|range| range.start) }
    }

    /// Returns the fault with its place in the source from which `prepared` was made.
    fn moved(mut self, prepared: &Prepared, source: &str) -> Fault {
        if let Some(offset) = self.offset {
            self.place = Place::in_text(source, prepared.original(offset));
        }
        self
    }

    /// Converts the fault to an error: that of the limit `template_work` or `source_bytes` if the template exceeds one
    /// of them, otherwise the result of `wrong` for the text and place of the fault.
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
