//! What released counts tell: shares of cells, margins and groups, and comparisons of groups. All of it knows the
//! noise, is computed from what was released, and costs no privacy.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::posterior::{
    BetaMixture, Comparison, CountsLaw, Drawn, Inferred, Interval, Law, Means, Sampled, Seen,
    Within, draws,
};
use super::private_n::PrivateN;
use super::question::{Contrast, Question};
use super::released::{Drawing, Released};
use super::request::{Histogram, Request};
use super::table::Margin;
use engine::parallel;

/// A mean and a credible interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    pub mean: f64,
    #[serde(flatten)]
    pub interval: Interval,
}

/// A median and a credible interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Median {
    pub median: f64,
    #[serde(flatten)]
    pub interval: Interval,
}

/// The share of some cells.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// The name of these cells: their categories.
    pub cell: String,
    /// The sum of what was released for them; none for several releases together.
    #[serde(serialize_with = "whole")]
    pub released: Option<f64>,
    #[serde(flatten)]
    pub share: Estimate,
}

/// A number without a point if it is whole.
fn whole<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            to.serialize_i64(*number as i64)
        }
        number => number.serialize(to),
    }
}

/// The name of a share, its cells, and the group within which it is meant.
type Asked = (String, Vec<usize>, Vec<usize>);

/// Rows that add up to the whole.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Block {
    /// The columns of a margin; the categories of a group.
    pub title: String,
    pub rows: Vec<Row>,
}

/// The share of one category of the outcome in two groups.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    pub category: String,
    /// The group whose share comes first.
    pub group: String,
    /// The group that it is compared with.
    pub other: String,
    #[serde(flatten)]
    pub answer: Answer,
}

/// How the shares of two groups compare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The probability that the share of the first group is larger.
    pub probability_greater: f64,
    /// The first share less the second.
    pub difference: Estimate,
    /// The first share over the second.
    pub ratio: Median,
    /// The standard errors of the numbers that were computed from draws, if some were.
    pub standard_errors: Option<StandardErrors>,
}

/// Standard errors of an answer. The mean of the difference has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StandardErrors {
    pub probability_greater: f64,
    pub difference: Interval,
    pub ratio: Median,
}

/// Intervals that hold for all cells at once.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JointIntervals {
    /// The probability that all hold, computed from draws, and its standard error.
    pub probability: f64,
    pub standard_error: f64,
    /// One for every cell.
    pub intervals: Vec<Interval>,
}

/// What released counts tell.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Findings {
    /// The number of records, if it is not known.
    pub records: Option<Estimate>,
    /// The share of every cell; with fixed groups, its share of its group.
    pub shares: Vec<Row>,
    /// Tables of fewer columns; none with fixed groups.
    pub margins: Vec<Block>,
    /// The outcome in every group; none with fixed groups, whose cells tell it.
    pub groups: Vec<Block>,
    pub comparisons: Vec<Compared>,
    /// The columns over whose combinations compared shares are means, in which each has the same weight.
    pub averaged: Vec<String>,
    /// Why shares are computed from draws, if some are: to the digits that hold.
    pub drawn: Option<String>,
    /// Intervals that hold for all cells at once, if they are asked for.
    pub joint: Option<JointIntervals>,
}

impl Estimate {
    /// The mean and the interval of a whole number with these probabilities, from `first` on.
    fn of_whole_number(first: u64, probabilities: &[f64], level: f64) -> Self {
        let numbers = || (first..).map(|n| n as f64).zip(probabilities);
        let mean = numbers().map(|(n, p)| n * p).sum();
        let left_out = 0.5 * (1.0 - level);
        let end = |most: f64| {
            let mut sum = 0.0;
            let found = numbers().find(|(_, p)| {
                sum += **p;
                sum >= most
            });
            found.map_or((first + probabilities.len() as u64 - 1) as f64, |(n, _)| n)
        };
        Self { mean, interval: Interval { low: end(left_out), high: end(1.0 - left_out) } }
    }

    /// From draws, to the digits that hold.
    fn of_draws((mean, [low, high]): (Drawn, [Drawn; 2])) -> Self {
        let interval = Interval { low: low.rounded(), high: high.rounded() };
        Self { mean: mean.rounded(), interval }
    }

    /// The mean and the interval of a share.
    pub fn of_share(share: &BetaMixture, level: f64) -> Self {
        Self { mean: share.mean(), interval: share.interval(level) }
    }
}

/// What is known of a table after counts of it were released, once or several times.
pub struct TablePosterior<'a> {
    pub(super) request: &'a Request,
    /// What was released for every cell, if that was done once.
    released: Option<Vec<f64>>,
    pub(super) histograms: Vec<Histogram>,
    /// What is known of the true counts of every histogram.
    laws: Vec<Law>,
    /// Draws of all cells, made when something needs them.
    sampled: OnceLock<Sampled>,
    /// Why shares were computed from them.
    drawn: OnceLock<String>,
    /// A bound on the probability of what was left out, where every count has noise of its own.
    pub left_out: Option<f64>,
}

impl Answer {
    fn of_means(means: &Means) -> Self {
        let numbers = |of: fn(&Drawn) -> f64| {
            let [low, high] = means.difference.each_ref().map(of);
            let [least, median, most] = means.ratio.each_ref().map(of);
            let ratio = Median { median, interval: Interval { low: least, high: most } };
            (of(&means.larger), Interval { low, high }, ratio)
        };
        let (probability_greater, interval, ratio) = numbers(|drawn| drawn.value);
        let (of_probability, of_difference, of_ratio) = numbers(|drawn| drawn.error);
        Self {
            probability_greater,
            difference: Estimate { mean: means.mean_difference, interval },
            ratio,
            standard_errors: Some(StandardErrors {
                probability_greater: of_probability,
                difference: of_difference,
                ratio: of_ratio,
            }),
        }
    }

    /// The answer for print: limits and a median that were computed from draws to the digits that hold.
    pub fn rounded(self) -> Self {
        let Some(errors) = self.standard_errors else { return self };
        let held = |value: f64, error: f64| Drawn { value, error }.rounded();
        let limits = |of: Interval, errors: Interval| Interval {
            low: held(of.low, errors.low),
            high: held(of.high, errors.high),
        };
        let Self { difference, ratio, .. } = self;
        Self {
            difference: Estimate {
                interval: limits(difference.interval, errors.difference),
                ..difference
            },
            ratio: Median {
                median: held(ratio.median, errors.ratio.median),
                interval: limits(ratio.interval, errors.ratio.interval),
            },
            ..self
        }
    }
}

impl<'a> TablePosterior<'a> {
    /// What is known after these releases of the same data; or why that is not computed.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(releases: &'a [Released]) -> Result<Self, String> {
        let first = &releases[0];
        let once = (releases.len() == 1).then_some(&first.counts);
        let released = once.map(|counts| counts.iter().map(|&count| count as f64).collect());
        let histograms = first.histograms();
        if let Drawing::Private(_) = first.drawing {
            let noisy = releases.iter().filter_map(|one| match &one.drawing {
                Drawing::Private(noise) => Some((noise, one.counts.as_slice())),
                Drawing::Public { .. } => None,
            });
            let inferred = PrivateN::inferred(&histograms[0].prior, &noisy.collect::<Vec<_>>())?;
            return Ok(Self::published(&first.request, inferred, released));
        }
        let laws = histograms.iter().enumerate().map(|(place, one)| law(releases, place, one));
        let laws = laws.collect::<Result<_, _>>()?;
        Ok(Self { released, ..Self::of(&first.request, histograms, laws) })
    }

    /// What is known of the table if these are the laws of its histograms.
    fn of(request: &'a Request, histograms: Vec<Histogram>, laws: Vec<Law>) -> Self {
        Self {
            request,
            released: None,
            histograms,
            laws,
            sampled: OnceLock::new(),
            drawn: OnceLock::new(),
            left_out: None,
        }
    }

    /// What is known after counts of one histogram were released with noise of their own; `released` is what was
    /// released, if that was done once.
    pub fn published(
        request: &'a Request,
        Inferred { law, left_out }: Inferred,
        released: Option<Vec<f64>>,
    ) -> Self {
        let histograms = request.histograms(law.n());
        let left_out = Some(left_out);
        Self { released, left_out, ..Self::of(request, histograms, vec![law]) }
    }

    /// What is known before anything is released.
    pub(super) fn before(&self) -> Self {
        let law = |one: &Histogram| CountsLaw::exactly(&one.prior, &vec![0; one.prior.k()]).into();
        let laws = self.histograms.iter().map(law).collect();
        Self::of(self.request, self.histograms.clone(), laws)
    }

    /// Everything that is asked.
    pub fn findings(&self, question: &Question) -> Findings {
        let level = question.level;
        Findings {
            records: self.records(level),
            shares: self.shares(level),
            margins: self.margins(level),
            groups: self.groups(level),
            comparisons: self.comparisons(question),
            averaged: question.averaged(self.request),
            joint: question.joint.then(|| self.joint(level)),
            // What comes before says why.
            drawn: self.drawn().map(str::to_owned),
        }
    }

    /// The number of records, if it is not known.
    fn records(&self, level: f64) -> Option<Estimate> {
        match &self.laws[0] {
            law if law.n().is_some() => None,
            Law::Exact(law) => {
                let (first, probabilities) = law.total();
                Some(Estimate::of_whole_number(first, &probabilities, level))
            }
            Law::Wide(_) => Some(Estimate::of_draws(self.sampled().records(level))),
        }
    }

    /// Why shares were computed from draws, if some were.
    pub fn drawn(&self) -> Option<&str> {
        self.drawn.get().map(String::as_str)
    }

    fn sampled(&self) -> &Sampled {
        self.sampled.get_or_init(|| Sampled::new(&self.laws))
    }

    /// The share of some cells of the table within some others, if it is computed.
    fn exact(&self, cells: &[usize], group: &[usize]) -> Option<BetaMixture> {
        let place = self.histograms.iter().position(|one| one.cells.contains(&group[0]))?;
        let start = self.histograms[place].cells.start;
        let [cells, group] =
            [cells, group].map(|some| some.iter().map(|cell| cell - start).collect::<Vec<_>>());
        let found = self.laws[place].exact().and_then(|law| law.try_within(&cells, &group));
        if found.is_none() {
            self.drawn.get_or_init(|| match &self.laws[place] {
                Law::Wide(law) => law.cause().to_owned(),
                Law::Exact(_) => WIDE.to_owned(),
            });
        }
        found
    }

    /// The share of some cells of the table within some others. If it is not computed, its law is that of draws,
    /// smoothed.
    pub(super) fn share(&self, cells: &[usize], group: &[usize]) -> BetaMixture {
        self.exact(cells, group).unwrap_or_else(|| self.sampled().smoothed(cells, group))
    }

    /// All cells of the histogram of this cell.
    fn histogram(&self, cell: usize) -> Vec<usize> {
        let all = self.histograms.iter().map(|one| &one.cells).find(|cells| cells.contains(&cell));
        all.expect("every cell has a histogram").clone().collect()
    }

    /// The share of every cell.
    pub fn shares(&self, level: f64) -> Vec<Row> {
        let table = &self.request.table;
        let asked = |cell: usize| (table.cell_name(cell), vec![cell], self.histogram(cell));
        self.rows((0..table.cells()).map(asked).collect(), level)
    }

    fn margins(&self, level: f64) -> Vec<Block> {
        let table = &self.request.table;
        if self.request.fixed.is_some() {
            return Vec::new();
        }
        let block = |margin: &Margin| {
            let columns = margin.columns.iter().map(|&column| &*table.attributes()[column].name);
            let asked = margin
                .rows
                .iter()
                .map(|one| (table.margin_name(margin, one), one.cells.clone(), self.histogram(0)));
            let rows = self.rows(asked.collect(), level);
            Block { title: columns.collect::<Vec<_>>().join(", "), rows }
        };
        table.margins().iter().map(block).collect()
    }

    /// The outcome in every group.
    fn groups(&self, level: f64) -> Vec<Block> {
        let table = &self.request.table;
        if self.request.fixed.is_some() || table.groups() == 1 {
            return Vec::new();
        }
        let block = |group: usize| {
            let all: Vec<usize> = table.group(group).collect();
            let asked = all.iter().zip(&table.outcome().categories);
            let asked = asked.map(|(cell, category)| (category.clone(), vec![*cell], all.clone()));
            Block { title: table.group_name(group), rows: self.rows(asked.collect(), level) }
        };
        (0..table.groups()).map(block).collect()
    }

    /// A row for each name: the share of some cells within a group.
    fn rows(&self, asked: Vec<Asked>, level: f64) -> Vec<Row> {
        let exact = parallel::map(&asked, |(_, cells, group)| {
            self.exact(cells, group).map(|share| Estimate::of_share(&share, level))
        });
        // A thread that waited for draws could not help to make them, so they are made before threads need them.
        let sampled = exact.iter().any(Option::is_none).then(|| self.sampled());
        let drawn = |(_, cells, group): &Asked| {
            sampled.map(|sampled| Estimate::of_draws(sampled.share(cells, group, level)))
        };
        let shares = parallel::map_range(0..asked.len(), |place| {
            exact[place].or_else(|| drawn(&asked[place])).expect("exact, or drawn")
        });
        let row = |((cell, cells, _), share): (Asked, Estimate)| {
            let released = self.released.as_ref();
            let released = released.map(|counts| cells.iter().map(|&cell| counts[cell]).sum());
            Row { cell, released, share }
        };
        asked.into_iter().zip(shares).map(row).collect()
    }

    /// The comparisons that are asked for.
    fn comparisons(&self, question: &Question) -> Vec<Compared> {
        let mut compared = Vec::new();
        if question.compared.is_empty() {
            return compared;
        }
        let contrasts = question.contrasts(self.request);
        let products = MOST_PRODUCTS / (question.compared.len() * contrasts.len()) as f64;
        for &category in &question.compared {
            for Contrast { names: [group, other], cells } in &contrasts {
                compared.push(Compared {
                    category: self.request.table.outcome().categories[category].clone(),
                    group: group.clone(),
                    other: other.clone(),
                    answer: self.compare(category, cells, question, products),
                });
            }
        }
        compared
    }

    /// Compares a category's share between two groups: exactly, unless that takes more `products`; else by draws.
    fn compare(
        &self,
        category: usize,
        groups: &[Vec<usize>; 2],
        question: &Question,
        products: f64,
    ) -> Answer {
        let level = question.level;
        let outcomes = self.request.table.outcomes();
        if question.equal_weights {
            let [a, b] = groups.each_ref().map(|cells| {
                let one = |group: &[usize]| (vec![group[category]], group.to_vec());
                cells.chunks(outcomes).map(one).collect::<Vec<Within>>()
            });
            return Answer::of_means(&match &self.laws[0] {
                Law::Exact(law) => law.compare_means([&a, &b], level),
                Law::Wide(_) => self.sampled().compare([&a, &b], level),
            });
        }
        let [a, b] = groups.each_ref().map(|group| -> Within {
            let of_category = |cell: &usize| cell % outcomes == category;
            (group.iter().copied().filter(of_category).collect(), group.clone())
        });
        let comparison = match (self.request.fixed.is_some(), self.laws[0].exact()) {
            (true, _) => (self.exact(&a.0, &a.1).zip(self.exact(&b.0, &b.1)))
                .and_then(|(a, b)| Comparison::independent(a, b, products).ok()),
            (false, law) => {
                law.and_then(|law| law.compare((&a.0, &a.1), (&b.0, &b.1), products).ok())
            }
        };
        let Some(comparison) = comparison else {
            return Answer::of_means(&self.sampled().compare([&[a], &[b]], level));
        };
        Answer {
            probability_greater: comparison.probability_greater(),
            difference: Estimate {
                mean: comparison.mean_difference(),
                interval: comparison.difference(level),
            },
            ratio: Median {
                median: comparison.ratio_quantile(0.5),
                interval: comparison.ratio(level),
            },
            standard_errors: None,
        }
    }

    /// `number` joint draws of the shares, block by block: each draw is a share for every cell. They are always
    /// the same: nobody can draw again until a draw pleases.
    pub fn draws(&self, number: usize) -> impl Iterator<Item = Vec<Vec<f64>>> + use<> {
        draws(&self.laws, number, SEED)
    }

    /// Intervals that hold for all cells at once. Groups of fixed sizes are independent: each one gets its
    /// part of the level.
    fn joint(&self, level: f64) -> JointIntervals {
        let each = libm::pow(level, 1.0 / self.laws.len() as f64);
        let of_law = |(law, one): (&Law, &Histogram)| match law {
            Law::Exact(law) => law.joint(each),
            Law::Wide(_) => self.sampled().joint(one.cells.clone(), each),
        };
        let all: Vec<_> = self.laws.iter().zip(&self.histograms).map(of_law).collect();
        let probability: f64 = all.iter().map(|one| one.probability.value).product();
        let relative = all.iter().map(|one| one.probability.error / one.probability.value);
        JointIntervals {
            probability,
            standard_error: probability * relative.map(|error| error * error).sum::<f64>().sqrt(),
            intervals: all.into_iter().flat_map(|one| one.intervals).collect(),
        }
    }
}

/// The seed of draws that are printed.
const SEED: u64 = 1;

/// Why a share of a law that is computed is drawn.
const WIDE: &str = "the noise is so wide that exact sums take long";

/// The most products of all comparisons: they take some seconds.
const MOST_PRODUCTS: f64 = 4e9;

/// The law of the true counts of one histogram, given releases.
fn law(releases: &[Released], place: usize, histogram: &Histogram) -> Result<Law, String> {
    let seen: Vec<Seen> = (releases.iter())
        .map(|release| Seen {
            law: release.methods()[place].law(),
            setting: release.methods()[place].setting(),
            released: &release.counts[histogram.cells.clone()],
        })
        .collect();
    Law::given(&seen)
}
