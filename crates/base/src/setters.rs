//! Macros for structs of options: default values next to the fields, and setters.

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

/// Declares a struct of options, whose fields may have a default value; without one, the default is that of the type.
/// The struct also has a [setter](crate::setters) for each field.
///
/// ```
/// grammata_base::options! {
///     /// Options of a search.
///     #[derive(Clone, Debug)]
///     pub struct Options {
///         /// The most steps. 10 by default.
///         pub steps: usize = 10,
///         /// Whether steps are traced. False by default.
///         pub trace: bool,
///     }
/// }
///
/// let options = Options::default().trace(true);
/// assert_eq!((options.steps, options.trace), (10, true));
/// ```
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $options:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $kind:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $options {
            $($(#[$field_meta])* pub $field: $kind,)*
        }

        impl Default for $options {
            fn default() -> $options {
                $options { $($field: $crate::options!(@default $($default)?)),* }
            }
        }

        $crate::setters!($options { $($field: $kind),* });
    };
    (@default) => { Default::default() };
    (@default $value:expr) => { $value };
}
