//! The figures of the accuracy experiment: box plots of the sampled errors, and mean error against
//! n, ε or the prior, with the exact mean as a line.

use std::collections::BTreeMap;

use crate::experiment::{Case, Experiment, Naming, naming};
use crate::figure::{
    BoxFigure, BoxStats, Curve, CurveFigure, Figure, Group, Sample, Scale, Series, colour,
    distinguish,
};
use crate::mechanism::Variant;
use crate::metric::Metric;
use crate::model::vector;
use crate::stats::Whiskers;
use crate::table::SummaryRow;

/// What the horizontal axis shows: the first property, in this order, that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    At,
    Size,
    Epsilon,
    /// Priors whose parameters all agree.
    SymmetricPrior,
    Prior,
    Delta,
    Gamma,
    /// Nothing has an order: the data sets side by side.
    Data,
}

impl Axis {
    fn of(experiment: &Experiment, naming: &Naming) -> Self {
        let orders = [
            (Self::At, experiment.cases.iter().all(|case| case.at.is_some())),
            (Self::Size, naming.sizes && !naming.labelled && !naming.counts),
            (Self::Epsilon, naming.epsilons),
            (
                Self::SymmetricPrior,
                naming.priors && experiment.cases.iter().all(has_symmetric_prior),
            ),
            (Self::Prior, naming.priors),
            (Self::Delta, naming.deltas),
            (Self::Gamma, naming.gammas),
        ];
        orders.into_iter().find(|(_, differs)| *differs).map_or(Self::Data, |(axis, _)| axis)
    }

    /// The text under the axis, for cases like `case`.
    fn label(self, case: &Case) -> Option<&'static str> {
        match (self, case.setting.posterior.k()) {
            (Self::At, _) => Some("at"),
            (Self::Data, _) => None,
            (Self::Size, _) => Some("number of records n"),
            (Self::Epsilon, _) => Some("privacy parameter ε"),
            (Self::SymmetricPrior, 2) => Some("b, the prior being (b, b)"),
            (Self::SymmetricPrior, _) => Some("b, the prior being (b, …, b)"),
            (Self::Prior, _) => Some("prior"),
            (Self::Delta, _) => Some("δ"),
            (Self::Gamma, _) => Some("γ"),
        }
    }

    /// The number on the axis, where there is one.
    fn position(self, case: &Case) -> Option<f64> {
        let setting = &case.setting;
        match self {
            Self::At => case.at,
            Self::Size => Some(setting.posterior.n() as f64),
            Self::Epsilon => Some(setting.epsilon.get()),
            Self::SymmetricPrior => Some(setting.posterior.alpha(0)),
            Self::Delta => setting.delta.map(|delta| delta.get()),
            Self::Gamma => Some(setting.gamma.get()),
            Self::Prior | Self::Data => None,
        }
    }

    /// The text at the axis.
    fn name(self, case: &Case, naming: &Naming) -> String {
        match (self, self.position(case)) {
            (Self::Delta, Some(delta)) => format!("{delta:?}"),
            (_, Some(position)) => position.to_string(),
            (Self::Prior, None) => naming::parenthesised(case.setting.posterior.prior().alpha()),
            _ => naming.data(case),
        }
    }
}

fn has_symmetric_prior(case: &Case) -> bool {
    let alpha = case.setting.posterior.prior().alpha();
    alpha.iter().all(|a| *a == alpha[0])
}

/// Cases that share everything but what the axis shows: one figure. Each with its place among all.
struct Facet<'a> {
    cases: Vec<(usize, &'a Case)>,
}

/// The errors of one cell: case, mechanism, error.
pub type Errors<'a> = dyn Fn(usize, usize, usize) -> &'a [f64] + 'a;

/// Everything a figure needs to know.
struct Drawing<'a> {
    experiment: &'a Experiment,
    naming: Naming,
    axis: Axis,
    rows: BTreeMap<(usize, &'a str, &'a str), &'a SummaryRow>,
    errors: &'a Errors<'a>,
}

/// All figures with their names (without ending), drawn from the summary's rows; single errors are
/// asked for only where outliers are drawn.
#[must_use]
pub fn figures<'a>(
    experiment: &'a Experiment,
    summary: &'a [SummaryRow],
    errors: &'a Errors<'a>,
) -> Vec<(String, Figure)> {
    let naming = Naming::new(&experiment.cases);
    let axis = Axis::of(experiment, &naming);
    let rows =
        summary.iter().map(|row| ((row.setting, &*row.mechanism, &*row.metric), row)).collect();
    let drawing = Drawing { experiment, naming, axis, rows, errors };
    let facets = drawing.facets();
    let metrics = experiment.errors();
    let mut figures = Vec::new();
    for (number, facet) in (1..).zip(&facets) {
        for (metric_index, metric) in metrics.iter().enumerate() {
            let mut suffix = String::new();
            if metric_index > 0 {
                suffix += &format!("-{}", metric.id);
            }
            if facets.len() > 1 {
                suffix += &format!("-{number}");
            }
            let boxes = drawing.boxes(facet, metric, metric_index);
            figures.push((format!("box{suffix}"), Figure::Box(boxes)));
            if axis != Axis::Data {
                let means = drawing.means(facet, metric);
                figures.push((format!("mean{suffix}"), Figure::Curve(means)));
            }
        }
    }
    figures
}

impl<'a> Drawing<'a> {
    /// Groups the cases by everything but the axis, in order of appearance.
    fn facets(&self) -> Vec<Facet<'a>> {
        let mut keys: Vec<String> = Vec::new();
        let mut facets: Vec<Facet> = Vec::new();
        for (index, case) in self.experiment.cases.iter().enumerate() {
            let key = self.facet_key(case);
            let place = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                keys.push(key);
                facets.push(Facet { cases: Vec::new() });
                facets.len() - 1
            });
            facets[place].cases.push((index, case));
        }
        facets
    }

    fn facet_key(&self, case: &Case) -> String {
        let data = match self.axis {
            Axis::Size | Axis::Data | Axis::At => String::new(),
            _ => self.naming.data(case),
        };
        self.shared(case, &data)
    }

    /// Prior, ε, δ and γ as far as the axis does not show them, after `data`.
    fn shared(&self, case: &Case, data: &str) -> String {
        let unless =
            |axes: &[Axis], text: Option<String>| text.filter(|_| !axes.contains(&self.axis));
        let variants = &self.experiment.variants;
        let delta_matters =
            self.naming.deltas || variants.iter().any(|variant| variant.mechanism.uses_delta());
        let gamma_matters = self.naming.gammas || case.setting.gamma.get() != 1.0;
        let parts = [
            Some(data.to_owned()).filter(|data| !data.is_empty()),
            unless(&[Axis::Epsilon], Some(naming::epsilon(case))),
            unless(&[Axis::Prior, Axis::SymmetricPrior], Some(naming::prior(case))),
            unless(&[Axis::Delta], naming::delta(case).filter(|_| delta_matters)),
            unless(&[Axis::Gamma], gamma_matters.then(|| naming::gamma(case))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn note(&self, facet: &Facet, last: &str) -> String {
        let runs = match self.experiment.runs {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        };
        format!("{}, {runs}; {last}", self.facet_key(facet.cases[0].1))
    }

    fn row(&self, case: usize, label: &str, metric: &str) -> Option<&'a SummaryRow> {
        self.rows.get(&(case + 1, label, metric)).copied()
    }

    fn series(&self) -> Vec<Series> {
        let first = &self.experiment.cases[0].setting;
        let mut series: Vec<Series> = (self.experiment.variants.iter())
            .map(|variant| Series {
                label: variant.title().to_owned(),
                colour: colour(variant.mechanism.id()),
                private: variant.guarantee(first).is_private(),
            })
            .collect();
        distinguish(&mut series);
        series
    }

    fn boxes(&self, facet: &Facet, metric: &Metric, metric_index: usize) -> BoxFigure {
        let whiskers = match self.experiment.look.whiskers {
            Whiskers::Range => "whiskers: range".to_owned(),
            Whiskers::Iqr(factor) => format!("whiskers: {factor} IQR"),
        };
        let groups = facet.cases.iter().map(|&(index, case)| {
            let counts = vector(case.setting.posterior.counts()).replace(';', " / ");
            let data_axis = matches!(self.axis, Axis::Data | Axis::At);
            Group {
                label: self.axis.name(case, &self.naming),
                sublabel: (data_axis && self.naming.labelled).then_some(counts),
                boxes: (self.experiment.variants.iter().enumerate())
                    .map(|(variant, Variant { label, .. })| {
                        let row = self.row(index, label, metric.id)?;
                        Some(self.box_stats(row, (self.errors)(index, variant, metric_index)))
                    })
                    .collect(),
            }
        });
        BoxFigure {
            title: self.experiment.title.clone(),
            note: self.note(facet, &whiskers),
            x_label: self.axis.label(facet.cases[0].1).map(str::to_owned),
            y_label: metric.error_title(),
            series: self.series(),
            groups: groups.collect(),
            bounds: Some((0.0, metric.bound.unwrap_or(f64::INFINITY))),
        }
    }

    fn box_stats(&self, row: &SummaryRow, errors: &[f64]) -> BoxStats {
        let outside = |v: &&f64| **v < row.whisker_low || **v > row.whisker_high;
        let mut outliers: Vec<f64> = Vec::new();
        if self.experiment.look.outliers {
            outliers = errors.iter().filter(outside).copied().collect();
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
            exact_mean: row.exact_mean,
        }
    }

    fn means(&self, facet: &Facet, metric: &Metric) -> CurveFigure {
        // A prior without a number is a category.
        let positions: Option<Vec<f64>> =
            facet.cases.iter().map(|(_, case)| self.axis.position(case)).collect();
        let names = || facet.cases.iter().map(|(_, case)| self.axis.name(case, &self.naming));
        let categories = positions.is_none().then(|| names().collect());
        let positions =
            positions.unwrap_or_else(|| (0..facet.cases.len()).map(|i| i as f64).collect());
        let variants = self.experiment.variants.iter();
        let lines = variants.zip(self.series()).map(|(variant, series)| {
            self.curve(facet, &positions, &variant.label, metric.id, series)
        });
        CurveFigure {
            title: self.experiment.title.clone(),
            note: self.note(facet, "lines: exact law"),
            x_label: self.axis.label(facet.cases[0].1).unwrap_or_default().to_owned(),
            y_label: format!("mean {}", metric.title),
            x_scale: Scale::Auto,
            y_scale: Scale::Auto,
            lines: lines.collect(),
            categories,
            ..CurveFigure::default()
        }
    }

    fn curve(
        &self,
        facet: &Facet,
        positions: &[f64],
        label: &str,
        metric: &str,
        series: Series,
    ) -> Curve {
        let mut points: Vec<(f64, &SummaryRow)> = positions
            .iter()
            .zip(&facet.cases)
            .filter_map(|(&x, (case, _))| Some((x, self.row(*case, label, metric)?)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sample = |&(x, row): &(f64, &SummaryRow)| Sample {
            x,
            mean: row.mean,
            half_width: 2.0 * row.std / (row.runs as f64).sqrt(),
        };
        let exact = points.iter().filter_map(|(x, row)| Some((*x, row.exact_mean?))).collect();
        Curve { series, exact, sampled: points.iter().map(sample).collect() }
    }
}
