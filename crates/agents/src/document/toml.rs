//! Parsing TOML into a [`Document`].

use super::{Content, Document, Entry, Malformed, NodeId};
use grammata::diagnostic::Place;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses a file. The parser bounds the depth of values.
pub(super) fn read(text: &str) -> Result<Document, Malformed> {
    let root = DeTable::parse(text).map_err(|cause| {
        let at = cause.span().map_or(Place::Whole, |span| Place::in_text(text, span.start));
        Malformed::new(at, cause.message(), "TOML")
    })?;
    let lines = Lines::of(text);
    let mut document = Document::default();
    document.add(Place::LineColumn { line: 1, column: 1 }, Content::Mapping(Vec::new()));
    let mut tables: Vec<(NodeId, &DeTable<'_>)> = vec![(0, root.get_ref())];
    let mut arrays: Vec<(NodeId, &Spanned<DeValue<'_>>)> = Vec::new();
    loop {
        if let Some((parent, table)) = tables.pop() {
            let mut entries = Vec::new();
            for (key, value) in table.iter() {
                let child = add(&mut document, &lines, value, &mut tables, &mut arrays);
                entries.push(Entry {
                    key: key.get_ref().to_string(),
                    place: lines.place(key.span().start),
                    value: child,
                });
            }
            document.nodes[parent].content = Content::Mapping(entries);
        } else if let Some((parent, value)) = arrays.pop() {
            if let DeValue::Array(array) = value.get_ref() {
                let items = array
                    .iter()
                    .map(|item| add(&mut document, &lines, item, &mut tables, &mut arrays))
                    .collect();
                document.nodes[parent].content = Content::List(items);
            }
        } else {
            return Ok(document);
        }
    }
}

fn add<'t>(
    document: &mut Document,
    lines: &Lines<'_>,
    value: &'t Spanned<DeValue<'t>>,
    tables: &mut Vec<(NodeId, &'t DeTable<'t>)>,
    arrays: &mut Vec<(NodeId, &'t Spanned<DeValue<'t>>)>,
) -> NodeId {
    let plain = |text: String| Content::Scalar { text, is_plain: true };
    let content = match value.get_ref() {
        DeValue::String(text) => Content::Scalar { text: text.to_string(), is_plain: false },
        DeValue::Integer(number) => plain(number.to_string()),
        DeValue::Float(number) => plain(number.to_string()),
        DeValue::Boolean(flag) => plain(flag.to_string()),
        DeValue::Datetime(date) => Content::Scalar { text: date.to_string(), is_plain: false },
        DeValue::Array(_) => Content::List(Vec::new()),
        DeValue::Table(_) => Content::Mapping(Vec::new()),
    };
    let node = document.add(lines.place(value.span().start), content);
    match value.get_ref() {
        DeValue::Table(table) => tables.push((node, table)),
        DeValue::Array(_) => arrays.push((node, value)),
        _ => {}
    }
    node
}

/// The starts of the lines of a text.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Lines<'t> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        Place::LineColumn { line, column }
    }
}
