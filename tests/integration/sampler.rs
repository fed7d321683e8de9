//! Every sampler against its exact law, and wrong ones too.
//!
//! A correct build raises a false alarm with probability 10⁻⁶ at most over all trials (and, seeds
//! being fixed, never more than once). That the trials have power is shown by the same trials of the
//! same samplers with a scale that is 5 % wrong: every one must be rejected.

use dpbi::service::selftest::samplers::{Scene, releases, scenes, tuned_releases};
use dpbi::service::selftest::{MOST_TRIALS, Scope, WRONG};
use rayon::prelude::*;

const SEED: u64 = 1;

#[test]
fn every_sampler_follows_its_exact_law() {
    let scenes = scenes(Scope::All);
    assert!(scenes.len() > 350 && scenes.len() < MOST_TRIALS);
    let rejected = |scene: &Scene| {
        let trial = scene.try_out(1.0, 40_000, SEED);
        assert_eq!(trial.draws, 40_000);
        trial.is_rejected().then_some(trial)
    };
    let rejected: Vec<_> = scenes.par_iter().filter_map(rejected).collect();
    assert!(rejected.is_empty(), "{rejected:#?}");
}

#[test]
fn a_scale_five_per_cent_off_is_rejected() {
    let scenes = scenes(Scope::Powered);
    assert!(scenes.len() > 60);
    scenes.par_iter().enumerate().for_each(|(place, scene)| {
        // Too large and too small in turn.
        let off = if place % 2 == 0 { WRONG } else { 1.0 / WRONG };
        let trial = scene.try_out(off, 400_000, SEED);
        assert!(trial.is_rejected(), "{trial:#?}");
    });
}

/// A million draws of every release, at several ε, in the whole-number arithmetic in which it is
/// drawn.
#[test]
fn releases_follow_their_exact_laws() {
    let all = [releases(Scope::All), tuned_releases()].concat();
    assert!(all.len() > 50, "{}", all.len());
    all.par_iter().for_each(|scene| {
        let trial = scene.try_out(1.0, 1_000_000, SEED);
        assert!(!trial.is_rejected(), "{trial:#?}");
    });
}
