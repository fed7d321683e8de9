//! What plotters lacks, as elements of its own kind: each is a `PointCollection` in the coordinates of
//! its chart, and a `Drawable` at the places where these come to lie.

mod diamond;
mod error_bar;
mod hatched_bar;
mod heat_cell;
mod marker;
mod notched_box;
mod stem;

use plotters::element::{Drawable, PointCollection};
use plotters_backend::{BackendCoord, DrawingBackend, DrawingErrorKind};

pub use diamond::diamond;
pub use error_bar::ErrorBar;
pub use hatched_bar::{HatchedBar, Hatching};
pub use heat_cell::{HatchedCell, HeatCell};
pub use marker::Marker;
pub use notched_box::{BoxLook, NotchedBox, Part};
pub use stem::Stem;

type Drawn<DB> = Result<(), DrawingErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Makes an element of plotters: the collection of the points in its field `points`, drawn by its
/// method `draw_at` where these come to lie.
macro_rules! element {
    ($element:ident) => {
        impl<'a, C: 'a> PointCollection<'a, C> for &'a $element<C> {
            type Point = &'a C;
            type IntoIter = &'a [C];

            fn point_iter(self) -> &'a [C] {
                &self.points
            }
        }

        impl<C, DB: DrawingBackend> Drawable<DB> for $element<C> {
            fn draw<I: Iterator<Item = BackendCoord>>(
                &self,
                places: I,
                backend: &mut DB,
                _: (u32, u32),
            ) -> Drawn<DB> {
                self.draw_at(&places.collect::<Vec<_>>(), backend)
            }
        }
    };
}

element!(ErrorBar);
element!(HatchedBar);
element!(HatchedCell);
element!(HeatCell);
element!(NotchedBox);
element!(Stem);
