//! What the horizontal axis of a figure shows.

use super::{Case, Naming, Panel, naming};
use table::{ReadingRow, Tables};

/// What the horizontal axis shows: the first property, in this order, that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The abscissa given with the data.
    At,
    /// The number of records.
    Size,
    /// ε.
    Epsilon,
    /// Priors whose parameters all agree.
    SymmetricPrior,
    /// Other priors.
    Prior,
    /// δ.
    Delta,
    /// γ.
    Gamma,
    /// Nothing has an order: the data sets side by side.
    Data,
}

impl Axis {
    pub(super) fn of(panel: &Panel, naming: &Naming) -> Self {
        let orders = [
            (Self::At, panel.cases.iter().all(|case| case.at.is_some())),
            (Self::Size, naming.sizes && !naming.labelled && !naming.counts),
            (Self::Epsilon, naming.epsilons),
            (Self::SymmetricPrior, naming.priors && panel.cases.iter().all(has_symmetric_prior)),
            (Self::Prior, naming.priors),
            (Self::Delta, naming.deltas),
            (Self::Gamma, naming.gammas),
        ];
        orders.into_iter().find(|(_, differs)| *differs).map_or(Self::Data, |(axis, _)| axis)
    }

    /// What a second axis shows beside the number of records: the first number, in this order, that
    /// differs.
    pub(super) fn beside_size(panel: &Panel, naming: &Naming) -> Option<Self> {
        let orders = [
            (Self::At, panel.cases.iter().all(|case| case.at.is_some())),
            (Self::Epsilon, naming.epsilons),
            (Self::SymmetricPrior, naming.priors && panel.cases.iter().all(has_symmetric_prior)),
            (Self::Delta, naming.deltas),
            (Self::Gamma, naming.gammas),
        ];
        orders.into_iter().find(|(_, differs)| *differs).map(|(axis, _)| axis)
    }

    /// The text under the axis.
    pub(super) fn label(self, panel: &Panel) -> Option<String> {
        let k = panel.cases[0].setting.posterior.k();
        let text = match self {
            Self::Data => return None,
            Self::At => panel.grid.data.axis_label(),
            Self::Size => "number of records n",
            Self::Epsilon => "privacy parameter ε",
            Self::SymmetricPrior if k == 2 => "b, where the prior is (b, b)",
            Self::SymmetricPrior => "b, where the prior is (b, …, b)",
            Self::Prior => "prior",
            Self::Delta => "δ",
            Self::Gamma => "γ",
        };
        Some(text.to_owned())
    }

    /// A letter or a word for the number on the axis.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::At => "at",
            Self::Size => "n",
            Self::Epsilon => "ε",
            Self::SymmetricPrior => "b",
            Self::Prior => "prior",
            Self::Delta => "δ",
            Self::Gamma => "γ",
            Self::Data => "data",
        }
    }

    /// The number on the axis, where there is one.
    pub(super) fn position(self, case: &Case) -> Option<f64> {
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
    pub(super) fn name(self, case: &Case, naming: &Naming) -> String {
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

/// What distinguishes the cases of a panel, and what its axis shows.
pub struct Abscissa {
    /// What distinguishes the cases.
    pub naming: Naming,
    pub axis: Axis,
    /// What a second axis shows, if the first shows the number of records.
    pub ordinate: Option<Axis>,
}

impl Abscissa {
    pub(super) fn new(panel: &Panel) -> Self {
        let naming = Naming::new(&panel.cases);
        let ordinate = Axis::beside_size(panel, &naming);
        Self { naming, axis: Axis::of(panel, &naming), ordinate }
    }

    /// Where a setting stands on the axis: at its number, or, if some have none, in its turn.
    pub(super) fn place(&self, panel: &Panel, setting: usize) -> Option<f64> {
        let case = panel.case(setting)?;
        match self.categories(panel) {
            None => self.axis.position(case),
            Some(_) => Some((setting - panel.first) as f64),
        }
    }

    /// The names of the cases, if not all of them have numbers.
    pub(super) fn categories(&self, panel: &Panel) -> Option<Vec<String>> {
        let numbered = panel.cases.iter().all(|case| self.axis.position(case).is_some());
        let names = || panel.cases.iter().map(|case| self.axis.name(case, &self.naming)).collect();
        (!numbered).then(names)
    }

    /// Where the readings of what is labelled `label` stand, and what they read.
    pub(super) fn readings(&self, panel: &Panel, tables: &Tables, label: &str) -> Vec<(f64, f64)> {
        let own = |row: &&ReadingRow| row.mechanism == label;
        let point = |row: &ReadingRow| {
            let (setting, _) = panel.settings().find(|(_, case)| self.is_at(case, &row.at))?;
            Some((self.place(panel, setting)?, row.read))
        };
        panel.own(&tables.readings).filter(own).filter_map(point).collect()
    }

    /// Whether a reading at `at` (a name or a number on the printed axis, or the counts in parentheses)
    /// belongs to `case`.
    pub(super) fn is_at(&self, case: &Case, at: &str) -> bool {
        let position = self.axis.position(case);
        case.label.as_deref() == Some(at)
            || position.is_some() && at.parse().ok() == position
            || at.starts_with('(') && naming::parenthesised(case.setting.posterior.counts()) == at
    }
}
