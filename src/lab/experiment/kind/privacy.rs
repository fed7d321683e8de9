//! The exact privacy loss (icml Figure 6, arxiv Figure 6): what a mechanism really gives away about
//! one record, where the documents prove a bound.

use super::curves::line;
use super::prelude::*;
use crate::experiment::ScopeName;
use crate::experiment::digest::{by_case, spread_in_words};
use crate::experiment::value::Positive;
use engine::analysis::audit::{self, Findings};
use engine::analysis::ranking::Data;
use engine::mechanism::Mechanism;
use engine::mechanism::law::Law;
use engine::named::Named;
use engine::parallel;
use engine::posterior::model::vector;
use figure::{Curve, Series};
use system::console::short_or_dash;
use table::{PrivacyRow, distinct};

kind! {
    "privacy": "the exact privacy loss";
    /// The loss of every mechanism, over every scope.
    pub struct Privacy {
        /// Over which data sets the loss is taken. Default: all of n records.
        "scope" => scopes: Vec<ScopeName>,
        /// Also δ at this ε.
        "at_epsilon" => at_epsilon: Option<Positive>,
    }
}

impl Kind for Privacy {
    fn rules(&self) -> Rules {
        Rules { compares_readings: true, ..Rules::USUAL }
    }

    fn place(&self, _: &Panel, abscissa: &Abscissa, case: &Case) -> Option<String> {
        Some(abscissa.axis.name(case, &abscissa.naming))
    }

    fn complete_key(&self, _: &Layout, _: &Case, key: &mut CellKey) {
        key.put_all("scope", or_all(&self.scopes).iter().map(|scope| scope.id()));
        key.put_all("at_epsilon", self.at_epsilon.map(|epsilon| epsilon.0));
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { layout, panel, case, .. } = *task;
        let mut tables = Tables::default();
        for place in parallel::steps(0..panel.variants.len()) {
            let variant = &panel.variants[place];
            for (order, &scope) in or_all(&self.scopes).iter().enumerate() {
                let row = self.row(task, variant, scope)?;
                if order == 0 {
                    let readings = layout.placed.of(&variant.label, case);
                    let rows = readings.map(|reading| reading.of_value(&panel.id, row.loss));
                    tables.readings.extend(rows);
                }
                tables.privacy.push(row);
            }
        }
        Ok(tables)
    }

    /// The loss against n (or what else distinguishes the cases), with ε as a line across.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let abscissa = Abscissa::new(panel);
        let case = &panel.cases[0];
        let naming = &abscissa.naming;
        let mut note = naming.shared(case);
        if !naming.deltas && panel.variants.iter().any(|variant| variant.kind.uses_delta) {
            note.extend(naming::delta(case));
        }
        if let [scope] = or_all(&self.scopes)[..] {
            note.push(scope.title().to_owned());
        }
        let figure = CurveFigure {
            x_label: abscissa.axis.label(panel).unwrap_or_default(),
            y_label: "exact privacy loss".to_owned(),
            x_scale: panel.scale(),
            y_scale: Scale::Linear,
            lines: self.lines(panel, tables, &abscissa),
            references: (!naming.epsilons)
                .then(|| (case.setting.epsilon.get(), naming::epsilon(case)))
                .into_iter()
                .collect(),
            categories: abscissa.categories(panel),
            ..CurveFigure::default()
        };
        vec![("loss".to_owned(), panel.figure(note.join(", "), figure))]
    }

    fn sketches(&self, panel: &Panel) -> Vec<Figure> {
        vec![sketch::curves(panel, or_all(&self.scopes).len(), LineName::OnPlot)]
    }

    /// The loss over each scope, and δ where it was asked for.
    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let own: Vec<&PrivacyRow> =
            tables.privacy.iter().filter(|row| panel.owns(row.setting)).collect();
        let scopes = distinct(own.iter().map(|row| row.scope.as_str()));
        let mut digests = Vec::new();
        for scope in scopes {
            let row = |setting: usize, label: &str| {
                let mut rows = own.iter().filter(|row| row.scope == scope);
                rows.find(|row| row.setting == setting && row.mechanism == label)
            };
            let loss = |setting: usize, label: &str| {
                short_or_dash(row(setting, label).map(|row| row.loss))
            };
            let of_this_id = |name: &&ScopeName| name.id() == scope;
            let title = ScopeName::ALL.iter().find(of_this_id).map_or(scope, |name| name.title());
            digests.push(by_case(panel, &format!("exact privacy loss, {title}"), loss));
            if let Some(Positive(epsilon)) = self.at_epsilon {
                let delta = |setting: usize, label: &str| {
                    short_or_dash(row(setting, label).and_then(|row| row.delta_at))
                };
                digests.push(by_case(panel, &format!("δ at ε = {epsilon}, {title}"), delta));
            }
        }
        digests
    }

    /// How much of its ε every mechanism uses.
    fn answers(&self, panel: &Panel, tables: &Tables) -> Vec<String> {
        let part = |variant: &Mechanism| {
            let own = |row: &&PrivacyRow| panel.owns(row.setting) && row.mechanism == variant.label;
            let used: Vec<f64> =
                tables.privacy.iter().filter(own).map(|row| row.loss / row.epsilon).collect();
            let used = match used.iter().all(|part| part.is_finite()) {
                true => spread_in_words(&used),
                false => "infinite".to_owned(),
            };
            format!("{used} for {}", variant.title())
        };
        let parts: Vec<String> = panel.variants.iter().map(part).collect();
        let losses = parts.join("; ");
        vec![format!("{}: the exact privacy loss as a share of ε is {losses}.", panel.title)]
    }

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        audit_size(panel, case, &self.scopes, f64::from(u8::from(self.at_epsilon.is_some())))
    }
}

impl Privacy {
    fn row(
        &self,
        task: &Task,
        variant: &Mechanism,
        name: ScopeName,
    ) -> Result<PrivacyRow, Refusal> {
        let Task { panel, case, setting, .. } = *task;
        let scope = name.scope(case);
        let law = panel.prepared(variant, case)?.law;
        let at: Vec<f64> = self.at_epsilon.iter().map(|epsilon| epsilon.0).collect();
        let Findings { loss, deltas, .. } =
            audit::examine(law.as_ref(), &case.setting, &scope, &at)?;
        Ok(PrivacyRow {
            setting,
            mechanism: variant.label.clone(),
            scope: name.id().to_owned(),
            epsilon: case.setting.epsilon.get(),
            loss: loss.loss,
            from: vector(&loss.from),
            to: vector(&loss.to),
            output: vector(&loss.output),
            at_epsilon: at.first().copied(),
            delta_at: deltas.first().map(|at| at.delta),
        })
    }

    /// A line for every mechanism and scope. Readings belong to the first scope.
    fn lines(&self, panel: &Panel, tables: &Tables, abscissa: &Abscissa) -> Vec<Curve> {
        let scopes = or_all(&self.scopes);
        let mut lines = Vec::new();
        for (variant, series) in panel.variants.iter().zip(panel.series()) {
            for (order, scope) in scopes.iter().enumerate() {
                let own = |row: &&PrivacyRow| {
                    panel.owns(row.setting)
                        && row.mechanism == variant.label
                        && row.scope == scope.id()
                };
                let point =
                    |row: &PrivacyRow| Some((abscissa.place(panel, row.setting)?, row.loss));
                // An infinite loss has no place in a figure.
                let finite = |row: &&PrivacyRow| row.loss.is_finite();
                let points = tables.privacy.iter().filter(own).filter(finite);
                let points = points.filter_map(point).collect();
                let label = match scopes.len() {
                    1 => series.label.clone(),
                    _ => format!("{}, {}", series.label, scope.title()),
                };
                let colour = series.colour.lighten(0.35 * order as f64);
                let readings = match order {
                    0 => abscissa.readings(panel, tables, &variant.label),
                    _ => Vec::new(),
                };
                let series = Series { label, colour, ..series.clone() };
                lines.push(Curve { readings, ..line(series, points) });
            }
        }
        lines
    }
}

/// The size of audits that find δ at so many values of ε.
pub(super) fn audit_size(
    panel: &Panel,
    case: &Case,
    scopes: &[ScopeName],
    epsilons: f64,
) -> Result<CaseSize, Refusal> {
    let data = match or_all(scopes).contains(&ScopeName::All) {
        true => Data::PriorPredictive,
        false => Data::Given(case.setting.counts().to_vec()),
    };
    let audit = |law: &dyn Law| size::audit(law, &case.setting, &data, epsilons);
    Ok(CaseSize::of(&case.setting, &panel.outlines(case)?, audit))
}

/// The scopes asked for; all data sets unless said otherwise.
pub(super) fn or_all(scopes: &[ScopeName]) -> &[ScopeName] {
    if scopes.is_empty() { &[ScopeName::All] } else { scopes }
}
