//! The figures of one document: as defined and as printed, side by side.

use super::text::{anchor, command, duration, escape, notes};
use super::{Document, FigureReport, PanelReport, drawing, tables};

/// What a panel is called above its title.
fn kind(panel: &PanelReport) -> Option<&'static str> {
    match (panel.printed, panel.readings.is_some()) {
        _ if panel.own => None,
        (false, _) => Some("As defined"),
        (true, true) => Some("As printed"),
        (true, false) => Some(PRINT_DISTANCE),
    }
}

/// What has the distance of the printed figures, but was not printed itself.
pub(super) const PRINT_DISTANCE: &str = "Print distance";

/// The section of a document.
pub(super) fn document(document: &Document) -> String {
    let Document { id, title, figures } = document;
    let figures: String = figures.iter().map(figure).collect();
    format!(
        "<section class=\"document\" id=\"{}\">\n<h2>{} <span class=\"short\">{}</span></h2>\n{figures}</section>\n",
        anchor(id),
        escape(title),
        escape(id),
    )
}

/// The section of the open questions; nothing without any.
pub(super) fn questions(questions: &[FigureReport]) -> String {
    if questions.is_empty() {
        return String::new();
    }
    let figures: String = questions.iter().map(figure).collect();
    format!(
        "<section class=\"document\" id=\"questions\">\n<h2>{QUESTIONS}</h2>\n{figures}</section>\n"
    )
}

/// The heading of the open questions.
pub(super) const QUESTIONS: &str = "Questions the documents leave open";

/// What came out of a question, in sentences.
fn answers(answers: &[String]) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let item = |answer: &String| format!("<li>{}</li>\n", escape(answer));
    let items: String = answers.iter().map(item).collect();
    format!("<ul class=\"answers\">\n{items}</ul>\n")
}

fn figure(figure: &FigureReport) -> String {
    let place = anchor(&figure.name);
    let panels: String =
        pairs(&figure.panels).iter().map(|pair| panel_group(pair, &place)).collect();
    format!(
        "<article class=\"figure\" id=\"{place}\">\n<p class=\"source\">{}</p>\n<h3>{}</h3>\n\
         {}{}{}{panels}{}</article>\n",
        escape(&figure.source),
        escape(&figure.title),
        answers(&figure.answers),
        figure.tables.iter().map(|table| tables::table(table, None)).collect::<String>(),
        notes(&figure.notes),
        footer(figure)
    )
}

/// How to make the figure again, and where its files are.
fn footer(figure: &FigureReport) -> String {
    let made = format!("{} ({})", command(&figure.command), duration(figure.seconds));
    if figure.files.is_empty() {
        return format!("<p class=\"made\">{made}</p>\n");
    }
    let file = |file: &String| format!("<code>{}</code>", escape(file));
    let files: Vec<String> = figure.files.iter().map(file).collect();
    format!(
        "<p class=\"made\">{made}<br>Files in <code>{}/</code>: {}</p>\n",
        escape(&figure.name),
        files.join(", ")
    )
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
fn panel_group(pair: &[&PanelReport], place: &str) -> String {
    let class = if pair.len() == 2 { "pair" } else { "alone" };
    let panels: String = pair.iter().map(|panel| panel_box(panel, place)).collect();
    let details: String = pair.iter().map(|panel| panel_tables(panel)).collect();
    format!("<div class=\"{class}\">\n{panels}</div>\n{details}")
}

fn panel_box(panel: &PanelReport, place: &str) -> String {
    let side = if panel.printed { "printed" } else { "defined" };
    let drawings: String = panel
        .drawings
        .iter()
        .map(|one| {
            let key = anchor(&format!("{place}-{}-{side}-{}", panel.id, one.name));
            drawing::figure(one, &key)
        })
        .collect();
    let readings = panel.readings.as_ref().map(tables::readings_line).unwrap_or_default();
    let label = kind(panel)
        .map_or(String::new(), |kind| format!("<span class=\"kind {side}\">{kind}</span> "));
    format!(
        "<section class=\"panel\">\n<h4>{label}{}</h4>\n\
         <div class=\"drawings\">{drawings}</div>\n<div class=\"about\">{readings}</div></section>\n",
        escape(&panel.title),
    )
}

/// The tables of a panel; they say whose they are, since its twin's stand below.
fn panel_tables(panel: &PanelReport) -> String {
    let side = kind(panel).map(str::to_lowercase);
    let side = side.as_deref();
    let plain: String = panel.tables.iter().map(|table| tables::table(table, side)).collect();
    // Most titles say it themselves.
    let titled = match side.filter(|side| !panel.title.to_lowercase().contains(side)) {
        None => panel.title.clone(),
        Some(side) => format!("{}, {side}", panel.title),
    };
    let readings = panel.readings.as_ref();
    plain + &readings.map(|one| tables::readings_table(one, &titled)).unwrap_or_default()
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
