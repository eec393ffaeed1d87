//! Parsing YAML 1.2 into a [`Document`].

use super::{Content, Document, Malformed, NodeId, Open, open};
use grammata::diagnostic::Place;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

/// Parses one document. Aliases, tags and further documents are errors: nested aliases can expand to more than memory
/// holds. A file without a document is an empty plain scalar (null).
pub(super) fn read(text: &str) -> Result<Document, Malformed> {
    let mut document = Document::default();
    let mut levels: Vec<Open> = Vec::new();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|cause| Malformed::new(place(cause.marker()), cause.info(), "YAML 1.2"))?;
        let at = place(&span.start);
        let refuse =
            |found: &str| Err(Malformed::new(at.clone(), found, "one document without aliases and tags"));
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return refuse("a second document");
                }
            }
            Event::Alias(_) => return refuse("an alias (`*name`)"),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                return refuse("a tag (`!name`)");
            }
            Event::Scalar(text, style, _, None) => {
                let content =
                    Content::Scalar { text: text.into_owned(), is_plain: style == ScalarStyle::Plain };
                let node = document.add(at, content);
                document.attach(&mut levels, node)?;
            }
            Event::SequenceStart(_, None) => {
                enter(&mut document, &mut levels, at, Content::List(Vec::new()))?;
            }
            Event::MappingStart(_, None) => {
                enter(&mut document, &mut levels, at, Content::Mapping(Vec::new()))?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                levels.pop();
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }
    if document.nodes.is_empty() {
        document.add(Place::Whole, Content::Scalar { text: String::new(), is_plain: true });
    }
    Ok(document)
}

fn enter(
    document: &mut Document,
    levels: &mut Vec<Open>,
    at: Place,
    content: Content,
) -> Result<NodeId, Malformed> {
    let node = document.add(at.clone(), content);
    document.attach(levels, node)?;
    open(levels, node, &at)?;
    Ok(node)
}

/// Converts a place of the parser, which counts columns from 0.
fn place(marker: &Marker) -> Place {
    Place::LineColumn { line: marker.line(), column: marker.col() + 1 }
}
