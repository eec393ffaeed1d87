//! Pools of tools: those used in training, and those used only in tests.

use super::errors;
use super::metrics::Relevance;
use grammata::error::Result;
use grammata_agents::retrieval::Catalogue;
use grammata_agents::retrieval::Tool;
use grammata_agents::retrieval::requests::Request;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// A part of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pool {
    /// In-domain: tools for requests that a model is trained and tested with.
    In,
    /// Out-of-domain: tools that no training request needs.
    Out,
}

/// Returns the pool of a tool. About `percent` of the services are out-of-domain, chosen by the SHA-256 of their names.
/// A tool without a service counts as a service of its own name. All tools of one service are in one pool.
pub fn pool_of(tool: &Tool, percent: u64) -> Pool {
    let service = if tool.tool.is_empty() { &tool.name } else { &tool.tool };
    let hash: [u8; 32] = Sha256::digest(service).into();
    let number = hash.first_chunk::<8>().map_or(0, |first| u64::from_be_bytes(*first));
    if number % 100 < percent { Pool::Out } else { Pool::In }
}

/// Returns the pool that has all tools of a request; `None` if they are in both, so that the request can be in neither
/// test.
///
/// # Errors
/// The catalogue lacks a tool, no tool is needed, or a group of tools is empty.
pub fn side(request: &Request, catalogue: &Catalogue, percent: u64) -> Result<Option<Pool>> {
    // reports every tool that the catalogue lacks
    Relevance::of_request(request, catalogue)?;
    let tools = request.relevant.iter().flatten().filter_map(|id| catalogue.index_of(id));
    let pools: HashSet<Pool> =
        tools.filter_map(|tool| catalogue.tools().get(tool)).map(|tool| pool_of(tool, percent)).collect();
    Ok(if pools.len() == 1 { pools.into_iter().next() } else { None })
}

/// Checks that a test has no training request: none with the same id, or with the same text except for case and white
/// space.
///
/// # Errors
/// `retrieval/training-in-test`: the test has one.
pub fn check_disjoint(training: &[Request], test: &[Request]) -> Result<()> {
    let plain = |request: &Request| -> String {
        request.query.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let ids: HashSet<&str> = training.iter().map(|request| request.id.as_str()).collect();
    let texts: HashSet<String> = training.iter().map(plain).collect();
    match test.iter().find(|&request| ids.contains(request.id.as_str()) || texts.contains(&plain(request))) {
        Some(request) => Err(errors::training_in_test(&request.id)),
        None => Ok(()),
    }
}
