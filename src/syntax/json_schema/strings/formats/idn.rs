//! `idn-hostname` (RFC 5890 to 5893).
//!
//! A generated name has at most three labels. Each is either ASCII as in `hostname` (in lower case next to other
//! labels) or a U-label of at most eleven characters; the A-label of such a U-label always has at most 63 octets.
//! U-labels consist of:
//!
//! - letters, marks and digits that RFC 5892 allows, of the scripts listed below, in Unicode's normal form C by
//!   construction: no character that could be composed with one before it, no two marks that would be ordered;
//! - `·`, `͵`, `׳`, `״`, `・` and the joiners, where the contextual rules of RFC 5892 allow them.
//!
//! As RFC 5893 requires, either all labels are written from left to right, or some are written from right to left and
//! the others do not begin with a digit. There are no two hyphens in a row, and none at an end.
//!
//! Names in ASCII only are as in `hostname`, at any length.

use super::{Pieces, host};
use crate::error::Result;
use crate::grammar::ExprId;

/// The characters that separate labels.
const DOTS: &str = r".\u{3002}\u{FF0E}\u{FF61}";
/// Greatest number of labels of a name that is not only ASCII: 3 · 63 + 2 octets are allowed, 4 · 63 + 3 are not.
const LABELS: usize = 3;
/// Greatest number of characters of a U-label.
const CHARACTERS: u32 = 11;

/// Letters and digits that are written from left to right: Latin, Greek, Cyrillic, Armenian, Georgian, Devanagari,
/// Bengali, Tamil, Thai, Japanese, Chinese, Korean.
const LEFT: &str = r"\u{DF}-\u{F6}\u{F8}-\u{FF}\u{101}\u{103}\u{105}\u{107}\u{109}\u{10B}\u{10D}\u{10F}\u{111}\u{113}\u{115}\u{117}\u{119}\u{11B}\u{11D}\u{11F}\u{121}\u{123}\u{125}\u{127}\u{129}\u{12B}\u{12D}\u{12F}\u{131}\u{135}\u{137}\u{138}\u{13A}\u{13C}\u{13E}\u{142}\u{144}\u{146}\u{148}\u{14B}\u{14D}\u{14F}\u{151}\u{153}\u{155}\u{157}\u{159}\u{15B}\u{15D}\u{15F}\u{161}\u{163}\u{165}\u{167}\u{169}\u{16B}\u{16D}\u{16F}\u{171}\u{173}\u{175}\u{177}\u{17A}\u{17C}\u{17E}\u{390}\u{3AC}-\u{3CE}\u{430}-\u{45F}\u{491}\u{493}\u{495}\u{49B}\u{4A3}\u{4AF}\u{4B1}\u{4BB}\u{4D9}\u{4E9}\u{561}-\u{586}\u{10D0}-\u{10FA}\u{904}-\u{939}\u{93D}\u{966}-\u{96F}\u{985}-\u{98C}\u{98F}\u{990}\u{993}-\u{9A8}\u{9AA}-\u{9B0}\u{9B2}\u{9B6}-\u{9B9}\u{9E6}-\u{9EF}\u{B85}-\u{B8A}\u{B8E}-\u{B90}\u{B92}-\u{B95}\u{B99}\u{B9A}\u{B9C}\u{B9E}\u{B9F}\u{BA3}\u{BA4}\u{BA8}-\u{BAA}\u{BAE}-\u{BB9}\u{E01}-\u{E30}\u{E32}\u{E40}-\u{E46}\u{E50}-\u{E59}\u{F0B}\u{3005}-\u{3007}\u{3041}-\u{3096}\u{309D}\u{309E}\u{30A1}-\u{30FA}\u{30FC}-\u{30FE}\u{3400}-\u{4DBF}\u{4E00}-\u{9FFC}\u{AC00}-\u{D7A3}";
/// Letters that are written from right to left: Hebrew, Arabic.
const RIGHT: &str =
    r"\u{5D0}-\u{5EA}\u{620}-\u{63F}\u{641}-\u{64A}\u{671}-\u{674}\u{679}-\u{6D3}\u{6FD}\u{6FE}";
/// Extended Arabic-Indic digits, which must not be mixed with the others.
const EXTENDED_DIGITS: &str = r"\u{6F0}-\u{6F9}";
/// Marks that are not reordered.
const MARKS: &str = r"\u{900}-\u{903}\u{93A}\u{93B}\u{93E}-\u{94C}\u{981}-\u{983}\u{9BF}-\u{9C4}\u{9C7}\u{9C8}\u{B82}\u{BBF}\u{BC1}\u{BC2}\u{BC6}-\u{BC8}\u{E31}\u{E34}-\u{E37}\u{E47}";
/// Viramas, after which a joiner is allowed.
const VIRAMAS: &str = r"\u{94D}\u{9CD}\u{BCD}";
/// Other marks, at most one of which is allowed in a row.
const ORDERED: &str = r"\u{E38}\u{E39}\u{E48}-\u{E4B}\u{64B}-\u{652}";
const JOINERS: &str = r"\u{200C}\u{200D}";

pub(super) fn hostname(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    if p.is_around() {
        return p.regex(&format!("[^{DOTS}]+(?:[{DOTS}][^{DOTS}]+)*"));
    }
    let ascii = host::hostname(p)?;
    let digits = p.regex("[0-9a-z](?:-?[0-9a-z]){0,31}")?;
    let letters = p.regex("[a-z](?:-?[0-9a-z]){0,31}")?;
    let dot = p.regex(&format!("[{DOTS}]"))?;
    let marks = format!("[{MARKS}]*(?:[{ORDERED}]|[{VIRAMAS}][{JOINERS}]?[{MARKS}]*)?");
    let kana = r"\u{3041}-\u{3096}\u{30A1}-\u{30FA}\u{4E00}-\u{9FFC}";
    let special = format!(r"l\u{{B7}}l|\u{{375}}[\u{{3B1}}-\u{{3C9}}]|[{kana}]\u{{30FB}}|\u{{30FB}}[{kana}]");
    let letter = |letters: &str| format!("(?:[{letters}{LEFT}]{marks}|{special})");
    let inner = letter(&format!("0-9a-z{EXTENDED_DIGITS}"));
    let to_the_right = bounded(p, &format!("{inner}(?:-?{inner})*"))?;
    let strictly = bounded(p, &format!("[a-z{LEFT}]{marks}(?:-?{})*", letter("0-9a-z")))?;
    let hebrew = r"[\u{5D0}-\u{5EA}][\u{5F3}\u{5F4}]";
    let right = |digits: &str| {
        let one = format!("(?:[{RIGHT}][\\u{{64B}}-\\u{{652}}]?|{hebrew})");
        format!("{one}(?:-?(?:{one}|[{digits}]))*")
    };
    let kinds = [right("0-9"), right(r"\u{660}-\u{669}"), right(EXTENDED_DIGITS)];
    let to_the_left = bounded(p, &kinds.join("|"))?;
    let (neutral, mixed) = ([to_the_right, digits], [strictly, letters, to_the_left]);
    let (neutral, mixed) = (p.choice(neutral), p.choice(mixed));
    let mut names = vec![ascii];
    for label in [neutral, mixed] {
        let more = p.sequence([dot, label]);
        let more = p.g.repeat(more, 0, Some(LABELS as u32 - 1));
        names.push(p.sequence([label, more]));
    }
    Ok(p.choice(names))
}

/// Returns the texts that the pattern matches, with at most as many characters as a U-label.
fn bounded(p: &mut Pieces<'_, '_, '_>, pattern: &str) -> Result<ExprId> {
    let (label, any) = (p.regex(pattern)?, p.regex(&format!("[^{DOTS}]"))?);
    let length = p.g.repeat(any, 1, Some(CHARACTERS));
    Ok(p.g.intersection([label, length]))
}

/// Returns the domain of an international mail address. Its labels are letters, digits and marks of any script, with
/// hyphens inside; on the side around, any text of these characters, points and other characters outside ASCII.
pub(super) fn mail_domain(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    if p.is_around() {
        return p.regex(r"[0-9A-Za-z.\u{80}-\u{10FFFF}-]+");
    }
    let first = r"[0-9A-Za-z[\p{L}\p{Nd}--\p{ASCII}]]";
    let other = r"[0-9A-Za-z[\p{L}\p{Nd}\p{M}--\p{ASCII}]]";
    let label = format!("{first}{other}*(?:-+{other}+)*");
    p.regex(&format!(r"{label}(?:\.{label})*"))
}
