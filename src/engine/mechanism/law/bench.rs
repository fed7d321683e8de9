//! What the laws of several mechanisms share at one data set.

use std::ops::Deref;

use super::exponential::{Family, Weigher};
use super::{Law, LawAt, OutputLaw, is_walked};
use crate::posterior::distance::Distance;
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::metric::Metric;
use crate::posterior::model::Posterior;
use crate::posterior::simplex::Window;
use crate::refusal::Refusal;

/// The tables of errors and the candidates of one data set, made once and used by every law.
pub struct Bench<'a> {
    /// The error fields: that of the score's distance first, then those of the metrics asked for.
    fields: Vec<Box<dyn Field>>,
    laws: Vec<Box<dyn LawAt + 'a>>,
    /// Those laws that weigh candidates.
    families: Vec<Family>,
}

impl<'a> Bench<'a> {
    /// Prepares `laws` at these data, with errors in this distance, which is the score, and in `metrics`.
    pub fn new(
        posterior: &Posterior,
        distance: &dyn Distance,
        laws: impl IntoIterator<Item = &'a dyn Law>,
        metrics: &[Metric],
    ) -> Result<Self, Refusal> {
        Self::with(posterior, distance, laws, metrics, false)
    }

    /// The same, if all errors of all laws will be summarised.
    pub fn with_summaries(
        posterior: &Posterior,
        distance: &dyn Distance,
        laws: impl IntoIterator<Item = &'a dyn Law>,
        metrics: &[Metric],
    ) -> Result<Self, Refusal> {
        Self::with(posterior, distance, laws, metrics, true)
    }

    fn with(
        posterior: &Posterior,
        distance: &dyn Distance,
        laws: impl IntoIterator<Item = &'a dyn Law>,
        metrics: &[Metric],
        summarised: bool,
    ) -> Result<Self, Refusal> {
        let laws = laws.into_iter().map(|law| law.at(posterior));
        let laws: Vec<Box<dyn LawAt>> = laws.collect::<Result<_, _>>()?;
        let reach = joint_reach(posterior, &laws);
        let mut fields = vec![distance.field(posterior, &reach)];
        fields.extend(metrics.iter().map(|metric| metric.field(posterior, &reach)));
        let borrowed: Vec<&dyn Field> = fields.iter().map(AsRef::as_ref).collect();
        let weighers = laws.iter().map(|law| law.weigher());
        let weighers: Vec<Option<&dyn Weigher>> = weighers.collect();
        let families = Family::all(posterior, &borrowed, &weighers, summarised);
        Ok(Self { fields, laws, families })
    }

    /// The error fields: that of the distance first, then those of the metrics in their order.
    pub fn fields(&self) -> impl Iterator<Item = BenchField<'_>> {
        let fields = self.fields.iter().map(AsRef::as_ref).enumerate();
        fields.map(|(index, field)| BenchField { index, field })
    }

    /// The field of the distance.
    pub fn distance(&self) -> BenchField<'_> {
        BenchField { index: 0, field: self.fields[0].as_ref() }
    }

    /// One of the laws, by its index.
    pub fn law(&self, index: usize) -> Box<dyn OutputLaw + '_> {
        let (at, score) = (&self.laws[index], self.fields[0].as_ref());
        let weighed = at.weigher().and_then(|weigher| {
            self.families.iter().find_map(|family| family.law(index, weigher, score))
        });
        let law: Box<dyn OutputLaw> = match weighed {
            Some(weighed) => Box::new(weighed),
            None => at.output_law(),
        };
        at.finished(law, score)
    }

    /// The formula of one of the laws, by its index.
    pub fn at(&self, index: usize) -> &dyn LawAt {
        self.laws[index].as_ref()
    }
}

/// What all laws need: the windows of their regions, if they are walked, and a ball where candidates near
/// the data are.
fn joint_reach(posterior: &Posterior, laws: &[Box<dyn LawAt + '_>]) -> Reach {
    let mut weighers = laws.iter().filter_map(|law| law.weigher());
    let ball = weighers.any(|one| one.set().is_none());
    let start = Reach { ball, ..Reach::ball(posterior) };
    let regions = laws.iter().filter_map(|law| law.region().filter(is_walked));
    regions.fold(start, |joint, region| {
        let join = |(a, b): (Window, &Window)| (a.0.min(b.0), a.1.max(b.1));
        let windows = joint.windows.into_iter().zip(region.windows()).map(join).collect();
        Reach { windows, ..joint }
    })
}

/// An error field of a [`Bench`], with its index there: 0 is the score, and the metrics follow. By the index
/// a law knows what it has already found out about the error.
#[derive(Clone, Copy)]
pub struct BenchField<'a> {
    pub(super) index: usize,
    pub(super) field: &'a dyn Field,
}

impl<'a> Deref for BenchField<'a> {
    type Target = dyn Field + 'a;

    fn deref(&self) -> &Self::Target {
        self.field
    }
}
