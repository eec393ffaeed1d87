//! A vocabulary for the texts of plans of a domain.

use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};
use grammata_agents::flows::FlowDomain;
use std::sync::Arc;

/// Returns all printable ASCII bytes as tokens, tokens that cross the borders between a plan's parts, and an end token
/// (`None`).
pub(crate) fn tokens(domain: &FlowDomain) -> Vec<Option<Vec<u8>>> {
    let mut tokens: Vec<Vec<u8>> = (b' '..=b'~').map(|byte| vec![byte]).collect();
    let borders = [
        "()",
        "(),",
        "(), ",
        "()\n",
        "()\n[",
        "\n[thought]",
        "] ",
        "[API]",
        " [API] ",
        " [API] G",
        "[API] Finish()",
        "\n",
        " a",
        "the ",
        "é",
        "..",
        "\n[API]",
        "()\n[API] ",
        ": ",
        "[now] ",
    ];
    tokens.extend(borders.map(|text| text.as_bytes().to_vec()));
    for api in &domain.apis {
        let name = api.name.as_bytes();
        tokens.push(name.to_vec());
        tokens.push(name[..name.len() / 2].to_vec());
        tokens.push([b" ", name, b"()"].concat());
        tokens.push([name, b"(),"].concat());
        tokens.push([name, b"()\n[thought] "].concat());
    }
    tokens.retain(|token| !token.is_empty());
    tokens.sort();
    tokens.dedup();
    tokens.into_iter().map(Some).chain([None]).collect()
}

pub(crate) fn vocabulary(tokens: &[Option<Vec<u8>>]) -> Arc<Vocabulary> {
    let bytes = tokens.iter().map(|token| token.clone().unwrap_or_default());
    let end = TokenId::new(tokens.len() as u32 - 1);
    Arc::new(VocabularyBuilder::from_tokens(bytes).special(end, "<end>").eos([end]).build().unwrap())
}
