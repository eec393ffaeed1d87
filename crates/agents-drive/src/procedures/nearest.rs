//! Selection of the offered calls that fit the user's last message best.

use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::{Offer, Session};
use grammata_agents::retrieval::{Catalogue, RetrievalOptions, Retriever, Template, Tool};

/// Drops offered calls if there are more than `most`. Keeps the `most` calls whose names and descriptions fit the
/// user's last message best, as BM25 ranks them; if fewer are found, the first of the other calls are kept too. Also
/// keeps each call that may bring a closing answer nearer, and all other offers. The order of the offers does not
/// change.
pub(super) fn nearest(
    offers: Vec<Offer>,
    session: &Session<'_>,
    most: usize,
    limits: &Limits,
) -> Result<Vec<Offer>> {
    let procedure = session.procedure();
    let node = |offer: &Offer| match offer {
        Offer::Call { api, .. } => procedure.node(api),
        Offer::Answer { .. } | Offer::Control(_) => None,
    };
    let calls: Vec<usize> = offers.iter().filter_map(node).collect();
    if calls.len() <= most {
        return Ok(offers);
    }
    let documents = calls.iter().map(|&call| &procedure.nodes()[call]).map(|node| Tool {
        id: node.name.clone(),
        function: node.name.clone(),
        name: node.name.clone(),
        tool: String::new(),
        category: String::new(),
        description: node.description.clone(),
        parameters: None,
    });
    let catalogue = Catalogue::new(documents.collect(), limits)?;
    let query = session.heard().last().cloned().unwrap_or_default();
    let mut kept: Vec<usize> = Vec::new();
    if !query.trim().is_empty() && most > 0 {
        let options = RetrievalOptions::default().k(most);
        let found = Retriever::new(&catalogue, Template::Full)?.retrieve(&[query], None, &options)?;
        kept.extend(found.tools.iter().map(|found| calls[found.tool]));
    }
    let others: Vec<usize> = calls.iter().copied().filter(|call| !kept.contains(call)).collect();
    kept.extend(others.into_iter().take(most - kept.len().min(most)));
    kept.extend(calls.into_iter().filter(|&call| session.has_pace() && session.may_lower(call)));
    Ok(offers.into_iter().filter(|offer| node(offer).is_none_or(|call| kept.contains(&call))).collect())
}
