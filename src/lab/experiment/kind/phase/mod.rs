//! When does each mechanism win (arxiv §8.1)? The mechanism with the least exact mean error at every
//! point of a plane: the number of records n, and one property more.
//!
//! Only mechanisms that are ε-private at the setting's own ε compete: one without that guarantee
//! would win by giving less, so it is refused.

mod figures;

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::prelude::*;
use crate::experiment::DataSpec;
use crate::experiment::axis::Axis;
use crate::experiment::digest::percent;
use engine::mechanism::Mechanism;
use engine::mechanism::law::{self, Law};
use engine::named;
use engine::named::Named;
use engine::parallel;
use engine::refusal::suggest;
use table::{MeanRow, PhaseRow};

/// Means nearer than this, relative to each other, are equal.
const SAME: f64 = 1e-11;

kind! {
    "phase": "a map of the mechanism with the least error";
    /// The exact mean error of every mechanism, and who wins.
    pub struct Phase {
        /// Labels of mechanisms that take no part in a second contest.
        "without" => without: Vec<String>,
    }
}

impl Kind for Phase {
    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        self.check_contest(panel)?;
        if panel.variants.len() == 1 {
            let cause = "a phase diagram compares two mechanisms or more";
            let remedy = "write for example mechanisms = [\"lshist\", \"ehds\"]";
            return Err(About::Mechanism(0).wrong(cause, remedy));
        }
        (0..panel.variants.len()).try_for_each(|place| check_competitor(panel, place))?;
        if ordinate(panel).is_none() {
            return Err(About::Data.wrong(
                "a phase diagram has two axes, n and another number",
                "give several epsilon, several symmetric priors, or [data.shares]: for example \
                 epsilon = { from = 0.1, to = 10, count = 40, spacing = \"log\" }",
            ));
        }
        Ok(())
    }

    fn place(&self, _: &Panel, abscissa: &Abscissa, case: &Case) -> Option<String> {
        let ordinate = abscissa.ordinate.unwrap_or(abscissa.axis);
        let n = case.setting.n;
        Some(format!("{n}, {}", ordinate.name(case, &abscissa.naming)))
    }

    fn uncrowding(&self) -> &'static str {
        "draws a map over n and one other number: use several of only one of ε, priors and shares \
         for each panel, each n once"
    }

    fn complete_key(&self, _: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("without", &self.without);
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, setting, .. } = *task;
        let means = means(task)?;
        let labels: Vec<&str> = panel.variants.iter().map(|variant| &*variant.label).collect();
        let known = labels.iter().zip(&means).filter_map(|(label, mean)| Some((label, (*mean)?)));
        let rows =
            known.map(|(label, mean)| MeanRow { setting, mechanism: (*label).to_owned(), mean });
        let mut tables = Tables { means: rows.collect(), ..Tables::default() };
        for &among in self.contests() {
            let competing: Vec<(usize, f64)> = (means.iter().enumerate())
                .filter(|(place, _)| self.competes(among, &panel.variants[*place]))
                .filter_map(|(place, mean)| Some((place, (*mean)?)))
                .collect();
            let contest = Contest::new(&competing);
            tables.phase.extend(contest.map(|contest| contest.row(setting, among, &labels)));
        }
        Ok(tables)
    }

    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        figures::figures(self, panel, tables)
    }

    /// For every contest and mechanism how much of the map it wins, and where by most.
    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        self.contests().iter().map(|&among| self.digest(panel, tables, among)).collect()
    }

    fn answers(&self, panel: &Panel, tables: &Tables) -> Vec<String> {
        let answer = |&among: &Among| {
            Some(format!("{}: {}.", self.title(among, panel), winners(panel, tables, among)?))
        };
        self.contests().iter().filter_map(answer).collect()
    }

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        let law = |law: &dyn Law| {
            size::of(law, case.setting.posterior(), case.setting.distance, size::MEAN)
        };
        Ok(CaseSize::of(&case.setting, &panel.outlines(case)?, law))
    }
}

named! {
    /// Who competes.
    pub enum Among {
        /// All mechanisms of the panel.
        All = "all",
        /// Those that the config does not leave out of a second contest.
        Fewer = "without",
    }
}

impl Among {
    /// The rows of the contest.
    pub fn rows<'a>(
        self,
        panel: &'a Panel,
        tables: &'a Tables,
    ) -> impl Iterator<Item = &'a PhaseRow> {
        let own = move |row: &&PhaseRow| panel.owns(row.setting) && row.contest == self.id();
        tables.phase.iter().filter(own)
    }
}

impl Phase {
    /// The contests of a panel.
    fn contests(&self) -> &'static [Among] {
        if self.without.is_empty() { &[Among::All] } else { &[Among::All, Among::Fewer] }
    }

    /// Whether a mechanism takes part in a contest.
    fn competes(&self, among: Among, variant: &Mechanism) -> bool {
        among == Among::All || !self.without.contains(&variant.label)
    }

    /// The mechanisms that take part in a contest.
    fn competitors<'a>(
        &self,
        among: Among,
        panel: &'a Panel,
    ) -> impl Iterator<Item = &'a Mechanism> {
        panel.variants.iter().filter(move |variant| self.competes(among, variant))
    }

    /// The title of a contest in words.
    fn title(&self, among: Among, panel: &Panel) -> String {
        match among {
            Among::All => panel.title.clone(),
            Among::Fewer => {
                let names: Vec<String> =
                    self.without.iter().map(|label| panel.title_of(label)).collect();
                format!("{}, without {}", panel.title, names.join(", "))
            }
        }
    }

    fn digest(&self, panel: &Panel, tables: &Tables, among: Among) -> Digest {
        let own: Vec<&PhaseRow> = among.rows(panel, tables).collect();
        let row = |label: &str| {
            let won: Vec<&PhaseRow> =
                own.iter().filter(|row| row.winner == label).copied().collect();
            let share = 100.0 * won.len() as f64 / own.len().max(1) as f64;
            let margin = |row: &PhaseRow| row.margin.unwrap_or(f64::INFINITY);
            let largest = won.iter().max_by(|a, b| margin(a).total_cmp(&margin(b)));
            let place = |row: &&PhaseRow| place_name(panel, row.setting).unwrap_or_default();
            vec![
                label.to_owned(),
                match (own.len(), won.len()) {
                    (0, _) => "–".to_owned(),
                    (_, 0) => "nowhere".to_owned(),
                    _ => format!("{share:.1} %"),
                },
                largest.map_or(String::new(), |row| percent(row.margin)),
                largest.map_or(String::new(), |row| row.runner_up.clone()),
                largest.map_or(String::new(), place),
            ]
        };
        let columns = ["", "best at", "largest lead", "over", "where"].map(str::to_owned).to_vec();
        Digest {
            caption: format!(
                "best of {} mechanisms by exact mean {}, at {} points of n and {}",
                self.competitors(among, panel).count(),
                panel.distance.title(),
                own.len(),
                ordinate_label(panel).unwrap_or_default(),
            ),
            columns,
            rows: self.competitors(among, panel).map(|variant| row(&variant.label)).collect(),
        }
    }

    /// Refuses a second contest without competitors, or without somebody who is not there.
    fn check_contest(&self, panel: &Panel) -> Result<(), Complaint> {
        let labels: Vec<&str> = panel.variants.iter().map(|variant| &*variant.label).collect();
        let unknown = self.without.iter().find(|label| !labels.contains(&label.as_str()));
        if let Some(unknown) = unknown {
            let cause = format!("no mechanism of this panel is labelled `{unknown}`");
            return Err(About::Key("without").wrong(cause, suggest(unknown, labels)));
        }
        if !self.without.is_empty() && self.competitors(Among::Fewer, panel).count() < 2 {
            let cause = "the second comparison needs two mechanisms or more";
            return Err(About::Key("without").wrong(cause, "list fewer mechanisms in `without`"));
        }
        Ok(())
    }
}

/// Which part of the map belongs to whom; `None` if nothing was computed.
fn winners(panel: &Panel, tables: &Tables, among: Among) -> Option<String> {
    let own: Vec<&PhaseRow> = among.rows(panel, tables).collect();
    let mut shares: BTreeMap<&str, usize> = BTreeMap::new();
    own.iter().for_each(|row| *shares.entry(&row.winner).or_default() += 1);
    let mut shares: Vec<(&str, usize)> = shares.into_iter().collect();
    shares.sort_by_key(|(_, won)| std::cmp::Reverse(*won));
    let part = |(place, &(label, won)): (usize, &(&str, usize))| {
        let (title, share) = (panel.title_of(label), 100.0 * won as f64 / own.len() as f64);
        match place {
            0 => {
                format!("{title} has the least mean error at {share:.1} % of {} points", own.len())
            }
            _ => format!("{title} at {share:.1} %"),
        }
    };
    let parts: Vec<String> = shares.iter().enumerate().map(part).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Refuses a mechanism that would win by giving less privacy, or whose mean is out of reach.
fn check_competitor(panel: &Panel, place: usize) -> Result<(), Complaint> {
    let refused = |case: &Case| refusal(panel, &panel.variants[place], case);
    match panel.cases.par_iter().find_map_first(refused) {
        None => Ok(()),
        Some(refusal) => Err(Complaint { about: About::Mechanism(place), refusal }),
    }
}

fn refusal(panel: &Panel, variant: &Mechanism, case: &Case) -> Option<Refusal> {
    let (label, setting) = (&variant.label, &case.setting);
    if !variant.is_private(setting) {
        let (epsilon, guarantee) = (setting.epsilon.get(), variant.guarantee(setting));
        let cause = format!(
            "`{label}` is {guarantee} where ε = {epsilon}: a phase diagram compares mechanisms \
             that are ε-private"
        );
        let remedy = "leave it out, or add calibrated = true (exponential mechanisms) or a divisor \
                      that makes it so";
        return Some(Refusal::new(cause, remedy));
    }
    (!panel.is_walked(variant, case)).then(|| {
        let n = setting.n;
        let cause = format!("`{label}` has too many outputs at n = {n} for its exact mean");
        Refusal::new(cause, "use fewer records or categories, or leave it out")
    })
}

/// The means; none where an error is so steep that its mean depends on what is not walked.
fn means(task: &Task) -> Result<Vec<Option<f64>>, Refusal> {
    let Task { panel, case, .. } = *task;
    let laws = panel.laws(case)?;
    let bench = panel.bench(case, &laws, &[])?;
    let mean = |place: usize| law::mean(bench.law(place).as_ref(), bench.distance());
    Ok(parallel::steps(0..laws.len()).map(mean).collect())
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

/// What the vertical axis shows: what differs between the cases beside their size.
pub(super) fn ordinate(panel: &Panel) -> Option<Axis> {
    Axis::beside_size(panel, &Naming::new(&panel.cases))
}

/// What the vertical axis shows.
pub fn ordinate_label(panel: &Panel) -> Option<String> {
    ordinate(panel)?.label(panel)
}

/// Where a setting stands, in short: "n = 20, ε = 0.105".
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
    Some((case.setting.n as f64, axis.position(case)?))
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
