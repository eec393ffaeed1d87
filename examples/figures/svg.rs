//! Draws boxes, lines of text and arrows as SVG 1.1.

use std::fmt::Write;

/// The fill colours of boxes.
pub(crate) const BLUE: &str = "#dbe9f6";
pub(crate) const GREEN: &str = "#dff0d8";
pub(crate) const ORANGE: &str = "#fde5cc";
pub(crate) const GREY: &str = "#f2f2f2";
pub(crate) const WHITE: &str = "white";

/// The height of a line of text.
pub(crate) const LINE: i32 = 16;

/// An SVG drawing.
pub(crate) struct Svg {
    width: i32,
    /// May be set after the content is drawn.
    pub(crate) height: i32,
    body: String,
}

/// A box on the drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Area {
    pub(crate) fn right(self) -> (i32, i32) {
        (self.x + self.width, self.y + self.height / 2)
    }

    pub(crate) fn left(self) -> (i32, i32) {
        (self.x, self.y + self.height / 2)
    }

    pub(crate) fn bottom(self) -> (i32, i32) {
        (self.x + self.width / 2, self.y + self.height)
    }

    pub(crate) fn top(self) -> (i32, i32) {
        (self.x + self.width / 2, self.y)
    }
}

impl Svg {
    pub(crate) fn new(width: i32, height: i32) -> Svg {
        Svg { width, height, body: String::new() }
    }

    /// Draws a box with lines of text. Lines that begin with a backquote are in a fixed-width font, those that begin
    /// with a star are bold.
    pub(crate) fn area(&mut self, area: Area, fill: &str, lines: &[String]) {
        let Area { x, y, width, height } = area;
        let _ = writeln!(
            self.body,
            r##"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}" stroke="#555555"/>"##
        );
        for (number, line) in lines.iter().enumerate() {
            self.text(x + 8, y + 17 + number as i32 * LINE, line);
        }
    }

    /// Draws a line of text. Its first character may choose the font, as in [`area`](Svg::area).
    pub(crate) fn text(&mut self, x: i32, y: i32, line: &str) {
        let (style, line) = match (line.strip_prefix('`'), line.strip_prefix('*')) {
            (Some(code), _) => (r#" font-family="monospace""#, code),
            (_, Some(bold)) => (r#" font-weight="bold""#, bold),
            _ => ("", line),
        };
        let _ = writeln!(
            self.body,
            r#"<text x="{x}" y="{y}"{style} xml:space="preserve">{}</text>"#,
            escape(line)
        );
    }

    /// Draws an arrow. A dashed arrow is a reference that does not own its target.
    pub(crate) fn arrow(&mut self, from: (i32, i32), to: (i32, i32), is_dashed: bool) {
        let dashes = if is_dashed { r#" stroke-dasharray="5 4""# } else { "" };
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.body,
            r##"<path d="M{x1} {y1}L{x2} {y2}" fill="none" stroke="#333333"{dashes} marker-end="url(#head)"/>"##
        );
    }

    pub(crate) fn finish(self) -> String {
        let Svg { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#333333\"/></marker></defs>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns bytes as ASCII text, with a visible sign for each space.
pub(crate) fn show(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| if byte == b' ' { '␣' } else { char::from(byte) }).collect()
}

/// Returns a number with commas between thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
