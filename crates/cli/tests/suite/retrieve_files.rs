//! A folder with a catalogue of tools and requests, for tests of `grammata retrieve`.

use serde_json::json;

/// A temporary folder with a catalogue of tools and requests, which is deleted with the value.
pub(crate) struct Files(pub(crate) tempfile::TempDir);

impl Files {
    pub(crate) fn new() -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        let tool = |id: &str, name: &str, category: &str, description: &str| {
            json!({ "id": id, "name": name, "category": category, "description": description }).to_string()
        };
        let tools = [
            tool("1", "cats", "pets", "a cat sat on the mat"),
            tool("2", "dogs", "pets", "a dog ran under the tree"),
            tool("3", "colours", "art", "red and blue"),
        ];
        files.write("tools.jsonl", &tools.join("\n"));
        let requests = [
            json!({ "id": "q1", "query": "the cat on the mat. red or blue?", "relevant": ["1", "3"], "split": "x" }),
            json!({ "id": "q2", "query": "where did the dog run", "relevant": ["2"], "split": "y" }),
            json!({ "id": "q3", "query": "a tree", "relevant_any": [["1", "2"]], "split": "y" }),
        ];
        files.write("requests.jsonl", &requests.map(|request| request.to_string()).join("\n"));
        files
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn arguments(&self, command: &[&str], more: &[&str]) -> Vec<String> {
        let catalogue = ["--catalogue".to_owned(), self.path("tools.jsonl")];
        let given = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        [given(&["retrieve"]), given(command), catalogue.to_vec(), given(more)].concat()
    }
}

pub(crate) fn strs(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}
