//! Reports of experiments, as Markdown and HTML.

use super::markup::{html, markdown, paragraph};
use super::plot::Plot;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
    table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:right}\
    td:first-child,th:first-child{text-align:left}figure{margin:1em 0;overflow-x:auto}\
    .turn{margin:.4em 0;white-space:pre-wrap}.note{color:#777;font-size:.85em}";

/// A report: a title, and headings, paragraphs, tables, plots, figures and transcripts in the order in which they were
/// added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    title: String,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
enum Block {
    Heading(String),
    Text(String),
    Table(Table),
    Plot(Plot),
    Figure { svg: String, caption: String },
    Transcript(Transcript),
}

/// A table of plain texts. Rows are truncated, or filled with empty cells, to the number of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The column headings.
    pub columns: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    fn cells<'a>(&'a self, row: &'a [String]) -> impl Iterator<Item = &'a str> {
        (0..self.columns.len()).map(|column| row.get(column).map_or("", String::as_str))
    }
}

/// A conversation, with the events in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// What the conversation is about.
    pub caption: String,
    /// The turns, in order of time.
    pub turns: Vec<Turn>,
}

/// A turn of a [`Transcript`]: what a speaker said, or an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The speaker, or the kind of event.
    pub speaker: String,
    /// The text that was said, or that describes the event.
    pub text: String,
    /// A remark of the judge or the automaton on the turn.
    pub note: Option<String>,
}

impl Report {
    /// Creates a report with a title and nothing else.
    pub fn new(title: impl Into<String>) -> Report {
        Report { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a heading of the second level.
    pub fn heading(&mut self, text: impl Into<String>) -> &mut Report {
        self.add(Block::Heading(text.into()))
    }

    /// Adds a paragraph of plain text. Markup in it is escaped, and line breaks count as spaces.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Report {
        self.add(Block::Text(text.into()))
    }

    /// Adds a table. Markup in its texts is escaped.
    pub fn table(&mut self, table: Table) -> &mut Report {
        self.add(Block::Table(table))
    }

    /// Adds a plot. The plot is drawn in HTML, and is a table in Markdown.
    pub fn plot(&mut self, plot: Plot) -> &mut Report {
        self.add(Block::Plot(plot))
    }

    /// Adds a trusted drawing: one SVG element, which is copied into HTML unescaped. Markdown shows only its caption.
    pub fn figure(&mut self, svg: impl Into<String>, caption: impl Into<String>) -> &mut Report {
        self.add(Block::Figure { svg: svg.into(), caption: caption.into() })
    }

    /// Adds a conversation, with its caption.
    pub fn transcript(&mut self, transcript: Transcript) -> &mut Report {
        self.add(Block::Transcript(transcript))
    }

    fn add(&mut self, block: Block) -> &mut Report {
        self.blocks.push(block);
        self
    }

    /// Returns the report as CommonMark with tables.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("# {}\n", markdown(&self.title));
        for block in &self.blocks {
            out.push('\n');
            match block {
                Block::Heading(text) => line(&mut out, format_args!("## {}", markdown(text))),
                Block::Text(text) => line(&mut out, format_args!("{}", paragraph(text))),
                Block::Table(table) => markdown_table(&mut out, table),
                Block::Plot(plot) => {
                    line(&mut out, format_args!("{}\n", paragraph(&plot.caption)));
                    markdown_table(&mut out, &as_table(plot));
                }
                Block::Figure { caption, .. } => line(&mut out, format_args!("*{}*", markdown(caption))),
                Block::Transcript(transcript) => markdown_transcript(&mut out, transcript),
            }
        }
        out
    }

    /// Returns the report as a standalone HTML document, without scripts or references to other files. Figures are
    /// copied as given.
    pub fn to_html(&self) -> String {
        let title = html(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
        );
        for block in &self.blocks {
            match block {
                Block::Heading(text) => line(&mut out, format_args!("<h2>{}</h2>", html(text))),
                Block::Text(text) => line(&mut out, format_args!("<p>{}</p>", html(text))),
                Block::Table(table) => html_table(&mut out, table),
                Block::Plot(plot) => html_figure(&mut out, &plot.svg(), &plot.caption),
                Block::Figure { svg, caption } => html_figure(&mut out, svg, caption),
                Block::Transcript(transcript) => html_transcript(&mut out, transcript),
            }
        }
        out.push_str("</body></html>\n");
        out
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // writing to a string does not fail
    let _ = writeln!(out, "{text}");
}

fn as_table(plot: &Plot) -> Table {
    let figure = |value: f64| format!("{value:.3}");
    let row = |bar: &super::Bar| {
        vec![bar.label.clone(), figure(bar.value.mean), figure(bar.value.low), figure(bar.value.high)]
    };
    Table {
        columns: ["", "mean", "low", "high"].map(str::to_owned).to_vec(),
        rows: plot.bars.iter().map(row).collect(),
    }
}

fn markdown_table(out: &mut String, table: &Table) {
    let mut row = |cells: &[String]| {
        let cells: Vec<String> = table.cells(cells).map(markdown).collect();
        line(out, format_args!("| {} |", cells.join(" | ")));
    };
    row(&table.columns);
    row(&vec!["---".to_owned(); table.columns.len()]);
    table.rows.iter().for_each(|cells| row(cells));
}

fn markdown_transcript(out: &mut String, transcript: &Transcript) {
    line(out, format_args!("**{}**", markdown(&transcript.caption)));
    for turn in &transcript.turns {
        let note = turn.note.as_ref().map(|note| format!(" *({})*", markdown(note))).unwrap_or_default();
        let text: Vec<String> = turn.text.lines().map(paragraph).collect();
        line(out, format_args!("\n- **{}**{note}: {}", markdown(&turn.speaker), text.join("\\\n  ")));
    }
}

fn html_table(out: &mut String, table: &Table) {
    let row = |out: &mut String, cells: &[String], tag: &str| {
        let cells: String = table.cells(cells).map(|cell| format!("<{tag}>{}</{tag}>", html(cell))).collect();
        line(out, format_args!("<tr>{cells}</tr>"));
    };
    out.push_str("<table>\n");
    row(out, &table.columns, "th");
    table.rows.iter().for_each(|cells| row(out, cells, "td"));
    out.push_str("</table>\n");
}

fn html_figure(out: &mut String, svg: &str, caption: &str) {
    line(out, format_args!("<figure>{svg}<figcaption>{}</figcaption></figure>", html(caption)));
}

fn html_transcript(out: &mut String, transcript: &Transcript) {
    line(out, format_args!("<h3>{}</h3>", html(&transcript.caption)));
    for Turn { speaker, text, note } in &transcript.turns {
        let note = note.as_ref().map(|note| format!(" <span class=\"note\">{}</span>", html(note)));
        let (speaker, text) = (html(speaker), html(text));
        let note = note.unwrap_or_default();
        line(out, format_args!("<div class=\"turn\"><b>{speaker}</b>{note}: {text}</div>"));
    }
}
