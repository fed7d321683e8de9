//! The page of `dpbi plot --page`: all figures of some results folders, to look through.
//!
//! A folder may come from a stranger, and an SVG file may hold scripts, links and addresses. Every figure is
//! therefore an `<img>`: in an image browsers run no script, follow no link and load nothing. The bytes stand
//! in the page itself, so that it is one file, and the page may load nothing else.

use maud::{Markup, html};

use super::html::{document, has_title};
use super::policy::base64;
use super::text::{anchor, count};
use figure::Width;

/// What the page needs beside the style sheet of the report.
const STYLE: &str = include_str!("figure_page.css");
const TITLE: &str = "Figures of dpbi";

/// The figures of some results folders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigurePage {
    /// The folders, in the order of the page.
    pub folders: Vec<FigureFolder>,
}

/// A results folder with its figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureFolder {
    pub name: String,
    pub title: String,
    pub path: String,
    pub width: Width,
    pub figures: Vec<ShownFigure>,
}

/// A figure that is there as a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownFigure {
    pub file: String,
    pub title: String,
    /// What a browser takes the bytes for, such as `image/png`.
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

impl FigurePage {
    /// The page: one file, without network or script.
    pub fn html(&self) -> String {
        page(self).into_string()
    }

    /// What it holds, in words.
    pub fn summary(&self) -> String {
        let figures = self.folders.iter().map(|folder| folder.figures.len()).sum();
        format!("{} of {}", count(figures, "figure"), count(self.folders.len(), "results folder"))
    }
}

/// Whether the beginning of a page is that of a page of figures.
pub fn is_figure_page(page: &[u8]) -> bool {
    has_title(page, TITLE)
}

fn page(shown: &FigurePage) -> Markup {
    let folders: Vec<(String, &FigureFolder)> =
        (1..).zip(&shown.folders).map(|(n, folder)| (place(n, folder), folder)).collect();
    let body = html! {
        header {
            h1 { (TITLE) }
            p.lead { (shown.summary()) "." }
        }
        nav aria-label="Contents" {
            h2 { "Contents" }
            ul { @for (place, folder) in &folders { (entry(place, folder)) } }
        }
        @for (place, folder) in &folders { (section(place, folder)) }
    };
    document(TITLE, STYLE, "", &body)
}

/// The anchor of the n-th folder. Several may have the same name.
fn place(n: usize, folder: &FigureFolder) -> String {
    format!("{}-{n}", anchor(&folder.name))
}

fn entry(place: &str, folder: &FigureFolder) -> Markup {
    html! {
        li {
            a href={ "#" (place) } { (folder.title) } " "
            span.faint { (folder.name) ", " (count(folder.figures.len(), "figure")) }
        }
    }
}

fn section(place: &str, folder: &FigureFolder) -> Markup {
    html! {
        section id=(place) {
            h2 { (folder.title) " " span.short { (folder.name) } }
            p.made { "Files in " code { (folder.path) } }
            div.cards.(folder.width.id()) {
                @for figure in &folder.figures { (card(figure)) }
            }
        }
    }
}

fn card(figure: &ShownFigure) -> Markup {
    let ShownFigure { file, title, media_type, bytes } = figure;
    html! {
        article {
            h3 { (title) }
            p.source { code { (file) } }
            figure.drawing {
                img src={ "data:" (media_type) ";base64," (base64(bytes)) } alt=(title);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "<script>alert('\"&\"')</script>";

    fn shown() -> FigurePage {
        let figure = ShownFigure {
            file: HOSTILE.into(),
            title: HOSTILE.into(),
            media_type: "image/svg+xml",
            bytes: HOSTILE.into(),
        };
        let folder = FigureFolder {
            name: HOSTILE.into(),
            title: HOSTILE.into(),
            path: HOSTILE.into(),
            width: Width::Column,
            figures: vec![figure.clone(), figure],
        };
        FigurePage { folders: vec![folder.clone(), folder] }
    }

    #[test]
    fn every_figure_is_an_image_and_all_text_is_escaped() {
        let html = shown().html();
        let image =
            format!("<img src=\"data:image/svg+xml;base64,{}\"", base64(HOSTILE.as_bytes()));
        assert_eq!(html.matches(&image).count(), 4);
        assert_eq!(html.matches("<img ").count(), 4);
        assert_eq!(html.matches("<div class=\"cards column\">").count(), 2);
        assert!(html.contains("4 figures of 2 results folders"));
        assert!(!html.contains("<script") && !html.contains("<svg") && !html.contains("http:"));
        assert!(html.contains("default-src 'none'; script-src 'none';"));
        assert!(is_figure_page(html.as_bytes()) && !is_figure_page(b"<!DOCTYPE html>"));
    }
}
