//! Is Laplace noise optimal? bounds Theorems 4.1 to 4.4 compare its error ELap(x), the distance that
//! it keeps with probability 1 − γ, γ = e^(−ε), with the local sensitivity.

use super::curves::{self, point};
use super::prelude::*;
use figure::TableFigure;
use paper::formula::laplace_error::{failure, laplace_error};
use system::console::short;
use table::{CurveRow, distinct};

const BY_LOCAL: &str = "ELap / LS";
const BY_EPSILON: &str = "ELap / (ε LS)";

kind! {
    "optimality": "the error of Laplace noise over the local sensitivity";
    /// Both ratios.
    pub struct Optimality {}
}

impl Kind for Optimality {
    fn rules(&self) -> Rules {
        Rules::OF_FORMULAS
    }

    fn place(&self, _: &Panel, _: &Abscissa, case: &Case) -> Option<String> {
        Some(format!("{}, {}", case.setting.n, naming::epsilon(case)))
    }

    fn rows(&self, task: &Task) -> Result<Tables, Refusal> {
        let Task { panel, case, .. } = *task;
        let epsilon = case.setting.epsilon.get();
        let n = case.setting.n as f64;
        let local = case.setting.sensitivity().local();
        let [Some(law), ..] = &panel.distributions(case)?[..] else { return Ok(Tables::default()) };
        let error = laplace_error(law, failure(epsilon));
        let ratios = [(BY_LOCAL, error / local), (BY_EPSILON, error / (epsilon * local))];
        let row = |(facet, ratio)| point(panel, facet, "", naming::epsilon(case), (n, ratio));
        Ok(Tables { curves: ratios.map(row).to_vec(), ..Tables::default() })
    }

    /// A table: both ratios hardly depend on n.
    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let rows: Vec<&CurveRow> = panel.own(&tables.curves).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let epsilons = distinct(rows.iter().map(|row| row.curve.as_str()));
        let line = |facet: &str| {
            let cell = |epsilon: &&str| {
                let own = rows.iter().filter(|row| row.facet == facet && row.curve == *epsilon);
                let (least, greatest) = ends(own.map(|row| row.y));
                let [least, greatest] = [least, greatest].map(short);
                if least == greatest { least } else { format!("{least} to {greatest}") }
            };
            std::iter::once(facet.to_owned()).chain(epsilons.iter().map(cell)).collect()
        };
        let (smallest, largest) = ends(rows.iter().map(|row| row.x));
        let note = format!(
            "ELap: smallest t with P[H ≤ t] ≥ 1 − γ for {}, γ = e^(−ε); {}, {}, n from {smallest} to {largest}; Corollary \
             4.4.1: ELap / LS ≤ 2",
            panel.variants[0].title(),
            panel.distance.title(),
            naming::prior(&panel.cases[0]),
        );
        let heads = epsilons.iter().map(|epsilon| (*epsilon).to_owned());
        let table = TableFigure {
            columns: std::iter::once("ratio".to_owned()).chain(heads).collect(),
            rows: [BY_LOCAL, BY_EPSILON].map(line).to_vec(),
        };
        vec![("optimality".to_owned(), panel.figure(note, table))]
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        curves::digests(panel, tables)
    }
}

/// The least and the greatest value.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    values.fold(none, |(low, high), value| (low.min(value), high.max(value)))
}
