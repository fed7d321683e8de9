//! How large a case of an experiment is: outputs that are walked, memory, and room on the disk.

use std::sync::Arc;

use engine::analysis::size::{Size, is_sampled_only};
use engine::mechanism::law::Law;
use engine::posterior::model::approximate_compositions;
use engine::posterior::setting::{Setting, SettingWithData};

/// One case, by mechanism.
#[derive(Clone, Debug, Default)]
pub struct CaseSize {
    /// |R|.
    pub candidates: f64,
    /// What all mechanisms share.
    pub common: Size,
    /// Each mechanism alone.
    pub cells: Vec<Size>,
    /// For each mechanism, whether its law is too large to be computed exactly.
    pub sampled_only: Vec<bool>,
    /// Bytes of rows that are kept until the tables are written.
    pub kept: f64,
    /// Bytes on the disk.
    pub disk: f64,
}

/// Bytes of the rows of a case, and of each mechanism.
const KEPT_PER_CASE: f64 = 2_000.0;
const KEPT_PER_CELL: f64 = 1_000.0;

impl CaseSize {
    /// A case without mechanisms.
    pub fn new(setting: &Setting) -> Self {
        let candidates = approximate_compositions(setting.n, setting.k());
        Self { candidates, kept: KEPT_PER_CASE, ..Self::default() }
    }

    /// A case with these mechanisms, each of a size of its own.
    pub fn of(
        setting: &SettingWithData,
        laws: &[Arc<dyn Law>],
        size: impl Fn(&dyn Law) -> Size,
    ) -> Self {
        let none = Self::new(setting);
        let laws = || laws.iter().map(AsRef::as_ref);
        let sampled_only = |law| is_sampled_only(law, setting.posterior());
        Self {
            cells: laws().map(size).collect(),
            sampled_only: laws().map(sampled_only).collect(),
            kept: none.kept + KEPT_PER_CELL * laws().count() as f64,
            ..none
        }
    }

    /// Outputs that are walked for all mechanisms.
    pub fn outputs(&self) -> f64 {
        self.common.outputs + self.cells.iter().map(|cell| cell.outputs).sum::<f64>()
    }

    /// Bytes that are needed at a time, beside those that are kept.
    pub fn bytes(&self) -> f64 {
        self.cells.iter().map(|cell| cell.bytes).fold(self.common.bytes, f64::max)
    }
}
