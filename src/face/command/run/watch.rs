//! Messages and progress while a run goes on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::interrupt;
use crate::progress::{Progress, ProgressShare};
use lab::experiment::Cell;
use lab::run::forecast::Forecast;
use lab::run::sweep::{Sweep, Watcher};

/// Moves the progress bar, says which cells failed and, if asked, which are done.
pub(super) struct Watch<'a> {
    sweep: &'a Sweep<'a>,
    forecast: &'a Forecast,
    progress: &'a Progress,
    part: &'a ProgressShare<'a>,
    verbose: bool,
    clock: Instant,
    /// The case that is shown as being worked on.
    shown: AtomicUsize,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        sweep: &'a Sweep<'a>,
        forecast: &'a Forecast,
        progress: &'a Progress,
        part: &'a ProgressShare<'a>,
        verbose: bool,
    ) -> Self {
        Self {
            sweep,
            forecast,
            progress,
            part,
            verbose,
            clock: Instant::now(),
            shown: AtomicUsize::new(usize::MAX),
        }
    }
}

impl Watch<'_> {
    /// Shows the case that is worked on.
    fn show(&self, panel: usize, case: usize) {
        let layout = self.sweep.layout(panel);
        let setting = layout.panel.first + case;
        if self.shown.swap(setting, Ordering::Relaxed) != setting {
            let case = || layout.name(&layout.panel.cases[case]);
            self.progress.task(|| format!("{}, {}", self.sweep.experiment.name, case()));
        }
    }
}

impl Watcher for Watch<'_> {
    fn advance(&self, panel: usize, case: usize, variant: usize, part: f64) {
        self.show(panel, case);
        self.part.advance(part * self.forecast.cell(panel, case, variant));
    }

    fn done(&self, panel: usize, cell: &Cell, outcome: Result<f64, &str>) {
        self.progress.cell();
        match outcome {
            Ok(_) if !self.verbose => {}
            Ok(_) => {
                let seconds = self.clock.elapsed().as_secs_f64();
                let cell = self.sweep.cell_name(panel, cell);
                self.progress.line(&format!("{seconds:8.3} s  {cell} done"));
            }
            Err(cause) => {
                let cause = cause.lines().next().unwrap_or_default();
                let cell = self.sweep.cell_name(panel, cell);
                self.progress.line(&format!("failed: {cell}: {cause}"));
            }
        }
    }

    fn is_stopped(&self) -> bool {
        interrupt::is_asked()
    }
}
