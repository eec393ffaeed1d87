//! The shortest words of a part.

use super::builder::GrammarBuilder;
use super::class::ByteSet;
use super::ids::ExprId;

impl GrammarBuilder {
    /// The words of `part` of which no shorter beginning is a word of it: where the part could end, it ends. Like other
    /// intersections it has no token terminals and no names of objects inside, and does not contain itself.
    pub fn shortest(&mut self, part: ExprId) -> ExprId {
        let more = self.byte_set(ByteSet::FULL);
        let more = self.plus(more);
        let longer = self.sequence([part, more]);
        let not_longer = self.complement(longer);
        self.intersection([part, not_longer])
    }

    /// The words of `part` that do not begin with a word of `other`, nor are one; with what
    /// [`shortest`](GrammarBuilder::shortest) does not have inside.
    pub fn without_beginnings(&mut self, part: ExprId, other: ExprId) -> ExprId {
        let more = self.byte_set(ByteSet::FULL);
        let more = self.star(more);
        let begun = self.sequence([other, more]);
        let not_begun = self.complement(begun);
        self.intersection([part, not_begun])
    }
}
