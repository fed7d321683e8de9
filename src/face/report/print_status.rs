//! Whether a figure was compared with its print.

use schemars::JsonSchema;
use serde::Serialize;

use super::text::count;
use super::{FigureReport, PanelReport};

/// Whether a figure was compared with its print.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrintStatus {
    /// Values were read off the print.
    Compared {
        /// How many of them agree with the computed ones.
        within: usize,
        total: usize,
        /// Why a part of the print was not compared, if so.
        except: Option<String>,
    },
    /// There is a print, but no value was read off it, for this reason.
    NotCompared(String),
    /// No print is known.
    #[default]
    NoPrint,
}

impl PrintStatus {
    /// The status of a figure with these panels. `reason` says why a print that exists was not compared.
    pub fn of(panels: &[PanelReport], reason: Option<String>) -> Self {
        let readings = || panels.iter().filter_map(|panel| panel.readings.as_ref());
        match (readings().map(|one| one.total).sum(), reason) {
            (0, Some(reason)) => Self::NotCompared(reason),
            (0, None) => Self::NoPrint,
            (total, except) => {
                Self::Compared { within: readings().map(|one| one.within).sum(), total, except }
            }
        }
    }

    /// The class, in the style sheet, of the line.
    pub(super) fn class(&self) -> &'static str {
        match self {
            Self::Compared { within, total, .. } if within == total => "all",
            Self::Compared { .. } => "most",
            Self::NotCompared(_) | Self::NoPrint => "none",
        }
    }

    pub fn sentence(&self) -> String {
        match self {
            Self::Compared { within, total, except } => {
                let compared = format!("Compared: {within} of {} agree.", count(*total, "reading"));
                match except.as_ref().map(|reason| reason.trim_end_matches('.')) {
                    Some(reason) => format!("{compared} A part is not compared, because {reason}."),
                    None => compared,
                }
            }
            Self::NotCompared(reason) => {
                let reason = reason.trim_end_matches('.');
                format!("A print exists, not compared, because {reason}.")
            }
            Self::NoPrint => "No print known.".to_owned(),
        }
    }
}

/// How many figures were compared with their print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrintCounts {
    pub compared: usize,
    /// Not compared, although a print exists.
    pub not_compared: usize,
    /// No print is known.
    pub no_print: usize,
}

impl PrintCounts {
    pub(super) fn of<'a>(figures: impl Iterator<Item = &'a FigureReport>) -> Self {
        let mut counts = Self::default();
        for figure in figures {
            match figure.print_status {
                PrintStatus::Compared { .. } => counts.compared += 1,
                PrintStatus::NotCompared(_) => counts.not_compared += 1,
                PrintStatus::NoPrint => counts.no_print += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Readings;

    #[test]
    fn readings_decide_and_a_reason_is_for_those_without() {
        let with = |total, within| PanelReport {
            readings: Some(Readings { total, within, ..Readings::default() }),
            ..PanelReport::default()
        };
        let none = || Some("the plot has no scale.".to_owned());
        let status = PrintStatus::of(&[PanelReport::default(), with(3, 2), with(4, 4)], none());
        assert_eq!(status, PrintStatus::Compared { within: 6, total: 7, except: none() });
        let expected = "Compared: 6 of 7 readings agree. A part is not compared, because the plot has \
                        no scale.";
        assert_eq!(status.sentence(), expected);
        let sentence = PrintStatus::of(&[with(4, 4)], None).sentence();
        assert_eq!(sentence, "Compared: 4 of 4 readings agree.");
        let status = PrintStatus::of(&[PanelReport::default()], none());
        let expected = "A print exists, not compared, because the plot has no scale.";
        assert_eq!(status.sentence(), expected);
        assert_eq!(PrintStatus::of(&[], None).sentence(), "No print known.");
    }
}
