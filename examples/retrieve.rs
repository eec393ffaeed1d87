//! The tools that a request needs, by the words of its sentences: `cargo run --profile quick --example retrieve`.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::Limits;
use grammata_agents::retrieval::retriever::Utterance;
use grammata_agents::retrieval::split::sentences;
use grammata_agents::retrieval::{Catalogue, RetrievalOptions, Retriever, Template};

const TOOLS: &str = r#"
{"id": "1", "name": "getForecast", "category": "Weather", "description": "Weather forecast for a city and a day"}
{"id": "2", "name": "findFlights", "category": "Travel", "description": "Search flights between two airports"}
{"id": "3", "name": "bookHotel", "category": "Travel", "description": "Book a room in a hotel of a city"}
{"id": "4", "name": "convert", "category": "Finance", "description": "Convert an amount between two currencies"}
"#;

fn main() -> grammata::Result<()> {
    let catalogue = Catalogue::from_json_lines(TOOLS, &Limits::default())?;
    let retriever = Retriever::new(&catalogue, Template::Full)?;
    let request = "Find flights to Oslo. I need a hotel room; what is the weather forecast?";
    let queries = Utterance::Last.among(&sentences(request), request);
    let options = RetrievalOptions::default().k(3);
    let found = retriever.retrieve(&queries, None, &options)?;
    for tool in found.tools {
        let (query, _) = &found.queries[tool.query];
        println!("{:<12} {:.2} {query}", catalogue.tools()[tool.tool].name, tool.score);
    }
    Ok(())
}
