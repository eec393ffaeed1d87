//! The options of all commands, and the exit codes at the end of their help.

use crate::io::messages::Verbosity;
use crate::io::output::{OutputFormat, exit_codes, exit_codes_in_short};
use clap::{Arg, ArgAction, Args, Command, ValueEnum};
use std::ffi::OsString;

// These are the options of all commands, also of the labs program. A doc comment would replace the program's own
// description.
#[derive(Clone, Debug, Args)]
pub(crate) struct GlobalArgs {
    /// The form of the results on standard output
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value_t = OutputFormat::Text,
        help_heading = "Global options"
    )]
    pub(crate) output_format: OutputFormat,
    /// Write only errors to standard error: no warnings, notes, summaries or progress
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    quiet: bool,
    /// Also write how long each stage took to standard error
    #[arg(short, long, global = true, help_heading = "Global options")]
    verbose: bool,
    /// When colours are used
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = Color::Auto,
        help_heading = "Global options"
    )]
    color: Color,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal, unless the environment says otherwise (`NO_COLOR`)
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl GlobalArgs {
    /// Returns how much to write to standard error.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

/// The global options that control the report of an error in the arguments. They are needed before the arguments are
/// parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Early {
    pub(crate) output_format: OutputFormat,
    color: Color,
}

impl Early {
    /// Reads `--output-format` and `--color` from arguments that may be invalid, up to an argument `--`. The last
    /// occurrence of an option counts. An unknown value counts as the default.
    pub(crate) fn of(arguments: &[OsString]) -> Early {
        let mut early = Early::default();
        let mut rest = arguments.iter().map(|argument| argument.to_string_lossy());
        while let Some(argument) = rest.next() {
            if argument == "--" {
                break;
            }
            let mut value = |name: &str| match argument.strip_prefix(name)? {
                "" => Some(rest.next()?.into_owned()),
                inline => inline.strip_prefix('=').map(str::to_owned),
            };
            if let Some(format) = value("--output-format") {
                early.output_format = OutputFormat::from_str(&format, false).unwrap_or_default();
            } else if let Some(color) = value("--color") {
                early.color = Color::from_str(&color, false).unwrap_or_default();
            }
        }
        early
    }

    /// Returns the choice of colours for clap, and sets the same choice globally for messages.
    pub(crate) fn color_choice(self) -> clap::ColorChoice {
        let (messages, clap) = match self.color {
            Color::Auto => (anstream::ColorChoice::Auto, clap::ColorChoice::Auto),
            Color::Always => (anstream::ColorChoice::Always, clap::ColorChoice::Always),
            Color::Never => (anstream::ColorChoice::Never, clap::ColorChoice::Never),
        };
        messages.write_global();
        clap
    }
}

/// Adds the global options to a program's command. It and all its subcommands get the exit codes in their help, a help
/// of at most 100 columns, and options that take negative numbers as values.
pub(crate) fn with_contract(command: Command) -> Command {
    with_exit_codes(GlobalArgs::augment_args(command))
}

fn with_exit_codes(command: Command) -> Command {
    // options take negative numbers, so that `--limit -1` is reported as an invalid value, not as an unknown option
    let with_negative_numbers = |argument: Arg| match argument.get_action() {
        ArgAction::Set | ArgAction::Append if !argument.is_positional() => {
            argument.allow_negative_numbers(true)
        }
        _ => argument,
    };
    command
        .mut_args(with_negative_numbers)
        .max_term_width(100)
        .after_help(exit_codes_in_short())
        .after_long_help(exit_codes())
        .mut_subcommands(with_exit_codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn early(arguments: &[&str]) -> Early {
        Early::of(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_found_in_wrong_arguments() {
        let json = Early { output_format: OutputFormat::Json, ..Early::default() };
        assert_eq!(early(&["grammata", "--nothing", "--output-format", "json"]), json);
        assert_eq!(early(&["grammata", "count", "--output-format=json"]), json);
        assert_eq!(early(&["grammata", "count", "--output-format", "yaml"]), Early::default());
        assert_eq!(early(&["grammata", "--", "--output-format", "json"]), Early::default());
        assert_eq!(early(&["grammata", "--output-format"]), Early::default());
        assert_eq!(early(&["grammata", "--color=never"]).color, Color::Never);
    }
}
