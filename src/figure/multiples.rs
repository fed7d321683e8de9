//! Small figures of one kind on one page, with the same axes and one legend.

use plotters::coord::ranged1d::Ranged;

use super::backend::Recording;
use super::legend::Legend;
use super::page::{Header, Page};
use super::shared_axes::scale;
use super::theme::{EDGE, Theme};
use super::{Body, BoxFigure, CurveFigure, Figure, FigureError, Head, LineName, Width};

pub(super) fn draw(
    figures: &[Figure],
    head: &Head,
    theme: Theme,
) -> Result<Recording, FigureError> {
    // Across the text of a page there is room for two columns.
    let (small, columns) = match theme.width {
        Width::Text => (Theme::new(Width::Column), 2),
        Width::Column | Width::Screen => (theme, 1),
    };
    let figures = with_shared_axes(figures);
    let drawn: Vec<Recording> =
        figures.iter().map(|figure| figure.draw(small.width)).collect::<Result<_, _>>()?;
    let entries = figures.first().map_or_else(Vec::new, |figure| match &figure.body {
        Body::Box(figure) => figure.entries(&figure.drawable()),
        Body::Curve(figure) => figure.entries(),
        _ => Vec::new(),
    });
    let legend = Legend::new(theme, entries);
    let header = Header::new(theme, &head.title, &head.note, EDGE);
    let steps = |units: u32| f64::from(units) / theme.scale();
    let (mut top, mut places) = (header.height(), Vec::new());
    let width = theme.page_width() / f64::from(columns);
    for row in drawn.chunks(columns as usize) {
        let lefts = (0..row.len()).map(|column| column as f64 * width);
        places.extend(lefts.map(|left| (left, top)));
        top += row.iter().map(|one| steps(one.size.1)).fold(0.0, f64::max);
    }
    let page = Page::new(theme, top + legend.height() + EDGE);
    header.draw(&page)?;
    legend.draw(&page, theme.page_width() / 2.0, top)?;
    let corners: Vec<(i32, i32)> = places.into_iter().map(|place| page.at(place)).collect();
    let mut whole = page.finish();
    drawn.into_iter().zip(corners).for_each(|(one, corner)| whole.place(one, corner));
    Ok(whole)
}

/// The figures without legends, all of which show what any of them shows.
fn with_shared_axes(figures: &[Figure]) -> Vec<Figure> {
    let boxes = figures.iter().filter_map(|figure| match &figure.body {
        Body::Box(figure) => Some(figure),
        _ => None,
    });
    let curves = figures.iter().filter_map(|figure| match &figure.body {
        Body::Curve(figure) => Some(figure),
        _ => None,
    });
    let groups = boxes.flat_map(|figure| figure.groups.clone()).collect();
    let lines = curves.flat_map(|figure| figure.lines.clone()).collect();
    let share = |figure: &Figure| match &figure.body {
        Body::Box(one) => {
            let all = BoxFigure { groups: Vec::clone(&groups), ..one.clone() };
            let range = all.y_axis().range();
            let y_range = Some((range.start, range.end));
            Body::Box(BoxFigure { y_range, is_part: true, ..one.clone() })
        }
        Body::Curve(one) => {
            let all = CurveFigure { lines: Vec::clone(&lines), ..one.clone() };
            let (x, y) = (all.level_axis(), all.upright_axis());
            let mut one = CurveFigure { is_part: true, ..one.clone() };
            let on_plot = one.lines.iter_mut().filter(|line| line.name == LineName::OnPlot);
            on_plot.for_each(|line| line.name = LineName::InLegend);
            (one.y_range, one.y_scale) = (Some((y.range().start, y.range().end)), scale(&y));
            if let Some(x) = x {
                (one.x_range, one.x_scale) = (Some((x.range().start, x.range().end)), scale(&x));
            }
            Body::Curve(one)
        }
        other => other.clone(),
    };
    let part = |figure: &Figure| Figure { head: figure.head.clone(), body: share(figure) };
    figures.iter().map(part).collect()
}
