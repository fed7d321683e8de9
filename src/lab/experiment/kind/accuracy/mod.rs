//! The accuracy experiment: every mechanism is run many times at every case, and its errors are
//! tabulated beside the exact law's own mean, median and 90 % quantile.

mod figures;
mod readings;
mod summary;
mod tables;

use std::sync::Arc;
use std::time::Instant;

use super::prelude::*;
use crate::experiment::cell::UNNUMBERED;
use crate::experiment::fault;
use crate::experiment::value::NamedValue;
use crate::experiment::{Abscissa, Cell, Group, Keeper, Parameter, PlacedReadings, Runs};
use engine::mechanism::Mechanism;
use engine::mechanism::law::{Bench, BenchField, ErrorSummary, Law, OutputLaw};
use engine::mechanism::sampling::{RUNS_PER_BLOCK, Sampler, runs_of};
use engine::named;
use engine::parallel;
use engine::posterior::metric::Metric;
use system::fault::caught;
use table::{Block, CalibrationRow, Content, ExactNumbers, Whiskers};

kind! {
    "accuracy": "errors of sampled releases beside their exact law";
    /// Errors of sampled releases beside their exact laws.
    pub struct Accuracy {
        /// Which figures. Default: box and mean.
        "figures" => figures: Vec<FigureName>,
        /// What the axis shows. Default: what has most values.
        "x" => x: Option<Parameter>,
        /// What tells small figures on one page apart. Default: of the rest, what has most values.
        "facet" => facet: Option<Parameter>,
        /// What tells lines, and the boxes of a group, apart. Default: mechanism.
        "series" => series: Option<Parameter>,
        /// Further errors of the same releases.
        "metrics" => metrics: Vec<Metric>,
        /// How far whiskers reach: in interquartile ranges, or "range" for all.
        "whiskers" => whiskers: Whiskers,
        /// Whether box plots show single outliers.
        "outliers" => outliers: bool,
        /// Of which of the metrics the readings are. Default: of the distance.
        "readings_metric" => readings_metric: Option<Metric>,
    }
}

impl Kind for Accuracy {
    fn rules(&self) -> Rules {
        Rules { draws_historical: true, compares_readings: true, ..Rules::USUAL }
    }

    fn axes(&self) -> Option<[Option<Parameter>; 3]> {
        Some([self.x, self.facet, self.series])
    }

    fn check(&self, panel: &Panel) -> Result<(), Complaint> {
        if let Err((place, cause)) = Abscissa::check(panel) {
            let remedy = "name what two or more settings differ in, or leave it out";
            return Err(About::Key(["x", "facet", "series"][place]).wrong(cause, remedy.to_owned()));
        }
        match self.readings_metric {
            Some(metric) if self.errors(panel).iter().all(|known| known.id() != metric.id()) => {
                Err(About::Key("readings_metric").wrong(
                    format!("the errors of this panel are not measured by `{}`", metric.id()),
                    format!("add metrics = [\"{}\"]", metric.id()),
                ))
            }
            _ => Ok(()),
        }
    }

    fn criterion(&self, boxes: bool) -> &'static str {
        match boxes {
            true => {
                "A quartile q ± err of N runs agrees if P[H < q − err] ≤ p + 4s and P[H ≤ q + err] ≥ \
                 p − 4s under the exact law, with s = sqrt(p(1−p)/N). N is the number of runs in \
                 print. The end of a whisker agrees if a run can fall there, and if it is not \
                 improbable that no run fell between it and the fence."
            }
            false => {
                "A mean of N runs agrees if it is within 4 standard errors of the exact mean, plus \
                 the reading error. N is the number of runs in print."
            }
        }
    }

    fn runs(&self) -> Option<&dyn Runs> {
        Some(self)
    }

    fn figures(&self, panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        figures::figures(self, panel, tables)
    }

    fn plot_count(&self, panel: &Panel) -> usize {
        self.figure_names(panel).len() * self.errors(panel).len() * figures::sheets(panel).facets
    }

    fn sketches(&self, panel: &Panel) -> Vec<Figure> {
        let sketch = |name: FigureName| match name {
            FigureName::Box => sketch::boxes(panel),
            FigureName::Mean => sketch::curves(panel, 1, LineName::OnPlot),
            // A strip for every setting.
            FigureName::Runs => {
                let settings = figures::sheets(panel).settings;
                sketch::curves(panel, settings, LineName::InLegend)
            }
        };
        self.figure_names(panel).into_iter().map(sketch).collect()
    }

    fn digests(&self, panel: &Panel, tables: &Tables) -> Vec<Digest> {
        let errors = self.errors(panel);
        errors.iter().map(|metric| summary::digest(panel, tables, metric)).collect()
    }

    fn summary(&self, panel: &Panel, tables: &Tables, most_printed: usize) -> String {
        let figures::Sheets { drawn, all, .. } = figures::sheets(panel);
        let mut text = summary::picture(panel, tables, most_printed);
        text += &summary::agreement(panel, tables);
        if drawn < all {
            text += &format!(
                "  figures are drawn for the first {drawn} of {all} combinations; `kind = \"phase\"` \
                 draws a map of many\n"
            );
        }
        text
    }

    fn answers(&self, panel: &Panel, tables: &Tables) -> Vec<String> {
        let answer = summary::answer(panel, tables);
        answer.map(|text| format!("{}: {text}.", panel.title)).into_iter().collect()
    }

    fn size(&self, panel: &Panel, case: &Case) -> Result<CaseSize, Refusal> {
        let errors = self.errors(panel);
        let (k, count) = (case.setting.k() as f64, errors.len() as f64);
        let steps: f64 = errors.iter().map(|metric| metric.steps()).sum();
        let (runs, mechanisms) = (panel.runs as f64, panel.variants.len() as f64);
        let (posterior, distance) = (case.setting.posterior(), case.setting.distance);
        let law = |law: &dyn Law| {
            let law = size::of(law, posterior, distance, size::SUMMARISED).times(count);
            law.then(Size { outputs: (20.0 + 5.0 * k + 5.0 * steps) * runs, bytes: 0.0 })
        };
        let mut size = CaseSize::of(&case.setting, &panel.outlines(case)?, law);
        size.kept *= count;
        let bytes = mechanisms * runs * (34.0 + 10.0 * k + 24.0 * count);
        match self.are_shown() {
            true => size.kept += bytes,
            false => size.common.bytes += bytes,
        }
        // In the table, in the log, and in the log of unfinished work beside it.
        size.disk += mechanisms * runs * (14.0 + 6.5 * k + 35.0 * count);
        Ok(size)
    }
}

impl Accuracy {
    /// Which of the errors the readings are of.
    fn place_of_readings(&self, panel: &Panel) -> usize {
        let asked =
            |metric: Metric| self.errors(panel).iter().position(|one| one.id() == metric.id());
        self.readings_metric.and_then(asked).unwrap_or(0)
    }

    /// The sorts of figures that are drawn. Data sets side by side have no order, so there is no line
    /// through their means.
    fn figure_names(&self, panel: &Panel) -> Vec<FigureName> {
        let asked = match self.figures.as_slice() {
            [] => &[FigureName::Box, FigureName::Mean],
            some => some,
        };
        let is_ordered = figures::is_ordered(panel);
        asked.iter().copied().filter(|name| *name != FigureName::Mean || is_ordered).collect()
    }
}

impl Runs for Accuracy {
    /// The distance first, then the metrics asked for, each once.
    fn errors(&self, panel: &Panel) -> Vec<Metric> {
        let mut errors = vec![panel.distance];
        for &metric in &self.metrics {
            if errors.iter().all(|known| known.id() != metric.id()) {
                errors.push(metric);
            }
        }
        errors
    }

    fn blocks(&self, panel: &Panel) -> u64 {
        panel.runs.div_ceil(RUNS_PER_BLOCK)
    }

    /// Every mechanism's blocks. Only the first block of a mechanism holds exact numbers, and depends
    /// on what these depend on.
    fn cells(&self, layout: &Layout, index: usize) -> Vec<Cell> {
        let Layout { panel, placed, .. } = layout;
        let case = &panel.cases[index];
        let errors: Vec<&str> = self.errors(panel).iter().map(|metric| metric.id()).collect();
        let mut cells = Vec::new();
        for (place, variant) in panel.variants.iter().enumerate() {
            let mut common = CellKey::new(panel);
            common
                .put("seed", panel.seed)
                .join(&case.setting.key())
                .put("mechanism", variant.key(&case.setting))
                .put("errors", errors.join(","));
            let readings: Vec<String> =
                placed.of(&variant.label, case).map(|reading| reading.key()).collect();
            for block in 0..self.blocks(panel) {
                let runs = runs_of(block, panel.runs);
                let mut key = common.clone();
                key.put("first", runs.start).put("end", runs.end);
                if block == 0 && variant.options.calibrated {
                    key.put("label", &variant.label);
                }
                if block == 0 && !readings.is_empty() {
                    key.put("panel", &panel.id).put("whiskers", fence(self.whiskers));
                    key.put_all("readings_metric", self.readings_metric.map(|metric| metric.id()));
                    key.put_all("reading", &readings);
                }
                let text = key.finish();
                cells.push(Cell { case: index, variant: Some(place), block, text });
            }
        }
        cells
    }

    fn compute(&self, layout: &Layout, wanted: &[Cell], keeper: &dyn Keeper) {
        let outcome = caught(|| {
            run_case(self, layout, wanted, keeper).map_err(|refusal| refusal.to_string())
        });
        if let Err(cause) = outcome.flatten() {
            for cell in wanted {
                keeper.keep(cell, Err(cause.clone()), 0.0);
            }
        }
    }

    fn assemble(&self, panel: &Panel, group: &Group, blocks: Vec<Block>) -> Tables {
        tables::tables(self, panel, group, blocks)
    }

    fn are_shown(&self) -> bool {
        self.outliers || self.figures.contains(&FigureName::Runs)
    }
}

/// How many interquartile ranges beyond the box whiskers may end.
fn fence(whiskers: Whiskers) -> f64 {
    match whiskers {
        Whiskers::Iqr(factor) => factor,
        Whiskers::Range => f64::INFINITY,
    }
}

fn run_case(
    kind: &Accuracy,
    layout: &Layout,
    wanted: &[Cell],
    keeper: &dyn Keeper,
) -> Result<(), Refusal> {
    let Layout { panel, placed, .. } = layout;
    let clock = Instant::now();
    let case = &panel.cases[wanted[0].case];
    let of_variant: Vec<&[Cell]> = wanted.chunk_by(|a, b| a.variant == b.variant).collect();
    let variant = |cells: &[Cell]| &panel.variants[cells[0].variant.unwrap_or_default()];
    let laws: Vec<Arc<dyn Law>> = of_variant
        .iter()
        .map(|cells| Ok(panel.prepared(variant(cells), case)?.law))
        .collect::<Result<_, Refusal>>()?;
    let metrics = &kind.errors(panel)[1..];
    let all = laws.iter().map(AsRef::as_ref);
    let part = parallel::part(0.5);
    let bench =
        Bench::with_summaries(case.setting.posterior(), case.setting.distance, all, metrics)?;
    drop(part);
    let shared = clock.elapsed().as_secs_f64() / of_variant.len() as f64;
    parallel::for_each(laws.len(), &|place| {
        let cells = of_variant[place];
        if keeper.is_stopped() {
            return;
        }
        let job = Job { kind, panel, case, placed, variant: variant(cells), cells, keeper, shared };
        let outcome = caught(|| job.run(&bench, place).map_err(|refusal| refusal.to_string()));
        if let Err(cause) = outcome.flatten() {
            for cell in cells.iter().filter(|cell| !keeper.has(cell)) {
                keeper.keep(cell, Err(cause.clone()), 0.0);
            }
        }
    });
    Ok(())
}

/// Cells of one mechanism at one case.
struct Job<'a> {
    kind: &'a Accuracy,
    panel: &'a Panel,
    case: &'a Case,
    placed: &'a PlacedReadings<'a>,
    variant: &'a Mechanism,
    cells: &'a [Cell],
    keeper: &'a dyn Keeper,
    /// Its share of the seconds that the case took before.
    shared: f64,
}

impl Job<'_> {
    fn run(&self, bench: &Bench, place: usize) -> Result<(), Refusal> {
        let Self { panel, case, variant, cells, keeper, .. } = *self;
        fault::strike(panel.first + cells[0].case, &variant.label);
        let clock = Instant::now();
        let law = bench.law(place);
        let fields: Vec<_> = bench.fields().collect();
        let key = format!("{} mechanism={}", case.setting.key(), variant.key(&case.setting));
        let known = match cells[0].block {
            0 => Some(self.exact_numbers(law.as_ref(), &fields)?),
            _ => None,
        };
        // What blocks share is divided among them.
        let shared = (self.shared + clock.elapsed().as_secs_f64()) / cells.len() as f64;
        let drawing = Instant::now();
        let sampler = Sampler {
            law: law.as_ref(),
            fields: &fields,
            k: case.setting.k(),
            runs: panel.runs,
            seed: panel.seed,
            key: &key,
        };
        let wanted: Vec<u64> = cells.iter().map(|cell| cell.block).collect();
        sampler.draw(
            &wanted,
            || keeper.is_stopped(),
            |block, draws| {
                let Some(cell) = cells.iter().find(|cell| cell.block == block) else { return };
                let known = known.clone().filter(|_| block == 0);
                let content = Block { known, released: draws.counts, errors: draws.errors };
                let seconds = shared + drawing.elapsed().as_secs_f64() / cells.len() as f64;
                keeper.keep(cell, Ok(Content::Runs(Box::new(content))), seconds);
            },
        );
        Ok(())
    }

    /// What is known without any run.
    fn exact_numbers(
        &self,
        law: &dyn OutputLaw,
        fields: &[BenchField],
    ) -> Result<ExactNumbers, Refusal> {
        let Self { kind, panel, case, variant, .. } = *self;
        let exact: Vec<ErrorSummary> =
            fields.iter().map(|&field| ErrorSummary::new(law, field)).collect();
        let readings = self.placed.of(&variant.label, case).collect();
        let place = kind.place_of_readings(panel);
        let readings = readings::compare(kind, panel, readings, law, fields[place], &exact[place]);
        let certificate = panel.prepared(variant, case)?.certificate;
        let row = |found| CalibrationRow::new(UNNUMBERED, &variant.label, &found);
        Ok(ExactNumbers { exact, calibration: certificate.map(row), readings })
    }
}

named! {
    /// A figure of the accuracy experiment.
    pub enum FigureName {
        Box = "box": "a box for every setting and mechanism",
        Mean = "mean": "mean error against what the settings differ in",
        Runs = "runs": "the error of single runs, as dots",
    }
}

impl NamedValue for FigureName {}

impl FigureName {
    /// What tells it from the other figures of a panel, in its title.
    fn heading(self) -> &'static str {
        match self {
            Self::Box => "errors of the runs",
            Self::Mean => "mean error",
            Self::Runs => "single runs",
        }
    }
}
