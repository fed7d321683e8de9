//! Values read off printed figures, and whether ours explain them.
//!
//! A reading is a measurement with an error of its own, and often of a *sampled* quantity: the
//! authors drew quartiles and means of 1000 runs. So an exact law is not compared digit by digit:
//! each reading is asked whether it is plausible under our law.

use serde::Deserialize;

use engine::mechanism::law::{Distribution, Summary};
use engine::named;
use engine::named::Named;
use system::diagnostic::{Diagnostic, Place};
use table::ReadingRow;

/// The runs behind a sampled value in print, unless its reading says otherwise (icml §7.1.2, arxiv
/// §7.2.2).
const RUNS_IN_PRINT: f64 = 1000.0;

/// The most standard errors that a sampled reading may be off.
pub const MOST_STANDARD_ERRORS: f64 = 4.0;

/// The probability of [`MOST_STANDARD_ERRORS`] or more, on both sides: the least probability that a
/// reading may have.
const LEAST_PROBABILITY: f64 = 6.3e-5;

named! {
    /// What was read.
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Quantity {
        /// P[H = c] at a corner of a theory curve.
        Vertex = "vertex",
        /// A point on a curve between its corners.
        Curve = "curve",
        /// A local sensitivity.
        Local = "local",
        /// A privacy loss.
        Loss = "loss",
        /// The largest change of the score of a candidate.
        Change = "change",
        /// A sampled mean.
        Mean = "mean",
        /// A sampled lower quartile.
        Q1 = "q1",
        /// A sampled median.
        Median = "median",
        /// A sampled upper quartile.
        Q3 = "q3",
        /// The end of a lower whisker.
        WhiskerLow = "whisker_low",
        /// The end of an upper whisker.
        WhiskerHigh = "whisker_high",
    }
}

/// One value read off a figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Reading {
    pub mechanism: String,
    /// The abscissa or the group as printed.
    pub at: String,
    pub quantity: Quantity,
    pub value: f64,
    pub error: f64,
    pub pixel: f64,
    /// The reading error of the abscissa, if that was read too.
    pub at_error: Option<f64>,
    pub at_pixel: Option<f64>,
    /// The number of runs behind a sampled value.
    #[serde(default)]
    pub runs: Option<f64>,
    /// What is known about the reading; a reading with a note may deviate.
    pub note: String,
}

/// All readings of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadingSet {
    /// What a config calls it.
    pub name: String,
    pub readings: Vec<Reading>,
}

impl ReadingSet {
    /// Reads a CSV file of readings.
    pub fn parse(name: &str, bytes: &[u8], file: &str) -> Result<Self, Diagnostic> {
        let mut reader = csv::Reader::from_reader(bytes);
        let mut readings: Vec<Reading> = Vec::new();
        for reading in reader.deserialize() {
            let reading: Reading = reading.map_err(|error: csv::Error| {
                let line = error.position().map_or(1, csv::Position::line) as usize;
                Diagnostic::new(format!("this is no table of readings: {error}"))
                    .at(Place::line(file, line))
                    .help(
                        "give the columns mechanism, at, quantity, value, error, pixel, at_error, \
                         at_pixel, note, and runs if they are not 1000",
                    )
            })?;
            if let Some((column, number)) = reading.unsound() {
                let cause = format!("{column} of `{}` is {number}", reading.mechanism);
                return Err(Diagnostic::new(cause)
                    .at(Place::line(file, readings.len() + 2))
                    .help("use finite numbers, 0 or more for errors and pixels"));
            }
            if readings.len() == MOST_READINGS {
                return Err(Diagnostic::new(format!(
                    "these are more than {MOST_READINGS} readings"
                ))
                .at(Place::line(file, readings.len() + 2))
                .help("give the readings of one figure"));
            }
            readings.push(reading);
        }
        Ok(Self { name: name.to_owned(), readings })
    }
}

/// No figure shows more.
const MOST_READINGS: usize = 10_000;

impl Reading {
    /// Everything that a comparison with it depends on, for the key of a cell.
    pub fn key(&self) -> String {
        let Self { mechanism, at, quantity, value, error, pixel, at_error, at_pixel, runs, note } =
            self;
        let [at_error, at_pixel, runs] = [at_error, at_pixel, runs]
            .map(|number| number.map_or(String::new(), |n| n.to_string()));
        let quantity = quantity.id();
        format!(
            "{mechanism};{at};{quantity};{value};{error};{pixel};{at_error};{at_pixel};{runs};{note}"
        )
    }

    /// A number that cannot have been read off a figure, with its column.
    fn unsound(&self) -> Option<(&'static str, f64)> {
        let errors = [
            ("error", Some(self.error)),
            ("pixel", Some(self.pixel)),
            ("at_error", self.at_error),
            ("at_pixel", self.at_pixel),
            ("runs", self.runs),
        ];
        let errors = errors.into_iter().filter_map(|(column, number)| Some((column, number?)));
        let unsound = |number: f64| !(number.is_finite() && number >= 0.0);
        let value = Some(("value", self.value)).filter(|_| !self.value.is_finite());
        value.or(errors.into_iter().find(|(_, number)| unsound(*number)))
    }

    /// The abscissa as a number.
    pub fn position(&self) -> Option<f64> {
        self.at.parse().ok().filter(|at: &f64| at.is_finite())
    }

    fn row(&self, panel: &str, computed: f64) -> ReadingRow {
        ReadingRow {
            panel: panel.to_owned(),
            mechanism: self.mechanism.clone(),
            at: self.at.clone(),
            quantity: self.quantity.id().to_owned(),
            read: self.value,
            error: self.error,
            computed,
            deviation: self.value - computed,
            allowed: None,
            z: None,
            within: false,
            note: self.note.clone(),
        }
    }

    /// A value without sampling error: within the reading error and one pixel.
    pub fn of_value(&self, panel: &str, computed: f64) -> ReadingRow {
        let row = self.row(panel, computed);
        let allowed = self.error + self.pixel;
        ReadingRow { allowed: Some(allowed), within: row.deviation.abs() <= allowed, ..row }
    }

    /// A corner of a curve through `points`: the corner that lies nearest, of those that the
    /// reading of the abscissa allows.
    pub fn of_vertex(&self, panel: &str, points: &[(f64, f64)]) -> Option<ReadingRow> {
        let at = self.position()?;
        let reach = self.at_error.unwrap_or(0.0) + self.at_pixel.unwrap_or(0.0);
        let offset = |point: &&(f64, f64)| (point.0 - at).abs();
        let height = |point: &&(f64, f64)| (point.1 - self.value).abs();
        let near = points.iter().filter(|point| offset(point) <= reach);
        if let Some(point) = near.min_by(|a, b| height(a).total_cmp(&height(b))) {
            return Some(self.of_value(panel, point.1));
        }
        let nearest = points.iter().min_by(|a, b| offset(a).total_cmp(&offset(b)))?;
        Some(ReadingRow { within: false, ..self.of_value(panel, nearest.1) })
    }

    /// A point on the line between two corners of a curve.
    pub fn of_curve(&self, panel: &str, points: &[(f64, f64)]) -> Option<ReadingRow> {
        let at = self.position()?;
        let last = points.len().checked_sub(1)?;
        let right = points.partition_point(|point| point.0 < at).max(1).min(last);
        let ((x0, y0), (x1, y1)) = (points[right.saturating_sub(1)], points[right]);
        let part = if x1 > x0 { (at - x0) / (x1 - x0) } else { 0.0 };
        Some(self.of_value(panel, y0 + part * (y1 - y0)))
    }

    /// The number of runs behind the value, if that was sampled.
    fn runs(&self) -> f64 {
        self.runs.unwrap_or(RUNS_IN_PRINT).max(1.0)
    }

    /// A mean of sampled errors.
    pub fn of_mean(&self, panel: &str, law: &Summary) -> ReadingRow {
        let row = self.row(panel, law.mean);
        let standard_error = law.std / self.runs().sqrt();
        let allowed = MOST_STANDARD_ERRORS * standard_error + self.error;
        let z = (standard_error > 0.0).then(|| row.deviation / standard_error);
        let within = row.deviation.abs() <= allowed;
        ReadingRow { allowed: Some(allowed), z, within, ..row }
    }

    /// What a box of sampled errors shows. `fence` says where whiskers end, in quartile
    /// ranges; `quartiles` are those read off the same box.
    pub fn of_box(
        &self,
        panel: &str,
        law: &Distribution,
        quartiles: (f64, f64),
        fence: f64,
    ) -> ReadingRow {
        let (q1, q3) = quartiles;
        match self.quantity {
            Quantity::Q1 => self.of_quantile(panel, law, 0.25),
            Quantity::Q3 => self.of_quantile(panel, law, 0.75),
            Quantity::WhiskerLow => {
                self.of_whisker(panel, law, |v| v >= q1 - fence * (q3 - q1), false)
            }
            Quantity::WhiskerHigh => {
                self.of_whisker(panel, law, |v| v <= q3 + fence * (q3 - q1), true)
            }
            _ => self.of_quantile(panel, law, 0.5),
        }
    }

    /// The sampled p-quantile is plausible if P[H < q − err] <= p + 4s and P[H <= q + err] >=
    /// p − 4s, s = sqrt(p (1−p) / runs).
    fn of_quantile(&self, panel: &str, law: &Distribution, p: f64) -> ReadingRow {
        let s = (p * (1.0 - p) / self.runs()).sqrt();
        let before = law.below(self.value - self.error);
        let after = law.at_most(self.value + self.error);
        let z = ((before - p) / s).max((p - after) / s).max(0.0);
        let row = self.row(panel, law.quantile(p));
        ReadingRow { z: Some(z), within: z <= MOST_STANDARD_ERRORS, ..row }
    }

    /// The end of a whisker is the furthest run inside the fence. It is plausible if it lies inside
    /// the fence, if a run may fall there, and if it is not improbable that none fell between it and the
    /// fence.
    fn of_whisker(
        &self,
        panel: &str,
        law: &Distribution,
        inside_fence: impl Fn(f64) -> bool,
        upper: bool,
    ) -> ReadingRow {
        let reach = self.error + self.pixel;
        let here = law.at_most(self.value + reach) - law.below(self.value - reach);
        let inside = law.levels.iter().filter(|level| inside_fence(level.value));
        let (mut beyond, mut end) = (0.0, None);
        for level in inside {
            let further = if upper {
                level.value > self.value + reach
            } else {
                level.value < self.value - reach
            };
            // A level at the very fence may count or not: the quartiles are readings too.
            let at_fence = if upper {
                !inside_fence(level.value + 2.0 * reach)
            } else {
                !inside_fence(level.value - 2.0 * reach)
            };
            if further && !at_fence {
                beyond += level.probability;
            }
            if upper || end.is_none() {
                end = Some(level.value);
            }
        }
        let runs = self.runs();
        let some_here = -libm::expm1(runs * libm::log1p(-here.clamp(0.0, 1.0 - 1e-12)));
        let none_beyond = libm::exp(runs * libm::log1p(-beyond.clamp(0.0, 1.0 - 1e-12)));
        let within = some_here >= LEAST_PROBABILITY && none_beyond >= LEAST_PROBABILITY;
        // The end that the law makes likely: the furthest level that so many runs hit.
        let computed = likely_end(law, &inside_fence, upper, runs).or(end).unwrap_or(self.value);
        ReadingRow { within, ..self.row(panel, computed) }
    }
}

/// The largest deviation and where it is: in standard errors where the readings are of samples, since
/// those say more than distances.
pub fn largest_deviation<'a>(
    rows: impl IntoIterator<Item = &'a ReadingRow> + Clone,
) -> Option<String> {
    let size = |row: &ReadingRow| row.z.unwrap_or(row.deviation).abs();
    let sampled = rows.clone().into_iter().any(|row| row.z.is_some());
    let comparable = rows.into_iter().filter(|row| row.z.is_some() == sampled);
    let row = comparable.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let deviation = row.z.map_or_else(
        || format!("{:.1e}", row.deviation.abs()),
        |z| format!("{:.1} standard errors", z.abs()),
    );
    Some(format!("{deviation} ({} at {}, {})", row.mechanism, row.at, row.quantity))
}

/// The furthest value inside the fence beyond which (and inside it) a run falls with probability
/// below one half among `runs`.
fn likely_end(
    law: &Distribution,
    inside: &impl Fn(f64) -> bool,
    upper: bool,
    runs: f64,
) -> Option<f64> {
    let levels: Vec<_> = law.levels.iter().filter(|level| inside(level.value)).collect();
    let mut beyond = 0.0;
    let ordered: Box<dyn Iterator<Item = _>> =
        if upper { Box::new(levels.iter().rev()) } else { Box::new(levels.iter()) };
    for level in ordered {
        beyond += level.probability;
        if runs * beyond >= std::f64::consts::LN_2 {
            return Some(level.value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::mechanism::law::Level;

    #[test]
    fn a_curve_of_one_point_or_none_has_no_slope() {
        let at = |at: &str| reading(Quantity::Curve, at, 0.5);
        let computed = |reading: Reading, points: &[(f64, f64)]| {
            reading.of_curve("p", points).map(|row| row.computed)
        };
        assert_eq!(computed(at("0.3"), &[]), None);
        assert_eq!(computed(at("0.3"), &[(0.0, 1.0)]), Some(1.0));
        assert_eq!(computed(at("0.25"), &[(0.0, 1.0), (1.0, 0.0)]), Some(0.75));
        assert_eq!(computed(at("nan"), &[(0.0, 1.0), (1.0, 0.0)]), None);
    }

    fn reading(quantity: Quantity, at: &str, value: f64) -> Reading {
        Reading {
            mechanism: "EHD".into(),
            at: at.into(),
            quantity,
            value,
            error: 1e-3,
            pixel: 1e-3,
            at_error: Some(1e-3),
            at_pixel: Some(1e-3),
            runs: None,
            note: String::new(),
        }
    }

    /// An error of 0.1, 0.2, …, 1.0, each with probability 0.1.
    fn law() -> Distribution {
        let level = |i: u32| Level {
            value: f64::from(i) / 10.0,
            probability: 0.1,
            cumulative: f64::from(i) / 10.0,
            outputs: 1.0,
        };
        Distribution { levels: (1..=10).map(level).collect() }
    }

    #[test]
    fn a_corner_is_the_nearest_that_the_abscissa_allows() {
        let points = [(0.0, 0.5), (0.1, 0.30), (0.1005, 0.20), (0.2, 0.1)];
        let of = |at, value| reading(Quantity::Vertex, at, value).of_vertex("", &points).unwrap();
        assert_eq!(of("0.1", 0.2001).computed, 0.20, "of two near ones the one that fits");
        assert!(of("0.1", 0.2019).within && !of("0.1", 0.2021).within);
        let between = of("0.15", 0.2);
        assert!(!between.within, "there is no corner: {between:?}");
    }

    #[test]
    fn a_point_of_a_curve_lies_on_the_line() {
        let points = [(0.0, 0.0), (1.0, 0.5)];
        let of = |at, value| reading(Quantity::Curve, at, value).of_curve("", &points).unwrap();
        assert_eq!(of("0.5", 0.25).computed, 0.25);
        assert!(of("0.5", 0.2519).within && !of("0.5", 0.2521).within);
    }

    #[test]
    fn a_mean_may_be_four_standard_errors_off() {
        let law = Summary { mean: 0.5, std: 0.1, median: 0.5, q90: 0.6 };
        let of = |value| reading(Quantity::Mean, "100", value).of_mean("", &law);
        let allowed = 4.0 * 0.1 / 1000.0_f64.sqrt() + 1e-3;
        assert!(of(0.5 + 0.999 * allowed).within && !of(0.5 + 1.001 * allowed).within);
        assert!((of(0.6).z.unwrap() - 31.62).abs() < 0.01);
    }

    #[test]
    fn a_quartile_must_be_plausible_under_the_law() {
        let of = |quantity, value| {
            reading(quantity, "bike", value).of_box("", &law(), (0.3, 0.8), 1.5).within
        };
        let plausible = |quantity| -> Vec<u32> {
            (1..=10).filter(|&i| of(quantity, f64::from(i) / 10.0)).collect()
        };
        // 4s is 0.055 for a quartile and 0.063 for the median.
        assert_eq!(plausible(Quantity::Q1), [2, 3, 4]);
        assert_eq!(plausible(Quantity::Median), [5, 6]);
        assert_eq!(plausible(Quantity::Q3), [7, 8, 9]);
    }

    #[test]
    fn a_whisker_ends_at_the_last_run_inside_the_fence() {
        let of = |value| {
            reading(Quantity::WhiskerHigh, "bike", value).of_box("", &law(), (0.3, 0.5), 1.5)
        };
        // The fence is at 0.8, where the quartiles leave it open whether 0.8 counts.
        assert!(of(0.8).within && of(0.7).within);
        assert!(!of(0.6).within, "a thousand runs would have met 0.7");
        assert!(!of(0.75).within, "no run can fall there");
        let low = reading(Quantity::WhiskerLow, "bike", 0.1).of_box("", &law(), (0.3, 0.5), 1.5);
        assert!(low.within && low.computed == 0.1);
    }

    #[test]
    fn tables_of_readings_are_checked() {
        let header = "mechanism,at,quantity,value,error,pixel,at_error,at_pixel,note\n";
        let parse = |rows: &str| ReadingSet::parse("x", (header.to_owned() + rows).as_bytes(), "x");
        let set = parse("EHD,0.1,vertex,0.5,1e-3,1e-3,,,\n").unwrap();
        assert_eq!(set.readings[0].position(), Some(0.1));
        let error = parse("EHD,0.1,vertex,0.5,1e-3,1e-3,,,\nEHD,0.1,height,1,1,1,,,\n");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("x:3") && error.contains("help: "), "{error}");
    }
}
