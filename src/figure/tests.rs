//! Tests of whole figures.

use super::testing::{Lcg, overlaps, texts};
use super::*;

const NUMBERS: [f64; 9] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -3.0, 1e-9, 0.5, 1e6, 1e300];

fn series(count: usize, words: impl FnMut() -> String) -> Vec<Series> {
    let labels = std::iter::repeat_with(words).take(count);
    let one = |(i, label)| Series {
        label,
        colour: colour(["ehd", "lshist", "novel"][i % 3]),
        private: i % 4 != 1,
    };
    let mut all: Vec<Series> = labels.enumerate().map(one).collect();
    distinguish(&mut all);
    all
}

fn some_box(random: &mut Lcg, scale: f64) -> BoxStats {
    let mut sorted: Vec<f64> = (0..5).map(|_| random.unit() * scale).collect();
    sorted.sort_by(f64::total_cmp);
    BoxStats {
        whisker_low: sorted[0],
        q1: sorted[1],
        median: sorted[2],
        q3: sorted[3],
        whisker_high: sorted[4],
        notch_low: sorted[2] - 0.2 * scale,
        notch_high: sorted[2] + 0.2 * scale,
        outliers: vec![random.unit() * scale; 3],
        exact_mean: (random.unit() < 0.5).then(|| random.unit() * scale),
    }
}

fn box_figure(random: &mut Lcg, groups: usize, mechanisms: usize, scale: f64) -> BoxFigure {
    let group = |random: &mut Lcg| Group {
        label: random.words(30.0),
        sublabel: (random.unit() < 0.5).then(|| random.words(10.0)),
        boxes: (0..mechanisms)
            .map(|_| (random.unit() < 0.9).then(|| some_box(random, scale)))
            .collect(),
    };
    BoxFigure {
        title: random.words(150.0),
        note: random.words(300.0),
        x_label: Some(random.words(60.0)),
        y_label: random.words(80.0),
        groups: (0..groups).map(|_| group(random)).collect(),
        series: series(mechanisms, || random.words(30.0)),
        bounds: (scale == 1.0).then_some((0.0, 1.0)),
    }
}

fn curve_figure(random: &mut Lcg, count: usize, points: usize, scale: f64) -> CurveFigure {
    let curve = |random: &mut Lcg, series: Series| {
        let level = random.unit() * scale;
        let value = |random: &mut Lcg| level * (1.0 + 0.1 * random.unit());
        Curve {
            series,
            exact: (0..points).map(|i| (i as f64, value(random))).collect(),
            sampled: (0..points)
                .map(|i| Sample { x: i as f64, mean: value(random), half_width: 0.1 * level })
                .collect(),
        }
    };
    let all = series(count, || random.words(40.0));
    CurveFigure {
        title: random.words(150.0),
        note: random.words(300.0),
        x_label: random.words(80.0),
        y_label: random.words(80.0),
        lines: all.into_iter().map(|one| curve(random, one)).collect(),
        steps: random.unit() < 0.3,
        categories: (random.unit() < 0.3)
            .then(|| (0..points).map(|_| random.words(20.0)).collect()),
        ..CurveFigure::default()
    }
}

/// No text leaves the page, none covers another.
fn check_texts(figure: &Figure) {
    let canvas = figure.draw();
    let all = texts(&canvas);
    for text in &all {
        let bounds = text.bounds();
        assert!(bounds.left >= 0.0 && bounds.top >= 0.0, "{text:?}");
        assert!(bounds.right() <= canvas.width, "{text:?} {}", canvas.width);
        assert!(bounds.bottom() <= canvas.height, "{text:?} {}", canvas.height);
    }
    assert_eq!(overlaps(&all), None);
}

fn check_renders(figure: &Figure) {
    for format in [Format::Svg, Format::Png] {
        assert!(!render(figure, format).expect("odd data is no error").is_empty());
    }
}

#[test]
fn text_of_box_plots_is_whole_and_apart() {
    let mut random = Lcg::new(1);
    for round in 0..150 {
        let groups = (random.unit() * 46.0) as usize;
        let mechanisms = (random.unit() * 13.0) as usize;
        let scale = [1.0, 1e-9, 1e6, 0.003][round % 4];
        let figure = box_figure(&mut random, groups, mechanisms, scale);
        check_texts(&Figure::Box(figure));
    }
}

#[test]
fn text_of_curves_is_whole_and_apart() {
    let mut random = Lcg::new(2);
    for round in 0..300 {
        let count = (random.unit() * 13.0) as usize;
        let points = (random.unit() * 45.0) as usize;
        let scale = [1.0, 1e-9, 1e6, 0.003][round % 4];
        let figure = curve_figure(&mut random, count, points, scale);
        check_texts(&Figure::Curve(figure));
    }
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    let figures = || {
        let mut random = Lcg::new(4);
        let boxes = Figure::Box(box_figure(&mut random, 4, 3, 1.0));
        let curves = Figure::Curve(curve_figure(&mut random, 4, 9, 1.0));
        Figure::Panels(Panels { figures: vec![boxes, curves], columns: 2 })
    };
    for format in [Format::Svg, Format::Png] {
        let (first, second) = (render(&figures(), format), render(&figures(), format));
        assert_eq!(first.expect("first"), second.expect("second"));
    }
}

#[test]
fn odd_boxes_never_panic() {
    let mut random = Lcg::new(5);
    for _ in 0..25 {
        let mut figure = box_figure(&mut random, 3, 2, 1.0);
        let mut odd = || NUMBERS[(random.unit() * 9.0) as usize];
        for stats in figure.groups.iter_mut().flat_map(|g| g.boxes.iter_mut().flatten()) {
            *stats = BoxStats {
                q1: odd(),
                median: odd(),
                q3: odd(),
                whisker_low: odd(),
                whisker_high: odd(),
                notch_low: odd(),
                notch_high: odd(),
                outliers: vec![odd(), odd()],
                exact_mean: Some(odd()),
            };
        }
        figure.bounds = Some((odd(), odd()));
        check_renders(&Figure::Box(figure));
    }
}

#[test]
fn odd_curves_never_panic() {
    let mut random = Lcg::new(6);
    for round in 0..25 {
        let mut figure = curve_figure(&mut random, 3, 6, 1.0);
        let mut odd = || NUMBERS[(random.unit() * 9.0) as usize];
        for line in &mut figure.lines {
            line.exact.iter_mut().for_each(|point| *point = (odd(), odd()));
            for sample in &mut line.sampled {
                *sample = Sample { x: odd(), mean: odd(), half_width: odd() };
            }
        }
        figure.y_scale = [Scale::Linear, Scale::Log, Scale::Auto][round % 3];
        figure.x_scale = figure.y_scale;
        figure.x_range = (round % 2 == 0).then(|| (odd(), odd()));
        figure.y_range = (round % 5 == 0).then(|| (odd(), odd()));
        check_renders(&Figure::Curve(figure));
    }
}

#[test]
fn sparse_figures_render() {
    let mut random = Lcg::new(7);
    for (a, b) in [(0, 0), (0, 3), (3, 0), (1, 1)] {
        check_renders(&Figure::Box(box_figure(&mut random, a, b, 1.0)));
        check_renders(&Figure::Curve(curve_figure(&mut random, a, b, 1.0)));
        check_renders(&Figure::Box(box_figure(&mut random, a, b, 0.0)));
        check_renders(&Figure::Curve(curve_figure(&mut random, a, b, 0.0)));
    }
    check_renders(&Figure::Panels(Panels { figures: Vec::new(), columns: 0 }));
}

#[test]
fn a_row_of_boxes_may_be_too_short() {
    let mut random = Lcg::new(8);
    let mut figure = box_figure(&mut random, 3, 2, 1.0);
    figure.groups[0].boxes.clear();
    figure.groups[1].boxes.extend([None, Some(BoxStats::default())]);
    check_renders(&Figure::Box(figure));
}

#[test]
fn too_many_panels_are_refused() {
    let panel = Figure::Curve(CurveFigure::default());
    let figure = Figure::Panels(Panels { figures: vec![panel; 60], columns: 6 });
    let refused = render(&figure, Format::Png);
    assert!(matches!(refused, Err(FigureError::TooLarge(..))));
}

#[test]
fn formats_have_names() {
    for format in [Format::Svg, Format::Png] {
        assert_eq!(format.extension().parse::<Format>().ok(), Some(format));
    }
    assert!("bmp".parse::<Format>().is_err());
}

#[test]
fn what_is_not_private_says_so_once() {
    let mut series = Series { label: "EHDL".to_owned(), colour: colour("ehdl"), private: false };
    assert_eq!(series.full_label(), "EHDL (not private)");
    series.label = series.full_label();
    assert_eq!(series.full_label(), "EHDL (not private)");
}

#[test]
fn repeated_mechanisms_are_distinguished() {
    let one = Series { label: String::new(), colour: colour("ehds"), private: true };
    let mut all = vec![one; 4];
    distinguish(&mut all);
    for (i, a) in all.iter().enumerate() {
        assert!(all[i + 1..].iter().all(|b| a.colour != b.colour));
    }
    assert_eq!(all[0].colour, colour("ehds"));
}
