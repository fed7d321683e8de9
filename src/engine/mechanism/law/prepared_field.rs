//! The error fields of a prepared setting, told apart by their places.

use std::ops::Deref;

use crate::posterior::error_field::Field;

/// An error field of a [`PreparedSetting`](crate::mechanism::prepared::PreparedSetting), with its
/// place there: 0 is the score, and the metrics follow. By the place a law of the same setting knows
/// what it has already found out about the error.
#[derive(Clone, Copy)]
pub struct PreparedField<'a> {
    place: usize,
    field: &'a dyn Field,
}

impl<'a> PreparedField<'a> {
    /// The field at a place.
    pub(in crate::mechanism) fn new(place: usize, field: &'a dyn Field) -> Self {
        Self { place, field }
    }

    /// Its place among the fields of the setting.
    pub(super) fn place(self) -> usize {
        self.place
    }

    /// Whether it is the score by which exponential mechanisms weigh candidates.
    pub(super) fn is_score(self) -> bool {
        self.place == 0
    }

    /// The field itself.
    pub(super) fn get(self) -> &'a dyn Field {
        self.field
    }
}

impl<'a> Deref for PreparedField<'a> {
    type Target = dyn Field + 'a;

    fn deref(&self) -> &Self::Target {
        self.field
    }
}
