//! Laws that weigh the same candidates share the passes over them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::exact::summarise;
use super::super::survey::{Depth, Surveyed, SurveyedLaw, Tally, survey};
use super::super::{Batch, BenchField, Known, OutputLaw, OutputSet, Walked};
use super::weigher::Weigher;
use crate::numeric::sum::running;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::simplex::{BLOCK, Region, Row, uniform_composition};
use crate::rng::{Stream, uniform};

/// The candidates of one posterior, prepared for any number of mechanisms that weigh them: those that
/// are walked, and how many lie on the plateau where the score is 1.
struct Candidates {
    walked: Walked,
    plateau: f64,
}

impl Candidates {
    /// The candidates to be walked, with errors in `fields`: those of a set, or those near the data.
    fn new(set: Option<OutputSet>, fields: &[&dyn Field], posterior: &Posterior) -> Self {
        let Some(set) = set else { return Self::near(fields, posterior) };
        Self { walked: Walked::new(set.region(posterior.n(), posterior.k())), plateau: 0.0 }
    }

    /// All candidates; or the largest of the balls of `fields` (the score and the errors to be
    /// averaged), if every one of them has a ball and at least half of all candidates are outside of
    /// the largest. Balls around one posterior are nested, so that every error field is 1 outside of
    /// the largest. Of candidates that differ by exchanging equal parameters of the posterior only one
    /// is walked.
    fn near(fields: &[&dyn Field], posterior: &Posterior) -> Self {
        let (n, k) = (posterior.n(), posterior.k());
        let parameters = posterior.categories();
        let fold = |region: Region| Walked::new(region.folded(&parameters));
        let all = approximate_compositions(n, k);
        let balls: Option<Vec<Region>> = fields.iter().map(|field| field.ball()).collect();
        let represented = |walked: &Walked| walked.blocks.represented();
        let balls = balls.into_iter().flatten().map(fold);
        if let Some(walked) = balls.max_by(|a, b| represented(a).total_cmp(&represented(b))) {
            let plateau = all - represented(&walked);
            // Rejection from the whole simplex finds the plateau in at most two tries on average.
            if plateau >= 0.5 * all {
                return Self { walked, plateau };
            }
        }
        Self { walked: fold(Region::simplex(n, k)), plateau: 0.0 }
    }

    /// An error under laws that weigh these candidates by a score, if it is not the score itself.
    fn surveyed<'a>(
        &'a self,
        score: &'a dyn Field,
        error: Option<&'a dyn Field>,
        weighers: &[&'a dyn Weigher],
    ) -> Surveyed<'a> {
        let law = |&weigher: &&'a dyn Weigher| SurveyedLaw {
            weigh: Box::new(move |row, scores, masses| weigher.weigh(row, scores, masses)),
            plateau: self.plateau(weigher),
        };
        Surveyed {
            walked: &self.walked,
            field: error.unwrap_or(score),
            score: error.map(|_| score),
            laws: weighers.iter().map(law).collect(),
        }
    }

    fn plateau(&self, weigher: &dyn Weigher) -> f64 {
        match self.plateau > 0.0 {
            true => self.plateau * weigher.by_score(1.0),
            false => 0.0,
        }
    }
}

/// Mechanisms that weigh the same candidates, such as all exponential ones with one score:
/// P(r) ∝ e^(−rate · score(r)) over R for every rate. They share one pass over the candidates.
pub struct Family {
    /// The candidates to draw from. They depend on the score only: the errors that are averaged must
    /// not change the draws. If there are further errors, these have candidates of their own.
    drawn: Candidates,
    averaged: Option<Candidates>,
    members: Vec<Member>,
}

struct Member {
    /// Its place among the laws of the bench.
    place: usize,
    /// Running sums of the blocks' masses.
    cumulative: Vec<f64>,
    plateau: f64,
    p_exact: f64,
    /// What is known about each error, as far as it was asked for.
    known: Vec<Known>,
}

impl Family {
    /// Families of all these laws, as far as they weigh candidates. Their score is the first of `fields`. Either all
    /// errors are summarised, or only the mean of the score is found.
    pub fn all(
        posterior: &Posterior,
        fields: &[&dyn Field],
        weighers: &[Option<&dyn Weigher>],
        summarised: bool,
    ) -> Vec<Self> {
        let places = || weighers.iter().enumerate();
        let all = || places().filter_map(|(place, weigher)| Some((place, (*weigher)?)));
        let sets: BTreeSet<Option<OutputSet>> = all().map(|(_, weigher)| weigher.set()).collect();
        let family = |set: Option<OutputSet>| {
            let (places, alike): (Vec<usize>, Vec<&dyn Weigher>) =
                all().filter(|(_, weigher)| weigher.set() == set).unzip();
            Self::new(posterior, fields, set, (&places, &alike), summarised)
        };
        sets.into_iter().map(family).collect()
    }

    fn new(
        posterior: &Posterior,
        fields: &[&dyn Field],
        set: Option<OutputSet>,
        (places, weighers): (&[usize], &[&dyn Weigher]),
        summarised: bool,
    ) -> Self {
        let score = fields[0];
        let drawn = Candidates::new(set, &fields[..1], posterior);
        // Candidates that are all walked serve for all errors.
        let further = fields.len() > 1 && set.is_none();
        let averaged = further.then(|| Candidates::new(set, fields, posterior));
        let by_score = || drawn.surveyed(score, None, weighers);
        let (found, summaries) = match summarised {
            true => summarise(&by_score(), &[]),
            false => (survey(&by_score(), Depth::Means), Vec::new()),
        };
        let member = |(index, tally): (usize, &Tally)| {
            let mean = tally.mean(tally.mass.value());
            let weigher = weighers[index];
            let (cumulative, plateau) =
                (running(tally.blocks.iter().copied()), drawn.plateau(weigher));
            let off_plateau = cumulative.last().copied().unwrap_or(0.0);
            // The score of the true counts is 0.
            let at_truth = weigher.mass(&Row::of(posterior.counts()), 0.0);
            let p_exact = at_truth / (off_plateau + plateau);
            let known = vec![Known { mean, summary: summaries.get(index).copied() }];
            Member { place: places[index], cumulative, plateau, p_exact, known }
        };
        let mut members: Vec<Member> = found.laws.iter().enumerate().map(member).collect();
        if summarised {
            let candidates = averaged.as_ref().unwrap_or(&drawn);
            for &field in &fields[1..] {
                let weighed = candidates.surveyed(score, Some(field), weighers);
                let (_, summaries) = summarise(&weighed, &[]);
                for (member, summary) in members.iter_mut().zip(summaries) {
                    member.known.push(Known { mean: summary.mean, summary: Some(summary) });
                }
            }
        }
        Self { drawn, averaged, members }
    }

    /// The law at a place of the bench, if it is in the family, with its weights and the score of the bench.
    pub fn law<'a>(
        &'a self,
        place: usize,
        weigher: &'a dyn Weigher,
        score: &'a dyn Field,
    ) -> Option<Weighed<'a>> {
        let member = self.members.iter().find(|member| member.place == place)?;
        Some(Weighed { family: self, member, weigher, score })
    }
}

/// One mechanism that weighs candidates.
pub struct Weighed<'a> {
    family: &'a Family,
    member: &'a Member,
    weigher: &'a dyn Weigher,
    score: &'a dyn Field,
}

impl Weighed<'_> {
    fn candidates(&self) -> &Candidates {
        self.family.averaged.as_ref().unwrap_or(&self.family.drawn)
    }

    fn off_plateau(&self) -> f64 {
        self.member.cumulative.last().copied().unwrap_or(0.0)
    }

    /// Draws from the plateau: candidates are proposed uniformly until one is on it.
    fn draw_plateau(&self, rng: &mut Stream, out: &mut [u64]) {
        loop {
            uniform_composition(self.score.n(), out, rng);
            if !self.family.drawn.walked.region.contains(out) {
                return;
            }
        }
    }

    /// Finds the candidates at which the masses, summed up, pass the targets. Blocks without a target
    /// are not walked, others once for all their targets.
    fn find(&self, targets: &mut [Target]) {
        let cumulative = &self.member.cumulative;
        let last = cumulative.len() - 1;
        let block =
            |target: &Target| cumulative.partition_point(|&sum| sum <= target.mass).min(last);
        targets.sort_unstable_by(|a, b| a.mass.total_cmp(&b.mass));
        for group in targets.chunk_by_mut(|a, b| block(a) == block(b)) {
            self.find_in(block(&group[0]), group);
        }
    }

    /// The same in one block, for targets in the order of their masses.
    fn find_in(&self, block: usize, targets: &mut [Target]) {
        let mut sum = if block == 0 { 0.0 } else { self.member.cumulative[block - 1] };
        let (mut found, mut masses) = (0, [0.0; BLOCK]);
        // The last candidate with any mass.
        let mut last = Vec::new();
        self.family.drawn.walked.walk(block, |row| {
            let masses = &mut masses[..row.len];
            self.masses(row, masses);
            let mut last_in_row = last.is_empty().then_some(0);
            for (t, mass) in masses.iter().enumerate() {
                let before = sum;
                sum += mass;
                if sum > before {
                    last_in_row = Some(t);
                }
                while let Some(target) = targets.get_mut(found).filter(|next| next.mass < sum) {
                    row.output(t, target.out);
                    found += 1;
                }
            }
            if let Some(t) = last_in_row {
                last.resize(targets[0].out.len(), 0);
                row.output(t, &mut last);
            }
        });
        // Rounding keeps the sum below these.
        targets[found..].iter_mut().for_each(|target| target.out.copy_from_slice(&last));
    }
}

impl OutputLaw for Weighed<'_> {
    fn walked(&self) -> Option<&Walked> {
        Some(&self.candidates().walked)
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut scores = [0.0; BLOCK];
        let scores = &mut scores[..row.len];
        if self.weigher.uses_score() {
            self.score.row(row, scores);
        }
        self.weigher.weigh(row, scores, masses);
    }

    fn normaliser(&self) -> f64 {
        self.off_plateau() + self.member.plateau
    }

    fn plateau(&self) -> f64 {
        self.candidates().plateau(self.weigher)
    }

    fn plateau_outputs(&self) -> f64 {
        self.candidates().plateau
    }

    fn p_exact(&self) -> f64 {
        self.member.p_exact
    }

    fn known(&self, field: BenchField) -> Option<Known> {
        self.member.known.get(field.index).copied()
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        let (normaliser, off_plateau) = (self.normaliser(), self.off_plateau());
        let mut targets = Vec::with_capacity(batches.iter().map(|b| b.released.len() / k).sum());
        // All random numbers of a run are drawn before those of the next: more runs do not change
        // the earlier ones.
        let region = &self.family.drawn.walked.region;
        let mut arrangements = Vec::new();
        for Batch { rng, released } in batches {
            for out in released.chunks_exact_mut(k) {
                let mass = uniform(rng) * normaliser;
                if mass >= off_plateau && self.member.plateau > 0.0 {
                    self.draw_plateau(rng, out);
                } else {
                    let from = arrangements.len();
                    region.draw_arrangement(rng, &mut arrangements);
                    targets.push(Target { mass, out, arrangement: from..arrangements.len() });
                }
            }
        }
        self.find(&mut targets);
        for Target { out, arrangement, .. } in targets {
            region.arrange(out, &arrangements[arrangement]);
        }
    }
}

/// A draw whose candidate is still to be found: that at which the masses, summed up, pass `mass`.
struct Target<'a> {
    mass: f64,
    out: &'a mut [u64],
    /// The places of its arrangement among all.
    arrangement: Range<usize>,
}
