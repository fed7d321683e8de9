//! How the work grows with the number of records: all candidates, those that exponential mechanisms
//! weigh one by one because they are nearer than distance 1, and the outputs that the other
//! mechanisms walk.
//!
//! A candidate is nearer than 1 if it is within some standard deviations of the posterior, of the
//! order of sqrt(n) in each of k − 1 directions: their number grows like n^((k−1)/2), that of all
//! candidates like n^(k−1).

use super::curves::{against_n, line, other_colour};
use super::prelude::*;
use engine::mechanism::law::is_walked;
use engine::numeric::ln;
use engine::posterior::distance::near;
use engine::posterior::model::approximate_compositions;
use engine::posterior::simplex::{COUNTED, Region, count};
use figure::{Curve, LineStyle, Series};
use system::console::{short, short_or_dash};
use table::{ScalingRow, distinct};

/// In place of a mechanism: all candidates, and those nearer than distance 1.
pub const CANDIDATES: &str = "candidates";
/// See [`CANDIDATES`].
pub const NEAR: &str = "nearer than 1";

kind! {
    "scaling": "how the work grows with the number of records";
    /// The counts of candidates and outputs.
    pub struct Scaling {}
}

impl Kind for Scaling {
    fn why_untuned(&self) -> Option<&'static str> {
        Some("counts outputs, which calibration and remapping do not change")
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        let posterior = &case.setting.posterior;
        Some(format!("{}, k = {}", posterior.n(), posterior.k()))
    }

    fn uncrowding(&self) -> &'static str {
        "draws one line for every number of categories: use one prior of each length, one ε, δ and \
         γ, and each n once"
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, setting, .. } = *task;
        let posterior = &case.setting.posterior;
        let (n, k) = (posterior.n(), posterior.k());
        let outputs_of = |region: &Region| count(region, COUNTED);
        let candidates = approximate_compositions(n, k);
        let plateau = case.setting.distance.plateau(posterior);
        let nearer = plateau.map_or(candidates, |power| outputs_of(&near(posterior, power)));
        let mut counts = vec![(CANDIDATES, candidates), (NEAR, nearer)];
        for (variant, recipe) in panel.variants.iter().zip(panel.recipes(case)?) {
            let region = recipe.region(posterior).filter(is_walked);
            counts.extend(region.map(|region| (variant.label.as_str(), outputs_of(&region))));
        }
        let row = |(mechanism, outputs): (&str, f64)| ScalingRow {
            setting,
            k,
            n,
            mechanism: mechanism.to_owned(),
            outputs,
        };
        Ok(Tables { scaling: counts.into_iter().map(row).collect(), ..Tables::default() })
    }

    /// One curve of near candidates and one of all for every number of categories.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let mut categories: Vec<usize> =
            panel.cases.iter().map(|case| case.setting.posterior.k()).collect();
        categories.sort_unstable();
        categories.dedup();
        let lines = categories.iter().enumerate().flat_map(|(order, &k)| {
            let named = |label: String, counted: &str, style: LineStyle| {
                let series = Series { label, colour: other_colour(order), private: true };
                Curve { style, ..line(series, curve(panel, tables, k, counted)) }
            };
            let nearer = curve(panel, tables, k, NEAR);
            let label = match slope(&nearer) {
                Some(slope) => format!("k = {k}: slope {slope:.2}"),
                None => format!("k = {k}"),
            };
            let all = named(format!("k = {k}: |R|"), CANDIDATES, LineStyle::Dotted);
            [named(label, NEAR, LineStyle::Solid), all]
        });
        let note = format!(
            "{}; dotted: all candidates |R|; slopes: least squares over the last decade of n, limit \
             (k−1)/2",
            panel.distance.title()
        );
        let figure = CurveFigure {
            y_scale: Scale::Log,
            lines: lines.collect(),
            ..against_n("candidates nearer than distance 1")
        };
        vec![("scaling".to_owned(), panel.figure(note, figure))]
    }

    /// What is counted at every case.
    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let own: Vec<&ScalingRow> =
            tables.scaling.iter().filter(|row| panel.owns(row.setting)).collect();
        let counted = distinct(own.iter().map(|row| row.mechanism.as_str()));
        let rows = panel.settings().map(|(setting, case)| {
            let posterior = &case.setting.posterior;
            let cell = |what: &&str| {
                let found = own.iter().find(|row| row.setting == setting && row.mechanism == *what);
                found.map_or_else(|| short_or_dash(None), |row| whole(row.outputs))
            };
            let name = format!("k = {}, n = {}", posterior.k(), posterior.n());
            std::iter::once(name).chain(counted.iter().map(cell)).collect()
        });
        vec![Digest {
            caption: "numbers of candidates, of candidates nearer than distance 1, and of outputs visited".to_owned(),
            columns: std::iter::once("").chain(counted.clone()).map(str::to_owned).collect(),
            rows: rows.collect(),
        }]
    }

    fn cost(&self, panel: &Panel, case: &Case) -> Result<SettingWork, Refusal> {
        Ok(cost::predict_counts(&case.setting, &panel.outlines(case)?))
    }

    fn row_count(&self, panel: &Panel, _: &Case, _: &SettingWork) -> f64 {
        panel.variants.len() as f64 + 2.0
    }
}

/// A count, by all its digits or by four.
fn whole(count: f64) -> String {
    if count < 1e6 { format!("{count:.0}") } else { short(count) }
}

/// The last part of a curve that its slope is fitted to: this factor in n.
const FITTED: f64 = 10.0;

/// The slope of the last decade of a curve on logarithmic axes, by least squares; `None` if there
/// are fewer than two points.
pub fn slope(curve: &[(f64, f64)]) -> Option<f64> {
    let last = curve.iter().map(|(x, _)| *x).fold(0.0, f64::max);
    // A size that misses the decade by rounding only is part of it.
    let fitted = curve.iter().filter(|(x, y)| *x >= 0.999 * last / FITTED && *x > 0.0 && *y > 0.0);
    let points: Vec<(f64, f64)> = fitted.map(|&(x, y)| (ln(x), ln(y))).collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let moment = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let spread = moment(&|point| (point.0 - x) * (point.0 - x));
    (spread > 0.0).then(|| moment(&|point| (point.0 - x) * (point.1 - y)) / spread)
}

/// The points of one curve: k categories, and what is counted.
pub fn curve(panel: &Panel, tables: &Tables, k: usize, counted: &str) -> Vec<(f64, f64)> {
    let own = |row: &&ScalingRow| panel.owns(row.setting) && row.k == k;
    let own = tables.scaling.iter().filter(own).filter(|row| row.mechanism == counted);
    let mut points: Vec<(f64, f64)> = own.map(|row| (row.n as f64, row.outputs)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_last_decade() {
        let kinked = |x: f64| if x < 90.0 { 7.0 } else { x * x };
        let curve: Vec<(f64, f64)> =
            [1.0, 10.0, 50.0, 100.0, 300.0, 1000.0].map(|x| (x, kinked(x))).to_vec();
        assert!((slope(&curve).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(slope(&curve[..1]), None);
        assert_eq!(slope(&[]), None);
    }
}
