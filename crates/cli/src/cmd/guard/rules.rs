//! The rules of a guard: recognises the kind of the file, reads it, and creates the rules of a session.

use super::{Arguments, AskName};
use crate::args::source;
use crate::cmd::procedure::{folder_of, format};
use crate::io::{errors, messages};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::flows::{FlowDomain, FlowOptions};
use grammata_agents::plan::PlanAutomaton;
use grammata_agents::procedures::{Procedure, Session, Supervisor, read_trace};
use grammata_agents::tools::{self, Document, ReadOptions, ToolSet};
use grammata_guard::LogForm;
use grammata_guard::rules::{
    FlowRules, PlanRules, ProcedureOptions, ProcedureRules, ResumableRules, Rules, ToolRules, WishRules,
    Wishes,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The content of a file with rules for an agent.
pub(super) enum Held {
    Procedure(Box<Procedure>),
    Flow(FlowDomain),
    /// The path and the text of a spec. Each session parses it again.
    Plan(PathBuf, String),
    Tools(ToolSet),
    Wishes(Wishes),
}

/// The kind of a file with rules.
enum Kind {
    Procedure,
    Flow,
    Plan,
    Tools,
    Wishes,
}

impl Kind {
    /// Recognises the kind of a text: wishes by `rest` in TOML, flows by `kind = "flows"` in JSON or TOML, plan specs by
    /// any other `kind`, and a document of tools by its form. Any other text is a procedure.
    fn of(path: &Path, text: &str) -> Kind {
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        let kind = if is_toml {
            let table: toml::Table = toml::from_str(text).unwrap_or_default();
            if WISHES.iter().any(|key| table.contains_key(*key)) && !table.contains_key("kind") {
                return Kind::Wishes;
            }
            table.get("kind").and_then(toml::Value::as_str).map(str::to_owned)
        } else {
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            value.get("kind").and_then(Value::as_str).map(str::to_owned)
        };
        match kind.as_deref() {
            Some("flows") => Kind::Flow,
            Some(_) => Kind::Plan,
            None if !is_toml && tools::is_document(text) => Kind::Tools,
            None => Kind::Procedure,
        }
    }
}

/// Top-level keys of wishes, one of which is enough, so that a file without `rest` gets an error that names it.
const WISHES: [&str; 5] = ["rest", "hide", "ask", "pass", "limit"];

impl Held {
    /// Reads the file, or the spec of a folder. The sources of a procedure are opened unless the agent reports the
    /// user's messages. Options that other rules do not have are refused.
    pub(super) fn read(arguments: &Arguments, limits: &Limits) -> Result<Held> {
        let given = &arguments.file;
        let (path, text) = match given.is_dir() {
            true => source::read_text(given, limits)?,
            false => (given.clone(), source::text(given, limits)?),
        };
        let in_file = |error: grammata::Error| error.in_file(&source::name_of(&path));
        let held = match Kind::of(&path, &text) {
            Kind::Procedure => {
                let source = grammata::diagnostic::Source::new(&text, grammata::diagnostic::Notation::Text);
                let procedure = Procedure::read_in(&text, format(&path), folder_of(&path), limits);
                let mut procedure = procedure.map_err(|error| in_file(error.in_source(&source)))?;
                if !arguments.user_words {
                    procedure.open_sources();
                }
                return Ok(Held::Procedure(Box::new(procedure)));
            }
            Kind::Flow => {
                let domain = FlowDomain::read(&text, limits).map_err(in_file)?;
                domain.warnings.iter().for_each(messages::warning);
                Held::Flow(domain)
            }
            Kind::Plan => {
                let spec = source::read_spec(&path, text.clone(), &[], limits)?;
                spec.warnings().iter().for_each(messages::warning);
                Held::Plan(path, text)
            }
            Kind::Tools => {
                let document = Document { label: "tools", text: &text };
                let options = ReadOptions::default().limits(limits.clone());
                Held::Tools(tools::read([document], &options).map_err(in_file)?)
            }
            Kind::Wishes => Held::Wishes(Wishes::read(&text, limits).map_err(in_file)?),
        };
        let is_of_procedures = [
            ("--user-words", arguments.user_words),
            ("--ask agent", arguments.ask == AskName::Agent),
            ("--allow-others", arguments.allow_others && matches!(held, Held::Wishes(_))),
            ("--list-all", arguments.list_all && matches!(held, Held::Wishes(_))),
        ];
        if let Some((option, _)) = is_of_procedures.into_iter().find(|(_, is_given)| *is_given) {
            return Err(errors::guard_option(option));
        }
        Ok(held)
    }

    /// Returns the form of a new log.
    pub(super) fn log_form(&self) -> LogForm {
        match self {
            Held::Procedure(_) | Held::Tools(_) | Held::Wishes(_) => LogForm::Events,
            Held::Flow(_) | Held::Plan(..) => LogForm::Lines,
        }
    }

    /// Returns the supervisor of a procedure; `None` for other rules, and for a procedure that results or decisions can
    /// block.
    pub(super) fn supervisor(
        &self,
        arguments: &Arguments,
        limits: &Limits,
    ) -> Result<Option<Supervisor<'_>>> {
        let Held::Procedure(procedure) = self else { return Ok(None) };
        let supervisor = Supervisor::new(procedure, arguments.mode.into(), limits)?;
        Ok(Some(supervisor).filter(|supervisor| !supervisor.is_blocking()))
    }

    /// Creates the rules of a session. With `--resume` they continue after the events of `log`, the text of its file. Also
    /// returns an event that the log lacks, if any: the result of a call that was interrupted.
    pub(super) fn rules<'h>(
        &'h self,
        supervisor: Option<&'h Supervisor<'h>>,
        log: &str,
        arguments: &Arguments,
    ) -> Result<(Box<dyn Rules + 'h>, Option<Value>)> {
        let rules: Box<dyn Rules> = match self {
            Held::Procedure(procedure) => {
                let session = match supervisor {
                    Some(supervisor) => Session::supervised(supervisor),
                    None => Session::new(procedure, arguments.mode.into()),
                };
                let options =
                    ProcedureOptions { hears_user: arguments.user_words, ask: arguments.ask.into() };
                let mut rules = ProcedureRules::new(session, options)?;
                let event = rules.resume(&read_trace(log, &arguments.limits.get())?)?;
                return Ok((Box::new(rules), event));
            }
            Held::Flow(domain) => {
                let options = FlowOptions::default().limits(arguments.limits.get());
                Box::new(FlowRules::new(domain, options)?)
            }
            Held::Plan(path, text) => {
                let spec = source::read_spec(path, text.clone(), &[], &arguments.limits.get())?;
                Box::new(PlanRules::new(PlanAutomaton::new(spec)?)?)
            }
            Held::Tools(set) => Box::new(ToolRules::new(set)),
            Held::Wishes(wishes) => {
                arguments.limits.get().check_source(log)?;
                let mut rules = WishRules::new(wishes, arguments.ask.into());
                let event = rules.resume(log)?;
                return Ok((Box::new(rules), event));
            }
        };
        if arguments.resume.is_none() {
            return Ok((rules, None));
        }
        arguments.limits.get().check_source(log)?;
        let (rules, event) = ResumableRules::resume(rules, log)?;
        Ok((Box::new(rules), event))
    }
}
