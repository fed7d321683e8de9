//! Whether the colours of a figure can be told apart, also by people who confuse red and green.

use super::Panel;
use super::config::{self, Overrides};
use engine::mechanism::{ALL, HISTORICAL};
use figure::{Colour, difference, own_colour};
use system::source::{Source, bundled_configs};

#[test]
fn mechanisms_are_told_apart_in_every_figure() {
    let mut alike = Vec::new();
    for path in bundled_configs() {
        let experiment =
            config::load(&Source::Bundle(path.clone()), &Overrides::default()).expect("a config");
        // The curves of a family are not its members.
        let drawn = |panel: &&Panel| panel.kind.id() != "family";
        for panel in experiment.panels.iter().filter(drawn) {
            let series = panel.series();
            let base = |place: usize| panel.variants[place].kind.colour.map(Colour::hex);
            let is_shade =
                |place: usize| base(place).is_some_and(|base| base != series[place].colour);
            for (i, one) in series.iter().enumerate() {
                for (j, other) in series.iter().enumerate().skip(i + 1) {
                    let (usual, other_eyes) = difference(one.colour, other.colour);
                    // Variants of one mechanism are shades of its colour; the user's own have others.
                    let least = if is_shade(i) || is_shade(j) { (13.0, 6.5) } else { (20.0, 11.0) };
                    if usual < least.0 || other_eyes < least.1 {
                        let names = format!("{} and {}", one.label, other.label);
                        alike.push(format!("{path:?}: {names}: {usual:.1}, {other_eyes:.1}"));
                    }
                }
            }
        }
    }
    assert!(alike.is_empty(), "{alike:#?}");
}

/// Whatever somebody puts into one figure.
#[test]
fn any_two_mechanisms_have_different_colours() {
    let known = ALL.iter().chain(HISTORICAL).filter_map(|one| Some((one.id, one.colour?)));
    let mut all: Vec<(&str, Colour)> =
        known.map(|(id, colour)| (id, Colour::hex(colour))).collect();
    all.extend((0..6).map(|number| ("one's own", own_colour(number))));
    for (i, (a, first)) in all.iter().enumerate() {
        assert!(first.lightness() < 0.7, "{a} shows on white");
        for (b, second) in &all[i + 1..] {
            let (usual, other_eyes) = difference(*first, *second);
            assert!(usual > 11.9 && other_eyes > 5.5, "{a} and {b}: {usual:.1}, {other_eyes:.1}");
        }
    }
}
