//! A notched box with whiskers and outliers: the whole box, or one half of it.

use plotters::style::{Color, ShapeStyle};
use plotters_backend::{BackendCoord, DrawingBackend};

use super::{Drawn, Element, Hatching, Recording};
use crate::theme::Colour;

/// Which part of a box is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    Left,
    Right,
}

/// How a box looks. Lengths are in units.
#[derive(Clone, Copy)]
pub struct BoxLook {
    pub part: Part,
    /// Half the width of the whole box.
    pub half: i32,
    pub fill: Colour,
    pub hatching: Option<Hatching>,
    /// Outline and whiskers.
    pub pen: ShapeStyle,
    pub median: ShapeStyle,
    pub outlier: ShapeStyle,
    /// A box less high than this is drawn as a bar of this height.
    pub least_height: i32,
    /// Whether the lower and the upper whisker are known.
    pub whiskers: [bool; 2],
}

/// A box over one place of the horizontal axis. `numbers` are the lower whisker, the lower quartile, the lower end of
/// the notch, the median, the upper end of the notch, the upper quartile and the upper whisker. `bounds` are the least
/// and the greatest value there can be: nothing is drawn beyond them.
pub fn notched_box<C>(
    numbers: [C; 7],
    bounds: [C; 2],
    outliers: Vec<C>,
    look: BoxLook,
) -> Element<C> {
    let points = numbers.into_iter().chain(bounds).chain(outliers).collect();
    Element::of_many(points, move |places, drawing| look.draw(places, drawing))
}

impl BoxLook {
    fn draw(&self, places: &[BackendCoord], drawing: &mut Recording) -> Drawn {
        let Some((numbers, outliers)) = places.split_first_chunk::<9>() else { return Ok(()) };
        let x = numbers[0].0;
        let [whisker_low, low, notch_low, median, notch_high, high, whisker_high, least, greatest] =
            numbers.map(|place| place.1);
        let (from_left, from_right) = (self.part != Part::Right, self.part != Part::Left);
        let left = if from_left { x - self.half } else { x };
        let right = if from_right { x + self.half } else { x };
        let centre = left.midpoint(right);
        // Outliers at the same height are one.
        let mut heights: Vec<i32> = outliers.iter().map(|place| place.1).collect();
        heights.sort_unstable();
        heights.dedup_by_key(|y| *y / 4);
        for y in heights {
            let radius = (self.half / 5).clamp(15, 30) as u32;
            drawing.draw_circle((centre, y), radius, &self.outlier, false)?;
        }
        // Downwards on the page: the upper quartile has the lesser y.
        let is_bar = low - high < self.least_height;
        let (mut top, mut bottom) = (high, low);
        if is_bar {
            let middle = high.midpoint(low) - self.least_height / 2;
            top = middle.max(greatest).min(least - self.least_height);
            bottom = top + self.least_height;
        }
        // A notch that is longer than the box ends with it, or the box would fold.
        let middle = median.clamp(top, bottom);
        let (upper, lower) = (notch_high.clamp(top, middle), notch_low.clamp(middle, bottom));
        let dent = if is_bar || upper == lower { 0 } else { self.half / 2 };
        let (from, to) = (
            if from_left { left + dent } else { left },
            if from_right { right - dent } else { right },
        );
        // Two convex pieces, which every backend fills alike.
        let above = [
            (left, top),
            (right, top),
            (right, upper),
            (to, middle),
            (from, middle),
            (left, upper),
        ];
        let below = [
            (from, middle),
            (to, middle),
            (right, lower),
            (right, bottom),
            (left, bottom),
            (left, lower),
        ];
        for piece in [above, below] {
            drawing.fill_polygon(piece, &self.fill.filled())?;
        }
        for piece in [above, below] {
            self.hatching.map_or(Ok(()), |hatching| hatching.draw(drawing, &piece))?;
        }
        let outline = above[..4].iter().chain(&below[2..]).chain([&above[4], &above[5]]);
        drawing.draw_path(outline.chain(&above[..2]).copied(), &self.pen)?;
        if !is_bar {
            // Just inside a box whose median is a quartile, to show there too.
            let inset = (self.median.stroke_width + self.pen.stroke_width) as i32 / 2;
            let inset = inset.min((bottom - top) / 2);
            let y = middle.clamp(top + inset, bottom - inset);
            drawing.draw_line((from, y), (to, y), &self.median)?;
        }
        let ends = [(bottom, whisker_low.max(bottom)), (top, whisker_high.min(top))];
        for ((quartile, end), _) in ends.into_iter().zip(self.whiskers).filter(|(_, known)| *known)
        {
            drawing.draw_line((centre, quartile), (centre, end), &self.pen)?;
            // A whisker of no length shows by its cap, twice as thick on the edge of the box.
            let thick = if quartile == end { 2 } else { 1 };
            let (cap, pen) =
                ((right - left) / 4, self.pen.stroke_width(thick * self.pen.stroke_width));
            drawing.draw_line((centre - cap, end), (centre + cap, end), &pen)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Shape;
    use crate::theme::INK;

    /// The pieces of a box, and how many lines are twice as thick as its outline.
    fn draw(numbers: [i32; 7], part: Part) -> (Vec<Vec<BackendCoord>>, usize) {
        let pen = INK.stroke_width(10);
        let (median, outlier, hatching, whiskers) = (pen, pen, None, [true; 2]);
        let look = BoxLook {
            part,
            half: 100,
            fill: INK,
            hatching,
            pen,
            median,
            outlier,
            least_height: 40,
            whiskers,
        };
        let mut recording = Recording::new((1000, 1000));
        let places = numbers.into_iter().chain([950, 90]).map(|y| (500, y));
        look.draw(&places.collect::<Vec<_>>(), &mut recording).expect("drawn");
        let thick = |shape: &&Shape| matches!(shape, Shape::Path { width: 20, .. });
        let caps = recording.shapes.iter().filter(thick).count();
        let pieces = recording.shapes.into_iter().filter_map(|shape| match shape {
            Shape::Polygon { points, .. } => Some(points),
            _ => None,
        });
        (pieces.collect(), caps)
    }

    /// Turning always the same way.
    fn is_convex(points: &[BackendCoord]) -> bool {
        let mut corners = points.to_vec();
        corners.dedup();
        let at = |i: usize| corners[i % corners.len()];
        let turns = (0..corners.len()).map(|i| {
            let (a, b, c) = (at(i), at(i + 1), at(i + 2));
            (b.0 - a.0) * (c.1 - b.1) - (b.1 - a.1) * (c.0 - b.0)
        });
        turns.clone().all(|turn| turn >= 0) || turns.clone().all(|turn| turn <= 0)
    }

    #[test]
    fn pieces_are_convex_and_never_fold_and_flat_boxes_show() {
        // Low values are low on the page: y counts downwards.
        let boxes = [
            [900, 800, 650, 600, 550, 300, 100],
            [900, 800, 950, 600, 250, 500, 100],
            [900, 800, 800, 800, 300, 300, 300],
        ];
        for (numbers, part) in boxes.into_iter().zip([Part::Whole, Part::Left, Part::Right]) {
            let (pieces, _) = draw(numbers, part);
            let inside = |place: &BackendCoord| (numbers[5]..=numbers[1]).contains(&place.1);
            assert!(pieces.iter().all(|piece| is_convex(piece) && piece.iter().all(inside)));
        }
        let (pieces, caps) = draw([90; 7], Part::Whole);
        assert_eq!((pieces[0][0].1, pieces[1][3].1, caps), (90, 130, 2), "within the bounds");
    }
}
