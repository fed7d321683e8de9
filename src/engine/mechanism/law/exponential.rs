//! Mechanisms that weigh candidates: the exponential mechanism on R, and weights of the user's own.

use std::collections::BTreeSet;

use super::exact::summarise;
use super::survey::{Depth, Masses, Surveyed, Tally, survey};
use super::weighting::{Walk, Weigher, Weighting};
use super::{Batch, Known, Law, PreparedField};
use crate::numeric::{Sum, kernel};
use crate::posterior::error_field::Field;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::simplex::{BLOCK, Blocks, Region, Row, Tail, uniform_composition};
use crate::rng::{Stream, uniform};

/// The candidates of one posterior, prepared for any number of mechanisms that weigh them: those that
/// are walked, and how many lie on the plateau where the score is 1.
struct Candidates {
    region: Region,
    blocks: Blocks,
    plateau: f64,
}

impl Candidates {
    /// The candidates to be walked, with errors in `fields`.
    fn new(walk: Walk, fields: &[&dyn Field], posterior: &Posterior) -> Self {
        let (n, k) = (posterior.n(), posterior.k());
        let region = match walk {
            Walk::Near => return Self::near(fields, posterior),
            Walk::All(set) => set.region(n, k),
        };
        Self { blocks: region.blocks(), region, plateau: 0.0 }
    }

    /// All candidates; or the largest of the balls of `fields` (the score and the errors to be
    /// averaged), if every one of them has a ball and at least half of all candidates are outside of
    /// the largest. Balls around one posterior are nested, so that every error field is 1 outside of
    /// the largest. Of candidates that differ by exchanging equal parameters of the posterior only one
    /// is walked.
    fn near(fields: &[&dyn Field], posterior: &Posterior) -> Self {
        let (n, k) = (posterior.n(), posterior.k());
        let parameters = posterior.categories();
        let fold = |region: Region| {
            let region = region.folded(&parameters);
            (region.blocks(), region)
        };
        let all = approximate_compositions(n, k);
        let balls: Option<Vec<Region>> = fields.iter().map(|field| field.ball()).collect();
        let largest = balls
            .into_iter()
            .flatten()
            .map(fold)
            .max_by(|(a, _), (b, _)| a.represented().total_cmp(&b.represented()));
        if let Some((blocks, region)) = largest {
            let plateau = all - blocks.represented();
            // Rejection from the whole simplex finds the plateau in at most two tries on average.
            if plateau >= 0.5 * all {
                return Self { region, blocks, plateau };
            }
        }
        let (blocks, region) = fold(Region::simplex(n, k));
        Self { region, blocks, plateau: 0.0 }
    }

    fn plateau(&self, weigher: &Weigher) -> f64 {
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

/// One mechanism of a family.
struct Member {
    weighting: Weighting,
    weigher: Weigher,
    /// Running sums of the blocks' masses.
    cumulative: Vec<f64>,
    plateau: f64,
    p_exact: f64,
    /// What is known about each error, as far as it was asked for.
    known: Vec<Known>,
}

/// How much a [`Family`] finds out when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The mean of the score.
    Mean,
    /// Mean, spread and quantiles of all errors.
    Summaries,
}

impl Family {
    /// Families of all these mechanisms, whose score is the first of `fields`.
    pub fn all(
        posterior: &Posterior,
        fields: &[&dyn Field],
        weightings: &[Weighting],
        detail: Detail,
    ) -> Vec<Self> {
        let walks: BTreeSet<Walk> = weightings.iter().map(Weighting::walk).collect();
        let family = |walk: Walk| {
            let alike = weightings.iter().copied().filter(|weighting| weighting.walk() == walk);
            Self::new(posterior, fields, walk, &alike.collect::<Vec<_>>(), detail)
        };
        walks.into_iter().map(family).collect()
    }

    fn new(
        posterior: &Posterior,
        fields: &[&dyn Field],
        walk: Walk,
        weightings: &[Weighting],
        detail: Detail,
    ) -> Self {
        let score = fields[0];
        let drawn = Candidates::new(walk, &fields[..1], posterior);
        // Candidates that are all walked serve for all errors.
        let further = fields.len() > 1 && walk == Walk::Near;
        let averaged = further.then(|| Candidates::new(walk, fields, posterior));
        let weighers: Vec<Weigher> = weightings.iter().map(|one| one.bind(posterior)).collect();
        let weighers = &weighers[..];
        let weighed = FamilyError { candidates: &drawn, score, field: None, weighers };
        let (found, summaries) = match detail {
            Detail::Mean => (survey(&weighed, Depth::Means), Vec::new()),
            Detail::Summaries => summarise(&weighed, &[]),
        };
        let member = |(index, tally): (usize, &Tally)| {
            let mean = tally.mean(tally.mass.value());
            let (weighting, weigher) = (weightings[index], weightings[index].bind(posterior));
            let (cumulative, plateau) = (running(&tally.blocks), drawn.plateau(&weigher));
            let off_plateau = cumulative.last().copied().unwrap_or(0.0);
            let p_exact = weigher.at_truth(posterior.counts()) / (off_plateau + plateau);
            let known = vec![Known { mean, summary: summaries.get(index).copied() }];
            Member { weighting, weigher, cumulative, plateau, p_exact, known }
        };
        let mut members: Vec<Member> = found.laws.iter().enumerate().map(member).collect();
        if detail == Detail::Summaries {
            let candidates = averaged.as_ref().unwrap_or(&drawn);
            for &field in &fields[1..] {
                let weighed = FamilyError { candidates, score, field: Some(field), weighers };
                let (_, summaries) = summarise(&weighed, &[]);
                for (member, summary) in members.iter_mut().zip(summaries) {
                    member.known.push(Known { mean: summary.mean, summary: Some(summary) });
                }
            }
        }
        Self { drawn, averaged, members }
    }

    /// The mechanism with the given weights, if it is in the family.
    pub fn law<'a>(
        &'a self,
        weighting: Weighting,
        score: &'a dyn Field,
    ) -> Option<Exponential<'a>> {
        let member = self.members.iter().find(|member| member.weighting == weighting)?;
        Some(Exponential { family: self, member, score })
    }
}

/// Running sums.
fn running(terms: &[f64]) -> Vec<f64> {
    let mut sum = Sum::default();
    let add = |&term: &f64| {
        sum.add(term);
        sum.value()
    };
    terms.iter().map(add).collect()
}

/// An error under the laws of a family.
struct FamilyError<'a> {
    candidates: &'a Candidates,
    score: &'a dyn Field,
    /// The error, if it is not the score itself.
    field: Option<&'a dyn Field>,
    weighers: &'a [Weigher],
}

impl Surveyed for FamilyError<'_> {
    fn region(&self) -> &Region {
        &self.candidates.region
    }

    fn blocks(&self) -> &Blocks {
        &self.candidates.blocks
    }

    fn laws(&self) -> usize {
        self.weighers.len()
    }

    fn plateau(&self, law: usize) -> f64 {
        self.candidates.plateau(&self.weighers[law])
    }

    fn values(&self, row: &Row, values: &mut [f64]) {
        self.field.unwrap_or(self.score).row(row, values);
    }

    fn masses(&self, row: &Row, values: &[f64], masses: &mut Masses) {
        if self.field.is_none() {
            for (weigher, (masses, sums)) in self.weighers.iter().zip(masses.laws()) {
                *sums = weigher.weigh(row, values, masses);
            }
            return;
        }
        let mut scores = [0.0; BLOCK];
        let scores = &mut scores[..row.len];
        self.score.row(row, scores);
        for (weigher, (masses, sums)) in self.weighers.iter().zip(masses.laws()) {
            weigher.weigh(row, scores, masses);
            *sums = kernel::moments(values, masses);
        }
    }

    fn mass(&self, law: usize, row: &Row, value: f64) -> f64 {
        let mut score = [value];
        if self.field.is_some() {
            self.score.row(row, &mut score);
        }
        self.weighers[law].mass(row, score[0])
    }
}

/// One mechanism that weighs candidates.
pub struct Exponential<'a> {
    family: &'a Family,
    member: &'a Member,
    score: &'a dyn Field,
}

impl Exponential<'_> {
    fn walked(&self) -> &Candidates {
        self.family.averaged.as_ref().unwrap_or(&self.family.drawn)
    }

    /// The mass of all candidates off the plateau.
    fn off_plateau(&self) -> f64 {
        self.member.cumulative.last().copied().unwrap_or(0.0)
    }

    /// Draws from the plateau: candidates are proposed uniformly until one is on it.
    fn draw_plateau(&self, rng: &mut Stream, out: &mut [u64]) {
        loop {
            uniform_composition(self.score.n(), out, rng);
            if !self.family.drawn.region.contains(out) {
                return;
            }
        }
    }

    /// Finds the candidates at which the masses, summed up, pass the targets. Blocks without a target
    /// are not walked, others once for all their targets.
    fn find(&self, targets: &[Target], k: usize, batches: &mut [Batch]) {
        let cumulative = &self.member.cumulative;
        let last = cumulative.len() - 1;
        let block = |target: &Target| cumulative.partition_point(|&sum| sum <= target.mass);
        let mut placed: Vec<(usize, &Target)> =
            targets.iter().map(|target| (block(target).min(last), target)).collect();
        if last > 0 {
            placed.sort_by_key(|&(block, _)| block);
        }
        let mut listed = BlockList::default();
        for group in placed.chunk_by(|a, b| a.0 == b.0) {
            self.list(group[0].0, &mut listed);
            listed.prepare(group.len());
            for (_, target) in group {
                listed.output(target.mass, target.out(k, batches));
            }
        }
    }

    /// Lists the candidates of a block.
    fn list(&self, block: usize, listed: &mut BlockList) {
        let Candidates { region, blocks, .. } = &self.family.drawn;
        let mut sum = if block == 0 { 0.0 } else { self.member.cumulative[block - 1] };
        let mut masses = [0.0; BLOCK];
        listed.clear();
        region.walk(blocks, block, |row| {
            let masses = &mut masses[..row.len];
            self.masses(row, masses);
            listed.heads.extend(row.head);
            listed.row_of.extend(std::iter::repeat_n(listed.rows.len() as u32, row.len));
            listed.rows.push((listed.sums.len(), row.start, row.tail));
            listed.sums.extend(masses.iter().map(|mass| {
                sum += mass;
                sum
            }));
        });
    }
}

/// The candidates of one block.
#[derive(Default)]
struct BlockList {
    /// For every candidate the sum of all masses up to it.
    sums: Vec<f64>,
    /// For every candidate its row.
    row_of: Vec<u32>,
    /// For every row the place of its first candidate, that one's running coordinate, and the tail.
    rows: Vec<(usize, u64, Tail)>,
    /// For every row the coordinates before the running one.
    heads: Vec<u64>,
    /// The last candidate with any mass.
    last: usize,
    guide: Guide,
}

impl BlockList {
    fn clear(&mut self) {
        self.sums.clear();
        self.row_of.clear();
        self.rows.clear();
        self.heads.clear();
    }

    /// Prepares for so many draws.
    fn prepare(&mut self, draws: usize) {
        let total = self.sums.last().copied().unwrap_or(0.0);
        self.last = self.sums.partition_point(|&sum| sum < total);
        // Many draws are worth a guide, which takes a few operations for every candidate.
        self.guide = match 8 * draws >= self.sums.len() {
            true => Guide::new(&self.sums, std::mem::take(&mut self.guide)),
            false => Guide::default(),
        };
    }

    /// The candidate at which the sum passes `target`; if rounding keeps the sum below it, the last
    /// candidate with any mass.
    fn output(&self, target: f64, out: &mut [u64]) {
        let place = self.guide.passed(&self.sums, target).min(self.last);
        let row = self.row_of[place] as usize;
        let (first, start, tail) = self.rows[row];
        let length = self.heads.len() / self.rows.len();
        let head = &self.heads[row * length..][..length];
        let len = place - first + 1;
        Row { head, start, len, tail, weight: 1.0 }.output(place - first, out);
    }
}

/// A guide table: where to begin the search in running sums (Chen and Asau, 1974). The range of the
/// sums is cut into as many equal cells as there are sums. A search begins at the first sum in the
/// target's cell, so that on average it looks at less than two of them.
#[derive(Default)]
struct Guide {
    first: f64,
    cells_per_mass: f64,
    /// For every cell the number of sums in cells before it. Empty if there is no guide.
    before: Vec<u32>,
}

impl Guide {
    /// A guide to `sums`, in the memory of another one.
    fn new(sums: &[f64], Self { mut before, .. }: Self) -> Self {
        let (first, last) = (sums.first().copied(), sums.last().copied());
        let (first, last) = (first.unwrap_or(0.0), last.unwrap_or(0.0));
        let cells_per_mass = sums.len() as f64 / (last - first);
        before.clear();
        if !cells_per_mass.is_finite() {
            return Self { before, ..Self::default() };
        }
        let mut guide = Self { first, cells_per_mass, before };
        for (place, &sum) in sums.iter().enumerate() {
            // The cells after that of the sum before, up to that of this sum.
            let begun = guide.cell(sum) + 1;
            if begun > guide.before.len() {
                guide.before.resize(begun, place as u32);
            }
        }
        guide
    }

    /// The cell of a sum. It never falls as the sum grows, whatever rounding does: a sum in an earlier
    /// cell than the target's is smaller than the target.
    fn cell(&self, sum: f64) -> usize {
        ((sum - self.first) * self.cells_per_mass) as usize
    }

    /// The place of the first sum above `target`, or their number if there is none.
    fn passed(&self, sums: &[f64], target: f64) -> usize {
        if self.before.is_empty() {
            return sums.partition_point(|&sum| sum <= target);
        }
        let start = self.before.get(self.cell(target)).map_or(sums.len(), |&place| place as usize);
        let more = sums[start..].iter().position(|&sum| sum > target);
        more.map_or(sums.len(), |more| start + more)
    }
}

impl Law for Exponential<'_> {
    fn region(&self) -> &Region {
        &self.walked().region
    }

    fn blocks(&self) -> Option<&Blocks> {
        Some(&self.walked().blocks)
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        self.member.weigher.masses(row, self.score, masses);
    }

    fn row(&self, row: &Row, field: PreparedField, values: &mut [f64], masses: &mut [f64]) {
        field.row(row, values);
        if field.is_score() {
            self.member.weigher.weigh(row, values, masses);
        } else {
            self.masses(row, masses);
        }
    }

    fn normaliser(&self) -> f64 {
        self.off_plateau() + self.member.plateau
    }

    fn plateau(&self) -> f64 {
        self.walked().plateau(&self.member.weigher)
    }

    fn plateau_outputs(&self) -> f64 {
        self.walked().plateau
    }

    fn p_exact(&self) -> f64 {
        self.member.p_exact
    }

    fn known(&self, field: PreparedField) -> Option<Known> {
        self.member.known.get(field.place()).copied()
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        let (normaliser, off_plateau) = (self.normaliser(), self.off_plateau());
        let mut targets = Vec::with_capacity(batches.iter().map(|b| b.released.len() / k).sum());
        // All random numbers of a run are drawn before those of the next: more runs do not change
        // the earlier ones.
        let region = &self.family.drawn.region;
        let mut arrangements = Vec::new();
        for (batch, Batch { rng, released }) in batches.iter_mut().enumerate() {
            for (run, out) in released.chunks_exact_mut(k).enumerate() {
                let mass = uniform(rng) * normaliser;
                if mass >= off_plateau && self.member.plateau > 0.0 {
                    self.draw_plateau(rng, out);
                } else {
                    targets.push(Target { mass, batch, run });
                    region.draw_arrangement(rng, &mut arrangements);
                }
            }
        }
        self.find(&targets, k, batches);
        if let Some(length) = arrangements.len().checked_div(targets.len()).filter(|&l| l > 0) {
            for (target, arrangement) in targets.iter().zip(arrangements.chunks_exact(length)) {
                region.arrange(target.out(k, batches), arrangement);
            }
        }
    }
}

/// A draw whose candidate is still to be found: that at which the masses, summed up, pass `mass`.
struct Target {
    mass: f64,
    batch: usize,
    run: usize,
}

impl Target {
    fn out<'a>(&self, k: usize, batches: &'a mut [Batch]) -> &'a mut [u64] {
        &mut batches[self.batch].released[self.run * k..][..k]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_finds_what_a_search_finds() {
        let steep = (0..500).map(|i| libm::exp(-f64::from(i) * 0.2));
        let flat = (0..700).map(|i| 1.0 + f64::from(i % 3));
        let with_gaps = (0..300).map(|i| if i % 7 < 3 { 0.0 } else { 1e-9 * f64::from(i) });
        let huge = [1e300, 0.0, 1.0, 1e299].into_iter();
        let laws: [Vec<f64>; 6] = [
            steep.collect(),
            flat.collect(),
            with_gaps.collect(),
            huge.collect(),
            vec![0.25],
            vec![0.0, 0.0],
        ];
        let mut guided = 0;
        for masses in laws {
            for begin in [0.0, 17.3] {
                let mut sum = begin;
                let add = |mass: &f64| {
                    sum += mass;
                    sum
                };
                let sums: Vec<f64> = masses.iter().map(add).collect();
                let guide = Guide::new(&sums, Guide::default());
                guided += usize::from(!guide.before.is_empty());
                let total = sums[sums.len() - 1];
                let between = (0..=1000).map(|i| begin + (total - begin) * f64::from(i) / 1000.0);
                let near = sums.iter().flat_map(|&sum| [sum.next_down(), sum, sum.next_up()]);
                for target in between.chain(near) {
                    let searched = sums.partition_point(|&sum| sum <= target);
                    assert_eq!(guide.passed(&sums, target), searched, "{target} {masses:?}");
                }
            }
        }
        assert!(guided >= 8, "{guided}");
    }
}
