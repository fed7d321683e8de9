use super::*;
use crate::analysis::optimum::tests::template;
use crate::analysis::optimum::{Goal, OutputSet, Question, solve_whole};
use crate::posterior::distance;

const PURE: Question = Question { goal: Goal::Bayes, set: OutputSet::Simplex, delta: None };

fn by_columns(template: &Setting) -> Optimum {
    solve(template, OutputSet::Simplex, &|_| ()).unwrap()
}

/// Twenty small cases, by both ways.
#[test]
fn the_whole_program_has_the_same_optimum() {
    let cases: [(&[f64], u64, f64); 20] = [
        (&[1.0, 1.0], 20, 0.1),
        (&[1.0, 1.0], 31, 1.0),
        (&[20.0, 5.0], 25, 0.3),
        (&[0.3, 2.0], 12, 3.0),
        (&[1.0, 1.0, 1.0], 1, 1.0),
        (&[1.0, 1.0, 1.0], 9, 0.1),
        (&[1.0, 1.0, 1.0], 12, 0.5),
        (&[1.0, 1.0, 1.0], 12, 1.0),
        (&[1.0, 1.0, 1.0], 10, 3.0),
        (&[0.5, 0.5, 0.5], 10, 0.2),
        (&[2.0, 1.0, 2.0], 8, 0.1),
        (&[2.0, 1.0, 2.0], 9, 0.7),
        (&[1.0, 2.0, 3.0], 7, 0.1),
        (&[1.0, 2.0, 3.0], 8, 0.5),
        (&[5.0, 0.2, 1.0], 7, 2.0),
        (&[1.0, 1.0, 1.0, 1.0], 6, 0.1),
        (&[1.0, 1.0, 1.0, 1.0], 7, 0.5),
        (&[1.0, 1.0, 1.0, 1.0], 8, 2.0),
        (&[1.0, 1.0, 3.0, 3.0], 5, 0.8),
        (&[1.0, 2.0, 3.0, 4.0], 4, 1.0),
    ];
    for (prior, n, epsilon) in cases {
        let template = template(prior, n, epsilon);
        let columns = by_columns(&template);
        let whole = solve_whole(&template, PURE, true).unwrap();
        assert!((columns.value - whole.value).abs() < 1e-8, "{prior:?} {n} {epsilon}");
        assert!(columns.upper - columns.lower <= NEAR, "{prior:?} {n} {epsilon}");
        assert!(columns.lower <= whole.upper && whole.lower <= columns.upper);
    }
}

/// Outputs may have any smaller total, which helps in five of these cases.
#[test]
fn outputs_of_smaller_totals() {
    let question = Question { set: OutputSet::Below, ..PURE };
    let cases: [(&[f64], u64, f64); 8] = [
        (&[1.0, 1.0, 1.0], 4, 0.8),
        (&[1.0, 1.0, 1.0], 8, 0.3),
        (&[1.0, 1.0, 1.0], 6, 3.0),
        (&[1.0, 2.0, 3.0], 5, 0.5),
        (&[0.3, 1.0, 0.3], 6, 1.5),
        (&[1.0, 1.0], 12, 0.2),
        (&[5.0, 0.7], 9, 1.0),
        (&[1.0, 1.0, 1.0, 1.0], 4, 0.6),
    ];
    let mut gains = 0;
    for (prior, n, epsilon) in cases {
        let template = template(prior, n, epsilon);
        let columns = solve(&template, OutputSet::Below, &|_| ()).unwrap();
        let whole = solve_whole(&template, question, true).unwrap();
        assert!((columns.value - whole.value).abs() < 1e-8, "{prior:?} {n} {epsilon}");
        assert!(columns.lower <= whole.upper && whole.lower <= columns.upper);
        assert!(columns.upper - columns.lower <= NEAR, "{prior:?} {n} {epsilon}");
        crate::analysis::optimum::tests::assert_private(&columns, epsilon);
        let same = by_columns(&template).value;
        assert!(columns.value <= same + NEAR, "{prior:?} {n} {epsilon}");
        gains += usize::from(columns.value < 0.999 * same);
    }
    assert_eq!(gains, 5);
    let found = solve(&template(&[1.0; 3], 4, 0.8), OutputSet::Below, &|_| ()).unwrap();
    assert!((found.value - 0.376_456_091).abs() < 1e-9, "{}", found.value);
}

#[test]
fn bounds_close_in_from_both_sides() {
    let brackets = std::cell::RefCell::new(Vec::new());
    let template = template(&[1.0; 3], 12, 0.5);
    let found =
        solve(&template, OutputSet::Simplex, &|bracket| brackets.borrow_mut().push(bracket))
            .unwrap();
    let brackets = brackets.into_inner();
    assert!(brackets.len() > 2);
    for pair in brackets.windows(2) {
        assert!(pair[0].lower <= pair[1].lower && pair[1].upper <= pair[0].upper);
    }
    assert!(brackets.iter().all(|bracket| bracket.lower <= found.value + 1e-10));
    assert!(brackets.iter().all(|bracket| bracket.upper >= found.value - 1e-10));
}

#[test]
fn the_mechanism_is_private_and_has_the_error_that_is_stated() {
    for (prior, n, epsilon) in [(vec![1.0; 3], 10, 0.4), (vec![1.0, 2.0, 2.0], 7, 1.0)] {
        let template = template(&prior, n, epsilon);
        let found = by_columns(&template);
        crate::analysis::optimum::tests::assert_private(&found, epsilon);
        let space = Space::new(&template, OutputSet::Simplex);
        let mut error = 0.0;
        for (output, r) in found.mechanism().outputs.iter().enumerate() {
            for (x, weight) in space.weights.iter().enumerate() {
                let field = super::super::program::full_field(&template, space.inputs[x].clone());
                error += weight * field.at(r) * found.mechanism().probability(x, output);
            }
        }
        assert!((error - found.upper).abs() < 1e-13, "{error} {}", found.upper);
    }
}

/// Under an arbitrary price the search finds the best column, and its proof holds: no private function
/// of a sample is worth more.
#[test]
fn no_private_column_is_worth_more_than_the_one_found() {
    let template = template(&[1.0, 2.0, 1.5], 6, 0.7);
    let space = Space::new(&template, OutputSet::Simplex);
    let prices: Vec<f64> =
        (0..space.orbits.len()).map(|x| 0.02 * ((x * x * 7 + 3 * x) % 11) as f64 / 11.0).collect();
    let worth = |output: usize, p: &[f64]| {
        let paid: f64 = p.iter().zip(&prices).map(|(p, price)| p * price).sum();
        space.cost(output, p) - paid
    };
    let power = |f: &i32| exp_accurate(-0.7 * f64::from(*f));
    for output in 0..space.orbits.len() {
        let (found, _) = price(&space, output, &prices);
        assert_eq!(found.f[output], 0);
        let p: Vec<f64> = found.f.iter().map(power).collect();
        assert!((worth(output, &p) - found.reduced_cost()).abs() < 1e-14, "{output}");
        for (x, f) in found.f.iter().enumerate() {
            assert!(
                space.graph.arcs_of(x).iter().all(|arc| (found.f[arc.to as usize] - f).abs() <= 1)
            );
        }
        // Every column that lies at most three steps above some cone.
        for centre in 0..space.orbits.len() {
            for rise in 0..4 {
                let f: Vec<i32> =
                    space.distances(centre).iter().map(|d| (d - rise).max(0)).collect();
                let p: Vec<f64> = f.iter().map(power).collect();
                let scaled: Vec<f64> = p.iter().map(|value| value / p[output]).collect();
                assert!(
                    worth(output, &scaled) >= found.reduced_cost() - 1e-14,
                    "{output} {centre}"
                );
            }
        }
    }
}

#[test]
fn other_distances_and_negative_first_weights() {
    let mut kl = template(&[1.0, 2.0, 1.0], 6, 0.6);
    kl.distance = distance::find("kl").unwrap();
    // Below ε = 0.14 or so the first basis has negative weights.
    for template in [kl, template(&[1.0; 3], 12, 0.05), template(&[1.0; 4], 5, 0.1)] {
        let columns = by_columns(&template);
        let whole = solve_whole(&template, PURE, true).unwrap();
        assert!((columns.value - whole.value).abs() < 1e-7, "{} {}", columns.value, whole.value);
    }
}

#[test]
fn large_programs_are_solved_by_columns() {
    for (n, value) in [(30, 0.294223876), (50, 0.254427262)] {
        let template = template(&[1.0; 3], n, 1.0);
        let found = crate::analysis::optimum::answer(&template, PURE, &|_| ()).unwrap();
        assert!((found.value - value).abs() < 1e-9, "{n}: {}", found.value);
        assert!(found.upper - found.lower <= NEAR);
        let account = found.account.unwrap();
        assert!(account.status.starts_with("column generation"), "{}", account.status);
        let size = crate::analysis::optimum::Size::new(&template, PURE);
        for (foreseen, given) in
            [(size.unknowns, account.unknowns), (size.constraints, account.constraints)]
        {
            let ratio = foreseen / given as f64;
            assert!((0.5..2.5).contains(&ratio), "{n}: {foreseen} for {given}");
        }
    }
}
