//! Sensitivities of the distance along the data (icml Figure 1, arxiv Figure 1): how far one record
//! can move the posterior, here, anywhere, and smoothed. The numbers are columns of `settings.csv`.

use super::curves::line;
use super::prelude::*;
use crate::experiment::reading::{Quantity, Reading};
use crate::experiment::value::NamedValue;
use engine::named;
use engine::named::Named;
use figure::{Colour, Curve, LineStyle, Series};
use table::SettingRow;

kind! {
    "sensitivity": "local, global and smooth sensitivities along the data";
    /// Sensitivities along the data.
    pub struct Sensitivity {
        /// Which sensitivities. Default: all.
        "sensitivities" => sensitivities: Vec<SensitivityName>,
    }
}

impl Kind for Sensitivity {
    fn rules(&self) -> Rules {
        Rules { compares_mechanisms: false, compares_readings: true, ..Rules::USUAL }
    }

    fn place(&self, _: &Panel, abscissa: &Abscissa, case: &Case) -> Option<String> {
        Some(abscissa.axis.name(case, &abscissa.naming))
    }

    fn has_place_for(&self, panel: &Panel, abscissa: &Abscissa, reading: &Reading) -> bool {
        reading.mechanism == SensitivityName::Local.id()
            && panel.cases.iter().any(|case| abscissa.is_at(case, &reading.at))
    }

    fn complete_key(&self, layout: &Layout, case: &Case, key: &mut CellKey) {
        let readings = layout.placed.of(SensitivityName::Local.id(), case);
        key.put_all("reading", readings.map(Reading::key));
    }

    /// The sensitivities are part of every setting's row; what is left is to compare the readings.
    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { layout, panel, case, .. } = *task;
        let local = case.setting.sensitivity().local();
        let readings = layout.placed.of(SensitivityName::Local.id(), case);
        let readings = readings.filter(|reading| reading.quantity == Quantity::Local);
        let readings = readings.map(|reading| reading.of_value(&panel.id, local));
        Ok(Tables { readings: readings.collect(), ..Tables::default() })
    }

    /// All sensitivities in one figure.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let abscissa = Abscissa::new(panel);
        let rows: Vec<&SettingRow> =
            tables.settings.iter().filter(|row| panel.owns(row.setting)).collect();
        let mut asked = match self.sensitivities.as_slice() {
            [] => SensitivityName::ALL.to_vec(),
            some => some.to_vec(),
        };
        // The others may lie on the local one: it is drawn first, and broad.
        asked.sort_by_key(|name| *name != SensitivityName::Local);
        let is_under_others = |name| name == SensitivityName::Local && asked.len() > 1;
        let lines = asked.iter().filter_map(|&name| {
            let point =
                |row: &&SettingRow| Some((abscissa.place(panel, row.setting)?, value(row, name)?));
            let points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
            let series =
                Series { label: name.title().to_owned(), colour: colour(name), private: true };
            let readings = abscissa.readings(panel, tables, name.id());
            let style = match is_under_others(name) {
                true => LineStyle::Broad,
                false => LineStyle::Solid,
            };
            (!points.is_empty()).then(|| Curve { readings, style, ..line(series, points) })
        });
        let mut lines: Vec<Curve> = lines.collect();
        let greatest = greatest(&lines);
        if let [only] = &mut lines[..] {
            only.name = LineName::Elsewhere;
        }
        if end_together(&lines, greatest) {
            lines.iter_mut().for_each(|line| line.name = LineName::InLegend);
        }
        let case = &panel.cases[0];
        let gamma = asked.contains(&SensitivityName::GammaSmooth).then(|| naming::gamma(case));
        let beta =
            asked.contains(&SensitivityName::BetaSmooth).then(|| naming::delta(case)).flatten();
        let mut note = vec![format!("n = {}", case.setting.n), naming::prior(case)];
        note.extend(beta.is_some().then(|| naming::epsilon(case)));
        note.extend(gamma.into_iter().chain(beta));
        let figure = CurveFigure {
            x_label: abscissa.axis.label(panel).unwrap_or_default(),
            y_label: format!("sensitivity of the {}", panel.distance.title()),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            // The global sensitivity is the greatest value: not on the frame.
            y_range: (greatest > 0.0).then_some((0.0, 1.08 * greatest)),
            lines,
            categories: abscissa.categories(panel),
            ..CurveFigure::default()
        };
        vec![("sensitivity".to_owned(), panel.figure(note.join(", "), figure))]
    }
}

/// The greatest value that is drawn.
fn greatest(lines: &[Curve]) -> f64 {
    let points = lines.iter().flat_map(|line| line.exact.iter().chain(&line.readings));
    points.map(|point| point.1).filter(|y| y.is_finite()).fold(0.0, f64::max)
}

/// Whether several curves end at the same place, where their names would say nothing.
fn end_together(lines: &[Curve], greatest: f64) -> bool {
    let ends: Vec<f64> = lines.iter().filter_map(|line| Some(line.exact.last()?.1)).collect();
    let near = |pair: &[f64]| (pair[0] - pair[1]).abs() <= 0.02 * greatest;
    ends.len() > 1 && ends.windows(2).all(near)
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
    match name {
        SensitivityName::Local => figure::PINK,
        SensitivityName::Global => figure::BLUE,
        SensitivityName::GammaSmooth => figure::ORANGE,
        SensitivityName::BetaSmooth => figure::CHARCOAL,
    }
}

named! {
    /// A sensitivity of the score.
    pub enum SensitivityName {
        Local = "local": "local LS",
        Global = "global": "global GS",
        GammaSmooth = "gamma_smooth": "γ-smooth Sᵧ",
        BetaSmooth = "beta_smooth": "β-smooth Sᵦ",
    }
}

impl NamedValue for SensitivityName {}
