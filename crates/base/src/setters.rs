//! Setters: the one way in which options are built.

/// Gives a struct of options, for each of its fields, a method of the field's name that takes the options and returns them
/// with the field set. A field that is not listed does not compile.
#[macro_export]
macro_rules! setters {
    ($options:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        impl $options {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $kind) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
        const _: fn($options) = |$options { $($field: _),* }| {};
    };
}
