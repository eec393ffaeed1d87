//! A macro that adds setters to structs of options.

/// Adds to a struct of options a setter for each field: a method with the field's name that takes the options and
/// returns them with the field set. The macro must list all fields: leaving out one is a compile error.
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
