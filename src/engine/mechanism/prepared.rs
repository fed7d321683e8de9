//! A prepared setting: what the mechanisms of one setting share.

use crate::mechanism::law::{
    Detail, Family, Lattice, Law, Listed, Plan, PreparedField, Product, Recipe, Remapped,
    RemappedNear, Weighting, is_walked, ln_probabilities,
};
use crate::operations::{Operation, count};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::metric::Metric;
use crate::posterior::model::Posterior;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Window};

/// The tables and candidates of one setting, made once and used by every mechanism.
pub struct PreparedSetting<'a> {
    posterior: &'a Posterior,
    /// The error fields: that of the score's distance first, then those of the metrics asked for.
    fields: Vec<Box<dyn Field>>,
    /// The mechanisms that weigh candidates.
    families: Vec<Family>,
}

impl<'a> PreparedSetting<'a> {
    /// Prepares `plans`, with errors in the setting's distance and in `metrics`.
    pub fn new(
        setting: &'a Setting,
        plans: &[impl Into<Plan> + Clone],
        metrics: &[Metric],
    ) -> Self {
        Self::prepare(setting, plans, metrics, Detail::Mean)
    }

    /// Prepares `plans`, all of whose errors will be summarised.
    pub fn with_summaries(
        setting: &'a Setting,
        plans: &[impl Into<Plan> + Clone],
        metrics: &[Metric],
    ) -> Self {
        Self::prepare(setting, plans, metrics, Detail::Summaries)
    }

    fn prepare(
        setting: &'a Setting,
        plans: &[impl Into<Plan> + Clone],
        metrics: &[Metric],
        detail: Detail,
    ) -> Self {
        let posterior = &setting.posterior;
        let plans: Vec<Plan> = plans.iter().cloned().map(Into::into).collect();
        let reach = joint_reach(posterior, &plans);
        let mut fields = vec![setting.distance.field(posterior, &reach)];
        fields.extend(metrics.iter().map(|metric| metric.field(posterior, &reach)));
        let weightings: Vec<Weighting> =
            plans.iter().filter_map(|plan| plan.recipe.weighting()).collect();
        let borrowed: Vec<&dyn Field> = fields.iter().map(AsRef::as_ref).collect();
        let families = Family::all(posterior, &borrowed, &weightings, detail);
        Self { posterior, fields, families }
    }

    /// The error fields: that of the distance first, then those of the metrics in their order.
    pub fn fields(&self) -> impl Iterator<Item = PreparedField<'_>> {
        let fields = self.fields.iter().map(AsRef::as_ref).enumerate();
        fields.map(|(place, field)| PreparedField::new(place, field))
    }

    /// The field of the setting's distance.
    pub fn distance(&self) -> PreparedField<'_> {
        PreparedField::new(0, self.fields[0].as_ref())
    }

    /// The law of one plan, which must be one of those that the setting was prepared for.
    ///
    /// # Panics
    /// If the plan weighs candidates, and the setting was not prepared for it.
    pub fn law(&self, plan: impl Into<Plan>) -> Box<dyn Law + '_> {
        let Plan { recipe, remap } = plan.into();
        count(Operation::Law, 1);
        let law = self.law_of(recipe);
        let Some(remap) = remap else { return law };
        if !remap.is_listed()
            && let Some(region) = recipe.region(self.posterior)
        {
            return Box::new(RemappedNear::new(law, remap, &region, self.posterior.counts()));
        }
        let score = self.fields[0].as_ref();
        let logs = ln_probabilities(recipe, self.posterior, score, remap.outputs());
        Box::new(Remapped::new(law, remap, &logs, self.posterior.counts()))
    }

    fn law_of(&self, recipe: Recipe) -> Box<dyn Law + '_> {
        if let Some(weighting) = recipe.weighting() {
            let score = self.fields[0].as_ref();
            let law = self.families.iter().find_map(|family| family.law(weighting, score));
            return Box::new(law.expect("a recipe that was prepared"));
        }
        match recipe {
            Recipe::Exponential { .. } | Recipe::Weighed { .. } => {
                unreachable!("they weigh candidates")
            }
            Recipe::OwnNoise { noise, restored } => {
                Box::new(Product::own_noise(self.posterior, noise, restored))
            }
            Recipe::Table { table, power } => Box::new(Listed::new(
                &table.row(self.posterior.counts(), power),
                table.region(self.posterior),
                self.posterior,
            )),
            Recipe::Noise { noise, scale, restored } => {
                Box::new(Product::noise(self.posterior, noise, scale, restored))
            }
            Recipe::Hamming { rate, weights } => {
                Box::new(Product::hamming(self.posterior, rate, weights))
            }
            Recipe::Lattice { noise } => Box::new(Lattice::new(self.posterior, noise)),
            Recipe::Historical { noise } => Box::new(Product::historical(self.posterior, noise)),
        }
    }
}

/// What all plans need: the windows of their recipes, if their laws are walked, and a ball for
/// exponential ones; a plan that is remapped can release any candidate.
fn joint_reach(posterior: &Posterior, plans: &[Plan]) -> Reach {
    let ball = plans.iter().any(|plan| plan.recipe.needs_ball());
    let start = Reach { ball, ..Reach::ball(posterior) };
    let regions = plans.iter().filter_map(|plan| match &plan.remap {
        Some(remap) if remap.is_listed() => Some(Region::simplex(posterior.n(), posterior.k())),
        _ => plan.recipe.region(posterior).filter(is_walked),
    });
    regions.fold(start, |joint, region| {
        let join = |(a, b): (Window, &Window)| (a.0.min(b.0), a.1.max(b.1));
        let windows = joint.windows.into_iter().zip(region.windows()).map(join).collect();
        Reach { windows, ..joint }
    })
}
