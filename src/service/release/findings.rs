//! What a release tells: shares of cells, margins and groups, and comparisons of groups, each twice.
//! The naive answer takes the released counts for the true ones. The noise-aware answer knows the noise.
//! All of it is computed from what was released, and costs no privacy.

use schemars::JsonSchema;
use serde::Serialize;

use super::accuracy::{self, Loss};
use super::estimate::Estimated;
use super::method::Method;
use super::posterior::{BetaMixture, Comparison, CountsLaw, Interval, Joint, Seen, Within};
use super::private_n::PrivateN;
use super::released::{Drawing, Released};
use super::request::{Histogram, Request};
use super::table::MarginRow;
use engine::parallel;

/// The naive and the noise-aware answer to a question, as far as there is one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Both<T> {
    /// The released counts are taken for the true ones. Several releases together have no such answer.
    pub naive: Option<T>,
    /// The noise is taken into account.
    pub aware: Option<T>,
}

impl<T> Both<T> {
    /// The same question, asked of both.
    pub fn map<'a, U>(&'a self, f: impl Fn(&'a T) -> U) -> Both<U> {
        Both { naive: self.naive.as_ref().map(&f), aware: self.aware.as_ref().map(&f) }
    }

    /// Leaves out the naive answer if there is a better one.
    fn prefer_aware(&mut self) {
        if self.aware.is_some() {
            self.naive = None;
        }
    }

    /// The best answer that there is.
    pub fn best(&self) -> Option<&T> {
        self.aware.as_ref().or(self.naive.as_ref())
    }
}

/// A value and an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean; of a ratio, the median.
    pub value: f64,
    pub interval: Interval,
}

/// The share of some cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The name of these cells.
    pub name: String,
    /// The sum of what was released for them; `None` for several releases together.
    pub released: Option<f64>,
    pub share: Both<Estimate>,
    /// The probability of the naive interval, by the noise-aware posterior.
    pub naive_coverage: Option<f64>,
}

/// Rows that add up to the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What the rows are shares of.
    pub title: String,
    pub rows: Vec<Row>,
}

/// The share of one category of the outcome in two groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub category: String,
    /// The group whose share comes first.
    pub group: String,
    /// The group that it is compared with.
    pub other: String,
    pub answer: Both<Answer>,
}

/// How the shares of two groups compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The probability that the share of the first group is larger.
    pub larger: f64,
    /// The first share minus the second: its mean and interval.
    pub difference: Estimate,
    /// The first share over the second: its median and interval.
    pub ratio: Estimate,
}

/// The mean error and the privacy loss of one histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Exact mean errors, as far as they are computed.
    pub errors: Errors,
    /// The exact privacy loss of the mechanism, or a bound.
    pub loss: Option<Loss>,
}

/// Mean errors: over the prior predictive distribution of the data, exact or, if that takes long, estimated;
/// and, exact, if the data are as released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Over the prior predictive distribution.
    pub predictive: Option<f64>,
    /// The same, estimated from draws.
    pub estimated: Option<Estimated>,
    pub as_released: Option<f64>,
}

impl Errors {
    /// The errors of a method, before or after it has released counts.
    pub fn new(method: &Method, released: Option<&[u64]>) -> Self {
        let predictive = accuracy::expected_error(method);
        Self {
            predictive,
            estimated: match predictive {
                Some(_) => None,
                None => accuracy::estimated_error(method),
            },
            as_released: released.and_then(|released| accuracy::error_near(method, released)),
        }
    }

    /// The error over the prior predictive distribution, exact or estimated.
    pub fn expected(&self) -> Option<f64> {
        self.predictive.or(self.estimated.map(|error| error.mean))
    }
}

/// What would be learned of the share of a category: half the width of its interval, if the data are as the prior
/// expects them; in the group where that is widest, if each is released on its own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Prospect {
    pub category: String,
    pub half_width: f64,
    /// The same from the true counts.
    pub without_noise: f64,
}

impl Prospect {
    /// Of the first category that is compared, or of the last one; `None` if that takes long. If the number of
    /// records is private, it is supposed to be `n`, or what is expected of it.
    pub fn new(request: &Request, drawing: &Drawing, n: Option<u64>) -> Option<Self> {
        let n = match drawing {
            Drawing::Public { n, .. } => *n,
            Drawing::Private(noise) => n.or_else(|| noise.before.expected())?,
        };
        let outcome = request.table.outcome();
        let place = request.compared.first().copied().unwrap_or(outcome.categories.len() - 1);
        let half_widths = |(number, histogram): (usize, Histogram)| {
            let cells: Vec<usize> = (0..histogram.prior.k())
                .filter(|cell| cell % outcome.categories.len() == place)
                .collect();
            let expected = accuracy::apportion(histogram.prior.alpha(), histogram.n);
            let aware = match drawing {
                Drawing::Private(noise) => {
                    PrivateN::inferred(&histogram.prior, &[(noise, &expected)]).ok()?.law
                }
                Drawing::Public { methods, .. } => {
                    let method = methods.get(number)?;
                    let (variant, template) = (method.variant(), method.template());
                    CountsLaw::is_foreseeable(variant, template).then_some(())?;
                    CountsLaw::given(&[Seen { variant, template, released: &expected }]).ok()?
                }
            };
            let half = |law: &CountsLaw| {
                let Interval { low, high } = law.share(&cells).interval(request.level);
                0.5 * (high - low)
            };
            Some((half(&aware), half(&CountsLaw::exactly(&histogram.prior, &expected))))
        };
        let all = request.histograms(Some(n)).into_iter().enumerate().map(half_widths);
        let all: Vec<(f64, f64)> = all.collect::<Option<_>>()?;
        let (half_width, without_noise) = all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Self { category: outcome.categories[place].clone(), half_width, without_noise })
    }

    /// Whether the noise is wider than the sampling error.
    pub fn is_drowned(&self) -> bool {
        self.half_width * self.half_width > 2.0 * self.without_noise * self.without_noise
    }
}

/// What a release tells, or several of the same data together.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The share of every cell; with fixed groups, its share of its group.
    pub cells: Vec<Row>,
    /// The number of records, if it is not known.
    pub records: Option<Estimate>,
    /// The margins of a table; none with fixed groups.
    pub margins: Vec<Block>,
    /// The outcome in every group of a table; none with fixed groups, whose cells tell it.
    pub groups: Vec<Block>,
    /// Why there are no shares within groups that know the noise, if there are none.
    pub ungrouped: Option<String>,
    pub comparisons: Vec<Compared>,
    /// Why there are no comparisons that know the noise, if there are none.
    pub uncompared: Option<String>,
    /// Intervals that hold for all cells at once.
    pub joint: Both<Vec<Joint>>,
    /// Why the posterior is not aware of the noise, if it is not.
    pub unaware: Option<String>,
    /// The accuracy of every histogram; none for several releases together.
    pub accuracy: Vec<Accuracy>,
}

impl Findings {
    /// The noise-aware answers alone, where there are any.
    pub fn without_naive(mut self) -> Self {
        let row = |row: &mut Row| {
            row.share.prefer_aware();
            row.naive_coverage = row.naive_coverage.filter(|_| row.share.naive.is_some());
        };
        self.cells.iter_mut().for_each(row);
        let blocks = self.margins.iter_mut().chain(&mut self.groups);
        blocks.flat_map(|block| &mut block.rows).for_each(row);
        self.comparisons.iter_mut().for_each(|one| one.answer.prefer_aware());
        self.joint.prefer_aware();
        self
    }
}

impl Estimate {
    /// The mean and the interval of a whole number with these probabilities, from `first` on.
    fn of_whole_number(first: u64, probabilities: &[f64], level: f64) -> Self {
        let numbers = || (first..).map(|n| n as f64).zip(probabilities);
        let value = numbers().map(|(n, p)| n * p).sum();
        let left_out = 0.5 * (1.0 - level);
        let end = |most: f64| {
            let mut sum = 0.0;
            let found = numbers().find(|(_, p)| {
                sum += **p;
                sum >= most
            });
            found.map_or((first + probabilities.len() as u64 - 1) as f64, |(n, _)| n)
        };
        Self { value, interval: Interval { low: end(left_out), high: end(1.0 - left_out) } }
    }

    /// The mean and the interval of a share.
    pub fn of_share(share: &BetaMixture, level: f64) -> Self {
        Self { value: share.mean(), interval: share.interval(level) }
    }
}

/// The posterior of all cells.
pub(super) struct Laws<'a> {
    request: &'a Request,
    histograms: &'a [Histogram],
    /// One for each histogram.
    laws: &'a [CountsLaw],
}

/// What is known after releases of the same data: the laws of the true counts, naive and noise-aware.
pub struct Posteriors<'a> {
    request: &'a Request,
    /// What was released for every cell, if that was done once.
    released: Option<Vec<f64>>,
    /// The release, if it is one of our own.
    own: Option<&'a Released>,
    pub(super) histograms: Vec<Histogram>,
    laws: Both<Vec<CountsLaw>>,
    unaware: Option<String>,
}

impl<'a> Posteriors<'a> {
    /// What is known after these releases of the same data. The first one says what is asked.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(releases: &'a [&'a Released]) -> Self {
        let first = releases[0];
        let histograms = first.histograms();
        let naive = (releases.len() == 1).then(|| {
            let counts = |one: &Histogram| &first.counts[one.cells.clone()];
            histograms.iter().map(|one| CountsLaw::exactly(&one.prior, counts(one))).collect()
        });
        let aware: Result<Vec<CountsLaw>, String> =
            histograms.iter().enumerate().map(|(place, one)| law(releases, place, one)).collect();
        let unaware = aware.as_ref().err().cloned();
        let own = (releases.len() == 1).then_some(first);
        let released = own.map(|own| own.counts.iter().map(|&count| count as f64).collect());
        Self {
            request: &first.request,
            released,
            own,
            laws: Both { naive, aware: aware.ok() },
            unaware,
            histograms,
        }
    }

    /// What is known after others have released counts of one histogram; `released` is what they did, if they did
    /// it once.
    pub fn published(request: &'a Request, law: CountsLaw, released: Option<Vec<f64>>) -> Self {
        Self {
            request,
            released,
            own: None,
            histograms: request.histograms(law.n()),
            laws: Both { naive: None, aware: Some(vec![law]) },
            unaware: None,
        }
    }

    pub(super) fn request(&self) -> &'a Request {
        self.request
    }

    /// The posterior by these laws, one for each histogram.
    pub(super) fn view<'b>(&'b self, laws: &'b [CountsLaw]) -> Laws<'b> {
        Laws { request: self.request(), histograms: &self.histograms, laws }
    }

    pub(super) fn views(&self) -> Both<Laws<'_>> {
        self.laws.map(|laws| self.view(laws))
    }

    /// The number of records, if it is not known.
    fn records(&self) -> Option<Estimate> {
        let law = &self.laws.aware.as_ref()?[0];
        let (first, probabilities) = law.n().is_none().then(|| law.total())?;
        Some(Estimate::of_whole_number(first, &probabilities, self.request.level))
    }

    /// Everything that they tell.
    pub fn findings(&self) -> Findings {
        let (request, views) = (self.request(), self.views());
        let (comparisons, uncompared) = comparisons(request, &views);
        let released = self.released.as_deref();
        Findings {
            cells: cells(request, &views, released),
            records: self.records(),
            margins: margins(request, &views, released),
            groups: groups(request, &views, released),
            ungrouped: ungrouped(request, &views),
            comparisons,
            uncompared,
            joint: views.map(Laws::joint),
            unaware: self.unaware.clone(),
            accuracy: self.own.map_or(Vec::new(), |own| accuracies(own, &self.histograms)),
        }
    }
}

/// The law of the true counts of one histogram, given releases.
fn law(releases: &[&Released], place: usize, histogram: &Histogram) -> Result<CountsLaw, String> {
    let private: Vec<(&PrivateN, &[u64])> = (releases.iter())
        .filter_map(|release| match &release.drawing {
            Drawing::Private(noise) => Some((noise, release.counts.as_slice())),
            Drawing::Public { .. } => None,
        })
        .collect();
    if !private.is_empty() {
        return Ok(PrivateN::inferred(&histogram.prior, &private)?.law);
    }
    let seen: Vec<Seen> = (releases.iter())
        .map(|release| Seen {
            variant: release.methods()[place].variant(),
            template: release.methods()[place].template(),
            released: &release.counts[histogram.cells.clone()],
        })
        .collect();
    CountsLaw::given(&seen)
}

fn accuracies(release: &Released, histograms: &[Histogram]) -> Vec<Accuracy> {
    let accuracy = |(method, histogram): (&Method, &Histogram)| Accuracy {
        errors: Errors::new(method, Some(&release.counts[histogram.cells.clone()])),
        loss: accuracy::loss(method),
    };
    release.methods().iter().zip(histograms).map(accuracy).collect()
}

/// The row of one share.
fn row<'a>(
    name: String,
    released: Option<f64>,
    level: f64,
    views: &Both<Laws<'a>>,
    share: impl Fn(&Laws<'a>) -> Option<BetaMixture>,
) -> Row {
    let shares = Both {
        naive: views.naive.as_ref().and_then(&share),
        aware: views.aware.as_ref().and_then(&share),
    };
    let share = shares.map(|share| Estimate::of_share(share, level));
    let covered = shares.aware.as_ref().zip(share.naive);
    Row {
        name,
        released,
        naive_coverage: covered.map(|(aware, naive)| aware.coverage(naive.interval)),
        share,
    }
}

fn sum(released: Option<&[f64]>, cells: &[usize]) -> Option<f64> {
    released.map(|counts| cells.iter().map(|&cell| counts[cell]).sum())
}

fn cells(request: &Request, views: &Both<Laws>, released: Option<&[f64]>) -> Vec<Row> {
    let table = &request.table;
    let cell = |cell: usize| {
        row(table.cell_name(cell), sum(released, &[cell]), request.level, views, |laws| {
            Some(laws.cell(cell))
        })
    };
    parallel::map_range(0..table.cells(), cell)
}

fn margins(request: &Request, views: &Both<Laws>, released: Option<&[f64]>) -> Vec<Block> {
    let table = &request.table;
    if request.fixed.is_some() {
        return Vec::new();
    }
    let block = |margin: &super::table::Margin| {
        let columns = margin.columns.iter().map(|&column| table.attributes()[column].name.as_str());
        let share = |one: &super::table::MarginRow| {
            let name = table.margin_name(margin, one);
            row(name, sum(released, &one.cells), request.level, views, |laws| {
                Some(laws.laws[0].share(&one.cells))
            })
        };
        Block {
            title: columns.collect::<Vec<_>>().join(", "),
            rows: parallel::map(&margin.rows, share),
        }
    };
    table.margins().iter().map(block).collect()
}

fn groups(request: &Request, views: &Both<Laws>, released: Option<&[f64]>) -> Vec<Block> {
    let table = &request.table;
    if request.fixed.is_some() || table.groups() == 1 {
        return Vec::new();
    }
    let block = |group: usize| {
        let share = |&(cell, category): &(usize, &String)| {
            row(category.clone(), sum(released, &[cell]), request.level, views, |laws| {
                laws.within_group(group, cell).ok()
            })
        };
        let rows: Vec<(usize, &String)> =
            table.group(group).zip(&table.outcome().categories).collect();
        Block { title: table.group_name(group), rows: parallel::map(&rows, share) }
    };
    (0..table.groups()).map(block).collect()
}

/// Why the noise-aware share of a cell within its group is not computed, if so.
fn ungrouped(request: &Request, views: &Both<Laws>) -> Option<String> {
    let laws = views.aware.as_ref().filter(|_| request.fixed.is_none())?;
    let table = &request.table;
    let mut cells = (0..table.groups())
        .filter(|_| table.groups() > 1)
        .flat_map(|group| table.group(group).map(move |cell| (group, cell)));
    cells.find_map(|(group, cell)| laws.within_refusal(group, cell))
}

/// The most products of all comparisons of a release: they take some seconds.
const MOST_PRODUCTS: f64 = 4e9;

/// With at most this many groups every pair is compared; with more, each one with the first. The later one comes
/// first, since the first one is often the control.
const ALL_PAIRS: usize = 6;

/// Two groups that are compared: their names and cells.
pub struct Contrast {
    pub names: [String; 2],
    pub cells: [Vec<usize>; 2],
}

impl Request {
    /// How many comparisons of two groups are asked for.
    pub fn comparisons(&self) -> usize {
        if self.compared.is_empty() { 0 } else { self.compared.len() * self.contrasts().len() }
    }

    /// The groups that are compared: those of the first column over all others, or within the categories of some of
    /// them. Groups of fixed sizes are compared as they are: nothing is known of their shares among all people.
    pub fn contrasts(&self) -> Vec<Contrast> {
        let table = &self.table;
        let by: Vec<usize> = (0..table.by().len()).collect();
        let kept = match self.fixed {
            Some(_) => by,
            None => by
                .into_iter()
                .filter(|column| *column == 0 || self.within.contains(column))
                .collect(),
        };
        let margin = table.margin(kept);
        let is_same = |a: &MarginRow, b: &MarginRow| {
            self.fixed.is_some() || a.categories[1..] == b.categories[1..]
        };
        let mut contrasts = Vec::new();
        let firsts = match self.fixed {
            Some(_) => margin.rows.len(),
            None => table.attributes()[0].categories.len(),
        };
        for (first, row) in margin.rows.iter().enumerate() {
            // Those that agree in all columns but the first one.
            let before = margin.rows[..first].iter().filter(|other| is_same(row, other));
            let most = if firsts <= ALL_PAIRS { usize::MAX } else { 1 };
            for other in before.take(most) {
                let name = |row: &MarginRow| table.margin_name(&margin, row);
                contrasts.push(Contrast {
                    names: [name(row), name(other)],
                    cells: [row.cells.clone(), other.cells.clone()],
                });
            }
        }
        contrasts
    }
}

fn comparisons(request: &Request, views: &Both<Laws>) -> (Vec<Compared>, Option<String>) {
    let table = &request.table;
    let mut compared = Vec::new();
    let mut reason = None;
    let contrasts = request.contrasts();
    for &category in &request.compared {
        for Contrast { names: [group, other], cells } in &contrasts {
            let answer = |laws: &Laws| laws.compare(category, cells);
            let aware = views.aware.as_ref().map(answer);
            if let Some(Err(cause)) = &aware {
                reason = Some(cause.clone());
            }
            compared.push(Compared {
                category: table.outcome().categories[category].clone(),
                group: group.clone(),
                other: other.clone(),
                answer: Both {
                    naive: views.naive.as_ref().and_then(|laws| answer(laws).ok()),
                    aware: aware.and_then(Result::ok),
                },
            });
        }
    }
    (compared, reason)
}

impl Laws<'_> {
    /// The share of a cell in its histogram.
    fn cell(&self, cell: usize) -> BetaMixture {
        let place = self.histograms.iter().position(|one| one.cells.contains(&cell)).unwrap_or(0);
        self.laws[place].share(&[cell - self.histograms[place].cells.start])
    }

    /// The share of a cell in its group.
    pub(super) fn within_group(&self, group: usize, cell: usize) -> Result<BetaMixture, String> {
        match self.request.fixed {
            Some(_) => Ok(self.cell(cell)),
            None => self.laws[0].try_within(&[cell], &self.group(group)),
        }
    }

    fn within_refusal(&self, group: usize, cell: usize) -> Option<String> {
        self.laws[0].within_refusal(&[cell], &self.group(group))
    }

    fn group(&self, group: usize) -> Vec<usize> {
        self.request.table.group(group).collect()
    }

    fn compare(&self, category: usize, groups: &[Vec<usize>; 2]) -> Result<Answer, String> {
        let level = self.request.level;
        let products = MOST_PRODUCTS / self.request.comparisons() as f64;
        let outcomes = self.request.table.outcomes();
        if self.request.equal_weights {
            let [a, b] = groups.each_ref().map(|cells| {
                let one = |group: &[usize]| (vec![group[category]], group.to_vec());
                cells.chunks(outcomes).map(one).collect::<Vec<Within>>()
            });
            let mut averages = self.laws[0].compare_means([&a, &b], products)?;
            return Ok(Answer {
                larger: averages.probability_greater(),
                difference: Estimate {
                    value: averages.mean_difference(),
                    interval: averages.difference(level)?,
                },
                ratio: Estimate {
                    value: averages.ratio_quantile(0.5)?,
                    interval: averages.ratio(level)?,
                },
            });
        }
        let comparison = match self.request.fixed {
            None => {
                let [a, b] = groups.each_ref().map(|cells| {
                    cells
                        .iter()
                        .copied()
                        .filter(|cell| cell % outcomes == category)
                        .collect::<Vec<_>>()
                });
                self.laws[0].compare((&a, &groups[0]), (&b, &groups[1]), products)
            }
            Some(_) => {
                let share = |cells: &Vec<usize>| self.laws[cells[0] / outcomes].share(&[category]);
                let [a, b] = groups.each_ref().map(share);
                Comparison::independent(a, b, products)
            }
        }?;
        Ok(Answer {
            larger: comparison.probability_greater(),
            difference: Estimate {
                value: comparison.mean_difference(),
                interval: comparison.difference(level),
            },
            ratio: Estimate {
                value: comparison.ratio_quantile(0.5),
                interval: comparison.ratio(level),
            },
        })
    }

    /// Intervals that hold for all cells at once. Groups of fixed sizes are independent: each one gets its
    /// part of the level.
    fn joint(&self) -> Vec<Joint> {
        let level = libm::pow(self.request.level, 1.0 / self.laws.len() as f64);
        self.laws.iter().map(|law| law.joint(level)).collect()
    }
}
