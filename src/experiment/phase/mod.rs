//! When does each mechanism win (arxiv §8.1)? The mechanism with the least exact mean error at every
//! point of a plane: the number of records n, and one property more.
//!
//! Only mechanisms that are ε-private at the setting's own ε compete: one without that guarantee
//! would win by giving less, so the config reader refuses it.

mod figures;

pub use figures::figures;

use super::axis::Axis;
use super::{Case, DataSpec, Finished, Naming, Panel};
use crate::experiment::table::{MeanRow, PhaseRow, Tables};
use crate::mechanism::Variant;
use crate::mechanism::law;
use crate::mechanism::prepared::PreparedSetting;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;

/// Means nearer than this, relative to each other, are equal.
const SAME: f64 = 1e-11;

/// The exact mean error of every mechanism, and who wins.
pub(super) fn at_case(panel: &Panel, case: usize, finished: &Finished) -> Tables {
    let setting = panel.first + case;
    let means = means(panel, &panel.cases[case], finished);
    let labels: Vec<&str> = panel.variants.iter().map(|variant| variant.label.as_str()).collect();
    let known = labels.iter().zip(&means).filter_map(|(label, mean)| Some((label, (*mean)?)));
    let rows = known.map(|(label, mean)| MeanRow { setting, mechanism: (*label).to_owned(), mean });
    let mut tables = Tables { means: rows.collect(), ..Tables::default() };
    for &among in Among::of(panel) {
        let playing: Vec<(usize, f64)> = (means.iter().enumerate())
            .filter(|(place, _)| among.has(panel, *place))
            .filter_map(|(place, mean)| Some((place, (*mean)?)))
            .collect();
        let contest = Contest::new(&playing);
        tables.phase.extend(contest.map(|contest| contest.row(setting, among, &labels)));
    }
    tables
}

/// Who competes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All mechanisms of the panel.
    All,
    /// Those that the config does not leave out of a second contest.
    Fewer,
}

impl Among {
    /// The contests of a panel.
    #[must_use]
    pub fn of(panel: &Panel) -> &'static [Self] {
        if panel.parameters.without.is_empty() { &[Self::All] } else { &[Self::All, Self::Fewer] }
    }

    /// Its name in the table.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Fewer => "without",
        }
    }

    /// Whether the mechanism at this place of the panel competes.
    #[must_use]
    pub fn has(self, panel: &Panel, place: usize) -> bool {
        self == Self::All || !panel.parameters.without.contains(&panel.variants[place].label)
    }

    /// The mechanisms that compete, with their places.
    pub fn players(self, panel: &Panel) -> impl Iterator<Item = (usize, &Variant)> {
        panel.variants.iter().enumerate().filter(move |(place, _)| self.has(panel, *place))
    }

    /// The rows of the contest.
    pub fn rows<'a>(
        self,
        panel: &'a Panel,
        tables: &'a Tables,
    ) -> impl Iterator<Item = &'a PhaseRow> {
        let own = move |row: &&PhaseRow| panel.owns(row.setting) && row.contest == self.id();
        tables.phase.iter().filter(own)
    }

    /// The title of the contest in words.
    #[must_use]
    pub fn title(self, panel: &Panel) -> String {
        let without = &panel.parameters.without;
        let title = |label: &String| {
            let variant = panel.variants.iter().find(|variant| variant.label == *label);
            variant.map_or_else(|| label.clone(), |variant| variant.title())
        };
        match self {
            Self::All => panel.title.clone(),
            Self::Fewer => {
                let names: Vec<String> = without.iter().map(title).collect();
                format!("{}, without {}", panel.title, names.join(", "))
            }
        }
    }
}

/// The means; none where an error is so steep that its mean depends on what is not walked.
fn means(panel: &Panel, case: &Case, finished: impl Fn(usize)) -> Vec<Option<f64>> {
    let plans = panel.plans(case);
    let bench = PreparedSetting::new(&case.setting, &plans, &[]);
    let field = bench.fields().next().expect("the distance");
    let mean = |(place, plan)| {
        let mean = law::mean(bench.law(plan).as_ref(), field);
        finished(place);
        mean
    };
    plans.iter().enumerate().map(mean).collect()
}

/// The best of several means and the best of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Contest {
    winner: (usize, f64),
    runner_up: (usize, f64),
}

impl Contest {
    /// Among equal means the first counts as the best, and the next as the second; `None` without a
    /// second.
    fn new(means: &[(usize, f64)]) -> Option<Self> {
        let winner = least(means.iter().copied())?;
        let others = means.iter().copied().filter(|(place, _)| *place != winner.0);
        Some(Self { winner, runner_up: least(others)? })
    }

    /// How much larger the second mean is, as a part of the best; 0 if they are equal. `None` beside
    /// a best of 0.
    fn margin(&self) -> Option<f64> {
        let (best, second) = (self.winner.1, self.runner_up.1);
        match second <= best * (1.0 + SAME) {
            true => Some(0.0),
            false => Some((second - best) / best).filter(|margin| margin.is_finite()),
        }
    }

    fn row(&self, setting: usize, among: Among, labels: &[&str]) -> PhaseRow {
        PhaseRow {
            setting,
            contest: among.id().to_owned(),
            winner: labels[self.winner.0].to_owned(),
            mean: self.winner.1,
            runner_up: labels[self.runner_up.0].to_owned(),
            runner_up_mean: self.runner_up.1,
            margin: self.margin(),
        }
    }
}

/// The first of the least numbers, equal ones counting as one.
fn least(means: impl Iterator<Item = (usize, f64)> + Clone) -> Option<(usize, f64)> {
    let least = means.clone().map(|(_, mean)| mean).fold(f64::INFINITY, f64::min);
    means.into_iter().find(|(_, mean)| *mean <= least * (1.0 + SAME))
}

/// Why a mechanism must not compete, if so: what it states instead of the setting's own ε.
#[must_use]
pub fn disqualification(variant: &Variant, setting: &Setting) -> Option<Guarantee> {
    (!variant.is_private(setting)).then(|| variant.guarantee(setting))
}

/// What the vertical axis shows: what differs between the cases beside their size.
pub(super) fn ordinate(panel: &Panel) -> Option<Axis> {
    Axis::beside_size(panel, &Naming::new(&panel.cases))
}

/// Whether the cases differ in a number beside their size.
#[must_use]
pub fn has_ordinate(panel: &Panel) -> bool {
    ordinate(panel).is_some()
}

/// What the vertical axis shows.
#[must_use]
pub fn ordinate_label(panel: &Panel) -> Option<String> {
    ordinate(panel)?.label(panel)
}

/// Where a setting stands, in short: "n = 20, ε = 0.105".
#[must_use]
pub fn place_name(panel: &Panel, setting: usize) -> Option<String> {
    let axis = ordinate(panel)?;
    let (n, other) = place(axis, panel.case(setting)?)?;
    let symbol = match panel.grid.data {
        DataSpec::Shares { .. } => "share",
        _ => axis.symbol(),
    };
    Some(format!("n = {n}, {symbol} = {}", three_digits(other)))
}

/// A number to three significant digits, without needless zeros.
fn three_digits(value: f64) -> String {
    let rounded: Option<f64> = format!("{value:.2e}").parse().ok();
    rounded.unwrap_or(value).to_string()
}

/// Where a case stands: its number of records, and what it has beside.
fn place(axis: Axis, case: &Case) -> Option<(f64, f64)> {
    Some((case.setting.posterior.n() as f64, axis.position(case)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(means: &[f64]) -> Option<Contest> {
        Contest::new(&means.iter().copied().enumerate().collect::<Vec<_>>())
    }

    #[test]
    fn the_least_mean_wins_and_the_next_is_second() {
        let contest = among(&[0.3, 0.1, 0.4, 0.15]).unwrap();
        assert_eq!((contest.winner, contest.runner_up), ((1, 0.1), (3, 0.15)));
        assert!((contest.margin().unwrap() - 0.5).abs() < 1e-15);
        assert_eq!(among(&[0.3]), None);
    }

    #[test]
    fn equal_means_are_a_tie_and_the_first_counts() {
        let near = 0.1 * (1.0 - 3e-12);
        let contest = among(&[0.3, 0.1, near, 0.2]).unwrap();
        assert_eq!((contest.winner.0, contest.runner_up.0), (1, 2));
        assert_eq!(contest.margin(), Some(0.0));
        let apart = among(&[0.3, 0.1, 0.1 * (1.0 - 3e-11), 0.2]).unwrap();
        assert_eq!((apart.winner.0, apart.runner_up.0), (2, 1));
        assert!(apart.margin().unwrap() > 0.0);
    }

    #[test]
    fn nobody_is_better_than_no_error_by_a_number() {
        let contest = among(&[0.0, 0.0, 0.1]).unwrap();
        assert_eq!((contest.winner.0, contest.margin()), (0, Some(0.0)));
        assert_eq!(among(&[0.0, 0.1]).unwrap().margin(), None);
    }
}
