//! Ways out of parts bounded in tokens.

use crate::automaton::PartId;
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// Tokens that lead out of an open part. If the token that ends the part enters another part, the way continues until
/// no part that it has entered is open.
#[derive(Clone, Debug)]
pub(crate) struct WayOut {
    tokens: Arc<[TokenId]>,
    /// The parts that the way enters before its end, each with the number of tokens read by then.
    entered: Arc<[(usize, PartId)]>,
    /// The number of tokens already read.
    read: usize,
}

impl WayOut {
    /// A way that leaves all parts with its last token.
    pub(crate) fn new(tokens: Arc<[TokenId]>) -> WayOut {
        WayOut { tokens, entered: Arc::default(), read: 0 }
    }

    /// A way that enters parts, each after a number of tokens.
    pub(in crate::mask) fn through(tokens: Vec<TokenId>, entered: Vec<(usize, PartId)>) -> WayOut {
        WayOut { tokens: tokens.into(), entered: entered.into(), read: 0 }
    }

    /// The tokens not yet read.
    pub(crate) fn tokens(&self) -> &[TokenId] {
        &self.tokens[self.read..]
    }

    /// How many of the tokens not yet read begin in the open part.
    pub(crate) fn tokens_inside(&self) -> usize {
        let next = self.entered.iter().map(|&(read, _)| read).find(|&read| read > self.read);
        next.unwrap_or(self.tokens.len()) - self.read
    }

    /// The rest of the way after its next token; `None` if the rest does not lead out of `part`. `is_new` says whether
    /// that token entered `part`.
    pub(crate) fn after_next(&self, part: PartId, is_new: bool) -> Option<WayOut> {
        let read = self.read + 1;
        let entered = self.entered.iter().find(|(at, _)| *at == read).map(|&(_, part)| part);
        let is_way = match is_new {
            true => entered == Some(part),
            false => entered.is_none() && read < self.tokens.len(),
        };
        is_way.then(|| WayOut { read, ..self.clone() })
    }

    /// Bytes on the heap.
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        32 + size_of_val(&*self.tokens) + size_of_val(&*self.entered)
    }
}
