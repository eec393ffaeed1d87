//! Two subsets of the words of an expression: words without a proper prefix that is also a word of the expression, and
//! words that do not begin with a word of another expression.

use super::builder::GrammarBuilder;
use super::class::ByteSet;
use super::ids::ExprId;

impl GrammarBuilder {
    /// The words of `part` that have no proper prefix in `part`: the text ends at the first place where it is a word of
    /// `part`. As in other intersections, `part` must not contain token terminals, names of objects, lists of different
    /// items, parts bounded in tokens, or itself.
    pub fn shortest(&mut self, part: ExprId) -> ExprId {
        let more = self.byte_set(ByteSet::FULL);
        let more = self.plus(more);
        let longer = self.sequence([part, more]);
        let not_longer = self.complement(longer);
        self.intersection([part, not_longer])
    }

    /// The words of `part` that have no word of `other` as a prefix and are not in `other`. Neither operand may contain
    /// what [`shortest`](GrammarBuilder::shortest) excludes.
    pub fn without_beginnings(&mut self, part: ExprId, other: ExprId) -> ExprId {
        let more = self.byte_set(ByteSet::FULL);
        let more = self.star(more);
        let begun = self.sequence([other, more]);
        let not_begun = self.complement(begun);
        self.intersection([part, not_begun])
    }
}
