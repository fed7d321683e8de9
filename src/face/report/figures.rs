//! The figures of one document: as defined and as printed, side by side.

use maud::{Markup, html};

use super::text::{anchor, command, notes};
use super::{Document, FigureReport, PanelReport, drawing, tables};
use crate::analysis::cost::duration;

/// The words above a panel's title.
fn kind(panel: &PanelReport) -> Option<&'static str> {
    match (panel.printed, panel.readings.is_some()) {
        _ if panel.own => None,
        (false, _) => Some("As defined"),
        (true, true) => Some("As printed"),
        (true, false) => Some(PRINT_DISTANCE),
    }
}

/// A panel with the distance of the printed figures that was not printed itself.
pub(super) const PRINT_DISTANCE: &str = "Print distance";

/// The section of a document.
pub(super) fn document(document: &Document) -> Markup {
    let Document { id, title, figures } = document;
    html! {
        section.document id=(anchor(id)) {
            h2 { (title) " " span.short { (id) } }
            @for one in figures { (figure(one)) }
        }
    }
}

/// The section of the open questions; nothing without any.
pub(super) fn questions(questions: &[FigureReport]) -> Markup {
    html! {
        @if !questions.is_empty() {
            section #questions.document {
                h2 { (QUESTIONS) }
                @for one in questions { (figure(one)) }
            }
        }
    }
}

/// The heading of the open questions.
pub(super) const QUESTIONS: &str = "Questions the documents leave open";

fn figure(figure: &FigureReport) -> Markup {
    let place = anchor(&figure.name);
    html! {
        article.figure id=(place) {
            p.source { (figure.source) }
            h3 { (figure.title) }
            @if !figure.answers.is_empty() {
                ul.answers { @for answer in &figure.answers { li { (answer) } } }
            }
            @for table in &figure.tables { (tables::table(table, None)) }
            (notes(&figure.notes))
            @for pair in pairs(&figure.panels) { (panel_group(&pair, &place)) }
            (footer(figure))
        }
    }
}

/// How to make the figure again, and where its files are.
fn footer(figure: &FigureReport) -> Markup {
    html! {
        p.made {
            (command(&figure.command)) " (" (duration(figure.seconds)) ")"
            @if !figure.files.is_empty() {
                br;
                "Files in " code { (figure.name) "/" } ": "
                @for (place, file) in figure.files.iter().enumerate() {
                    @if place > 0 { ", " }
                    code { (file) }
                }
            }
        }
    }
}

/// Panels that belong together: one, or one as defined with its twin as printed.
type Pair<'a> = Vec<&'a PanelReport>;

/// Finds for each panel as defined the one as printed: with the same id or, failing that, of the
/// same rank if there are as many of either kind. The others stand alone.
fn pairs(panels: &[PanelReport]) -> Vec<Pair<'_>> {
    let (printed, defined): (Vec<_>, Vec<_>) = panels.iter().partition(|panel| panel.printed);
    let by_id = |panel: &PanelReport| printed.iter().copied().find(|other| other.id == panel.id);
    let same_ids = defined.iter().any(|panel| by_id(panel).is_some());
    let twin = |rank: usize, panel: &PanelReport| {
        if same_ids {
            by_id(panel)
        } else {
            printed.get(rank).copied().filter(|_| printed.len() == defined.len())
        }
    };
    let mut pairs: Vec<Pair> = Vec::new();
    for (rank, panel) in defined.iter().copied().enumerate() {
        pairs.push([Some(panel), twin(rank, panel)].into_iter().flatten().collect());
    }
    for panel in printed {
        let taken = pairs.iter().flatten().any(|other| std::ptr::eq(*other, panel));
        if !taken {
            pairs.push(vec![panel]);
        }
    }
    pairs
}

/// A pair of panels, their tables across the whole width below.
fn panel_group(pair: &[&PanelReport], place: &str) -> Markup {
    let class = if pair.len() == 2 { "pair" } else { "alone" };
    html! {
        div.(class) { @for panel in pair { (panel_box(panel, place)) } }
        @for panel in pair { (panel_tables(panel)) }
    }
}

fn panel_box(panel: &PanelReport, place: &str) -> Markup {
    let side = if panel.printed { "printed" } else { "defined" };
    let key = |name: &str| anchor(&format!("{place}-{}-{side}-{name}", panel.id));
    html! {
        section.panel {
            h4 {
                @if let Some(kind) = kind(panel) { span.kind.(side) { (kind) } " " }
                (panel.title)
            }
            div.drawings {
                @for one in &panel.drawings { (drawing::figure(one, &key(&one.name))) }
            }
            div.about {
                @if let Some(readings) = &panel.readings { (tables::readings_line(readings)) }
            }
        }
    }
}

/// The tables of a panel. Their captions name the panel's kind, since the tables of its twin follow.
fn panel_tables(panel: &PanelReport) -> Markup {
    let side = kind(panel).map(str::to_lowercase);
    let side = side.as_deref();
    // Most titles name the kind themselves.
    let title = match side.filter(|side| !panel.title.to_lowercase().contains(side)) {
        None => panel.title.clone(),
        Some(side) => format!("{}, {side}", panel.title),
    };
    html! {
        @for table in &panel.tables { (tables::table(table, side)) }
        @if let Some(readings) = &panel.readings { (tables::readings_table(readings, &title)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(panels: &[(&str, bool)]) -> Vec<Vec<String>> {
        let panel = |&(id, printed): &(&str, bool)| PanelReport {
            id: id.into(),
            printed,
            ..PanelReport::default()
        };
        let panels: Vec<PanelReport> = panels.iter().map(panel).collect();
        let name = |panel: &&PanelReport| format!("{}{}", panel.id, u8::from(panel.printed));
        pairs(&panels).iter().map(|pair| pair.iter().map(name).collect()).collect()
    }

    #[test]
    fn panels_are_paired_by_id() {
        let pairs = paired(&[("a", false), ("b", false), ("c", false), ("c", true), ("b", true)]);
        assert_eq!(pairs, [vec!["a0"], vec!["b0", "b1"], vec!["c0", "c1"]]);
    }

    #[test]
    fn or_by_rank() {
        let pairs = paired(&[("a", false), ("b", false), ("c", true), ("d", true)]);
        assert_eq!(pairs, [["a0", "c1"], ["b0", "d1"]]);
    }

    #[test]
    fn the_others_stand_alone() {
        assert_eq!(paired(&[("a", false), ("b", false), ("c", true)]), [["a0"], ["b0"], ["c1"]]);
        assert_eq!(paired(&[("a", true), ("b", true)]), [["a1"], ["b1"]]);
    }
}
