//! The figures of the accuracy experiment: box plots of the sampled errors, and mean error against
//! n, ε or the prior, with the exact mean as a line.

use std::collections::BTreeMap;

use super::{Accuracy, FigureName};
use crate::experiment::axis::{Axis, Mark};
use crate::experiment::kind::curves::{line, titled};
use crate::experiment::reading::Quantity;
use crate::experiment::{Abscissa, Case, Panel, naming};
use engine::named::Named;
use engine::posterior::metric::Metric;
use engine::posterior::model::vector;
use figure::{
    Body, BoxFigure, BoxStats, Curve, CurveFigure, Figure, Group, Join, LineName, Sample, Scale,
    Series, graded_colour,
};
use table::{ErrorBlock, ReadingRow, SummaryRow, Tables, Whiskers};

/// Marks that share everything but what the axis and the series show.
struct Facet<'a> {
    /// What tells them from the others on the page: in full, and in words.
    key: String,
    title: String,
    marks: Vec<Mark<'a>>,
}

impl Facet<'_> {
    /// The marks at each place of the axis.
    fn along(&self, axis: Axis) -> Vec<Vec<&Mark<'_>>> {
        let mut places: Vec<(String, Vec<&Mark>)> = Vec::new();
        for mark in &self.marks {
            let key = axis.key(mark);
            match places.iter_mut().find(|(known, _)| *known == key) {
                Some((_, marks)) => marks.push(mark),
                None => places.push((key, vec![mark])),
            }
        }
        places.into_iter().map(|(_, marks)| marks).collect()
    }
}

/// Those of the parts of one facet that not every facet has.
fn own_parts<'a>(all: &[Vec<String>], parts: &'a [String]) -> Vec<&'a str> {
    let is_common = |part: &String| all.iter().all(|other| other.contains(part));
    parts.iter().filter(|part| !is_common(part)).map(String::as_str).collect()
}

/// What a figure can show.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Everything a figure needs to know.
struct Drawing<'a> {
    kind: &'a Accuracy,
    panel: &'a Panel,
    abscissa: Abscissa,
    /// The lines, or boxes of a group, by what tells them apart.
    series: Vec<(String, Series)>,
    names: Names,
    rows: BTreeMap<(usize, &'a str, &'a str), &'a SummaryRow>,
    errors: BTreeMap<(usize, &'a str), &'a ErrorBlock>,
    readings: Vec<&'a ReadingRow>,
}

/// All figures with their names (without ending).
pub(super) fn figures(kind: &Accuracy, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let abscissa = Abscissa::new(panel);
    let summary =
        tables.summary.iter().map(|row| ((row.setting, &*row.mechanism, &*row.metric), row));
    let errors = tables.errors.iter().map(|block| ((block.setting, &*block.mechanism), block));
    let readings = panel.own(&tables.readings);
    let drawing = Drawing {
        kind,
        panel,
        series: all_series(panel, &abscissa),
        names: names(panel),
        abscissa,
        rows: summary.collect(),
        errors: errors.collect(),
        readings: readings.collect(),
    };
    let asked = kind.figure_names(panel);
    let mut sheets = sheets_of(panel, &drawing.abscissa);
    let all_parts: Vec<Vec<String>> = sheets.iter().map(|sheet| sheet.parts.clone()).collect();
    sheets.truncate(MOST_SHEETS);
    let metrics = panel.errors();
    // What distinguishes a figure from the others is in its title.
    let title = |sheet: &Sheet, metric: &Metric, name: FigureName| {
        let own = own_parts(&all_parts, &sheet.parts).join(", ");
        let metric = match metrics.len() {
            1 => String::new(),
            _ => format!("error: {}", metric.title()),
        };
        let name = if asked.len() > 1 { name.heading() } else { "" };
        titled(&[&panel.title, &own, &metric, name])
    };
    let mut figures = Vec::new();
    for sheet in &sheets {
        for (metric_index, metric) in metrics.iter().enumerate() {
            let mut suffix = String::new();
            if metric_index > 0 {
                // A colon has no place in the name of a file.
                suffix += &format!("-{}", metric.id().replace(':', "-"));
            }
            suffix += &sheet.suffix;
            for name in &asked {
                let figure = drawing.sheet(sheet, metric, *name, title(sheet, metric, *name));
                figures.push((format!("{}{suffix}", name.id()), figure));
            }
        }
    }
    figures
}

/// Of a sweep over everything not every combination is drawn.
const MOST_SHEETS: usize = 24;

/// The most small figures on one page.
const MOST_FACETS: usize = 24;

/// How many figures of each sort there are.
pub(super) struct Sheets {
    pub drawn: usize,
    /// How many small figures they hold.
    pub facets: usize,
    /// How many there could be.
    pub all: usize,
    /// How many settings stand on one axis.
    pub settings: usize,
}

/// How many figures of each sort a panel has.
pub(super) fn sheets(panel: &Panel) -> Sheets {
    let all = sheets_of(panel, &Abscissa::new(panel));
    let facets =
        all.iter().take(MOST_SHEETS).map(|sheet| sheet.facets.len().min(MOST_FACETS)).sum();
    let facets_of = all.iter().flat_map(|sheet| &sheet.facets);
    let settings = facets_of.map(|facet| facet.marks.len().div_ceil(panel.variants.len()));
    Sheets {
        facets,
        drawn: all.len().min(MOST_SHEETS),
        all: all.len(),
        settings: settings.max().unwrap_or(1),
    }
}

/// The settings along the axis, in the last small figure of the last page.
pub(super) fn along_axis(panel: &Panel) -> Vec<(usize, &Case)> {
    let abscissa = Abscissa::new(panel);
    let last = sheets_of(panel, &abscissa).pop().and_then(|mut sheet| sheet.facets.pop());
    let marks = last.map_or_else(Vec::new, |facet| facet.marks);
    let Some(last) = marks.last() else { return Vec::new() };
    let shown = [abscissa.axis, Axis::Mechanism];
    let alike = |mark: &&Mark| {
        shown.contains(&abscissa.series) || abscissa.series.key(mark) == abscissa.series.key(last)
    };
    let mut cases: Vec<(usize, &Case)> =
        marks.iter().filter(alike).map(|mark| (panel.first + mark.index, mark.case)).collect();
    cases.dedup_by_key(|(setting, _)| *setting);
    cases
}

/// Whether the cases have an order along the axis.
pub(super) fn is_ordered(panel: &Panel) -> bool {
    ![Axis::Data, Axis::Mechanism].contains(&Abscissa::new(panel).axis)
}

/// Cases that stand on one page.
struct Sheet<'a> {
    /// What they share, in words.
    parts: Vec<String>,
    /// What tells the file from the others.
    suffix: String,
    facets: Vec<Facet<'a>>,
}

/// Groups the cases by everything but the axis and what tells small figures apart, in order of appearance.
fn sheets_of<'a>(panel: &'a Panel, abscissa: &Abscissa) -> Vec<Sheet<'a>> {
    let mut sheets: Vec<(Vec<String>, Sheet)> = Vec::new();
    let names = names(panel);
    for mark in marks(panel) {
        let key: Vec<String> = abscissa.pages.iter().map(|axis| axis.key(&mark)).collect();
        let place = sheets.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let parts = shared_parts(panel, &names, abscissa, &mark);
            let of_file = |axis: &Axis| format!("-{}", axis.file_part(&mark, &abscissa.naming));
            let suffix = abscissa.pages.iter().map(of_file).collect();
            sheets.push((key, Sheet { parts, suffix, facets: Vec::new() }));
            sheets.len() - 1
        });
        let facets = &mut sheets[place].1.facets;
        let key = abscissa.facet.map_or(String::new(), |axis| axis.key(&mark));
        let place = facets.iter().position(|known| known.key == key).unwrap_or_else(|| {
            let words = abscissa.facet.and_then(|axis| words(&names, abscissa, axis, &mark));
            facets.push(Facet { key, title: words.unwrap_or_default(), marks: Vec::new() });
            facets.len() - 1
        });
        facets[place].marks.push(mark);
    }
    sheets.into_iter().map(|(_, sheet)| sheet).collect()
}

/// Every mechanism at every setting.
fn marks(panel: &Panel) -> impl Iterator<Item = Mark<'_>> {
    panel.cases.iter().enumerate().flat_map(|(index, case)| {
        panel.variants.iter().map(move |variant| Mark { index, case, variant })
    })
}

/// The mechanisms' names by their labels. One that is not private is called so.
type Names = BTreeMap<String, String>;

fn names(panel: &Panel) -> Names {
    let labels = panel.variants.iter().map(|variant| variant.label.clone());
    labels.zip(panel.series().iter().map(Series::full_label)).collect()
}

/// The value of a mark in words.
fn words(names: &Names, abscissa: &Abscissa, axis: Axis, mark: &Mark) -> Option<String> {
    match axis {
        Axis::Mechanism => names.get(&mark.variant.label).cloned(),
        _ => axis.words(mark, &abscissa.naming),
    }
}

/// How the lines, or the boxes of a group, are drawn. Colours of a parameter's values go from dark to light.
fn all_series(panel: &Panel, abscissa: &Abscissa) -> Vec<(String, Series)> {
    let axis = abscissa.series;
    if axis == Axis::Mechanism {
        let labels = panel.variants.iter().map(|variant| variant.label.clone());
        return labels.zip(panel.series()).collect();
    }
    let mut all: Vec<(String, String)> = Vec::new();
    for mark in marks(panel) {
        let key = axis.key(&mark);
        if all.iter().all(|(known, _)| *known != key) {
            all.push((key, axis.words(&mark, &abscissa.naming).unwrap_or_default()));
        }
    }
    let of = all.len();
    let series = |(place, (key, label)): (usize, (String, String))| {
        (key, Series { label, colour: graded_colour(place, of), private: true })
    };
    all.into_iter().enumerate().map(series).collect()
}

/// Data, ε, prior, δ and γ as far as neither the axis nor the titles of small figures show them.
fn shared_parts(panel: &Panel, names: &Names, abscissa: &Abscissa, mark: &Mark) -> Vec<String> {
    let case = mark.case;
    let shown = [Some(abscissa.axis), abscissa.facet, Some(abscissa.series)];
    let unless = |axes: &[Axis], text: Option<String>| {
        text.filter(|_| !shown.iter().flatten().any(|axis| axes.contains(axis)))
    };
    let variants = &panel.variants;
    let delta_matters =
        abscissa.naming.deltas || variants.iter().any(|variant| variant.kind.uses_delta);
    let gamma_matters = abscissa.naming.gammas || case.setting.gamma.get() != 1.0;
    let parts = [
        unless(&[Axis::Mechanism], words(names, abscissa, Axis::Mechanism, mark)),
        unless(&[Axis::Size, Axis::Data, Axis::At], Some(abscissa.naming.data(case))),
        unless(&[Axis::Epsilon], Some(abscissa.naming.epsilon(case))),
        unless(&[Axis::Prior, Axis::SymmetricPrior], Some(naming::prior(case))),
        unless(&[Axis::Delta], naming::delta(case).filter(|_| delta_matters)),
        unless(&[Axis::Gamma], gamma_matters.then(|| naming::gamma(case))),
    ];
    parts.into_iter().flatten().collect()
}

impl<'a> Drawing<'a> {
    /// One figure, or small ones on a page.
    fn sheet(&self, sheet: &Sheet, metric: &Metric, name: FigureName, title: String) -> Figure {
        let draw = |facet: &Facet| -> (String, Body) {
            match name {
                FigureName::Box => self.boxes(sheet, facet, metric),
                FigureName::Mean => self.means(sheet, facet, metric),
                FigureName::Runs => self.runs(sheet, facet, metric),
            }
        };
        if let [only] = &sheet.facets[..] {
            let (note, body) = draw(only);
            return Figure::new(title, note, body);
        }
        let mut note = String::new();
        let mut figures = Vec::new();
        for facet in sheet.facets.iter().take(MOST_FACETS) {
            let (last, body) = draw(facet);
            note = last;
            figures.push(Figure::new(facet.title.clone(), "", body));
        }
        if sheet.facets.len() > MOST_FACETS {
            note += &format!("; the first {MOST_FACETS} of {} are drawn", sheet.facets.len());
        }
        Figure::new(title, note, figures)
    }

    fn note(&self, sheet: &Sheet, last: &str) -> String {
        let runs = match self.panel.runs {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        };
        let shared = sheet.parts.iter().cloned().chain([runs]).collect::<Vec<_>>().join(", ");
        format!("{shared}; {last}")
    }

    /// Says that something is left out, where one of a facet's rows has an infinite `value`.
    fn without_infinite(
        &self,
        sheet: &Sheet,
        facet: &Facet,
        metric: &Metric,
        last: &str,
        value: impl Fn(&SummaryRow) -> f64,
    ) -> String {
        let rows = facet.marks.iter().filter_map(|mark| self.row(mark, metric.id()));
        let infinite = rows.map(value).any(|value| value == f64::INFINITY);
        self.note(
            sheet,
            &if infinite { format!("{last}; infinite values left out") } else { last.to_owned() },
        )
    }

    fn row(&self, mark: &Mark, metric: &str) -> Option<&'a SummaryRow> {
        let key = (self.panel.first + mark.index, &*mark.variant.label, metric);
        self.rows.get(&key).copied()
    }

    /// The text at the axis.
    fn name(&self, mark: &Mark) -> String {
        match self.abscissa.axis {
            Axis::Mechanism => self.names.get(&mark.variant.label).cloned(),
            axis => Some(axis.name(mark.case, &self.abscissa.naming)),
        }
        .unwrap_or_default()
    }

    fn all_series(&self) -> Vec<Series> {
        self.series.iter().map(|(_, series)| series.clone()).collect()
    }

    fn boxes(&self, sheet: &Sheet, facet: &Facet, metric: &Metric) -> (String, Body) {
        let mut last = match self.kind.whiskers {
            Whiskers::Range => "whiskers: range".to_owned(),
            Whiskers::Iqr(factor) => format!("whiskers: {factor} IQR"),
        };
        let mut rows = facet.marks.iter().filter_map(|mark| self.row(mark, metric.id()));
        if rows.any(|row| row.exact_mean.is_none()) {
            last += "; without a diamond: no exact mean is known";
        }
        let groups = facet.along(self.abscissa.axis).into_iter().map(|marks| {
            let counts = vector(marks[0].case.setting.counts()).replace(';', " / ");
            let data_axis = matches!(self.abscissa.axis, Axis::Data | Axis::At);
            let of_series = |key: &String| {
                let mark = marks.iter().find(|mark| self.abscissa.series.key(mark) == *key)?;
                Some(self.box_stats(self.row(mark, metric.id())?, mark.case))
            };
            Group {
                label: self.name(marks[0]),
                sublabel: (data_axis && self.abscissa.naming.labelled).then_some(counts),
                boxes: self.series.iter().map(|(key, _)| of_series(key)).collect(),
            }
        });
        let note = self.without_infinite(sheet, facet, metric, &last, |row| {
            row.max.max(row.exact_mean.unwrap_or(0.0))
        });
        let body = BoxFigure {
            x_label: self.abscissa.axis.label(self.panel),
            y_label: metric.error_title(),
            series: self.all_series(),
            groups: groups.collect(),
            in_group: [Some(self.abscissa.axis), self.abscissa.facet]
                .contains(&Some(self.abscissa.series))
                .then_some(1),
            bounds: Some((0.0, metric.bound().unwrap_or(f64::INFINITY))),
            ..BoxFigure::default()
        };
        (note, body.into())
    }

    fn errors(&self, row: &SummaryRow) -> &[f64] {
        let block = self.errors.get(&(row.setting, row.mechanism.as_str()));
        block.and_then(|block| block.error(&row.metric)).unwrap_or_default()
    }

    /// The readings of one mechanism at one case, in the error that was printed.
    fn readings(&self, case: &Case, row: &SummaryRow) -> impl Iterator<Item = &ReadingRow> {
        let read = self.kind.readings_metric.map_or(self.panel.distance.id(), |metric| metric.id());
        let printed = row.metric == read;
        let of_row = move |reading: &&&ReadingRow| {
            printed && reading.mechanism == row.mechanism && self.abscissa.is_at(case, &reading.at)
        };
        self.readings.iter().filter(of_row).copied()
    }

    fn box_stats(&self, row: &SummaryRow, case: &Case) -> BoxStats {
        let outside = |v: &&f64| **v < row.whisker_low || **v > row.whisker_high;
        let mut outliers: Vec<f64> = Vec::new();
        if self.kind.outliers {
            let outliers_of = self.errors(row).iter().filter(outside);
            outliers = outliers_of.copied().filter_map(finite).collect();
            outliers.sort_by(f64::total_cmp);
            outliers.dedup();
        }
        BoxStats {
            q1: row.q1,
            median: row.median,
            q3: row.q3,
            whisker_low: row.whisker_low,
            whisker_high: row.whisker_high,
            notch_low: row.notch_low,
            notch_high: row.notch_high,
            outliers,
            exact_mean: row.exact_mean.and_then(finite),
            printed: self.printed_box(case, row),
        }
    }

    /// The box as it was printed, if any of it was read.
    fn printed_box(&self, case: &Case, row: &SummaryRow) -> Option<[Option<f64>; 5]> {
        let read = |quantity: Quantity| {
            let mut readings = self.readings(case, row);
            readings.find(|reading| reading.quantity == quantity.id()).map(|reading| reading.read)
        };
        use Quantity::{Median, Q1, Q3, WhiskerHigh, WhiskerLow};
        let printed = [WhiskerLow, Q1, Median, Q3, WhiskerHigh].map(read);
        printed.iter().any(Option::is_some).then_some(printed)
    }

    fn means(&self, sheet: &Sheet, facet: &Facet, metric: &Metric) -> (String, Body) {
        // A prior without a number is a category.
        let places = facet.along(self.abscissa.axis);
        let position = |place: usize| self.abscissa.axis.position(places[place][0].case);
        let is_numbered = (0..places.len()).all(|place| position(place).is_some());
        let categories = (!is_numbered).then(|| places.iter().map(|at| self.name(at[0])).collect());
        let lines = self.series.iter().map(|(key, series)| {
            let mut points = Vec::new();
            for (place, marks) in places.iter().enumerate() {
                let own = marks.iter().find(|mark| self.abscissa.series.key(mark) == *key);
                let row = own.and_then(|mark| Some((mark.case, self.row(mark, metric.id())?)));
                let x = position(place).filter(|_| is_numbered).unwrap_or(place as f64);
                points.extend(row.map(|(case, row)| (x, case, row)));
            }
            self.curve(points, series.clone())
        });
        let note = self.without_infinite(sheet, facet, metric, "lines: exact law", |row| {
            row.mean.max(row.exact_mean.unwrap_or(0.0))
        });
        let body = CurveFigure {
            x_label: self.abscissa.axis.label(self.panel).unwrap_or_default(),
            y_label: format!("mean {}", metric.title()),
            x_scale: self.panel.scale(),
            y_scale: self.panel.scale(),
            lines: lines.collect(),
            categories,
            ..CurveFigure::default()
        };
        (note, body.into())
    }

    /// The line through some points: each has its place on the axis, its case and its row.
    fn curve(&self, mut points: Vec<(f64, &Case, &SummaryRow)>, series: Series) -> Curve {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sample = |&(x, _, row): &(f64, &Case, &SummaryRow)| Sample {
            x,
            mean: row.mean,
            half_width: 2.0 * row.std / (row.runs as f64).sqrt(),
        };
        let readings = points.iter().filter_map(|(_, case, row)| {
            let read = self.readings(case, row).find(|r| r.quantity == Quantity::Mean.id())?;
            Some((self.abscissa.axis.position(case)?, read.read))
        });
        let exact = points.iter().filter_map(|(x, _, row)| Some((*x, finite(row.exact_mean?)?)));
        Curve {
            exact: exact.collect(),
            sampled: points.iter().filter(|point| point.2.mean.is_finite()).map(sample).collect(),
            readings: readings.collect(),
            ..Curve::new(series)
        }
    }

    /// The error of every run, in one strip for each mark: the runs are independent, so that
    /// nothing joins them.
    fn runs(&self, sheet: &Sheet, facet: &Facet, metric: &Metric) -> (String, Body) {
        let drawn = self.panel.runs.min(MOST_DRAWN_RUNS);
        let mut lines: Vec<Curve> = Vec::new();
        let Abscissa { axis, series: told_by, .. } = self.abscissa;
        let is_single = axis == told_by || facet.along(axis).len() == 1;
        for mark in &facet.marks {
            let key = told_by.key(mark);
            let known = self.series.iter().find(|(known, _)| *known == key);
            let (Some((_, series)), Some(row)) = (known, self.row(mark, metric.id())) else {
                continue;
            };
            let mut series = series.clone();
            if !is_single {
                series.label = format!("{}, {}", series.label, self.name(mark));
            }
            let place = lines.len() as f64;
            let errors = self.errors(row).iter().take(drawn as usize).enumerate();
            let dot = |(run, error): (usize, &f64)| {
                (place + HALF_STRIP * (2.0 * (run as f64 + 0.5) / drawn as f64 - 1.0), *error)
            };
            lines.push(Curve {
                name: LineName::Elsewhere,
                ..line(series, errors.map(dot).collect())
            });
        }
        let which = match self.panel.runs > drawn {
            true => format!("the first {drawn} of them, from left to right"),
            false => "from left to right".to_owned(),
        };
        let body = CurveFigure {
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            y_label: metric.error_title(),
            categories: Some(lines.iter().map(|line| line.series.label.clone()).collect()),
            lines,
            join: Join::Dots,
            ..CurveFigure::default()
        };
        (self.note(sheet, &which), body.into())
    }
}

/// The most runs of each mechanism that are drawn.
const MOST_DRAWN_RUNS: u64 = 200;

/// How far the runs of a mechanism are spread to either side of its place.
const HALF_STRIP: f64 = 0.35;
