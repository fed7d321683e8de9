//! Two figures that stand side by side get the same axes, so that they can be compared by eye.

use plotters::coord::ranged1d::Ranged;

use super::axis::{Axis, Scale};
use super::curve::CurveFigure;
use super::{Body, BoxFigure, Figure, HeatFigure, HeatValues};

/// An axis is shared only if either figure fills at least this part of it.
const LEAST_PART: f64 = 0.25;

/// Gives two figures of the same kind the same axes, where neither would become too small to read.
pub fn share_axes(one: &mut Figure, other: &mut Figure) {
    match (&mut one.body, &mut other.body) {
        (Body::Box(one), Body::Box(other)) => share_boxes(one, other),
        (Body::Curve(one), Body::Curve(other)) => share_curves(one, other),
        (Body::Heat(one), Body::Heat(other)) => share_colours(one, other),
        _ => {}
    }
}

fn share_boxes(one: &mut BoxFigure, other: &mut BoxFigure) {
    if let Some(both) = union(&one.y_axis(), &other.y_axis()) {
        (one.y_range, other.y_range) = (Some(both), Some(both));
    }
}

fn share_curves(one: &mut CurveFigure, other: &mut CurveFigure) {
    let axes = |figure: &CurveFigure| (figure.level_axis(), figure.upright_axis());
    let ((x, y), (other_x, other_y)) = (axes(one), axes(other));
    // Names have no scale.
    if let (Some(x), Some(other_x)) = (x, other_x)
        && let Some(both) = union(&x, &other_x)
    {
        (one.x_range, other.x_range) = (Some(both), Some(both));
        (one.x_scale, other.x_scale) = (scale(&x), scale(&x));
    }
    if let Some(both) = union(&y, &other_y) {
        (one.y_range, other.y_range) = (Some(both), Some(both));
        (one.y_scale, other.y_scale) = (scale(&y), scale(&y));
    }
}

fn share_colours(one: &mut HeatFigure, other: &mut HeatFigure) {
    let axes = (one.colour_axis(), other.colour_axis());
    let (Some(colours), Some(other_colours)) = axes else { return };
    let Some(both) = union(&colours, &other_colours) else { return };
    for figure in [one, other] {
        if let HeatValues::Numbers { range, scale: own, .. } = &mut figure.values {
            (*range, *own) = (Some(both), scale(&colours));
        }
    }
}

pub(super) fn scale(axis: &Axis) -> Scale {
    if axis.is_log() { Scale::Log } else { Scale::Linear }
}

/// The range that shows all that either axis shows; none if their scales differ, or if one of them
/// would take too little of it.
fn union(one: &Axis, other: &Axis) -> Option<(f64, f64)> {
    let (a, b) = (one.range(), other.range());
    let both = (a.start.min(b.start), a.end.max(b.end));
    let whole = Axis::over(both, one.is_log(), 2.0);
    let part = |axis: &Axis| {
        let range = axis.range();
        Some(whole.fraction(range.end)? - whole.fraction(range.start)?)
    };
    let large = |axis: &Axis| part(axis).is_some_and(|part| part >= LEAST_PART);
    (one.is_log() == other.is_log() && large(one) && large(other)).then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Curve, Series, VERMILION};

    fn curve(high: f64) -> Figure {
        let series = Series { label: "EHD".into(), colour: VERMILION, private: true };
        let exact = vec![(0.0, 0.0), (high, high)];
        let lines = vec![Curve { exact, ..Curve::new(series) }];
        Figure::new("", "", CurveFigure { lines, ..CurveFigure::default() })
    }

    fn ranges(figure: &Figure) -> [Option<(f64, f64)>; 2] {
        match &figure.body {
            Body::Curve(figure) => [figure.x_range, figure.y_range],
            _ => [None, None],
        }
    }

    #[test]
    fn both_show_what_either_shows() {
        let (mut one, mut other) = (curve(1.0), curve(3.0));
        share_axes(&mut one, &mut other);
        assert_eq!(ranges(&one), ranges(&other));
        for range in ranges(&one) {
            let (low, high) = range.expect("shared");
            assert!(low <= 0.0 && high >= 3.0, "{low} {high}");
        }
    }

    #[test]
    fn what_would_become_too_small_keeps_its_own() {
        let (mut one, mut other) = (curve(1.0), curve(30.0));
        share_axes(&mut one, &mut other);
        assert_eq!(ranges(&one), [None, None]);
    }
}
