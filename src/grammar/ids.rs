//! Ids of the expressions, rules and labels of a grammar.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The id of table index `index`; `None` if it does not fit in 32 bits.
            pub fn new(index: usize) -> Option<$name> {
                u32::try_from(index).ok().map($name)
            }

            /// The index in the table; below 2^32.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// The id of an expression: its index in the table of one grammar or builder.
    ExprId
}
impl ExprId {
    /// [`Expression::Empty`](super::Expression::Empty): every builder starts with it.
    pub(crate) const EMPTY: ExprId = ExprId(0);
    /// [`Expression::Never`](super::Expression::Never): the second expression of every builder.
    pub(crate) const NEVER: ExprId = ExprId(1);
}

id! {
    /// The id of a rule: its index in the list of rules of one grammar or builder.
    RuleId
}
id! {
    /// The id of a label: its index in the table of labels of one grammar or builder.
    LabelId
}
