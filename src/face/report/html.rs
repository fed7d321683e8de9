//! The page: its head, what is at its top, and its order.

use super::summary::{Standing, Summary};
use super::text::{anchor, command, count, duration, escape};
use super::{Document, FigureReport, Report, claims, dark, figures, numbers};

const STYLE: &str = include_str!("style.css");
const TITLE: &str = "Differentially private Bayesian inference, regenerated";

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let documents: String = report.documents.iter().map(figures::document).collect();
    let sections = [
        header(report),
        summary(report),
        distances(&report.summary()),
        contents(report),
        documents,
        numbers::section(&report.numbers),
        claims::section(&report.claims),
        figures::questions(&report.questions),
        footer(report),
    ];
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{TITLE}</title>\n\
         <style>\n{STYLE}{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
        dark_drawings(report),
        sections.concat()
    )
}

/// Whether a page is one of these, as its head tells.
pub(super) fn is_page(page: &[u8]) -> bool {
    let head = String::from_utf8_lossy(page);
    head.starts_with("<!DOCTYPE html>") && head.contains(&format!("<title>{TITLE}</title>"))
}

/// Recolours the drawings on a dark screen. Paper stays white.
fn dark_drawings(report: &Report) -> String {
    let figures = report.documents.iter().flat_map(|document| &document.figures);
    let figures = figures.chain(&report.questions);
    let drawings = figures.flat_map(|figure| &figure.panels).flat_map(|panel| &panel.drawings);
    let drawings = drawings.filter(|one| !one.is_map);
    let rules = dark::rules(drawings.flat_map(|one| [one.wide.as_str(), one.narrow.as_str()]));
    format!("@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n")
}

fn header(report: &Report) -> String {
    let documents = match report.documents.len() {
        0 => "the research documents".to_owned(),
        documents => count(documents, "research document"),
    };
    let part = if report.partial { "A part of the figures" } else { "The figures" };
    format!(
        "<header>\n<h1>{TITLE}</h1>\n<p class=\"lead\">{part}, numbers and claims of \
         {documents}, computed anew by dpbi {} and compared with what is printed.</p>\n\
         <p class=\"made\">{} · {} · {}</p>\n</header>\n",
        escape(&report.version),
        escape(&report.generated),
        duration(report.seconds),
        command(&report.command)
    )
}

fn summary(report: &Report) -> String {
    let summary = report.summary();
    let claims = if report.claims.is_empty() { String::new() } else { standings(report, &summary) };
    format!(
        "<section id=\"summary\">\n<h2>Summary</h2>\n<dl class=\"tiles\">\n{}</dl>\n{claims}\
         </section>\n",
        tiles(&summary)
    )
}

fn tiles(summary: &Summary) -> String {
    let tile = |title: &str, value: String, about: &str| {
        format!("<div><dt>{title}</dt><dd>{value}<small>{about}</small></dd></div>\n")
    };
    let of = |part: usize, all: usize| format!("{part}<span class=\"of\"> of {all}</span>");
    let Summary { readings_named: named, readings_beyond: beyond, .. } = summary;
    let outliers = count(*named, "known outlier");
    let wrong = summary.numbers - summary.numbers_agreeing;
    [
        tile("figures regenerated", summary.figures.to_string(), &count(summary.panels, "panel")),
        tile(
            "readings matched",
            of(summary.readings_within, summary.readings),
            &format!("{outliers}, {beyond} unexplained"),
        ),
        tile(
            "numbers reproduced",
            of(summary.numbers_agreeing, summary.numbers),
            &match wrong {
                0 => "to the last digit".into(),
                _ => format!("{wrong} not"),
            },
        ),
        match summary.questions {
            0 => String::new(),
            questions => tile("open questions", questions.to_string(), "answered by computation"),
        },
    ]
    .concat()
}

/// How the claims fare under either distance, and which fare differently.
fn standings(report: &Report, summary: &Summary) -> String {
    let row = |name: &str, distance: &str, standing: Standing| {
        let Standing { hold, in_part, fail } = standing;
        format!(
            "<tr><th scope=\"row\">{name} <span class=\"faint\">{distance}</span></th>\
             <td class=\"n\">{hold}</td><td class=\"n\">{in_part}</td><td class=\"n\">{fail}</td>\
             </tr>\n"
        )
    };
    format!(
        "<table class=\"standings\">\n<thead><tr><th>{}</th>\
         <th class=\"n\"><span class=\"holds\">✓</span> hold</th>\
         <th class=\"n\"><span class=\"part\">◐</span> in part</th>\
         <th class=\"n\"><span class=\"fails\">✗</span> fail</th></tr></thead>\n<tbody>\n{}{}\
         </tbody></table>\n<p>{}</p>\n{}",
        count(summary.claims, "claim"),
        row("As defined", "Hellinger distance", summary.defined),
        row("Print distance", "that of the printed figures", summary.printed),
        differing(summary),
        claims::glance(&report.claims)
    )
}

fn differing(summary: &Summary) -> String {
    let link = |number: &u32| format!("<a href=\"#claim-{number}\">{number}</a>");
    let links: Vec<String> = summary.differing.iter().map(link).collect();
    let glance = "Below, every claim: first as defined, then with the print distance.";
    match links.as_slice() {
        [] => format!("Every claim fares the same under both distances. {glance}"),
        [one] => format!("One claim fares differently under the two distances: {one}. {glance}"),
        many => format!(
            "{} claims fare differently under the two distances: {}. {glance}",
            many.len(),
            many.join(", ")
        ),
    }
}

/// What "as defined" and "as printed" mean. It has to be said before any figure.
fn distances(summary: &Summary) -> String {
    let matched = match summary.readings {
        0 => String::new(),
        all => format!(
            "Of {all} values read off the printed figures, {} agree with the panels drawn as \
             printed. ",
            summary.readings_within
        ),
    };
    format!(
        "<section id=\"distances\">\n<h2>Two distances</h2>\n\
         <p>The documents’ text and their figures do not use the same distance. Results are \
         therefore shown under both.</p>\n<dl class=\"terms\">\n\
         <div><dt><span class=\"kind defined\">As defined</span></dt><dd>With the distance that the \
         text defines: the Hellinger distance <i>H</i> = √(1 − BC) between the released and the \
         true posterior, BC being their Bhattacharyya coefficient; and with the mechanisms as the \
         text defines them.</dd></div>\n\
         <div><dt><span class=\"kind printed\">As printed</span></dt><dd>With what the printed \
         figures were drawn with: the distance here called the <em>print profile</em>, in which \
         ln BC is divided by ln <i>N</i>, the logarithm of the posterior’s total <i>N</i> = \
         <i>n</i> + Σα, before the square root is taken: √(1 − BC<sup>1/ln <i>N</i></sup>) for \
         releases of the same total; and with divisors, sensitivities and data that differ from \
         figure to figure, as noted there. That distance is smaller than <i>H</i> and has other \
         sensitivities, so that the mechanisms that use it release other posteriors.</dd></div>\n\
         <div><dt><span class=\"kind printed\">Print distance</span></dt><dd>With that distance, \
         but otherwise as the text defines: what was not printed, and the claims.</dd></div>\n\
         </dl>\n<p>{matched}What was said about those figures need not be true of the distance that \
         was defined: every claim below is judged under both.</p>\n</section>\n"
    )
}

fn contents(report: &Report) -> String {
    let documents: String = report.documents.iter().map(contents_of).collect();
    let mut rest = String::new();
    if !report.numbers.is_empty() {
        rest += "<li><a href=\"#numbers\">Numbers in the texts</a></li>\n";
    }
    if !report.claims.is_empty() {
        rest += "<li><a href=\"#claims\">Claims</a></li>\n";
    }
    if !report.questions.is_empty() {
        rest += &contents_under("questions", figures::QUESTIONS, &report.questions);
    }
    format!(
        "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ul>\n{documents}{rest}</ul>\n</nav>\n"
    )
}

fn contents_of(document: &Document) -> String {
    contents_under(&document.id, &document.title, &document.figures)
}

fn contents_under(id: &str, title: &str, figures: &[FigureReport]) -> String {
    let figure = |figure: &FigureReport| {
        format!(
            "<li><a href=\"#{}\">{}</a> <span class=\"faint\">{}</span></li>\n",
            anchor(&figure.name),
            escape(&figure.title),
            escape(&figure.source)
        )
    };
    let figures: String = figures.iter().map(figure).collect();
    format!("<li><a href=\"#{}\">{}</a>\n<ul>\n{figures}</ul></li>\n", anchor(id), escape(title))
}

fn footer(report: &Report) -> String {
    format!(
        "<footer>\n<p>dpbi {}, {}.</p>\n</footer>\n",
        escape(&report.version),
        escape(&report.generated)
    )
}
