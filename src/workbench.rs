//! One setting on the bench: what its mechanisms share.

use crate::field::{Field, Reach};
use crate::law::{Candidates, Exponential, Law, Product, Recipe, is_walked};
use crate::metric::Metric;
use crate::model::Posterior;
use crate::setting::Setting;
use crate::simplex::Window;

/// The tables and candidates of one setting, made once and used by every mechanism.
pub struct Workbench<'a> {
    posterior: &'a Posterior,
    /// The score's distance first, then the metrics asked for.
    fields: Vec<Box<dyn Field>>,
    /// For exponential mechanisms: candidates to draw from, which depend on the score only, and
    /// candidates to average further errors over.
    drawn: Option<Candidates>,
    walked: Option<Candidates>,
}

impl<'a> Workbench<'a> {
    /// Prepares `recipes`, with errors in the setting's distance and in `metrics`.
    #[must_use]
    pub fn new(setting: &'a Setting, recipes: &[Recipe], metrics: &[Metric]) -> Self {
        let posterior = &setting.posterior;
        let reach = joint_reach(posterior, recipes);
        let mut fields = vec![setting.distance.field(posterior, &reach)];
        fields.extend(metrics.iter().map(|metric| metric.field(posterior, &reach)));
        let candidates = |fields: &[Box<dyn Field>]| {
            let fields: Vec<&dyn Field> = fields.iter().map(AsRef::as_ref).collect();
            Candidates::new(&fields, posterior.n(), posterior.k())
        };
        let drawn = reach.ball.then(|| candidates(&fields[..1]));
        let walked = (reach.ball && fields.len() > 1).then(|| candidates(&fields));
        Self { posterior, fields, drawn, walked }
    }

    /// The fields: the distance first, then the metrics in their order.
    pub fn fields(&self) -> impl Iterator<Item = &dyn Field> {
        self.fields.iter().map(AsRef::as_ref)
    }

    /// The law of one recipe (one of those that the bench was prepared for).
    ///
    /// # Panics
    /// If the bench was prepared without any exponential recipe and is asked for one.
    #[must_use]
    pub fn law(&self, recipe: Recipe) -> Box<dyn Law + '_> {
        match recipe {
            Recipe::Exponential { rate } => {
                let drawn = self.drawn.as_ref().expect("the bench knows its recipes");
                let walked = self.walked.as_ref().unwrap_or(drawn);
                Box::new(Exponential::new(walked, drawn, self.fields[0].as_ref(), rate))
            }
            Recipe::Noise { noise, scale, restored } => {
                Box::new(Product::noise(self.posterior, noise, scale, restored))
            }
            Recipe::Hamming { rate } => Box::new(Product::hamming(self.posterior, rate)),
        }
    }
}

/// What all recipes need: their windows, if their laws are walked, and a ball for exponential ones.
fn joint_reach(posterior: &Posterior, recipes: &[Recipe]) -> Reach {
    let start = Reach { ball: recipes.iter().any(Recipe::needs_ball), ..Reach::ball(posterior) };
    let regions = recipes.iter().filter_map(|recipe| recipe.region(posterior));
    regions.filter(is_walked).fold(start, |joint, region| {
        let join = |(a, b): (Window, &Window)| (a.0.min(b.0), a.1.max(b.1));
        let windows = joint.windows.into_iter().zip(region.windows()).map(join).collect();
        Reach { windows, ..joint }
    })
}
