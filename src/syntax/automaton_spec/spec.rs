//! A spec that was read and checked. Two languages are built from it: over texts, and over actions.

use super::actions::Codes;
use super::arguments::{self, Arguments};
use super::document::{Direction, Document, Templates};
use super::facts::Facts;
use super::kind::Kind;
use super::limits::Limit;
use super::phrases::{self, Phrase};
use super::productions::Productions;
use super::symbol::Symbol;
use super::{
    Compiled, Format, Options, Parameter, context_free, document, errors, finite, limits, lower, parameters,
    pushdown, resolve, template, warnings,
};
use crate::diagnostic::{Diagnostic, Notation, Place, Source};
use crate::error::{Error, Errors, Result};
use crate::grammar::Grammar;
use crate::limits::Limits;

/// A spec: its symbols with their properties, and its language over symbols.
///
/// ```
/// use grammata::syntax::automaton_spec::{Options, Spec};
///
/// let spec = Spec::read(
///     "kind = 'cfg'\nsymbols = { a = 'go', b = 'stop' }\nstart = 's'\nrules = { s = ['a s', 'b'] }",
///     &Options::default(),
/// )?;
/// assert_eq!(spec.symbols()[1].text, "stop");
/// assert!(spec.grammar()?.rules().len() >= 1);
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Debug)]
pub struct Spec {
    document: Document,
    productions: Productions,
    symbol_limits: Vec<Limit>,
    facts: Facts,
    arguments: Vec<Option<Arguments>>,
    phrases: Vec<Phrase>,
    parameters: Vec<Parameter>,
    templates: Templates,
    warnings: Vec<Diagnostic>,
    limits: Limits,
    text: Text,
}

/// The text of a spec, from which errors take the lines that they show.
#[derive(Clone, Debug)]
struct Text {
    format: Format,
    text: String,
    /// The whole source, if `text` was rendered from a template; `None` for a spec without a header.
    template: Option<String>,
}

impl Text {
    fn source(&self) -> Source<'_> {
        let notation = match self.format {
            Format::Toml => Notation::Toml,
            Format::Json => Notation::Json,
        };
        let source = Source::new(&self.text, notation);
        match &self.template {
            Some(template) => source.rendered_from(template),
            None => source,
        }
    }

    /// Adds source lines to an error. An error without a place is placed at the root of the spec.
    fn locate(&self, error: Error) -> Error {
        error.or_at(&Place::Pointer(String::new())).in_source(&self.source())
    }
}

/// The content of a rendered text.
struct Read {
    document: Document,
    productions: Productions,
    symbol_limits: Vec<Limit>,
    facts: Facts,
    arguments: Vec<Option<Arguments>>,
    phrases: Vec<Phrase>,
    warnings: Vec<Diagnostic>,
}

fn toml(text: &str) -> Source<'_> {
    Source::new(text, Notation::Toml)
}

impl Spec {
    /// Reads and checks a spec.
    ///
    /// # Errors
    /// The errors of [`compile`](super::compile), except those of [`grammar`](Spec::grammar).
    pub fn read(source: &str, options: &Options) -> Result<Spec> {
        options.limits.check_source(source)?;
        let template = Source::new(source, Notation::Text);
        let (header, body) = parameters::split(source).map_err(|error| error.in_source(&template))?;
        let (mut declared, mut templates) = match header {
            Some(header) => parameters::read(header).map_err(|error| error.in_source(&toml(header)))?,
            None => Default::default(),
        };
        parameters::set(&mut declared, &options.parameters)
            .map_err(|error| error.in_source(&toml(header.unwrap_or_default())))?;
        let text = match header {
            None => Text { format: options.format, text: source.to_owned(), template: None },
            Some(_) => Text {
                format: options.format,
                text: template::render(source, body, &declared, &options.limits)
                    .map_err(|error| error.in_source(&template))?,
                template: Some(source.to_owned()),
            },
        };
        let read = Self::understand(&text, &mut templates, options);
        let Read { document, productions, symbol_limits, facts, arguments, phrases, mut warnings } =
            read.map_err(|error| text.locate(error))?;
        text.source().locate(&mut warnings);
        let limits = options.limits.clone();
        Ok(Spec {
            document,
            productions,
            symbol_limits,
            facts,
            arguments,
            phrases,
            parameters: declared,
            templates,
            warnings,
            limits,
            text,
        })
    }

    /// Parses a rendered text, and resolves its names. A table `templates` in a spec without a header is moved to
    /// `templates`; in a spec with a header, it is an error.
    fn understand(text: &Text, templates: &mut Templates, options: &Options) -> Result<Read> {
        let limits = &options.limits;
        let mut document = document::read(&text.text, text.format)?;
        let mut errors = Errors::default();
        match document.templates.take() {
            Some(_) if text.template.is_some() => errors.push(errors::misplaced_templates()),
            Some(found) => *templates = found,
            None => {}
        }
        errors.take(limits::check_symbols(&document));
        let mut warnings = Vec::new();
        let productions = match document.kind {
            Kind::Dfa | Kind::Nfa => finite::productions(&document, limits, &mut warnings),
            Kind::Pda => pushdown::productions(&document, limits, &mut warnings),
            Kind::Cfg => context_free::productions(&document, limits, &mut warnings),
        };
        let without_end =
            productions.as_ref().ok().and_then(|all| warnings::states_without_end(&document, all));
        let field = if document.kind == Kind::Cfg { "/rules" } else { "/transitions" };
        let place = |error: Error| error.or_at(&Place::Pointer(field.to_owned()));
        let productions = errors.take(productions.and_then(Productions::trimmed).map_err(place));
        warnings::unmade_inputs(&document, &mut warnings);
        // with a template, parameters may leave parts unused on purpose
        if let (Some(productions), None) = (&productions, &text.template) {
            warnings.extend(without_end);
            warnings::unused_symbols(&document, productions, &mut warnings);
        }
        // limits apply only to symbols in use, so they are resolved after trimming
        let resolved = productions.as_ref().map(|productions| limits::resolve(&document, productions));
        let symbol_limits = resolved.and_then(|resolved| errors.take(resolved));
        let used = productions.as_ref().map(Productions::symbols).unwrap_or_default();
        let facts = errors.take(resolve::resolve(&document, &used, limits, &mut warnings));
        let arguments = errors.take(arguments::compile(&document, options.folder.as_deref(), limits));
        let phrases =
            errors.take(phrases::resolve(&document.phrases, &document.symbols, &document.symbol_numbers()));
        errors.finish()?;
        Ok(Read {
            document,
            productions: productions.unwrap_or_else(|| Productions::new(limits)),
            symbol_limits: symbol_limits.unwrap_or_default(),
            facts: facts.unwrap_or_default(),
            arguments: arguments.unwrap_or_default(),
            phrases: phrases.unwrap_or_default(),
            warnings,
        })
    }

    /// The kind of machine, or `cfg` for rules.
    pub fn kind(&self) -> Kind {
        self.document.kind
    }

    /// The spec's `name`; `None` if it has none.
    pub fn name(&self) -> Option<&str> {
        self.document.name.as_deref()
    }

    /// The spec's `description`; `None` if it has none.
    pub fn description(&self) -> Option<&str> {
        self.document.description.as_deref()
    }

    /// The symbols, in the spec's order, including unused ones; in a plan, the actions.
    pub fn symbols(&self) -> &[Symbol] {
        &self.document.symbols.0
    }

    /// The limits on the number of occurrences of symbols. Limits on unused symbols alone are left out.
    pub fn symbol_limits(&self) -> &[Limit] {
        &self.symbol_limits
    }

    /// The variables of formulas, and the requirements and effects of each action.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The JSON Schema of an action's arguments, by the action's index among the symbols; `None` if the action has no
    /// arguments.
    pub fn arguments_schema(&self, action: usize) -> Option<&serde_json::Value> {
        self.arguments(action).map(Arguments::schema)
    }

    /// The compiled arguments of an action, by its index among the symbols; `None` if it has no arguments.
    pub fn arguments(&self, action: usize) -> Option<&Arguments> {
        self.arguments.get(action)?.as_ref()
    }

    /// The lines of written plans that mean several steps, or none.
    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    /// The maximum total cost of a plan; `None` if it is not bounded.
    pub fn max_cost(&self) -> Option<u64> {
        self.document.limits.max_cost
    }

    /// The order in which words list the steps of a plan.
    pub fn direction(&self) -> Direction {
        self.document.direction
    }

    /// The templates of the texts for the chooser and the reader of a plan.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The declared parameters in the spec's order, with the values used.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Warnings from reading the spec, which do not prevent compilation.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The limits under which the spec was read.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The text between two symbols of a word, which may be empty.
    pub fn separator(&self) -> &str {
        &self.document.separator
    }

    /// Builds the grammar of the spec's texts.
    ///
    /// # Errors
    /// - `automaton-spec/plans-only`, if the spec has a rule that is only for plans: `max_cost`, outcomes, or a
    ///   set-valued symbol under limits or requirements.
    /// - `automaton-spec/ambiguous-texts`, `automaton-spec/arguments`, `automaton-spec/token-under-limits` and
    ///   `automaton-spec/free-text-under-limits`, if limits or requirements cannot be checked on texts.
    /// - `grammar/…`, if the grammar cannot be built; `limit/exceeded`.
    pub fn grammar(&self) -> Result<Grammar> {
        lower::lower(self).map_err(|error| self.locate(error))
    }

    /// Builds the grammar of the spec's texts, and returns the grammar with the spec's properties.
    pub(super) fn compile(self) -> Result<Compiled> {
        let grammar = self.grammar()?;
        Ok(Compiled {
            kind: self.document.kind,
            grammar,
            name: self.document.name,
            description: self.document.description,
            source: self.document.source,
            symbols: self.document.symbols.0,
            parameters: self.parameters,
            warnings: self.warnings,
        })
    }

    /// Copies the spec with other limits, requirements, effects and maximum cost, for questions about actions alone.
    /// The copy has no arguments and no warnings, and allows at most `states` plan states.
    pub(super) fn under(
        &self,
        symbol_limits: Vec<Limit>,
        facts: Facts,
        max_cost: Option<u64>,
        states: usize,
    ) -> Spec {
        let mut document = self.document.clone();
        document.limits.max_cost = max_cost;
        Spec {
            document,
            productions: self.productions.clone(),
            symbol_limits,
            facts,
            arguments: Vec::new(),
            phrases: Vec::new(),
            parameters: self.parameters.clone(),
            templates: self.templates.clone(),
            warnings: Vec::new(),
            limits: self.limits.clone().plan_states(states),
            text: self.text.clone(),
        }
    }

    /// The document as it was parsed.
    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// The language over symbols, without useless productions and without separators.
    pub fn productions(&self) -> &Productions {
        &self.productions
    }

    /// Assigns codes to the symbols in use.
    ///
    /// # Errors
    /// `automaton-spec/token-in-plan` and `automaton-spec/free-text-in-plan` if any symbol, even an unused one, is a
    /// token or free text; `automaton-spec/too-many-actions` if more than 65,536 codes are needed; `limit/exceeded` if
    /// copying the bodies exceeds `grammar_nodes`.
    pub fn codes(&self) -> Result<Codes> {
        if let Some(token) = self.symbols().iter().find(|symbol| symbol.token.is_some()) {
            return Err(self.locate(errors::token_in_plan(&token.id)));
        }
        if let Some(text) = self.symbols().iter().find(|symbol| symbol.free_text.is_some()) {
            return Err(self.locate(errors::free_text_in_plan(&text.id)));
        }
        Codes::new(self).map_err(|error| self.locate(error))
    }

    /// Adds source lines to an error about this spec.
    pub(crate) fn locate(&self, error: Error) -> Error {
        self.text.locate(error)
    }
}
