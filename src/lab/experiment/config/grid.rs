//! How large a grid may be. Ranges and lists multiply: a few short lines can ask for more settings
//! than any memory holds, so they are counted before they are made.

use crate::experiment::value::Node;
use crate::experiment::{Case, Grid, Panel};
use engine::posterior::distance::Distance;
use system::diagnostic::Diagnostic;

/// The most settings of an experiment.
const MOST_SETTINGS: u64 = 1_000_000;

/// The most counts in all settings together: categories times settings.
const MOST_NUMBERS: u64 = 10_000_000;

/// The most parameters in all priors together: they are written out, panel by panel, in the results
/// folder's config.
pub const MOST_PARAMETERS: u64 = 500_000;

/// The most steps in finding sensitivities, where mechanisms need them: every pair of categories of
/// every setting, a minute's work or so.
const MOST_PAIRS: u64 = 10_000_000;

/// The largest number of steps in drawing records from predictive laws, each of which looks at every
/// category: a second's work or two.
const MOST_DRAWN: u64 = 200_000_000;

/// The most counts whose divergences are tabulated one by one: some seconds' work.
const MOST_TABULATED: u64 = 20_000_000;

/// The most pairs of categories, in all settings together, over whose counts a sensitivity is
/// searched: a minute's work or so. Two categories need no search to speak of.
const MOST_SEARCHED: u64 = 300_000;

/// Refuses data for which the sensitivity of a distance without a closed form is out of reach. It is
/// searched over pairs of categories; of a divergence it takes tables with an entry for every count.
pub fn check_search(
    cases: &[Case],
    distance: &dyn Distance,
    data: &Node,
) -> Result<(), Diagnostic> {
    let searched = |case: &&Case| {
        let (prior, n) = (&case.setting.prior, case.setting.n);
        distance.power(prior, n).is_none() && distance.refuses_scores(prior, n).is_none()
    };
    let posteriors = || cases.iter().filter(searched).map(|case| case.setting.posterior());
    let refuse = |cause: &str, limit: String| {
        let cause = format!("the sensitivity of the {} {cause}", distance.title());
        Err(data.wrong(cause).help(format!(
            "use fewer settings, records or categories ({limit}), or distance = \"hellinger\""
        )))
    };
    let counts = sum(posteriors().map(|posterior| product([posterior.n(), posterior.k() as u64])));
    if distance.bound().is_none() && counts > MOST_TABULATED {
        let limit = format!("the sum of records times categories may be at most {MOST_TABULATED}");
        return refuse(
            "is tabulated count by count, and these settings have too many counts",
            limit,
        );
    }
    let many = posteriors().map(|posterior| posterior.k() as u64).filter(|&k| k > 2);
    if sum(many.map(|k| product([k, k]))) > MOST_SEARCHED {
        let limit = format!("the sum of categories squared may be at most {MOST_SEARCHED}");
        return refuse(
            "is searched over pairs of categories, and these settings have too many pairs",
            limit,
        );
    }
    Ok(())
}

/// How much of the limits the earlier panels have used.
#[derive(Clone, Copy, Default)]
pub struct Taken {
    pub settings: u64,
    /// The counts in them.
    numbers: u64,
    /// The parameters of their priors.
    parameters: u64,
    /// The pairs of categories in them.
    pairs: u64,
    /// The steps in drawing them.
    drawn: u64,
}

impl Taken {
    /// With one more panel.
    pub fn and(self, panel: &Panel) -> Self {
        self.with(&panel.grid)
    }

    fn with(self, grid: &Grid) -> Self {
        let categories = sum(grid.priors.iter().map(|prior| prior.k() as u64));
        let pairs = sum(grid.priors.iter().map(|prior| product([prior.k() as u64; 2])));
        let times = product([
            grid.data.count(),
            grid.epsilons.len() as u64,
            grid.deltas.len().max(1) as u64,
            grid.gammas.len().max(1) as u64,
        ]);
        Self {
            settings: self.settings.saturating_add(times.saturating_mul(grid.priors.len() as u64)),
            numbers: self.numbers.saturating_add(times.saturating_mul(categories)),
            parameters: self.parameters.saturating_add(categories),
            pairs: self.pairs.saturating_add(times.saturating_mul(pairs)),
            drawn: self.drawn.saturating_add(grid.data.drawn().saturating_mul(categories)),
        }
    }

    /// Refuses a grid that is too large beside the panels before it. `scored` says whether
    /// sensitivities are needed.
    pub fn check(self, grid: &Grid, scored: bool, data: &Node) -> Result<(), Diagnostic> {
        let all = self.with(grid);
        let refuse = |cause: String, remedy: String| Err(data.wrong(cause).help(remedy));
        if all.settings > MOST_SETTINGS {
            let most = format!("an experiment has at most {MOST_SETTINGS} settings");
            let remedy = format!("{most}: use shorter lists and ranges, or several experiments");
            return refuse(too_many_settings(grid, all.settings - self.settings), remedy);
        }
        if all.parameters > MOST_PARAMETERS {
            let cause = format!("the priors up to here have {} parameters in all", all.parameters);
            return refuse(
                cause,
                format!("use fewer priors: at most {MOST_PARAMETERS} parameters"),
            );
        }
        if all.numbers > MOST_NUMBERS {
            let cause = format!("the settings up to here hold {} counts in all", all.numbers);
            return refuse(
                cause,
                format!("use fewer settings or categories: at most {MOST_NUMBERS}"),
            );
        }
        if scored && all.pairs > MOST_PAIRS {
            let cause = "the sensitivities of these settings take too long, because there are too many settings with too many categories";
            let most = format!("settings times categories squared may be at most {MOST_PAIRS}");
            let remedy = format!("use fewer ({most}), or mechanisms that add noise to the counts");
            return refuse(cause.to_owned(), remedy);
        }
        if all.drawn > MOST_DRAWN {
            let cause = "these are too many records to be drawn one by one".to_owned();
            let most = format!("the sum of records times categories may be at most {MOST_DRAWN}");
            return refuse(cause, format!("use smaller or fewer sizes ({most}), or [data.counts]"));
        }
        Ok(())
    }
}

/// "these are 4000000 settings: 20 priors × 1000 data sets × 200 ε".
fn too_many_settings(grid: &Grid, settings: u64) -> String {
    let factors = [
        (grid.priors.len() as u64, "priors"),
        (grid.data.count(), "data sets"),
        (grid.epsilons.len() as u64, "ε"),
        (grid.deltas.len() as u64, "δ"),
        (grid.gammas.len() as u64, "γ"),
    ];
    let factors = factors.iter().filter(|(many, _)| *many > 1);
    let factors: Vec<_> = factors.map(|(many, what)| format!("{many} {what}")).collect();
    let settings = match settings {
        u64::MAX => "more settings than can be counted".to_owned(),
        settings => format!("{settings} settings"),
    };
    format!("these are {settings}: {}", factors.join(" × "))
}

fn product<const N: usize>(factors: [u64; N]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

fn sum(terms: impl Iterator<Item = u64>) -> u64 {
    terms.fold(0, u64::saturating_add)
}
