//! The figures of one document: as defined and as printed, side by side.

use maud::{Markup, html};

use super::text::{anchor, command, count, links, notes};
use super::{Document, FigureReport, PanelReport, Report, drawing, tables};
use engine::words::duration;

/// The words above a panel's title.
fn kind(panel: &PanelReport) -> Option<&'static str> {
    match (panel.printed, panel.readings.is_some()) {
        _ if panel.own => None,
        (false, _) => Some("As defined"),
        (true, true) => Some("As printed"),
        (true, false) => Some(PRINT_DISTANCE),
    }
}

/// The label of a panel that uses the print distance and has no known print.
pub(super) const PRINT_DISTANCE: &str = "Print distance";

/// The label of a panel; nothing for questions of our own.
pub(super) fn badge(panel: &PanelReport) -> Markup {
    html! { @if let Some(kind) = kind(panel) { span.kind.(side(panel)) { (kind) } } }
}

/// The class, in the style sheet, of what is as defined or as printed.
fn side(panel: &PanelReport) -> &'static str {
    if panel.printed { "printed" } else { "defined" }
}

/// The section of a document.
pub(super) fn document(document: &Document, report: &Report) -> Markup {
    let Document { id, title, figures } = document;
    html! {
        details.document id=(anchor(id)) {
            summary { h2 { (title) " " span.short { (id) ", " (count(figures.len(), "figure")) } } }
            @for one in figures {
                @let status = html! {
                    p.status.(one.print_status.class()) { (one.print_status.sentence()) }
                };
                @let name = format!("{id}/{}", one.id);
                @let below = html! {
                    (links("Claims that rest on it", report.claims_on(&name)))
                    (report.findings_of_figure(&name))
                };
                (figure(one, &status, &below))
            }
        }
    }
}

/// The section of the open questions; nothing without any.
pub(super) fn questions(report: &Report) -> Markup {
    html! {
        @if !report.questions.is_empty() {
            details #questions.document {
                summary { h2 { (QUESTIONS) } }
                @for one in &report.questions { (figure(one, &html! {}, &html! {})) }
            }
        }
    }
}

impl Report {
    /// Links to the figures with these short names (`icml/fig4`), as far as they are on the page.
    pub(super) fn figure_links<S: AsRef<str>>(&self, names: &[S]) -> Vec<(String, Option<String>)> {
        let place = |name: &str| {
            let (document, figure) = name.split_once('/')?;
            let document = self.documents.iter().find(|one| one.id == document)?;
            let figure = document.figures.iter().find(|one| one.id == figure)?;
            Some(anchor(&figure.name))
        };
        names.iter().map(AsRef::as_ref).map(|name| (name.to_owned(), place(name))).collect()
    }
}

/// The heading of the open questions.
pub(super) const QUESTIONS: &str = "Questions the documents leave open";

/// A figure with its status at its head and links to what rests on it.
fn figure(figure: &FigureReport, status: &Markup, below: &Markup) -> Markup {
    html! {
        article.figure id=(anchor(&figure.name)) {
            p.source { (figure.source) }
            h3 { (figure.title) }
            (status)
            (below)
            @if !figure.answers.is_empty() {
                ul.answers { @for answer in &figure.answers { li { (answer) } } }
            }
            @for table in &figure.tables { (tables::table(table, None)) }
            (notes(&figure.notes))
            @for pair in pairs(&figure.panels) { (panel_group(&pair, &figure.title)) }
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
                "Files: "
                @for (place, file) in figure.files.iter().enumerate() {
                    @if place > 0 { ", " }
                    a href={ (figure.name) "/" (file) } { (file) }
                }
            }
        }
    }
}

/// Panels that belong together: one, or one as defined with its twin as printed.
pub(super) type Pair<'a> = Vec<&'a PanelReport>;

/// Finds for each panel as defined the one as printed that has the same id. The others stand alone.
pub(super) fn pairs(panels: &[PanelReport]) -> Vec<Pair<'_>> {
    let (printed, defined): (Vec<_>, Vec<_>) = panels.iter().partition(|panel| panel.printed);
    let twin = |panel: &PanelReport| printed.iter().copied().find(|other| other.id == panel.id);
    let pairs = defined.iter().map(|&panel| std::iter::once(panel).chain(twin(panel)).collect());
    let alone = printed.iter().filter(|panel| defined.iter().all(|other| other.id != panel.id));
    pairs.chain(alone.map(|&panel| vec![panel])).collect()
}

/// A pair of panels, their tables across the whole width below. One figure may show both.
fn panel_group(pair: &[&PanelReport], title: &str) -> Markup {
    html! {
        @match pair {
            [defined, printed] if defined.drawings.is_empty() && !printed.drawings.is_empty() => {
                div.alone { (panel_box(printed, &badge(defined), title)) }
            }
            [only] => div.alone { (panel_box(only, &html! {}, title)) },
            both => div.pair { @for panel in both { (panel_box(panel, &html! {}, title)) } },
        }
        @for panel in pair { (panel_tables(panel)) }
    }
}

/// A panel, with the label of another that its figure shows too. The title of the whole figure is not repeated.
fn panel_box(panel: &PanelReport, other: &Markup, title: &str) -> Markup {
    html! {
        section.panel {
            h4 { (other) " " (badge(panel)) @if panel.title != title { " " (panel.title) } }
            div.drawings { @for one in &panel.drawings { (drawing::figure(one)) } }
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
    fn the_others_stand_alone() {
        assert_eq!(paired(&[("a", false), ("b", false), ("c", true)]), [["a0"], ["b0"], ["c1"]]);
        assert_eq!(paired(&[("a", true), ("b", true)]), [["a1"], ["b1"]]);
    }
}
