//! What the horizontal axis of a figure shows.

use std::collections::BTreeSet;

use super::value::NamedValue;
use super::{Case, Naming, Panel, naming};
use engine::mechanism::Mechanism;
use engine::named;
use engine::named::Named;
use engine::posterior::model::vector;
use table::{ReadingRow, Tables};

named! {
    /// What tells the parts of a figure apart.
    pub enum Parameter {
        N = "n": "the number of records",
        Epsilon = "epsilon": "ε",
        Prior = "prior": "the prior",
        Delta = "delta": "δ",
        Gamma = "gamma": "γ",
        Data = "data": "the data sets",
        Mechanism = "mechanism": "the mechanism",
    }
}

impl NamedValue for Parameter {}

/// What the horizontal axis shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The abscissa given with the data.
    At,
    Size,
    Epsilon,
    /// Priors whose parameters all agree.
    SymmetricPrior,
    /// Other priors.
    Prior,
    Delta,
    Gamma,
    /// Nothing has an order: the data sets side by side.
    Data,
    /// The mechanisms side by side.
    Mechanism,
}

/// One mechanism at one setting: a box, or a point of a line.
#[derive(Clone, Copy)]
pub struct Mark<'a> {
    /// The place of the setting among those of the panel.
    pub index: usize,
    pub case: &'a Case,
    pub variant: &'a Mechanism,
}

impl Axis {
    /// What settings differ in, with the number of values; what has most values is the first.
    fn varying(panel: &Panel, naming: &Naming) -> Vec<(Self, usize)> {
        let has_places = panel.cases.iter().all(|case| case.at.is_some());
        let by_size = naming.sizes && !naming.labelled && !naming.counts;
        let data = if has_places {
            Self::At
        } else if by_size {
            Self::Size
        } else {
            Self::Data
        };
        let orders = [data, Self::Epsilon, Self::of_priors(panel), Self::Delta, Self::Gamma];
        let values = |axis: Self| {
            let names = panel.cases.iter().map(|case| axis.exact(case));
            (axis, names.collect::<BTreeSet<String>>().len())
        };
        let mut varying: Vec<_> =
            orders.into_iter().map(values).filter(|(_, values)| *values > 1).collect();
        // Places that were given with the data are for the axis; data without an order are not.
        varying.sort_by_key(|(axis, values)| match axis {
            Self::At => 0,
            Self::Data => usize::MAX,
            _ => usize::MAX - values,
        });
        varying
    }

    fn of_priors(panel: &Panel) -> Self {
        match panel.cases.iter().all(has_symmetric_prior) {
            true => Self::SymmetricPrior,
            false => Self::Prior,
        }
    }

    /// Whether it shows this parameter.
    fn shows(self, parameter: Parameter) -> bool {
        match parameter {
            Parameter::N => matches!(self, Self::Size),
            Parameter::Epsilon => self == Self::Epsilon,
            Parameter::Prior => matches!(self, Self::SymmetricPrior | Self::Prior),
            Parameter::Delta => self == Self::Delta,
            Parameter::Gamma => self == Self::Gamma,
            Parameter::Data => matches!(self, Self::Data | Self::At),
            Parameter::Mechanism => self == Self::Mechanism,
        }
    }

    /// What tells a mark from those with other values, in full.
    pub(super) fn key(self, mark: &Mark) -> String {
        match self {
            Self::Mechanism => mark.variant.label.clone(),
            _ => self.exact(mark.case),
        }
    }

    /// What tells a case from those with other values, in full.
    fn exact(self, case: &Case) -> String {
        match self {
            Self::Mechanism => String::new(),
            Self::At | Self::Data => {
                format!("{:?} {}", case.label, vector(case.setting.counts()))
            }
            Self::SymmetricPrior | Self::Prior => vector(case.setting.prior.alpha()),
            Self::Size | Self::Epsilon | Self::Delta | Self::Gamma => {
                format!("{:?}", self.position(case))
            }
        }
    }

    /// The part of a file's name that says the value.
    pub(super) fn file_part(self, mark: &Mark, naming: &Naming) -> String {
        let case = mark.case;
        let (key, value) = match self {
            Self::Mechanism => ("mechanism", mark.variant.label.clone()),
            Self::At | Self::Data => ("data", naming.data(case).replace(' ', "_")),
            Self::Size => ("n", self.name(case, naming)),
            Self::Epsilon => ("epsilon", self.name(case, naming)),
            Self::SymmetricPrior | Self::Prior => {
                ("prior", vector(case.setting.prior.alpha()).replace(';', ","))
            }
            Self::Delta => ("delta", self.name(case, naming)),
            Self::Gamma => ("gamma", self.name(case, naming)),
        };
        let plain = |c: char| if c.is_alphanumeric() || "_-.,".contains(c) { c } else { '_' };
        format!("{key}={}", value.chars().map(plain).collect::<String>())
    }

    /// The value in words, for a title.
    pub(super) fn words(self, mark: &Mark, naming: &Naming) -> Option<String> {
        let case = mark.case;
        match self {
            Self::Mechanism => Some(mark.variant.title()),
            Self::At | Self::Size | Self::Data => Some(naming.data(case)),
            Self::Epsilon => Some(naming.epsilon(case)),
            Self::SymmetricPrior | Self::Prior => Some(naming::prior(case)),
            Self::Delta => naming::delta(case),
            Self::Gamma => Some(naming::gamma(case)),
        }
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
        let k = panel.cases[0].setting.k();
        let text = match self {
            Self::Data | Self::Mechanism => return None,
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
            Self::Mechanism => "mechanism",
        }
    }

    /// The number on the axis, where there is one.
    pub(super) fn position(self, case: &Case) -> Option<f64> {
        let setting = &case.setting;
        match self {
            Self::At => case.at,
            Self::Size => Some(setting.n as f64),
            Self::Epsilon => Some(setting.epsilon.get()),
            Self::SymmetricPrior => Some(setting.posterior().alpha(0)),
            Self::Delta => setting.delta.map(|delta| delta.get()),
            Self::Gamma => Some(setting.gamma.get()),
            Self::Prior | Self::Data | Self::Mechanism => None,
        }
    }

    /// The text at the axis.
    pub(super) fn name(self, case: &Case, naming: &Naming) -> String {
        match (self, self.position(case)) {
            (Self::Delta, Some(delta)) => format!("{delta:?}"),
            (Self::Epsilon, Some(_)) => naming.epsilon(case).trim_start_matches("ε = ").to_owned(),
            (_, Some(position)) => position.to_string(),
            (Self::Prior, None) => naming::parenthesised(case.setting.prior.alpha()),
            _ => naming.data(case),
        }
    }
}

fn has_symmetric_prior(case: &Case) -> bool {
    let alpha = case.setting.prior.alpha();
    alpha.iter().all(|a| *a == alpha[0])
}

/// What distinguishes the cases of a panel, and what its axis shows.
pub struct Abscissa {
    /// What distinguishes the cases.
    pub naming: Naming,
    pub axis: Axis,
    /// What tells small figures on one page apart.
    pub facet: Option<Axis>,
    /// What tells the lines of a figure, or the boxes of a group, apart.
    pub series: Axis,
    /// What else settings differ in: there is a page for each.
    pub pages: Vec<Axis>,
    /// What a second axis shows, if the first shows the number of records.
    pub ordinate: Option<Axis>,
}

impl Abscissa {
    pub(super) fn new(panel: &Panel) -> Self {
        let naming = Naming::new(&panel.cases);
        let ordinate = Axis::beside_size(panel, &naming);
        let asked = panel.kind.axes();
        let mut varying: Vec<Axis> =
            Axis::varying(panel, &naming).into_iter().map(|(axis, _)| axis).collect();
        let mut mechanism = Some(Axis::Mechanism);
        // What is asked for one part of the figure is not for the others.
        let [x, facet, series] = asked.unwrap_or_default().map(|parameter| {
            let parameter = parameter?;
            let shown = |axis: &Axis| axis.shows(parameter);
            let place = varying.iter().position(shown);
            place.map(|place| varying.remove(place)).or_else(|| mechanism.take_if(|one| shown(one)))
        });
        let mut varying = varying.into_iter();
        // If nothing differs, there are only the mechanisms.
        let alone = asked.and_then(|_| mechanism.take_if(|_| varying.len() == 0));
        let axis = x.or_else(|| varying.next()).or(alone).unwrap_or(Axis::Data);
        let series = series.or_else(|| mechanism.take()).or_else(|| varying.next());
        let facet = facet.or_else(|| varying.next()).or_else(|| mechanism.take());
        let pages = varying.chain(mechanism).collect();
        // Small figures of mechanisms have their colours.
        let only = facet.filter(|facet| *facet == Axis::Mechanism).unwrap_or(axis);
        Self { naming, axis, facet, series: series.unwrap_or(only), pages, ordinate }
    }

    /// Refuses an axis that no settings differ in.
    pub(super) fn check(panel: &Panel) -> Result<(), (usize, String)> {
        let naming = Naming::new(&panel.cases);
        let varying = Axis::varying(panel, &naming);
        let axes = panel.kind.axes().unwrap_or_default();
        for (place, parameter) in axes.into_iter().enumerate() {
            let Some(parameter) = parameter else { continue };
            let differ = match parameter {
                Parameter::Mechanism => panel.variants.len() > 1,
                _ => varying.iter().any(|(axis, _)| axis.shows(parameter)),
            };
            if !differ {
                let what = parameter.title();
                return Err((place, format!("settings do not differ in {what}")));
            }
            if axes[..place].contains(&Some(parameter)) {
                return Err((place, format!("another key shows {} already", parameter.title())));
            }
        }
        Ok(())
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
            || at.starts_with('(') && naming::parenthesised(case.setting.counts()) == at
    }
}
