//! Formats errors and warnings as text and JSON, with the names of command-line options.

use grammata::diagnostic::{Diagnostic, Place};
use serde::Serialize;

/// The settings of the library that diagnostics mention, and the corresponding options of the program.
const OPTIONS: [(&str, &str); 9] = [
    ("Options::dialect", "--dialect ecma"),
    ("Options::root", "--root"),
    ("Options::start", "--root"),
    ("LoadOptions::eos", "--eos"),
    ("LoadOptions::specials", "--special"),
    ("LoadOptions::width", "--width"),
    ("Samples::most", "--max-bytes"),
    ("lark::Options::files", "--imports FOLDER"),
    ("json_schema::Options::documents", "--schema-document URI=FILE"),
];

/// Returns a diagnostic whose help and allowed values name options of the program instead of settings of the library.
pub(crate) fn translated(diagnostic: &Diagnostic) -> Diagnostic {
    diagnostic.renamed(option)
}

/// Returns the option that corresponds to a setting.
fn option(setting: &str) -> Option<String> {
    match setting.strip_prefix("Limits::") {
        Some(limit) => Some(format!("--set-limit {limit}=N")),
        None => OPTIONS.iter().find(|(known, _)| *known == setting).map(|(_, option)| (*option).to_owned()),
    }
}

/// A diagnostic in JSON. Unknown members are null.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DiagnosticReport {
    /// `error`, `warning` or `note`.
    severity: &'static str,
    code: String,
    message: String,
    file: Option<String>,
    /// The place in the notation of the file: line and column, a JSON Pointer or a rule, for instance.
    place: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    /// The line of the file, truncated to some hundred characters.
    source: Option<String>,
    /// Whether the line is from a rendered template.
    rendered: bool,
    found: Option<String>,
    cause: Option<String>,
    allowed: Option<String>,
    help: Option<String>,
}

impl DiagnosticReport {
    pub(crate) fn new(severity: &'static str, diagnostic: &Diagnostic) -> DiagnosticReport {
        let diagnostic = translated(diagnostic);
        let (line, column) = match (diagnostic.snippet(), diagnostic.place()) {
            (Some(snippet), _) => (Some(snippet.line()), Some(snippet.column())),
            (None, Place::LineColumn { line, column }) => (Some(*line), Some(*column)),
            (None, _) => (None, None),
        };
        let place = match diagnostic.place() {
            Place::Whole => None,
            place => Some(place.to_string()),
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        DiagnosticReport {
            severity,
            code: diagnostic.code().to_owned(),
            message: diagnostic.message().to_owned(),
            file: owned(diagnostic.file()),
            place,
            line,
            column,
            source: diagnostic.snippet().map(|snippet| snippet.text().to_owned()),
            rendered: diagnostic.snippet().is_some_and(|snippet| snippet.is_rendered()),
            found: owned(diagnostic.found_text()),
            cause: owned(diagnostic.cause_text()),
            allowed: owned(diagnostic.allowed_text()),
            help: owned(diagnostic.help_text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grammata::diagnostic::renamed;

    fn in_options(text: &str) -> String {
        renamed(text, option)
    }

    #[test]
    fn settings_are_named_as_options() {
        assert_eq!(in_options("raise the limit (`Limits::x`)"), "raise the limit (`--set-limit x=N`)");
        assert_eq!(in_options("set `Options::root` to `Options`"), "set `--root` to `Options`");
        assert_eq!(in_options("no `closing quote"), "no `closing quote");
    }

    /// Every setting that the help or the bounds of a diagnostic of the library name must have an option.
    #[test]
    fn every_setting_named_in_help_has_an_option() {
        let repository = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut open = ["src", "crates"].map(|folder| repository.join(folder)).to_vec();
        let mut seen = 0;
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            if !path.ends_with("errors.rs") && !path.ends_with("limits.rs")
                || path
                    .strip_prefix(repository)
                    .unwrap_or(&path)
                    .components()
                    .any(|part| ["cli", "tests"].iter().any(|name| part.as_os_str() == *name))
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code.filter(|line| line.contains('"')) {
                for (_, piece) in line.split('`').enumerate().filter(|(index, _)| index % 2 == 1) {
                    let setting = ["Options::", "Limits::"].iter().any(|kind| piece.contains(kind));
                    if setting {
                        seen += 1;
                        assert_ne!(
                            in_options(&format!("`{piece}`")),
                            format!("`{piece}`"),
                            "{}",
                            path.display()
                        );
                    }
                }
            }
        }
        assert!(seen >= 4, "{seen}");
    }
}
