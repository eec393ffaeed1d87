//! Draws distributions of times as SVG.

use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// One curve: its name and its values in nanoseconds, sorted.
pub(crate) type Curve = (String, Vec<u64>);

const COLOURS: [RGBColor; 4] =
    [RGBColor(31, 119, 180), RGBColor(214, 39, 40), RGBColor(44, 160, 44), RGBColor(148, 103, 189)];

/// The number of steps between the points of a curve.
const POINTS: usize = 400;

/// Draws the share of values above each time. Both axes are logarithmic, so that the tail is as easy to read as the
/// middle.
///
/// # Errors
/// Fails if the file cannot be written.
pub(crate) fn tails(path: &Path, title: &str, curves: &[Curve]) -> Result<(), Box<dyn Error>> {
    let microseconds = |nanoseconds: u64| (nanoseconds.max(1) as f64) / 1000.0;
    let ends = || curves.iter().filter_map(|curve| Some((*curve.1.first()?, *curve.1.last()?)));
    let low = ends().map(|ends| microseconds(ends.0)).fold(f64::INFINITY, f64::min).max(0.05);
    let high = ends().map(|ends| microseconds(ends.1)).fold(low * 10.0, f64::max);
    let least = curves.iter().map(|curve| 1.0 / curve.1.len().max(1) as f64).fold(0.1, f64::min);
    let root = SVGBackend::new(path, (860, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d((low..high * 1.2).log_scale(), (least..1.0f64).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("µs")
        .y_desc("share that takes longer")
        .x_label_formatter(&|x| format!("{x}"))
        .y_label_formatter(&|y| format!("{} %", (y * 1e8).round() / 1e6))
        .light_line_style(WHITE)
        .draw()?;
    for ((name, values), colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let count = values.len();
        // the points are evenly spaced in the logarithm of the share
        let ranks = (0..=POINTS).map(|n| ((count as f64).powf(1.0 - n as f64 / POINTS as f64)) as usize);
        let mut points: Vec<(f64, f64)> = ranks
            .filter(|&above| (1..=count).contains(&above))
            .map(|above| (microseconds(values[count - above]).max(low), above as f64 / count as f64))
            .collect();
        points.dedup();
        let style = colour.stroke_width(2);
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
    }
    chart.configure_series_labels().position(SeriesLabelPosition::UpperRight).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}
