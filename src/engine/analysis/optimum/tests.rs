use super::*;
use crate::analysis::predictive_error::PredictiveError;
use crate::mechanism::Mechanism;
use crate::posterior::distance;
use crate::posterior::model::Prior;
use crate::posterior::privacy::{Delta, Epsilon};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

fn setting(prior: &[f64], n: u64, epsilon: f64) -> Setting {
    Setting::new(Prior::new(prior.to_vec()).unwrap(), n, Epsilon::new(epsilon).unwrap())
}

fn answered(prior: &[f64], n: u64, epsilon: f64, question: Question) -> Optimum {
    answer(&setting(prior, n, epsilon), question, &|_| ()).unwrap()
}

fn optimum(prior: &[f64], n: u64, epsilon: f64, goal: Goal, set: OutputSet) -> Optimum {
    answered(prior, n, epsilon, Question::pure(goal, set))
}

fn bayes(prior: &[f64], n: u64, epsilon: f64) -> Optimum {
    optimum(prior, n, epsilon, Goal::Bayes, OutputSet::Simplex)
}

fn with_delta(prior: &[f64], n: u64, epsilon: f64, goal: Goal, delta: f64) -> Optimum {
    let delta = Some(Delta::new(delta).unwrap());
    answered(prior, n, epsilon, Question { goal, set: OutputSet::Simplex, delta })
}

impl Optimum {
    /// The mechanism of an optimum that is small enough to be written down.
    fn mechanism(&self) -> &OptimalMechanism {
        self.mechanism.as_ref().expect("a mechanism")
    }
}

/// Rows sum to one; the loss, or with δ what is missed at ε, is at most what is allowed but for rounding. Both are found
/// without our own code for neighbours: two data sets are adjacent if their counts differ by two in all.
fn assert_private(optimum: &Optimum, epsilon: f64, delta: Option<f64>) {
    let mechanism = optimum.mechanism();
    let OptimalMechanism { inputs, outputs, ln_probabilities } = mechanism;
    for x in 0..inputs.len() {
        let sum: f64 = (0..outputs.len()).map(|r| mechanism.probability(x, r)).sum();
        assert!((sum - 1.0).abs() < 1e-14, "row {x} sums to {sum}");
    }
    let (mut loss, mut missed): (f64, f64) = (0.0, 0.0);
    for (x, here) in inputs.iter().enumerate() {
        for (y, there) in inputs.iter().enumerate() {
            if here.iter().zip(there).map(|(a, b)| a.abs_diff(*b)).sum::<u64>() == 2 {
                let pairs = ln_probabilities[x].iter().zip(&ln_probabilities[y]);
                loss = pairs.filter(|(p, q)| p != q).fold(loss, |loss, (p, q)| loss.max(p - q));
                let limit = |r| epsilon.exp() * mechanism.probability(y, r);
                let over = |r| (mechanism.probability(x, r) - limit(r)).max(0.0);
                missed = missed.max((0..outputs.len()).map(over).sum());
            }
        }
    }
    assert_eq!(loss, mechanism.loss());
    let Some(delta) = delta else {
        // Logarithms down to −600 are rounded to 1e-13.
        return assert!(loss <= epsilon + 2e-13, "{loss}");
    };
    assert!(missed <= delta * (1.0 + 1e-12) + 1e-16, "{missed} for {delta}");
    let own = mechanism.delta(epsilon);
    assert!((missed - own).abs() <= 1e-12 * delta + 1e-15, "{missed} {own}");
}

/// By flows: the optimum is the error of the tight mechanism, and not the bound above it.
#[test]
fn an_optimal_mechanism_has_the_least_error_once_and_no_more_loss_than_allowed() {
    for (prior, n, epsilon) in [
        (&[1.0, 1.0, 1.0][..], 12, 1.0),
        (&[1.0, 1.0, 1.0], 12, 3.0),
        (&[0.5, 2.0, 1.0], 9, 4.0),
        (&[1.0, 1.0, 1.0, 1.0], 6, 2.0),
    ] {
        let setting = setting(prior, n, epsilon);
        let found = super::transport::optimum(&setting).expect("flows prove it");
        let mean = errors(&setting, "tight").mean;
        assert!((found.value / mean - 1.0).abs() < 1e-12, "{} {mean}", found.value);
        let times = found.multiple(mean).unwrap();
        assert!((1.0..1.0 + 1e-12).contains(&times), "{times}");
        assert!(found.multiple(0.999 * mean).unwrap() < 1.0);
        let loss = found.mechanism().loss();
        assert!(loss <= epsilon && loss > epsilon - 1e-12, "{loss}");
    }
}

/// The errors of a mechanism over all data.
fn errors(setting: &Setting, id: &str) -> PredictiveError {
    Mechanism::parse(id).unwrap().prepare(setting).unwrap().error().unwrap().unwrap()
}

#[test]
fn known_values() {
    let close = |optimum: Optimum, value: f64, digits: f64| {
        assert!((optimum.value - value).abs() <= digits, "{} for {value}", optimum.value);
        assert!(optimum.upper - optimum.lower < 1e-8, "{optimum:?}");
    };
    for (n, value) in [(10, 0.1746), (20, 0.1477), (50, 0.1080)] {
        close(bayes(&[1.0, 1.0], n, 1.0), value, 5e-5);
    }
    close(bayes(&[1.0, 1.0], 100, 1.0), 0.0817068, 5e-8);
    close(bayes(&[1.0, 1.0, 1.0], 12, 1.0), 0.3459248, 5e-8);
    close(bayes(&[1.0, 1.0], 20, 0.1), 0.5614773, 5e-8);
    close(optimum(&[1.0, 1.0], 20, 0.1, Goal::Bayes, OutputSet::Below), 0.5345, 5e-5);
    close(optimum(&[1.0; 3], 4, 0.8, Goal::Bayes, OutputSet::Below), 0.376_456_091, 1e-9);
}

/// A prior that is only nearly symmetric has more unknowns and the same optimum.
#[test]
fn exchangeable_categories_change_the_work_and_not_the_value() {
    let small_delta = Some(Delta::new(1e-2).unwrap());
    for (prior, most) in [(vec![1.0, 1.0], 9), (vec![0.5; 3], 5), (vec![2.0, 1.0, 2.0], 5)] {
        for (set, delta, n) in [
            (OutputSet::Simplex, None, most),
            (OutputSet::Below, None, most),
            (OutputSet::Simplex, small_delta, most - 1),
        ] {
            for goal in [Goal::Bayes, Goal::Minimax] {
                let solved = |prior: &[f64]| {
                    solve_whole(&setting(prior, n, 0.8), Question { goal, set, delta }).unwrap()
                };
                let nearly = |(i, alpha): (usize, &f64)| alpha + 1e-14 * i as f64;
                let folded = solved(&prior);
                let plain = solved(&prior.iter().enumerate().map(nearly).collect::<Vec<_>>());
                let unknowns = |optimum: &Optimum| optimum.account.as_ref().unwrap().unknowns;
                assert!(unknowns(&folded) < unknowns(&plain));
                // Each is certified on its own, so the intervals must overlap.
                assert!(folded.lower <= plain.upper && plain.lower <= folded.upper);
                assert!((folded.value - plain.value).abs() < 1e-8, "{prior:?} {goal:?} {set:?}");
            }
        }
    }
}

#[test]
fn what_is_returned_is_private() {
    for (prior, n) in [(vec![1.0, 1.0], 30), (vec![0.3, 2.0], 20), (vec![1.0, 2.0, 3.0], 5)] {
        for epsilon in [1e-3, 0.1, 1.0, 5.0, 20.0, 60.0] {
            for goal in [Goal::Bayes, Goal::Minimax] {
                let optimum = optimum(&prior, n, epsilon, goal, OutputSet::Simplex);
                assert_private(&optimum, epsilon, None);
                assert!(optimum.lower <= optimum.value && optimum.value <= optimum.upper);
            }
        }
    }
}

/// The distance of the two posteriors of one record under a flat prior.
fn of_one_record() -> f64 {
    (1.0 - std::f64::consts::PI / 4.0).sqrt()
}

#[test]
fn the_edges_of_n_and_epsilon() {
    for goal in [Goal::Bayes, Goal::Minimax] {
        for set in [OutputSet::Simplex, OutputSet::Below] {
            let none = optimum(&[1.0, 2.0, 0.5], 0, 1.0, goal, set);
            assert_eq!((none.value, none.mechanism().loss()), (0.0, 0.0));
            // One record: the truth with probability p, the other posterior with e^(−ε) p.
            let one = optimum(&[1.0, 1.0], 1, 1.0, goal, set).value;
            let wrong = 1.0 / (1.0 + std::f64::consts::E);
            assert!((one - wrong * of_one_record()).abs() < 1e-9, "{one}");
            for epsilon in [50.0, 1e3, 1e100] {
                let truth = optimum(&[1.0, 2.0], 20, epsilon, goal, set);
                assert!(truth.upper < 1e-19 && truth.lower == 0.0);
                assert!(truth.mechanism().loss() <= epsilon);
            }
        }
    }
    // So little privacy loss that the data cannot matter, with and without two equal candidates.
    for (n, epsilon) in [(20, 1e-100), (20, 1e-7), (20, 1e-3), (21, 1e-10)] {
        let blind = bayes(&[1.0, 1.0], n, epsilon);
        assert!(blind.account.is_none() && blind.upper - blind.lower <= 1e-8, "{n} {epsilon}");
    }
    for epsilon in [1e-8, 1e-7, 1e-6] {
        let Optimum { lower, upper, .. } = bayes(&[1.0; 3], 10, epsilon);
        assert!(upper - lower <= WIDEST && lower > 0.61, "{epsilon} {lower}");
    }
    let [blind, nearly] = [1e-10, 1e-3].map(|epsilon| bayes(&[1.0, 1.0], 21, epsilon).value);
    assert!((blind - nearly).abs() < 1e-3);
}

#[test]
fn more_outputs_or_less_privacy_never_hurt() {
    let same = bayes(&[1.0, 1.0, 2.0], 5, 0.2);
    let below = optimum(&[1.0, 1.0, 2.0], 5, 0.2, Goal::Bayes, OutputSet::Below);
    let looser = bayes(&[1.0, 1.0, 2.0], 5, 0.3);
    assert!(below.upper <= same.lower && looser.upper < same.lower);
    let minimax = optimum(&[1.0, 1.0, 2.0], 5, 0.2, Goal::Minimax, OutputSet::Simplex);
    assert!(minimax.lower > same.upper);
}

/// Whole programs and, last, those that are solved by columns.
#[test]
fn the_size_is_foreseen() {
    for (prior, n, set, value) in [
        (vec![1.0, 1.0], 40, OutputSet::Simplex, None),
        (vec![1.0, 2.0], 40, OutputSet::Simplex, None),
        (vec![1.0, 1.0], 15, OutputSet::Below, None),
        (vec![1.0, 1.0, 2.0], 7, OutputSet::Simplex, None),
        (vec![1.0; 4], 4, OutputSet::Simplex, None),
        (vec![1.0; 3], 30, OutputSet::Simplex, Some(0.294223876)),
        (vec![1.0; 3], 50, OutputSet::Simplex, Some(0.254427262)),
    ] {
        let (setting, question) = (setting(&prior, n, 1.0), Question::pure(Goal::Bayes, set));
        let size = ProgramSize::new(&setting, question);
        let (found, range) = match value {
            None => (solve_whole(&setting, question).unwrap(), 0.6..1.4),
            Some(_) => (answer(&setting, question, &|_| ()).unwrap(), 0.5..2.5),
        };
        if let Some(value) = value {
            assert!((found.value - value).abs() < 1e-9, "{n}: {}", found.value);
            assert!(found.upper - found.lower <= 1e-10 && found.method == Method::Columns);
        }
        let account = found.account.unwrap();
        for (foreseen, given) in
            [(size.unknowns, account.unknowns), (size.constraints, account.constraints)]
        {
            let ratio = foreseen / given as f64;
            assert!(range.contains(&ratio), "{prior:?} {n}: {foreseen} for {given}");
        }
    }
}

#[test]
fn unbounded_distances_are_not_taken_for_bounded_ones() {
    for (alpha, epsilon) in [(1e-9, 33.0), (1e-3, 34.0), (1.0, 40.0)] {
        let mut setting = setting(&[alpha, 1.0], 6, epsilon);
        setting.distance = distance::find("kl").unwrap();
        let rival = errors(&setting, "geometric");
        for (goal, error) in [(Goal::Bayes, rival.mean), (Goal::Minimax, rival.worst)] {
            // A bound that says nothing is better than one that is wrong.
            let question = Question::pure(goal, OutputSet::Simplex);
            if let Ok(best) = answer(&setting, question, &|_| ()) {
                let what = format!("{alpha} {epsilon}: {} {error}", best.lower);
                assert!(best.lower <= error && best.upper >= best.lower, "{what}");
                assert!(best.mechanism().probability(0, 0) > 0.0, "{what}");
                assert!(best.multiple(error).is_none_or(|times| times > 0.999), "{what}");
            }
        }
    }
}

#[test]
fn a_delta_lowers_the_optimum_and_is_kept() {
    for (prior, n, epsilon) in [(vec![1.0, 1.0], 20, 1.0), (vec![1.0, 2.0, 1.0], 4, 0.5)] {
        for goal in [Goal::Bayes, Goal::Minimax] {
            let mut before = optimum(&prior, n, epsilon, goal, OutputSet::Simplex).upper;
            for delta in [1e-8, 1e-4, 1e-2, 0.1] {
                let found = with_delta(&prior, n, epsilon, goal, delta);
                let Optimum { lower, upper, .. } = found;
                assert!(upper - lower < 1e-7, "{delta}: {lower} {upper}");
                assert!(lower <= before, "{delta}");
                before = upper;
                assert_private(&found, epsilon, Some(delta));
            }
        }
    }
    let pure = bayes(&[1.0, 1.0], 20, 1.0).value;
    let gain = |delta: f64| 1.0 - with_delta(&[1.0, 1.0], 20, 1.0, Goal::Bayes, delta).value / pure;
    assert!(gain(1e-8).abs() < 1e-6, "{}", gain(1e-8));
    assert!((gain(1e-2) - 0.043).abs() < 5e-4, "{}", gain(1e-2));
    assert!(gain(1e-4) > gain(1e-6) && gain(1e-6) > 0.0);
    // One record is told apart at most as often as randomised response allows: P(truth) − e^ε P(other) = δ with
    // P(truth) + P(other) = 1.
    let one = with_delta(&[1.0, 1.0], 1, 1.0, Goal::Bayes, 0.05).value;
    let wrong = 0.95 / (1.0 + std::f64::consts::E);
    assert!((one - wrong * of_one_record()).abs() < 1e-9, "{one}");
}

/// Forty settings with two to five categories, odd priors and four distances. Flows prove the tight mechanism optimal in
/// some and not in others; where outputs may have any smaller total, that helps in some and not in others.
#[test]
fn flows_columns_and_the_whole_program_agree() {
    let prior = prop::collection::vec(prop::sample::select(vec![0.3, 0.7, 1.0, 2.5]), 2..=5);
    let distance = prop::sample::select(vec!["hellinger", "print", "tv", "kl"]);
    let config = Config {
        cases: 40,
        rng_seed: RngSeed::Fixed(15),
        failure_persistence: None,
        ..Config::default()
    };
    let answers = std::cell::Cell::new([0; 4]);
    let count = |answer: usize| {
        let mut all = answers.get();
        all[answer] += 1;
        answers.set(all);
    };
    let test = |(prior, size, epsilon, distance): (Vec<f64>, u64, f64, &str)| {
        let (k, n) = (prior.len(), [14, 7, 4, 3][prior.len() - 2].min(size));
        let distance = distance::find(distance).expect("a distance");
        let setting = Setting { distance, ..setting(&prior, n, epsilon) };
        if setting.distance.refuses_scores(&setting.prior, setting.n).is_some() {
            return Ok(());
        }
        let [best, _] = same_by_columns(&setting, OutputSet::Simplex);
        let open = Question::pure(Goal::Bayes, OutputSet::Below);
        let is_small = ProgramSize::new(&setting, open).unknowns <= 1200.0;
        if is_small && refuse(&setting, OutputSet::Below).is_ok() {
            let [below, _] = same_by_columns(&setting, OutputSet::Below);
            prop_assert!(below.value <= best.value + 1e-8, "{below:?} {best:?}");
            count(usize::from(below.value < 0.999 * best.value));
        }
        let found = check_by_flows(&setting).expect("a bound");
        prop_assert!(found.lower <= best.upper * (1.0 + 1e-12), "{found:?} {best:?}");
        let tight = Tight::find(k, n, epsilon).expect("weights");
        if tight.is_clipped() {
            return Ok(());
        }
        prop_assert!(found.tight >= best.lower * (1.0 - 1e-12), "{found:?} {best:?}");
        if found.is_tight_optimal() {
            prop_assert!(found.tight <= best.upper * (1.0 + 1e-7), "{found:?} {best:?}");
            count(2);
        } else if found.lower < (1.0 - 1e-4) * found.tight {
            // The condition is necessary: something is better.
            prop_assert!(best.upper < (1.0 - 1e-9) * found.tight, "{found:?} {best:?}");
            count(3);
        }
        let (good, _) = transport::bound(&setting).expect("a bound");
        prop_assert!(good.lower >= found.lower * (1.0 - 1e-9), "{good:?} {found:?}");
        prop_assert!(good.lower <= best.upper * (1.0 + 1e-12), "{good:?} {best:?}");
        Ok(())
    };
    let strategy = (prior, 2_u64..=14, 0.3_f64..2.5, distance);
    TestRunner::new(config).run(&strategy, test).unwrap_or_else(|error| panic!("{error}"));
    assert!(answers.get().iter().all(|&times| times >= 8), "{answers:?}");
}

/// Small and large ε, alike and different categories. Below ε = 0.14 or so the first basis has negative weights.
#[test]
fn the_whole_program_has_the_same_optimum_as_columns() {
    let cases: [(&[f64], u64, f64, OutputSet); 9] = [
        (&[1.0, 1.0], 20, 0.1, OutputSet::Simplex),
        (&[20.0, 5.0], 25, 0.3, OutputSet::Simplex),
        (&[0.3, 2.0], 12, 3.0, OutputSet::Simplex),
        (&[1.0, 1.0, 1.0], 1, 1.0, OutputSet::Simplex),
        (&[1.0, 1.0, 1.0], 12, 0.05, OutputSet::Simplex),
        (&[5.0, 0.2, 1.0], 7, 2.0, OutputSet::Simplex),
        (&[1.0, 1.0, 1.0, 1.0], 6, 0.1, OutputSet::Simplex),
        (&[1.0, 2.0, 3.0, 4.0], 4, 1.0, OutputSet::Simplex),
        (&[1.0; 4], 4, 0.6, OutputSet::Below),
    ];
    for (prior, n, epsilon, set) in cases {
        same_by_columns(&setting(prior, n, epsilon), set);
    }
}

/// The optimum by the whole program, and by columns: it is the same, all bounds hold, and each mechanism has the error
/// that is stated.
fn same_by_columns(setting: &Setting, set: OutputSet) -> [Optimum; 2] {
    let whole = solve_whole(setting, Question::pure(Goal::Bayes, set)).unwrap();
    let holds = |bracket: Bracket| {
        let Bracket { lower, upper, .. } = bracket;
        assert!(lower <= whole.upper && whole.lower <= upper, "{bracket:?} {whole:?}");
    };
    let columns = super::columns::solve(setting, set, &holds).unwrap();
    let what =
        format!("{} {} {whole:?} {columns:?}", setting.key(&[setting.n]), setting.epsilon.get());
    let digits = if setting.distance.bound().is_some() { 1e-8 } else { 1e-7 };
    assert!((columns.value - whole.value).abs() < digits, "{what}");
    assert!(columns.lower <= whole.upper && whole.lower <= columns.upper, "{what}");
    assert!(columns.upper - columns.lower <= 1e-10, "{what}");
    assert_private(&columns, setting.epsilon.get(), None);
    for found in [&whole, &columns] {
        let OptimalMechanism { inputs, outputs, .. } = found.mechanism();
        let weights = program::weights(setting, inputs);
        let mut mean = 0.0;
        for (r, errors) in program::errors(setting, inputs, outputs).iter().enumerate() {
            for (x, error) in errors.iter().enumerate() {
                mean += weights[x] * error * found.mechanism().probability(x, r);
            }
        }
        assert!((mean - found.upper).abs() < 1e-13 * (1.0 + mean), "{mean} {what}");
    }
    [whole, columns]
}

/// The bound by flows is a little below the optimum, as it was measured: its prices are improved in steps.
#[test]
fn a_bound_by_flows_is_near_the_optimum() {
    for (prior, n, epsilon, gap) in [
        (vec![1.0; 3], 12, 0.8, 0.005),
        (vec![1.0; 3], 40, 0.9, 0.002),
        (vec![1.0, 2.0, 4.0], 10, 0.7, 0.03),
        (vec![1.0; 4], 8, 0.8, 0.02),
    ] {
        let best = bayes(&prior, n, epsilon);
        let (found, _) = transport::bound(&setting(&prior, n, epsilon)).unwrap();
        assert!(!found.is_tight_optimal());
        let part = found.lower / best.value;
        assert!(part <= 1.0 && part > 1.0 - gap, "{prior:?} {n} {epsilon}: {part}");
    }
}

/// Where a program would take long, flows answer: also where e^(−ε n) is no double.
#[test]
fn many_records_are_bounded_by_flows() {
    for (prior, n, epsilon) in [(vec![1.0; 3], 400, 2.0), (vec![1.0; 2], 3000, 1.0)] {
        let found = bayes(&prior, n, epsilon);
        assert_eq!(found.method, Method::Flows);
        assert!(found.lower <= found.upper && found.lower > 0.98 * found.upper, "{found:?}");
    }
}
