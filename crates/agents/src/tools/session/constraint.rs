//! Implements the constraint of the generation loop for turns with tools.

use super::turn::TurnMatcher;
use grammata::error::Result;
use grammata::matcher::Constraint;
use grammata::vocabulary::TokenId;

/// Budgets hold for whole turns. With more than 256 tools, the budget of a turn that is matched in parts is enforced
/// only after the last name, because the need of a tool that has not been chosen is unknown.
impl Constraint for TurnMatcher {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        TurnMatcher::fill_mask(self, words)
    }

    fn mask_takes_work(&mut self) -> Result<bool> {
        TurnMatcher::mask_takes_work(self)
    }

    fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        match self.keeper(budget)? {
            Some(matcher) => Constraint::fill_mask_within(matcher, budget, words),
            None => TurnMatcher::fill_mask(self, words),
        }
    }

    fn check_budget(&mut self, budget: usize) -> Result<()> {
        self.keeper(budget)?.map_or(Ok(()), |matcher| Constraint::check_budget(matcher, budget))
    }

    fn is_token_allowed_within(&mut self, token: u32, budget: usize) -> Result<bool> {
        self.keeper(budget)?
            .map_or(Ok(true), |matcher| Constraint::is_token_allowed_within(matcher, token, budget))
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        TurnMatcher::accept_token(self, TokenId::new(token))
    }

    fn is_accepting(&mut self) -> Result<bool> {
        TurnMatcher::is_accepting(self)
    }

    fn is_finished(&mut self) -> Result<bool> {
        TurnMatcher::is_finished(self)
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        TurnMatcher::rollback(self, tokens)
    }

    fn fork(&self) -> Box<dyn Constraint> {
        Box::new(self.clone())
    }

    fn forced_tokens(&mut self) -> Result<Vec<u32>> {
        Ok(TurnMatcher::forced_tokens(self)?.into_iter().map(TokenId::get).collect())
    }
}
