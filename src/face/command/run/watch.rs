//! Messages while a run goes on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::interrupt;
use crate::progress;
use lab::experiment::Cell;
use lab::run::size::ExperimentSize;
use lab::run::sweep::{Stock, Sweep, Watcher};
use system::console::say;

/// Shows what is worked on, says which cells failed and, if asked, which are done.
pub(super) struct Watch<'a> {
    sweep: &'a Sweep<'a>,
    size: &'a ExperimentSize,
    stock: &'a Stock,
    verbose: bool,
    clock: Instant,
    /// The case that is shown as being worked on.
    shown: AtomicUsize,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        sweep: &'a Sweep<'a>,
        size: &'a ExperimentSize,
        stock: &'a Stock,
        verbose: bool,
    ) -> Self {
        let shown = AtomicUsize::new(usize::MAX);
        Self { sweep, size, stock, verbose, clock: Instant::now(), shown }
    }
}

impl Watcher for Watch<'_> {
    fn weight(&self, panel: usize, case: usize) -> f64 {
        // A case whose rows are kept is soon passed over.
        if self.stock.is_missing(panel, case) { self.size.outputs_at(panel, case) } else { 1.0 }
    }

    fn begin(&self, panel: usize, case: usize) {
        let layout = self.sweep.layout(panel);
        let setting = layout.panel.first + case;
        if self.shown.swap(setting, Ordering::Relaxed) != setting {
            let case = || layout.name(&layout.panel.cases[case]);
            progress::task(|| format!("{}, {}", self.sweep.experiment.name, case()));
        }
    }

    fn done(&self, panel: usize, cell: &Cell, outcome: Result<f64, &str>) {
        let name = || self.sweep.cell_name(panel, cell);
        match outcome {
            Ok(_) if !self.verbose => {}
            Ok(_) => {
                let seconds = self.clock.elapsed().as_secs_f64();
                progress::aside(|| say(format!("{seconds:8.3} s  {} done", name())));
            }
            Err(cause) => {
                let cause = cause.lines().next().unwrap_or_default();
                progress::aside(|| say(format!("failed: {}: {cause}", name())));
            }
        }
    }

    fn is_stopped(&self) -> bool {
        interrupt::is_asked()
    }
}
