//! The curve ε ↦ δ, drawn.

use super::{BOTTOM, Report, rounded_up};
use figure::{self, Curve, CurveFigure, Figure, LineName, Scale, Series};

/// The number of points of the curve, beside the first.
const POINTS: u32 = 400;

pub fn figure(report: &Report) -> Figure {
    let bottom = BOTTOM * report.delta;
    let series =
        Series { label: "exact composition".to_owned(), colour: figure::CRIMSON, private: true };
    // δ is 0 at the sum: there the curve leaves the logarithmic axis at its bottom.
    let points = report.curve(report.composition.sum(), POINTS).into_iter();
    let exact = points.map(|(epsilon, delta)| (epsilon.to_f64(), delta.max(bottom))).collect();
    let sum = report.composition.sum().to_f64();
    let note = format!(
        "{}; δ is an upper bound over all pairs of adjacent data sets",
        match report.account.releases {
            1 => "one release".to_owned(),
            many => format!("{many} releases"),
        },
    );
    let body = CurveFigure {
        x_label: "ε".to_owned(),
        y_label: "δ".to_owned(),
        y_scale: Scale::Log,
        y_range: Some((bottom, 1.0)),
        x_range: Some((0.0, 1.2 * sum.max(f64::MIN_POSITIVE))),
        lines: vec![Curve { exact, name: LineName::InLegend, ..Curve::new(series) }],
        references: vec![(report.delta, format!("δ = {:?}", report.delta))],
        landmarks: vec![
            (report.composed.to_f64(), format!("ε = {}", report.composed_up())),
            (sum, format!("sum {}", rounded_up(report.composition.sum()))),
        ],
        ..CurveFigure::default()
    };
    Figure::new("What all releases have spent", note, body)
}
