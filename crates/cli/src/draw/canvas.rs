//! Draws a laid-out graph as SVG 1.1 that every renderer supports: colours of six digits, `fill="none"`, arrowheads as
//! polygons, and labels as plain text. The canvas is as large as its content needs.

use layout::core::color::Color;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use std::fmt::Write;

/// Space around the drawing, in pixels.
const MARGIN: f64 = 8.0;
/// The assumed width of a character in units of the font's size. Most characters are narrower, so text is rarely cut
/// off.
const CHARACTER: f64 = 0.62;
/// Length and half the width of an arrowhead, in pixels.
const HEAD: (f64, f64) = (10.0, 3.5);

/// The elements drawn so far, and their bounding box.
#[derive(Debug)]
pub(crate) struct Canvas {
    content: String,
    least: Point,
    greatest: Point,
}

impl Canvas {
    pub(crate) fn new() -> Canvas {
        let (least, greatest) = (Point::splat(f64::INFINITY), Point::splat(f64::NEG_INFINITY));
        Canvas { content: String::new(), least, greatest }
    }

    /// Returns the SVG document.
    pub(crate) fn finish(&self) -> String {
        let is_empty = self.least.x > self.greatest.x;
        let (least, greatest) =
            if is_empty { (Point::zero(), Point::zero()) } else { (self.least, self.greatest) };
        let (x, y) = (least.x - MARGIN, least.y - MARGIN);
        let (width, height) = (greatest.x - least.x + 2.0 * MARGIN, greatest.y - least.y + 2.0 * MARGIN);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
             width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"{x:.1} {y:.1} {width:.1} {height:.1}\" \
             font-family=\"Times, serif\">\n{}</svg>\n",
            self.content
        )
    }

    fn cover(&mut self, x: f64, y: f64) {
        self.least = Point::new(self.least.x.min(x), self.least.y.min(y));
        self.greatest = Point::new(self.greatest.x.max(x), self.greatest.y.max(y));
    }

    /// Draws lines of text around a centre.
    fn text(&mut self, centre: Point, text: &str, size: f64) {
        let lines: Vec<&str> = text.lines().collect();
        for (place, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            let middle = centre.y + (place as f64 - (lines.len() as f64 - 1.0) / 2.0) * size;
            let half = line.chars().count() as f64 * size * CHARACTER / 2.0;
            self.cover(centre.x - half, middle - size / 2.0);
            self.cover(centre.x + half, middle + size / 2.0);
            // the base line is a third of the size below the middle of small letters
            let base = middle + size / 3.0;
            let _ = writeln!(
                self.content,
                "<text x=\"{:.1}\" y=\"{base:.1}\" font-size=\"{size}\" text-anchor=\"middle\">{}</text>",
                centre.x,
                escaped(line)
            );
        }
    }

    /// Draws a triangle with its tip at `tip` that points away from `from`. Draws nothing if the two are equal.
    fn head(&mut self, tip: Point, from: Point, color: &str) {
        let (dx, dy) = (tip.x - from.x, tip.y - from.y);
        let length = dx.hypot(dy);
        if length == 0.0 {
            return;
        }
        let (dx, dy) = (dx / length, dy / length);
        let (back, side) = HEAD;
        let at = |side: f64| (tip.x - dx * back - dy * side, tip.y - dy * back + dx * side);
        let ((x1, y1), (x2, y2)) = (at(side), at(-side));
        self.cover(x1, y1);
        self.cover(x2, y2);
        let _ = writeln!(
            self.content,
            "<polygon points=\"{:.1},{:.1} {x1:.1},{y1:.1} {x2:.1},{y2:.1}\" fill=\"{color}\"/>",
            tip.x, tip.y
        );
    }
}

/// Returns the fill, stroke and stroke width of a style as attributes.
fn look(style: &StyleAttr) -> String {
    let fill = style.fill_color.map_or_else(|| "none".to_owned(), color);
    format!("fill=\"{fill}\" stroke=\"{}\" stroke-width=\"{}\"", color(style.line_color), style.line_width)
}

/// Returns a colour without its alpha channel, or `none` if it is fully transparent.
fn color(color: Color) -> String {
    let digits = color.to_web_color();
    match (digits.get(..7), digits.get(7..)) {
        (Some(_), Some("00")) => "none".to_owned(),
        (Some(opaque), _) => opaque.to_owned(),
        (None, _) => digits,
    }
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 does not allow most other control characters
            c if c.is_control() && c != '\t' => out.push('\u{FFFD}'),
            c => out.push(c),
        }
        out
    })
}

/// Returns the point of a cubic Bézier curve at its middle parameter, 1/2.
fn middle([a, b, c, d]: [Point; 4]) -> Point {
    let mean = |a: f64, b: f64, c: f64, d: f64| (a + 3.0 * b + 3.0 * c + d) / 8.0;
    Point::new(mean(a.x, b.x, c.x, d.x), mean(a.y, b.y, c.y, d.y))
}

/// Returns the cubic Bézier curves of an arrow. The first pair of `path` is its start and first control point; each
/// other pair is a control point and a point. The first control point of a later curve mirrors the last one before it.
fn curves(path: &[(Point, Point)]) -> Vec<[Point; 4]> {
    let Some((&(start, exit), rest)) = path.split_first() else { return Vec::new() };
    let (mut from, mut control) = (start, exit);
    let curve = |&(entry, to): &(Point, Point)| {
        let curve = [from, control, entry, to];
        (from, control) = (to, Point::new(2.0 * to.x - entry.x, 2.0 * to.y - entry.y));
        curve
    };
    rest.iter().map(curve).collect()
}

impl RenderBackend for Canvas {
    fn draw_rect(
        &mut self,
        at: Point,
        size: Point,
        style: &StyleAttr,
        _: Option<String>,
        _: Option<ClipHandle>,
    ) {
        self.cover(at.x, at.y);
        self.cover(at.x + size.x, at.y + size.y);
        let _ = writeln!(
            self.content,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{}\" {}/>",
            at.x,
            at.y,
            size.x,
            size.y,
            style.rounded,
            look(style)
        );
    }

    fn draw_line(&mut self, from: Point, to: Point, style: &StyleAttr, _: Option<String>) {
        self.cover(from.x, from.y);
        self.cover(to.x, to.y);
        let _ = writeln!(
            self.content,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {}/>",
            from.x,
            from.y,
            to.x,
            to.y,
            look(style)
        );
    }

    fn draw_circle(&mut self, centre: Point, size: Point, style: &StyleAttr, _: Option<String>) {
        let (rx, ry) = (size.x / 2.0, size.y / 2.0);
        self.cover(centre.x - rx, centre.y - ry);
        self.cover(centre.x + rx, centre.y + ry);
        let _ = writeln!(
            self.content,
            "<ellipse cx=\"{:.1}\" cy=\"{:.1}\" rx=\"{rx:.1}\" ry=\"{ry:.1}\" {}/>",
            centre.x,
            centre.y,
            look(style)
        );
    }

    fn draw_text(&mut self, centre: Point, text: &str, style: &StyleAttr) {
        self.text(centre, text, style.font_size as f64);
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        dashed: bool,
        (start, end): (bool, bool),
        style: &StyleAttr,
        _: Option<String>,
        text: &str,
    ) {
        let curves = curves(path);
        let (Some(first), Some(last)) = (curves.first(), curves.last()) else { return };
        let mut d = format!("M {:.1} {:.1}", first[0].x, first[0].y);
        for curve in &curves {
            let [_, b, c, to] = curve;
            let _ = write!(d, " C {:.1} {:.1}, {:.1} {:.1}, {:.1} {:.1}", b.x, b.y, c.x, c.y, to.x, to.y);
            // for the bounding box, the ends and the middle of a curve are accurate enough
            for point in [curve[0], middle(*curve), *to] {
                self.cover(point.x, point.y);
            }
        }
        let dash = if dashed { " stroke-dasharray=\"5,5\"" } else { "" };
        let stroke = color(style.line_color);
        let _ = writeln!(
            self.content,
            "<path d=\"{d}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{}\"{dash}/>",
            style.line_width
        );
        if start {
            self.head(first[0], first[1], &stroke);
        }
        if end {
            self.head(last[3], last[2], &stroke);
        }
        let at = match curves.len() % 2 {
            0 => curves[curves.len() / 2][0],
            _ => middle(curves[curves.len() / 2]),
        };
        self.text(at, text, style.font_size as f64);
    }

    /// Does nothing and returns 0: only records are clipped, and no graph of this program has any.
    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}
