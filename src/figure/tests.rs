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
        readings: vec![random.unit() * scale; 2],
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
            readings: (0..points / 2).map(|i| (i as f64, value(random))).collect(),
            style: [LineStyle::Solid, LineStyle::Dotted][usize::from(random.unit() < 0.3)],
            label_end: random.unit() < 0.8,
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
        references: (0..(random.unit() * 4.0) as usize)
            .map(|_| (random.unit() * scale, random.words(40.0)))
            .collect(),
        ..CurveFigure::default()
    }
}

fn heat_figure(random: &mut Lcg, columns: usize, rows: usize, scale: f64) -> HeatFigure {
    let numbers = random.unit() < 0.5;
    let mut gap = |value: f64| (random.unit() < 0.9).then_some(value * scale);
    let mut row = |j: usize| (0..columns).map(|i| gap((i * j) as f64)).collect();
    let values: Vec<Vec<Option<f64>>> = (0..rows).map(&mut row).collect();
    let index = |value: &Option<f64>| value.map(|value| (value / scale) as usize % 5);
    let indices = values.iter().map(|row| row.iter().map(index).collect()).collect();
    HeatFigure {
        title: random.words(150.0),
        note: random.words(300.0),
        x_label: random.words(80.0),
        y_label: random.words(80.0),
        x: (0..columns).map(|i| i as f64 * scale).collect(),
        y: (0..rows).map(|j| (1 << j.min(30)) as f64).collect(),
        marks: (0..3).map(|i| (i as f64 * scale, 2.0, random.words(30.0))).collect(),
        values: if numbers {
            let label = random.words(60.0);
            HeatValues::Numbers { values, label, scale: Scale::Auto, range: None }
        } else {
            let series = series(4, || random.words(30.0));
            HeatValues::Categories { series, values: indices, strength: None, key: Vec::new() }
        },
        ..HeatFigure::default()
    }
}

/// No text leaves the page, none covers another.
fn check_texts(figure: &Figure) {
    for page in [Page::Wide, Page::Narrow] {
        check_page(&figure.draw(page));
    }
    assert!((figure.draw(Page::Narrow).width - 400.0).abs() < f64::EPSILON);
}

fn check_page(canvas: &Canvas) {
    let all = texts(canvas);
    for text in &all {
        let bounds = text.bounds();
        assert!(bounds.left >= 0.0 && bounds.top >= 0.0, "{text:?}");
        assert!(bounds.right() <= canvas.width, "{text:?} {}", canvas.width);
        assert!(bounds.bottom() <= canvas.height, "{text:?} {}", canvas.height);
    }
    assert_eq!(overlaps(&all), None);
}

fn check_renders(figure: &Figure) {
    for &format in Format::ALL {
        assert!(!render(figure, format).expect("odd data is no error").is_empty());
    }
    assert!(!render_narrow(figure, Format::Svg).expect("nor is it here").is_empty());
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
fn text_of_heat_maps_is_whole_and_apart() {
    let mut random = Lcg::new(3);
    for round in 0..150 {
        let columns = (random.unit() * 20.0) as usize;
        let rows = (random.unit() * 20.0) as usize;
        let scale = [1.0, 1e-9, 1e6, 0.003][round % 4];
        let figure = heat_figure(&mut random, columns, rows, scale);
        check_texts(&Figure::Heat(figure));
    }
}

#[test]
fn odd_heat_maps_never_panic() {
    let mut random = Lcg::new(10);
    for round in 0..25 {
        let mut figure = heat_figure(&mut random, 4, 5, 1.0);
        let mut odd = || NUMBERS[(random.unit() * 9.0) as usize];
        figure.x.iter_mut().chain(&mut figure.y).for_each(|middle| *middle = odd());
        figure.marks.iter_mut().for_each(|mark| *mark = (odd(), odd(), "mark".to_owned()));
        figure.x_scale = [Scale::Linear, Scale::Log, Scale::Auto][round % 3];
        figure.y_scale = figure.x_scale;
        figure.values = HeatValues::Numbers {
            values: (0..5).map(|_| (0..3).map(|_| Some(odd())).collect()).collect(),
            label: "odd".to_owned(),
            scale: figure.x_scale,
            range: (round % 2 == 0).then(|| (odd(), odd())),
        };
        check_renders(&Figure::Heat(figure));
    }
}

/// Five lines of `points` points that jump about, one of them not private.
fn jagged(points: u32, steps: bool) -> Figure {
    let mut random = Lcg::new(12);
    let all = series(5, || "jagged".to_owned());
    let line = |series: Series| Curve {
        exact: (0..points).map(|i| (f64::from(i), random.unit())).collect(),
        ..Curve::new(series)
    };
    let lines = all.into_iter().map(line).collect();
    Figure::Curve(CurveFigure { lines, steps, ..CurveFigure::default() })
}

#[test]
fn files_of_long_lines_are_small() {
    for steps in [false, true] {
        let figure = jagged(200_000, steps);
        for format in [Format::Svg, Format::Pdf] {
            let size = render(&figure, format).expect("a file").len();
            assert!(size < 300_000, "{format:?} {steps} {size}");
        }
    }
}

#[test]
fn lines_cut_to_a_range_stay_small() {
    let Figure::Curve(mut figure) = jagged(200_000, false) else { panic!("curves") };
    figure.y_scale = Scale::Linear;
    figure.y_range = Some((0.3, 0.7));
    let size = render(&Figure::Curve(figure), Format::Svg).expect("a file").len();
    assert!(size < 300_000, "{size}");
}

#[test]
fn files_of_heat_maps_are_small() {
    for (cells, scale) in [(61_u32, 1.0), (300, 1e-3)] {
        let value = |i: u32, j: u32| (i + j < cells).then(|| f64::from(i * j) * scale);
        let row = |j: u32| (0..cells).map(|i| value(i, j)).collect();
        let middles: Vec<f64> = (0..cells).map(f64::from).collect();
        let figure = HeatFigure {
            x: middles.clone(),
            y: middles,
            values: HeatValues::Numbers {
                values: (0..cells).map(row).collect(),
                label: String::new(),
                scale: Scale::Linear,
                range: None,
            },
            ..HeatFigure::default()
        };
        for &format in Format::ALL {
            let size = render(&Figure::Heat(figure.clone()), format).expect("a file").len();
            assert!(size < 300_000, "{format:?} {cells} {size}");
        }
    }
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    let figures = || {
        let mut random = Lcg::new(4);
        let boxes = Figure::Box(box_figure(&mut random, 4, 3, 1.0));
        let curves = Figure::Curve(curve_figure(&mut random, 4, 9, 1.0));
        [boxes, curves, Figure::Heat(heat_figure(&mut random, 9, 7, 1.0))]
    };
    for &format in Format::ALL {
        for (first, second) in figures().iter().zip(&figures()) {
            let (first, second) = (render(first, format), render(second, format));
            assert_eq!(first.expect("first"), second.expect("second"));
        }
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
                readings: vec![odd(), odd()],
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
            line.readings.iter_mut().for_each(|point| *point = (odd(), odd()));
            for sample in &mut line.sampled {
                *sample = Sample { x: odd(), mean: odd(), half_width: odd() };
            }
        }
        figure.references.iter_mut().for_each(|reference| reference.0 = odd());
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
        check_renders(&Figure::Heat(heat_figure(&mut random, a, b, 1.0)));
        check_renders(&Figure::Heat(heat_figure(&mut random, b, a, 0.0)));
    }
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
fn huge_pages_are_refused() {
    let page = Canvas { width: 3000.0, height: 3000.0, shapes: Vec::new() };
    let refused = encode(&page, Format::Png);
    assert!(matches!(refused, Err(FigureError::TooLarge(..))));
}

#[test]
fn formats_have_names() {
    for &format in Format::ALL {
        assert_eq!(format.extension().parse::<Format>().ok(), Some(format));
    }
    let unknown = "bmp".parse::<Format>().expect_err("no such format").to_string();
    assert!(unknown.contains("svg, png, pdf"), "{unknown}");
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
