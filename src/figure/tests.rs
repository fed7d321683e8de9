//! Tests of whole figures, read back from what was recorded.

use super::*;

/// A small generator of repeatable pseudo-random numbers.
pub(super) struct Lcg(u64);

impl Lcg {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform on [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About `length` letters, some of them spaces.
    pub(super) fn words(&mut self, length: f64) -> String {
        let count = 1 + (self.unit() * length) as usize;
        let mut letter = || match (self.unit() * 30.0) as u8 {
            i @ 0..26 => char::from(b'a' + i),
            _ => ' ',
        };
        (0..count).map(|_| letter()).collect()
    }
}

/// Where the numbers of a random figure come from: sound ones of some size, or odd ones.
struct Numbers {
    random: Lcg,
    scale: Option<f64>,
}

const ODD: [f64; 9] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -3.0, 1e-9, 0.5, 1e6, 1e300];

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        (self.random.unit() * count as f64) as usize
    }

    /// Between two parts of the scale.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        let at = low + (high - low) * self.random.unit();
        self.scale.map_or_else(|| ODD[(self.random.unit() * 9.0) as usize], |scale| scale * at)
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.random.unit() < 0.6).then(|| make(self))
    }

    fn series(&mut self, count: usize) -> Vec<Series> {
        let one = |i: usize| Series {
            label: self.random.words(35.0),
            colour: [VERMILION, BLUE, own_colour(0)][i % 3],
            private: i % 4 != 1,
        };
        let mut all: Vec<Series> = (0..count).map(one).collect();
        distinguish(&mut all);
        all
    }

    fn stats(&mut self) -> BoxStats {
        let mut sorted = [0.0; 5].map(|_| self.between(0.0, 1.0));
        sorted.sort_by(f64::total_cmp);
        let [whisker_low, q1, median, q3, whisker_high] = sorted;
        BoxStats {
            whisker_low,
            q1,
            median,
            q3,
            whisker_high,
            notch_low: self.between(-0.2, 0.5),
            notch_high: self.between(0.5, 1.2),
            outliers: vec![self.between(0.0, 1.0); 3],
            exact_mean: self.maybe(|n| n.between(0.0, 1.0)),
            printed: self.maybe(|n| [None, Some(n.between(0.0, 1.0)), None, None, None]),
        }
    }

    fn headed(&mut self, body: impl Into<Body>) -> Figure {
        let mut figure = Figure::new(self.random.words(150.0), self.random.words(300.0), body);
        figure.head.source = self.maybe(|n| n.random.words(120.0)).unwrap_or_default();
        figure
    }

    fn boxes(&mut self, groups: usize, mechanisms: usize) -> Figure {
        let group = |numbers: &mut Self| Group {
            label: numbers.random.words(30.0),
            sublabel: numbers.maybe(|n| n.random.words(10.0)),
            boxes: (0..mechanisms + 1).map(|_| numbers.maybe(Self::stats)).collect(),
        };
        let body = BoxFigure {
            x_label: Some(self.random.words(60.0)),
            y_label: self.random.words(80.0),
            groups: (0..groups).map(|_| group(self)).collect(),
            series: self.series(mechanisms),
            bounds: self.maybe(|n| (0.0, n.between(1.0, 1.0))),
            y_range: None,
            in_group: (self.below(5) == 0).then_some(1),
            is_part: self.below(5) == 0,
        };
        self.headed(body)
    }

    /// Small figures of one kind.
    fn multiples(&mut self, a: usize, b: usize) -> Figure {
        let (are_boxes, count) = (self.below(2) == 0, 1 + self.below(5));
        let one = |numbers: &mut Self| match are_boxes {
            true => numbers.boxes(a, b),
            false => numbers.curves(b, a),
        };
        let figures: Vec<Figure> = (0..count).map(|_| one(self)).collect();
        self.headed(figures)
    }

    fn curves(&mut self, count: usize, points: usize) -> Figure {
        let line = |(numbers, series): (&mut Self, Series)| {
            let mut point = |i: usize| {
                let x = if numbers.scale.is_some() { i as f64 } else { numbers.between(0.0, 1.0) };
                (x, numbers.between(0.2, 1.0))
            };
            let exact: Vec<(f64, f64)> = (0..points).map(&mut point).collect();
            let readings = (0..points / 2).map(&mut point).collect();
            let sample =
                |(x, mean): &(f64, f64)| Sample { x: *x, mean: *mean, half_width: 0.1 * mean };
            let sampled = numbers.maybe(|_| exact.iter().map(sample).collect()).unwrap_or_default();
            let style = [LineStyle::Solid, LineStyle::Dotted, LineStyle::Broad][numbers.below(3)];
            let names = [LineName::OnPlot, LineName::InLegend, LineName::Elsewhere];
            let name = names[[0, 0, 0, 1, 2][numbers.below(5)]];
            Curve { exact, sampled, readings, style, name, series }
        };
        let series = self.series(count);
        let lines = series.into_iter().map(|series| line((self, series))).collect();
        let scales = [Scale::Auto, Scale::Linear, Scale::Log];
        let body = CurveFigure {
            x_label: self.random.words(80.0),
            y_label: self.random.words(80.0),
            x_scale: scales[self.below(3)],
            y_scale: scales[self.below(3)],
            lines,
            join: [Join::Lines, Join::Steps, Join::Stems, Join::Dots][self.below(4)],
            name_at: [NameAt::End, NameAt::Peak][self.below(2)],
            x_range: self.maybe(|n| (n.between(0.0, 0.2), n.between(3.0, 9.0))),
            y_range: None,
            categories: self.maybe(|n| (0..points).map(|_| n.random.words(20.0)).collect()),
            references: vec![(self.between(0.0, 1.0), self.random.words(40.0))],
            landmarks: vec![(self.between(0.0, 9.0), self.random.words(20.0))],
            is_part: self.below(5) == 0,
        };
        self.headed(body)
    }

    /// Densities, or noise instead of them.
    fn densities(&mut self, rows: usize) -> Figure {
        let curve = |numbers: &mut Self| -> Vec<(f64, f64)> {
            let points = numbers.below(40);
            let x = |i: usize| i as f64 / points as f64;
            (0..points).map(|i| (x(i), numbers.between(0.0, 1.0))).collect()
        };
        let interval = |numbers: &mut Self| (numbers.between(0.0, 0.4), numbers.between(0.6, 1.0));
        let row = |numbers: &mut Self| DensityRow {
            label: numbers.random.words(50.0),
            colour: [VERMILION, BLUE, own_colour(0)][numbers.below(3)],
            sets_axis: numbers.below(4) > 0,
            prior: curve(numbers),
            posterior: curve(numbers),
            interval: interval(numbers),
            mean: numbers.between(0.4, 0.6),
        };
        let body = DensityFigure {
            x_label: self.random.words(80.0),
            level: self.random.words(10.0),
            rows: (0..rows).map(|_| row(self)).collect(),
        };
        self.headed(body)
    }

    fn map(&mut self, columns: usize, rows: usize) -> Figure {
        let mut row = |_| (0..columns).map(|_| self.maybe(|n| n.between(0.0, 1.0))).collect();
        let values: Vec<Vec<Option<f64>>> = (0..rows).map(&mut row).collect();
        let index = |value: &Option<f64>| value.map(|value| value.to_bits() as usize % 5);
        let indices = values.iter().map(|row| row.iter().map(index).collect()).collect();
        let middles = |numbers: &mut Self, count: usize, factor: f64| -> Vec<f64> {
            let even = |i: usize| (1.0 + i as f64).powf(factor);
            (0..count).map(|i| numbers.scale.map_or(ODD[i % 9], |scale| scale * even(i))).collect()
        };
        let body = HeatFigure {
            x_label: self.random.words(80.0),
            y_label: self.random.words(80.0),
            x: middles(self, columns, 1.0),
            y: middles(self, rows, 3.0),
            marks: (0..3)
                .map(|_| (self.between(0.0, 9.0), self.between(1.0, 9.0), self.random.words(30.0)))
                .collect(),
            values: match self.below(2) {
                0 => {
                    let (label, range) = (
                        self.random.words(60.0),
                        self.maybe(|n| (n.between(0.0, 0.1), n.between(0.5, 1.0))),
                    );
                    HeatValues::Numbers { values, label, scale: Scale::Auto, range }
                }
                _ => {
                    let key = vec![(0.5, self.random.words(20.0))];
                    HeatValues::Categories {
                        series: self.series(4),
                        values: indices,
                        strength: None,
                        key,
                    }
                }
            },
            ..HeatFigure::default()
        };
        self.headed(body)
    }

    fn figure(&mut self, kind: usize, most: (usize, usize)) -> Figure {
        let (a, b) = (self.below(most.0), self.below(most.1));
        match kind % 5 {
            0 => self.boxes(a, b),
            1 | 3 => self.curves(b, a),
            2 => self.map(a / 2, b),
            _ => self.multiples(a / 4, b),
        }
    }
}

#[test]
fn texts_are_on_the_page_and_cover_nothing() {
    for round in 0..240 {
        let scale = Some([1.0, 1e-9, 1e6, 0.003][round % 4]);
        let mut numbers = Numbers { random: Lcg::new(round as u64), scale };
        let mut figures = vec![numbers.figure(round, (46, 13))];
        if round % 5 == 0 {
            let rows = numbers.below(40);
            figures.push(numbers.densities(rows));
        }
        for figure in &figures {
            for &width in Width::ALL.iter().chain(&[Width::Screen]) {
                let faults = misplaced_texts(figure, width).unwrap();
                assert!(faults.is_empty(), "{round} {width:?} {faults:?}");
            }
        }
    }
}

#[test]
fn odd_and_sparse_figures_are_drawn_the_same_in_every_format() {
    for round in 0..12 {
        let make = |scale: Option<f64>| {
            let mut numbers = Numbers { random: Lcg::new(round as u64), scale };
            [numbers.figure(round, (5, 5)), numbers.densities(round % 5)]
        };
        for &format in Format::ALL {
            let draw = |scale| {
                let draw = |figure| render(&figure, format, Width::Text);
                make(scale).map(|figure| draw(figure).expect("odd data is no error"))
            };
            for scale in [None, Some(0.0)] {
                draw(scale);
            }
            assert_eq!(draw(Some(1.0)), draw(Some(1.0)), "{round} {format:?}");
        }
    }
}

#[test]
fn files_of_long_lines_and_large_maps_are_small() {
    let mut numbers = Numbers { random: Lcg::new(12), scale: Some(1.0) };
    let mut figures = Vec::new();
    for (join, y_range) in [
        (Join::Lines, None),
        (Join::Steps, None),
        (Join::Stems, None),
        (Join::Lines, Some((0.3, 0.7))),
    ] {
        let line = |(series, seed): (Series, u64)| {
            let mut random = Lcg::new(seed);
            let exact = (0..200_000).map(|i| (f64::from(i), random.unit())).collect();
            Curve { exact, ..Curve::new(series) }
        };
        let lines = numbers.series(5).into_iter().zip(0..).map(line).collect();
        let body = CurveFigure { lines, join, y_range, ..CurveFigure::default() };
        figures.push(Figure::new("", "", body));
    }
    for cells in [61_u32, 300] {
        let row = |j: u32| (0..cells).map(|i| (i + j < cells).then(|| f64::from(i * j))).collect();
        let middles: Vec<f64> = (0..cells).map(f64::from).collect();
        let (values, label) = ((0..cells).map(row).collect(), String::new());
        let values = HeatValues::Numbers { values, label, scale: Scale::Linear, range: None };
        let (x, y) = (middles.clone(), middles);
        let body = HeatFigure { x, y, values, ..HeatFigure::default() };
        figures.push(Figure::new("", "", body));
    }
    for (number, figure) in figures.iter().enumerate() {
        for &format in Format::ALL {
            let size = render(figure, format, Width::Text).expect("a file").len();
            assert!(size < 300_000, "{number} {format:?} {size}");
        }
    }
}

#[test]
fn tables_are_whole_and_huge_pages_refused() {
    let cells = |words: [&str; 3]| words.map(str::to_owned).to_vec();
    let mut table = TableFigure {
        columns: cells(["", "ELap / LS", "ELap / (ε LS)"]),
        rows: vec![cells(["balanced", "1", "10"]), cells(["one record", "1.5", "2"])],
    };
    assert!(
        misplaced_texts(&Figure::new("A table", "ε = 1", table.clone()), Width::Column)
            .unwrap()
            .is_empty()
    );
    table.rows = vec![cells(["", "", ""]); 100_000];
    let refused = render(&Figure::new("", "", table), Format::Svg, Width::Text);
    assert!(matches!(refused, Err(FigureError::TooLarge(486, _))));
}

#[test]
fn drawings_are_sized_in_points_and_embed_their_letters() {
    let figure = Figure::new("ε ≤ 1 😀", "", TableFigure::default());
    let svg = String::from_utf8(render(&figure, Format::Svg, Width::Column).expect("a file"));
    let svg = svg.expect("text");
    assert!(
        svg.starts_with("<svg width=\"234pt\"") && svg.contains("viewBox=\"0 0 4680 "),
        "{svg}"
    );
    let pdf = render(&figure, Format::Pdf, Width::Column).expect("a file");
    let has = |what: &[u8]| pdf.windows(what.len()).any(|bytes| bytes == what);
    assert!(has(b"+DejaVuSans-Bold") && has(b"/FontFile2") && has(b"/ToUnicode"));
    assert!(has(b"/MediaBox [0 0 234 ") && !has(b"/CreationDate") && !has(b"/ID"));
    assert!(pdf.len() < 30_000, "only the letters in use: {}", pdf.len());
}

#[test]
fn what_is_not_private_says_so_once_and_repeats_are_distinguished() {
    let mut series = Series { label: "EHDL".to_owned(), colour: PINK, private: false };
    series.label = series.full_label();
    assert_eq!(series.full_label(), "EHDL (not private)");
    let mut all = vec![series; 4];
    distinguish(&mut all);
    for (i, a) in all.iter().enumerate() {
        assert!(all[i + 1..].iter().all(|b| a.colour != b.colour));
    }
}
