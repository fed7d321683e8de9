//! Boxes as defined and as printed on one axis, where both show the same mechanisms at the same setting.

use std::mem::take;

use super::{Experiment, Panel};
use figure::{Body, BoxFigure, Figure, Group, Series};

/// The figures of a panel, with their names.
pub(super) type Figures = Vec<(String, Figure)>;

impl Experiment {
    /// Puts the boxes of panels `a-defined` and `a-printed` into one figure `a-box`, which the second keeps.
    pub(super) fn pair_boxes(&self, all: &mut [Figures]) {
        for (place, printed) in self.panels.iter().enumerate() {
            let twin = |panel: &Panel| {
                let common = printed.id.strip_suffix("printed")?;
                (panel.id.strip_suffix("defined")? == common).then_some(common)
            };
            let found =
                self.panels.iter().enumerate().find_map(|(at, panel)| Some((at, twin(panel)?)));
            let Some((at, common)) = found else { continue };
            let defined = &self.panels[at];
            if let Some(both) = pairs(defined, &all[at], printed, &all[place]) {
                let name = |name: &str| format!("{common}{}", &name[printed.id.len() + 1..]);
                let names: Vec<String> = all[place].iter().map(|(own, _)| name(own)).collect();
                all[place] = names.into_iter().zip(both).collect();
                take(&mut all[at]);
            }
        }
    }
}

/// Every figure of the one panel with its twin of the other; none if one of them has no twin.
fn pairs(
    defined: &Panel,
    figures: &Figures,
    printed: &Panel,
    printed_figures: &Figures,
) -> Option<Vec<Figure>> {
    let runs = |panel: &Panel| format!("{} runs", panel.runs);
    let pair = |((_, one), (_, other)): (&(String, Figure), &(String, Figure))| {
        let (Body::Box(ours), Body::Box(theirs)) = (&one.body, &other.body) else { return None };
        let same_setting = other.head.note.replace(&runs(printed), &runs(defined)) == one.head.note;
        if !(same_setting && one.head.title == other.head.title) {
            return None;
        }
        let note = match defined.runs == printed.runs {
            true => one.head.note.clone(),
            false => {
                let both = format!("{}, as printed {}", runs(defined), runs(printed));
                one.head.note.replace(&runs(defined), &both)
            }
        };
        Some(Figure::new(one.head.title.clone(), note, beside(ours, theirs)?))
    };
    let all = figures.iter().zip(printed_figures).map(pair).collect::<Option<Vec<_>>>()?;
    (!all.is_empty() && figures.len() == printed_figures.len()).then_some(all)
}

/// Pairs of boxes, where either figure has one box for each mechanism.
fn beside(defined: &BoxFigure, printed: &BoxFigure) -> Option<BoxFigure> {
    let is_single = |figure: &BoxFigure| figure.in_group == Some(1);
    let as_many = defined.groups.len() == printed.groups.len();
    if !(is_single(defined) && is_single(printed) && as_many) {
        return None;
    }
    let of = |figure: &BoxFigure, place: usize| -> Option<(Series, _)> {
        Some((figure.series.get(place)?.clone(), figure.groups[place].boxes.get(place)?.clone()))
    };
    let (mut series, mut boxes) = (Vec::new(), Vec::new());
    for place in 0..defined.groups.len() {
        for figure in [defined, printed] {
            let (one, stats) = of(figure, place)?;
            series.push(one);
            boxes.push(stats);
        }
    }
    let group = |place: usize| {
        let mut own = vec![None; boxes.len()];
        own[2 * place..2 * place + 2].clone_from_slice(&boxes[2 * place..2 * place + 2]);
        Group { label: series[2 * place + 1].label.clone(), boxes: own, ..Group::default() }
    };
    let groups = (0..defined.groups.len()).map(group).collect();
    Some(BoxFigure { groups, series, in_group: Some(2), ..defined.clone() })
}

/// Whether a figure shows boxes as defined and as printed.
pub(super) fn is_pair(figure: &Figure) -> bool {
    matches!(&figure.body, Body::Box(boxes) if boxes.in_group == Some(2))
}
