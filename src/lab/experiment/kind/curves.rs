//! What the kinds that draw curves share: points go into `curves.csv`, and figures come from there.

use crate::experiment::Panel;
use crate::experiment::digest::Digest;
use figure::{
    BLUE, CHARCOAL, Colour, Curve, CurveFigure, Figure, GREEN, LineName, LineStyle, ORANGE, PINK,
    Scale, Series, VERMILION,
};
use system::console::short_or_dash;
use table::{CurveRow, Tables, distinct};

/// The curve that everything else is compared with.
pub(super) const EXACT: &str = "exact";

/// A line through exact values.
pub(super) fn line(series: Series, exact: Vec<(f64, f64)>) -> Curve {
    Curve { exact, ..Curve::new(series) }
}

/// A point of a curve about one mechanism.
pub(super) fn point(
    panel: &Panel,
    facet: impl Into<String>,
    mechanism: &str,
    curve: impl Into<String>,
    (x, y): (f64, f64),
) -> CurveRow {
    CurveRow {
        panel: panel.id.clone(),
        facet: facet.into(),
        mechanism: mechanism.to_owned(),
        curve: curve.into(),
        x,
        y,
    }
}

/// One figure for every facet of the panel; `axes` gets the facet's name and gives its note and axes. The
/// title is that of the panel and the facet. Curves that are not called `computed` show what a document
/// claims, and are dotted; all are computed if that name is empty.
pub(super) fn figures(
    panel: &Panel,
    tables: &Tables,
    name: &str,
    computed: &str,
    axes: impl Fn(&str) -> (String, CurveFigure),
) -> Vec<(String, Figure)> {
    let rows: Vec<&CurveRow> = panel.own(&tables.curves).collect();
    figures_of(panel, &rows, name, computed, axes)
}

/// The same for these rows alone.
pub(super) fn figures_of(
    panel: &Panel,
    rows: &[&CurveRow],
    name: &str,
    computed: &str,
    axes: impl Fn(&str) -> (String, CurveFigure),
) -> Vec<(String, Figure)> {
    let facets = distinct(rows.iter().map(|row| row.facet.as_str()));
    let figure = |(number, facet): (usize, &&str)| {
        let own: Vec<&CurveRow> = rows.iter().filter(|row| row.facet == *facet).copied().collect();
        let suffix = if facets.len() > 1 { format!("-{number}") } else { String::new() };
        let (note, axes) = axes(facet);
        let body = CurveFigure { lines: lines(panel, &own, computed), ..axes };
        let title = titled(&[&panel.title, facet]);
        (format!("{name}{suffix}"), Figure::new(title, note, body))
    };
    (1..).zip(&facets).map(figure).collect()
}

/// The parts of a title that are not empty, in one line.
pub(super) fn titled(parts: &[&str]) -> String {
    let parts = parts.iter().copied().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// Colours of curves that are about no mechanism.
const COLOURS: [Colour; 6] = [CHARCOAL, BLUE, VERMILION, GREEN, ORANGE, PINK];

fn lines(panel: &Panel, rows: &[&CurveRow], computed: &str) -> Vec<Curve> {
    let series = panel.series();
    let mechanisms = distinct(rows.iter().map(|row| row.mechanism.as_str()));
    let alone = mechanisms.len() == 1;
    let name = panel.kind.rules().names.unwrap_or(LineName::OnPlot);
    let mut lines = Vec::new();
    for mechanism in mechanisms {
        let place = panel.variants.iter().position(|variant| variant.label == mechanism);
        let base = place.map(|place| series[place].clone());
        let own: Vec<&CurveRow> =
            rows.iter().filter(|row| row.mechanism == mechanism).copied().collect();
        for (order, curve) in distinct(own.iter().map(|row| row.curve.as_str())).iter().enumerate()
        {
            let points = own.iter().filter(|row| row.curve == *curve).map(|row| (row.x, row.y));
            let series = match &base {
                Some(base) if *curve == EXACT => base.clone(),
                // Bounds of one mechanism are told apart by colour, those of several belong to
                // theirs by colour.
                Some(_) if alone => plain((*curve).to_owned(), other_colour(order)),
                Some(base) => plain(format!("{}: {curve}", base.label), base.colour),
                None => plain((*curve).to_owned(), other_colour(order)),
            };
            let is_computed = computed.is_empty() || *curve == computed;
            let style = if is_computed { LineStyle::Solid } else { LineStyle::Dotted };
            lines.push(Curve { style, name, ..line(series, points.collect()) });
        }
    }
    lines
}

fn plain(label: String, colour: Colour) -> Series {
    Series { label, colour, private: true }
}

pub(super) fn other_colour(order: usize) -> Colour {
    COLOURS[order % COLOURS.len()]
}

/// A figure against the number of records.
pub(super) fn against_n(y_label: &str) -> CurveFigure {
    CurveFigure {
        x_label: "number of records n".to_owned(),
        y_label: y_label.to_owned(),
        x_scale: Scale::Log,
        ..CurveFigure::default()
    }
}

/// For every facet a row for each abscissa, a column for each curve.
pub(super) fn digests(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let own: Vec<&CurveRow> = panel.own(&tables.curves).collect();
    let name = |row: &CurveRow| match row.mechanism.as_str() {
        "" => row.curve.clone(),
        mechanism => mechanism.to_owned(),
    };
    let digest = |facet: &str| {
        let rows: Vec<&CurveRow> = own.iter().filter(|row| row.facet == facet).copied().collect();
        let names: Vec<String> = rows.iter().map(|row| name(row)).collect();
        let names = distinct(names.iter().map(String::as_str))
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let mut places: Vec<f64> = rows.iter().map(|row| row.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let line = |x: f64| {
            let cell = |column: &String| {
                let found = rows.iter().find(|row| row.x == x && name(row) == *column);
                short_or_dash(found.map(|row| row.y))
            };
            std::iter::once(x.to_string()).chain(names.iter().map(cell)).collect()
        };
        Digest {
            caption: facet.to_owned(),
            columns: std::iter::once(String::new()).chain(names.iter().cloned()).collect(),
            rows: places.into_iter().map(line).collect(),
        }
    };
    distinct(own.iter().map(|row| row.facet.as_str())).into_iter().map(digest).collect()
}
