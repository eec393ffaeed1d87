//! Names of settings in the texts of diagnostics.

/// Returns a text with each setting in backquotes, such as `Limits::cache_bytes`, replaced by what `named` returns for
/// it; those for which it returns `None` stay.
///
/// ```
/// use grammata_base::diagnostic::renamed;
///
/// let named = |setting: &str| Some(format!("--set-limit {}=N", setting.strip_prefix("Limits::")?));
/// assert_eq!(renamed("raise `Limits::x`, or `y`", named), "raise `--set-limit x=N`, or `y`");
/// ```
pub fn renamed(text: &str, named: impl Fn(&str) -> Option<String>) -> String {
    let pieces = text.split('`').enumerate().map(|(index, piece)| match index % 2 {
        0 => piece.to_owned(),
        _ => named(piece).unwrap_or_else(|| piece.to_owned()),
    });
    pieces.collect::<Vec<_>>().join("`")
}
