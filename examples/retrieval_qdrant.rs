//! Tools on a Qdrant server: `cargo run --features qdrant --example retrieval_qdrant -- http://127.0.0.1:6333`.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::Limits;
use grammata_agents::retrieval::index::qdrant::{HttpOptions, HttpTransport};
use grammata_agents::retrieval::index::{IndexedTool, QdrantIndex, QdrantOptions, ToolIndex};
use grammata_agents::retrieval::{Catalogue, Ranker, RetrievalOptions, Retriever, Template};
use grammata_decode::{Embedder, TableEmbedder};
use std::sync::Arc;

const TOOLS: &str = r#"
{"id": "1", "name": "getForecast", "category": "Weather", "description": "weather forecast"}
{"id": "2", "name": "findFlights", "category": "Travel", "description": "flights between airports"}
{"id": "3", "name": "bookHotel", "category": "Travel", "description": "hotel rooms"}
"#;

fn main() -> grammata::Result<()> {
    let limits = Limits::default();
    let address = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:6333".to_owned());
    let catalogue = Catalogue::from_json_lines(TOOLS, &limits)?;
    let documents = catalogue.documents(Template::Description);
    // a table of vectors in place of a model (`OrtEmbedder`)
    let mut rows: Vec<(&str, [f32; 3])> = documents
        .iter()
        .map(String::as_str)
        .zip([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        .collect();
    rows.push(("a room in Oslo", [0.0, 0.28, 0.96]));
    let mut embedder = TableEmbedder::new(3, rows, &limits)?;

    let transport = HttpTransport::new(&address, HttpOptions::default(), &limits)?;
    let options = QdrantOptions::new("tools", embedder.dimension(), embedder.fingerprint()?);
    let mut index = QdrantIndex::open(transport, options)?;
    let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts)?;
    let tools = catalogue.tools().iter().zip(&documents).zip(vectors.rows());
    let tools: Vec<IndexedTool<'_>> = tools
        .map(|((tool, document), row)| IndexedTool {
            id: &tool.id,
            category: &tool.category,
            document,
            vector: Some(row),
        })
        .collect();
    index.upsert(&tools)?;
    let retriever = Retriever::new(&catalogue, Template::Description)?.with_dense(Arc::new(index));

    let options = RetrievalOptions::default().k(2).ranker(Ranker::Dense);
    let found = retriever.retrieve(&["a room in Oslo"], Some(&mut embedder), &options)?;
    for tool in found.tools {
        println!("{:<12} {:.2}", catalogue.tools()[tool.tool].name, tool.score);
    }
    Ok(())
}
