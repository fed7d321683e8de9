//! Sensitivities of the distance along the data (icml Figure 1, arxiv Figure 1): how far one record
//! can move the posterior, here, anywhere, and smoothed. The numbers are columns of `settings.csv`.

use super::axis::Abscissa;
use super::curves::line;
use super::{Layout, Panel, SensitivityName, naming};
use crate::experiment::reading::Quantity;
use crate::experiment::table::{SettingRow, Tables};
use crate::figure::{Colour, Curve, CurveFigure, Figure, Scale, Series};

/// The sensitivities are part of every setting's row; what is left is to compare the readings.
pub(super) fn at_case(layout: &Layout, case: usize) -> Tables {
    let Layout { panel, placed, .. } = layout;
    let case = &panel.cases[case];
    let local = case.setting.sensitivity().local();
    let readings = placed.of(SensitivityName::Local.id(), case);
    let readings = readings.filter(|reading| reading.quantity == Quantity::Local);
    let readings = readings.map(|reading| reading.of_value(&panel.id, local));
    Tables { readings: readings.collect(), ..Tables::default() }
}

/// All sensitivities in one figure.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let abscissa = Abscissa::new(panel);
    let rows: Vec<&SettingRow> =
        tables.settings.iter().filter(|row| panel.owns(row.setting)).collect();
    let asked = match panel.parameters.sensitivities.as_slice() {
        [] => SensitivityName::ALL.to_vec(),
        some => some.to_vec(),
    };
    let lines = asked.iter().filter_map(|&name| {
        let point =
            |row: &&SettingRow| Some((abscissa.place(panel, row.setting)?, value(row, name)?));
        let points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
        let series = Series { label: name.title().to_owned(), colour: colour(name), private: true };
        let readings = abscissa.readings(panel, tables, name.id());
        (!points.is_empty()).then(|| Curve { readings, ..line(series, points) })
    });
    let case = &panel.cases[0];
    let gamma = asked.contains(&SensitivityName::GammaSmooth).then(|| naming::gamma(case));
    let beta = asked.contains(&SensitivityName::BetaSmooth).then(|| naming::delta(case)).flatten();
    let mut note = vec![format!("n = {}", case.setting.posterior.n()), naming::prior(case)];
    note.extend(beta.is_some().then(|| naming::epsilon(case)));
    note.extend(gamma.into_iter().chain(beta));
    let figure = CurveFigure {
        title: panel.title.clone(),
        note: note.join(", "),
        x_label: abscissa.axis.label(panel).unwrap_or_default(),
        y_label: format!("sensitivity of the {}", panel.distance.title()),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        lines: lines.collect(),
        categories: abscissa.categories(panel),
        ..CurveFigure::default()
    };
    vec![("sensitivity".to_owned(), Figure::Curve(figure))]
}

fn value(row: &SettingRow, name: SensitivityName) -> Option<f64> {
    match name {
        SensitivityName::Local => Some(row.local),
        SensitivityName::Global => Some(row.global),
        SensitivityName::GammaSmooth => Some(row.gamma_smooth),
        SensitivityName::BetaSmooth => row.beta_smooth,
    }
}

fn colour(name: SensitivityName) -> Colour {
    // The colours of the mechanisms that are calibrated to them.
    crate::figure::colour(match name {
        SensitivityName::Local => "ehdl",
        SensitivityName::Global => "ehd",
        SensitivityName::GammaSmooth => "ehds",
        SensitivityName::BetaSmooth => "mh-beta",
    })
}
