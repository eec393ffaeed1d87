//! The reference figures of BM25 on MetaTool's requests, to the printed digit.

use flate2::read::GzDecoder;
use grammata::Limits;
use grammata_agents::retrieval::requests::Request;
use grammata_agents::retrieval::retriever::Utterance;
use grammata_agents::retrieval::{Catalogue, RetrievalOptions, Retriever, Template};
use grammata_agents_drive::retrieval::{Mode, retrieve};
use grammata_labs::retrieval::metrics::{Judged, Relevance};
use std::io::Read;
use std::path::Path;

/// The lines of requests of a group.
fn requests(group: &str) -> Vec<Request> {
    let path = Path::new(crate::ROOT).join("tests/data/metatool/queries.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let member = format!("\"group\":\"{group}\"");
    let kept: Vec<&str> = text.lines().filter(|line| line.contains(&member)).collect();
    Request::from_json_lines(&kept.join("\n"), &Limits::default()).unwrap()
}

/// MMRR, MAP, recall at 3, 5 and 11, and the share of complete lists, of the utterance alone.
fn figures(group: &str) -> Vec<String> {
    let catalogue = Catalogue::metatool(&Limits::default()).unwrap();
    let retriever = Retriever::new(&catalogue, Template::Full).unwrap();
    let options = RetrievalOptions::default();
    let requests = requests(group);
    let mut sums = [0.0; 6];
    for request in &requests {
        let tools = (&catalogue, &retriever);
        let run =
            retrieve(&request.query, Mode::Utterance, None, Utterance::Last, tools, None, &options).unwrap();
        let list: Vec<usize> = run.tools.iter().map(|tool| catalogue.index_of(&tool.id).unwrap()).collect();
        let judged =
            Judged::new(&list, &Relevance::of_request(request, &catalogue).unwrap(), options.k).unwrap();
        let [r3, r5, r11] = [3, 5, 11].map(|x| judged.recall_at(x));
        let complete = f64::from(u8::from(judged.is_complete()));
        let row = [judged.mmrr(), judged.map(), r3, r5, r11, complete];
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().map(|sum| format!("{:.4}", sum / requests.len() as f64)).collect()
}

#[test]
fn bm25_on_metatool_is_that_of_the_specification() {
    assert_eq!(requests("single").len(), 995);
    assert_eq!(figures("single"), ["0.4728", "0.4403", "0.4724", "0.5236", "0.6090", "0.6090"]);
    assert_eq!(requests("multi").len(), 497);
    assert_eq!(figures("multi"), ["0.2331", "0.2251", "0.2324", "0.3260", "0.4829", "0.2374"]);
}
