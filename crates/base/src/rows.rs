//! A macro that declares constructors of errors and of diagnostics as rows.

/// Declares functions that create errors, one a row: name, parameters, code, message, and the setters of
/// [`Diagnostic`](crate::Diagnostic) without their dots.
///
/// The first line has the visibility of the functions and their [`ErrorKind`](crate::ErrorKind). A row may name another
/// kind before its code; with the word `Diagnostic` in place of a kind a function returns the diagnostic alone, as
/// warnings need it. Texts are format strings: braces are written twice. A message with arguments, or one that is not a
/// literal, is in parentheses.
///
/// ```
/// use grammata_base::diagnostic::{Place, excerpt};
///
/// grammata_base::errors! {
///     pub(crate) Grammar;
///
///     /// The rule at `offset` has no body.
///     no_body(source: &str, offset: usize, name: &str) = "demo/no-body", ("`{}` has no body", excerpt(name))
///         at(Place::in_text(source, offset))
///         allowed("`NAME = BODY`, for instance `{name} = {{}}`");
///
///     too_long(most: usize) = Limit "demo/too-long", "the grammar is too long" allowed("at most {most} bytes");
///
///     unused(name: &str) = Diagnostic "demo/unused", "a rule is not used" found(name) help("remove it");
/// }
///
/// let error = no_body("x", 0, "x");
/// assert_eq!(error.kind(), grammata_base::ErrorKind::Grammar);
/// assert_eq!(error.diagnostic().message(), "`x` has no body");
/// assert_eq!(error.diagnostic().allowed_text(), Some("`NAME = BODY`, for instance `x = {}`"));
/// assert_eq!(too_long(3).kind(), grammata_base::ErrorKind::Limit);
/// assert_eq!(unused("x").found_text(), Some("x"));
/// ```
///
/// If most rows begin with the same parameters and one setter, the first line has them:
///
/// ```
/// use grammata_base::Place;
///
/// grammata_base::errors! {
///     pub(crate) Grammar(pointer: &str) at(Place::Pointer(pointer.to_owned()));
///
///     too_large(keyword: &str) = "demo/too-large", "`{keyword}` is too large" help("lower it");
/// }
///
/// assert_eq!(too_large("/a", "maxItems").diagnostic().place(), &Place::Pointer("/a".to_owned()));
/// ```
#[macro_export]
macro_rules! errors {
    (@text ($text:literal $(, $argument:expr)* $(,)?)) => { format!($text $(, $argument)*) };
    (@text $text:literal) => { format!($text) };
    (@text ($value:expr)) => { $value };

    (@returns Diagnostic) => { $crate::Diagnostic };
    (@returns $kind:ident) => { $crate::Error };

    (@make Diagnostic $diagnostic:expr) => { $diagnostic };
    (@make $kind:ident $diagnostic:expr) => { $crate::Error::new($crate::ErrorKind::$kind, $diagnostic) };

    (@kind [$default:ident $kind:ident] $($rest:tt)*) => { $crate::errors!(@kind [$kind] $($rest)*); };
    (@kind [$kind:ident] $code:literal $message:tt
        [$($place_setter:ident $place:tt)?] [$($setter:ident $value:tt)*] $($function:tt)*
    ) => {
        $($function)* -> $crate::errors!(@returns $kind) {
            $crate::errors!(@make $kind
                $crate::Diagnostic::new($code, $crate::errors!(@text $message))
                    $(.$place_setter($crate::errors!(@text $place)))?
                    $(.$setter($crate::errors!(@text $value)))*)
        }
    };

    (@row [$($kinds:ident)*] ($($shared:ident: $shared_type:ty),*) $place:tt
        $(#[$meta:meta])* $vis:vis $name:ident [$($generics:tt)*] ($($parameter:ident: $type:ty),* $(,)?)
        $code:literal $message:tt $setters:tt
    ) => {
        $crate::errors!(@kind [$($kinds)*] $code $message $place $setters
            $(#[$meta])* $vis fn $name $($generics)* ($($shared: $shared_type,)* $($parameter: $type),*));
    };

    (@rows $vis:vis $default:ident $shared:tt $place:tt
        $(
            $(#[$meta:meta])*
            $name:ident $(<$($life:lifetime),+>)? ($($parameters:tt)*) =
                $($kind:ident)? $code:literal, $message:tt $($setter:ident $value:tt)*;
        )*
    ) => {
        $(
            $crate::errors!(@row [$default $($kind)?] $shared $place
                $(#[$meta])* $vis $name [$(<$($life),+>)?] ($($parameters)*)
                $code $message [$($setter $value)*]);
        )*
    };

    ($vis:vis $kind:ident; $($rows:tt)*) => { $crate::errors!(@rows $vis $kind () [] $($rows)*); };
    ($vis:vis $kind:ident $shared:tt $setter:ident $value:tt; $($rows:tt)*) => {
        $crate::errors!(@rows $vis $kind $shared [$setter $value] $($rows)*);
    };
}
