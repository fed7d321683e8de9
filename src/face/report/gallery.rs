//! The gallery: all figures of some results folders on one page, to look through.

use maud::{Markup, html};

use super::html::document;
use super::text::{anchor, count};
use super::{Drawing, drawing, harmless};
use figure::Width;

/// What the page needs beside the style sheet of the report.
const GALLERY_STYLE: &str = include_str!("gallery.css");
const TITLE: &str = "Figures of dpbi";

/// The figures of some results folders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gallery {
    /// The folders, in the order of the page.
    pub folders: Vec<GalleryFolder>,
}

/// A results folder with its figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GalleryFolder {
    /// The experiment's name.
    pub name: String,
    pub title: String,
    pub path: String,
    pub width: Width,
    pub figures: Vec<GalleryFigure>,
}

/// A figure that is there as a file.
#[derive(Clone, Debug, PartialEq)]
pub struct GalleryFigure {
    pub file: String,
    pub title: String,
    /// The figure itself.
    pub picture: Picture,
}

/// A figure as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// SVG, which becomes a part of the page.
    Drawing(String),
    /// The address of a file, as the page names it.
    Image(String),
}

impl Picture {
    /// An SVG file as a part of the page, if it is written as ours are; otherwise as an image at an
    /// address.
    pub fn of_svg(svg: &[u8], address: impl FnOnce() -> String) -> Self {
        let drawing = str::from_utf8(svg).ok().and_then(harmless::redraw);
        drawing.map_or_else(|| Self::Image(address()), Self::Drawing)
    }
}

impl Gallery {
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

/// Whether the beginning of a page is that of a gallery.
pub fn is_gallery(page: &[u8]) -> bool {
    super::html::has_title(page, TITLE)
}

fn page(gallery: &Gallery) -> Markup {
    let folders: Vec<(String, &GalleryFolder)> =
        (1..).zip(&gallery.folders).map(|(n, folder)| (place(n, folder), folder)).collect();
    let body = html! {
        header {
            h1 { (TITLE) }
            p.lead { (gallery.summary()) "." }
        }
        nav aria-label="Contents" {
            h2 { "Contents" }
            ul { @for (place, folder) in &folders { (entry(place, folder)) } }
        }
        @for (place, folder) in &folders { (section(place, folder)) }
    };
    document(TITLE, GALLERY_STYLE, "", &body)
}

/// The anchor of the n-th folder. Several may have the same name.
fn place(n: usize, folder: &GalleryFolder) -> String {
    format!("{}-{n}", anchor(&folder.name))
}

fn entry(place: &str, folder: &GalleryFolder) -> Markup {
    html! {
        li {
            a href={ "#" (place) } { (folder.title) } " "
            span.faint { (folder.name) ", " (count(folder.figures.len(), "figure")) }
        }
    }
}

fn section(place: &str, folder: &GalleryFolder) -> Markup {
    html! {
        section id=(place) {
            h2 { (folder.title) " " span.short { (folder.name) } }
            p.made { "Files in " code { (folder.path) } }
            div.gallery.(folder.width.id()) {
                @for figure in &folder.figures { (card(figure)) }
            }
        }
    }
}

fn card(figure: &GalleryFigure) -> Markup {
    let GalleryFigure { file, title, picture } = figure;
    html! {
        article {
            h3 { (title) }
            p.source { code { (file) } }
            @match picture {
                Picture::Drawing(svg) => (drawing::figure(&inline(svg, title))),
                Picture::Image(address) => {
                    figure.drawing { img src=(address) alt=(title) loading="lazy"; }
                }
            }
        }
    }
}

fn inline(svg: &str, title: &str) -> Drawing {
    Drawing { alt: title.into(), svg: svg.into(), ..Drawing::default() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const HOSTILE: &str = "<script>alert('\"&\"')</script>";

    fn gallery() -> Gallery {
        let svg = "<svg width=\"9pt\" xmlns=\"http://www.w3.org/2000/svg\">\n\
                   <rect fill=\"#0072B2\"/>\n</svg>\n";
        let figure =
            |picture| GalleryFigure { file: HOSTILE.into(), title: HOSTILE.into(), picture };
        let drawing = || figure(Picture::of_svg(svg.as_bytes(), String::new));
        let folder = GalleryFolder {
            name: HOSTILE.into(),
            title: HOSTILE.into(),
            path: HOSTILE.into(),
            width: Width::Column,
            figures: vec![drawing(), drawing(), figure(Picture::Image(HOSTILE.into()))],
        };
        Gallery { folders: vec![folder.clone(), folder] }
    }

    #[test]
    fn every_figure_is_there_once_and_all_text_is_escaped() {
        let html = gallery().html();
        assert_eq!(html.matches("<svg ").count(), 4);
        assert_eq!(html.matches("<img src=\"&lt;script&gt;").count(), 2);
        assert_eq!(html.matches("<div class=\"gallery column\">").count(), 2);
        assert!(html.contains("6 figures of 2 results folders"));
        assert!(!html.contains("<script") && !html.contains("http:"));
        assert!(is_gallery(html.as_bytes()) && !is_gallery(b"<!DOCTYPE html>"));
    }

    #[test]
    fn links_lead_to_folders_and_ids_are_unique() {
        let html = gallery().html();
        let ids: Vec<&str> =
            html.split(" id=\"").skip(1).filter_map(|id| id.split('"').next()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
        let links: Vec<&str> =
            html.split("href=\"#").skip(1).filter_map(|id| id.split('"').next()).collect();
        assert_eq!(links.len(), 2);
        assert!(links.iter().all(|link| ids.contains(link)), "{links:?} {ids:?}");
    }

    #[test]
    fn what_may_not_stand_in_the_page_is_an_image() {
        let hostile = format!("<svg width=\"9pt\">\n{HOSTILE}\n</svg>\n");
        let image = Picture::Image("a.svg".into());
        assert_eq!(Picture::of_svg(hostile.as_bytes(), || "a.svg".into()), image);
        assert_eq!(Picture::of_svg(b"<svg>\xff</svg>", || "a.svg".into()), image);
    }
}
