//! Bar plots with confidence intervals, as SVG.

use super::markup::html;
use super::statistics::Interval;
use std::fmt::Write;

/// Width of the column of labels, in pixels.
const LABELS: f64 = 220.0;
/// Width of the greatest value, a mean or the upper end of an interval, in pixels.
const BARS: f64 = 380.0;
/// Width of the column of figures, in pixels.
const FIGURES: f64 = 150.0;
/// Height of a row, in pixels.
const ROW: f64 = 24.0;

/// A horizontal bar plot with one bar per arm of an experiment. The axis begins at zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What the plot shows, with its unit.
    pub caption: String,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar of a [`Plot`].
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The name of the arm, written in front of the bar.
    pub label: String,
    /// The mean is the length of the bar. The interval is drawn as a line across the end of the bar.
    pub value: Interval,
}

impl Plot {
    /// Draws the plot as one SVG element. Negative and non-finite values are drawn as zero; the figures next to the
    /// bars show the values themselves.
    pub fn svg(&self) -> String {
        let bounded = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        let greatest = self.bars.iter().map(|bar| bounded(bar.value.high.max(bar.value.mean)));
        let greatest = greatest.fold(f64::MIN_POSITIVE, f64::max);
        let x = |value: f64| LABELS + BARS * bounded(value) / greatest;
        let (width, height) = (LABELS + BARS + FIGURES, ROW * self.bars.len() as f64 + 8.0);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\"><title>{}</title>",
            html(&self.caption)
        );
        for (row, Bar { label, value }) in self.bars.iter().enumerate() {
            let (top, middle) = (ROW * row as f64 + 6.0, ROW * row as f64 + 15.0);
            let Interval { mean, low, high } = *value;
            // writing to a string does not fail
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <rect x=\"{LABELS}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"14\" fill=\"#4c78a8\"/>\
                 <path d=\"M{:.1} {middle:.1}H{:.1}\" stroke=\"#222\" stroke-width=\"1.5\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{mean:.3} [{low:.3}, {high:.3}]</text>",
                LABELS - 6.0,
                middle + 4.0,
                html(label),
                x(mean) - LABELS,
                x(low),
                x(high),
                x(high.max(mean)) + 6.0,
                middle + 4.0,
            );
        }
        svg.push_str("</svg>");
        svg
    }
}
