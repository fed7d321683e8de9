//! Places of interest on a heat map, with labels that do not collide.

use super::canvas::{Anchor, Canvas};
use super::font::Font;
use super::geometry::{Point, Rect};
use super::palette::{INK, TEXT, WHITE};
use super::text::shorten;

const FONT: Font = Font::regular(10.0);
const RADIUS: f64 = 4.2;
/// Between a mark and its label, and between a label and the rim of its box.
const AIR: f64 = 3.0;

/// Draws the marks and, where there is room, their labels in white boxes,
/// which are legible on every colour.
pub(super) fn draw_landmarks(canvas: &mut Canvas, plot: Rect, marks: &[(Point, &str)]) {
    for (at, _) in marks {
        canvas.ring(*at, RADIUS, WHITE, 3.4);
        canvas.ring(*at, RADIUS, INK, 1.3);
    }
    let mut taken: Vec<Rect> = marks.iter().map(|(at, _)| around(*at, RADIUS)).collect();
    for (at, label) in marks {
        let label = shorten(label, FONT, plot.width - 4.0 * AIR);
        let places = places(*at, &label).into_iter().map(|place| moved_inside(place, plot));
        let free = |place: &Rect| !taken.iter().any(|other| other.meets(*place));
        if let Some(place) = places.into_iter().find(free).filter(|_| !label.is_empty()) {
            draw_label(canvas, &label, place);
            taken.push(place);
        }
    }
}

fn around((x, y): Point, radius: f64) -> Rect {
    Rect { left: x - radius, top: y - radius, width: 2.0 * radius, height: 2.0 * radius }
}

fn draw_label(canvas: &mut Canvas, label: &str, place: Rect) {
    let (left, top, right, bottom) = (place.left, place.top, place.right(), place.bottom());
    canvas.fill(vec![(left, top), (right, top), (right, bottom), (left, bottom)], WHITE);
    let at = (left + AIR, bottom - 0.24 * FONT.size - 0.5);
    canvas.text(label, FONT, TEXT, at, Anchor::Start);
}

/// Beside, above and below the mark, near it first.
fn places((x, y): Point, label: &str) -> Vec<Rect> {
    let (width, height) = (FONT.width(label) + 2.0 * AIR, FONT.size + 3.0);
    let mut places = Vec::new();
    for distance in [1.0, 3.0, 6.0, 10.0] {
        let reach = RADIUS + AIR * distance;
        let (right, left, middle) = (x + reach, x - reach - width, x - width / 2.0);
        let (level, above, below) = (y - height / 2.0, y - reach - height, y + reach);
        let corners = [
            (right, level),
            (left, level),
            (middle, above),
            (middle, below),
            (right, above),
            (right, below),
            (left, above),
            (left, below),
        ];
        places.extend(corners.map(|(left, top)| Rect { left, top, width, height }));
    }
    places
}

/// The place nearest to `place` on the plot.
fn moved_inside(place: Rect, plot: Rect) -> Rect {
    let left = place.left.min(plot.right() - place.width).max(plot.left);
    let top = place.top.min(plot.bottom() - place.height).max(plot.top);
    Rect { left, top, ..place }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::testing::{Lcg, overlaps, texts};

    #[test]
    fn labels_are_on_the_plot_and_apart() {
        let plot = Rect { left: 50.0, top: 40.0, width: 250.0, height: 200.0 };
        let mut random = Lcg::new(3);
        for _ in 0..200 {
            let mut canvas = Canvas::new(400.0);
            let near = random.unit();
            let names: Vec<String> = (0..4).map(|_| random.words(25.0)).collect();
            let mut at =
                || (50.0 + 250.0 * near * random.unit(), 40.0 + 200.0 * near * random.unit());
            let marks: Vec<(Point, &str)> = names.iter().map(|name| (at(), &**name)).collect();
            draw_landmarks(&mut canvas, plot, &marks);
            let texts = texts(&canvas);
            assert_eq!(overlaps(&texts), None);
            for text in texts {
                assert!(plot.contains(text.at) && text.bounds().right() <= plot.right());
            }
        }
    }
}
