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

            /// The index in the table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// The id of an expression in its grammar.
    ExprId
}
impl ExprId {
    /// Every builder starts with the empty and the impossible expression at these ids.
    pub(crate) const EMPTY: ExprId = ExprId(0);
    pub(crate) const NEVER: ExprId = ExprId(1);
}

id! {
    /// The id of a rule in its grammar.
    RuleId
}
id! {
    /// The id of a label in its grammar.
    LabelId
}
