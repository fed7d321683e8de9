//! Claims 1 to 11: verdicts must follow from the mechanisms and sensitivities that are judged, and
//! the numbers that decide them must be right.

use std::sync::OnceLock;

use engine::analysis::audit::{Scope, loss};
use engine::mechanism::{self, Mechanism};
use engine::posterior::distance::{DOCUMENTED, Distance, HELLINGER};
use engine::posterior::error_field::{Field, Reach};
use engine::posterior::model::{Posterior, Prior};
use engine::posterior::simplex::Row;
use paper::claims::{ALL, ClaimPart, Finding, Lab, ONE_LINE, Outcome, Reading, Verdict};

fn labs() -> impl Iterator<Item = Lab> {
    DOCUMENTED.iter().map(|distance| Lab::new(*distance))
}

pub fn judge(number: u32, lab: &Lab) -> Finding {
    let claim = ALL.iter().find(|claim| claim.number == number).expect("a claim");
    (claim.judge)(lab)
}

/// What is found under a distance of the documents when every mechanism plays itself; computed once.
pub fn right(number: u32, distance: &dyn Distance) -> &'static Finding {
    static FOUND: [[OnceLock<Finding>; 17]; 2] = [const { [const { OnceLock::new() }; 17] }; 2];
    let is_asked = |one: &&dyn Distance| one.id() == distance.id();
    let place = DOCUMENTED.iter().position(is_asked).expect("a distance of the documents");
    let found = &FOUND[place][number as usize - 1];
    found.get_or_init(|| judge(number, &Lab::new(DOCUMENTED[place])))
}

/// The parts whose name contains `words`; there must be some.
fn parts<'a>(finding: &'a Finding, words: &str) -> Vec<&'a ClaimPart> {
    let found: Vec<&ClaimPart> =
        finding.parts.iter().filter(|part| part.name().contains(words)).collect();
    assert!(!found.is_empty(), "no part about {words}: {finding:#?}");
    found
}

fn all_hold(finding: &Finding, words: &str) -> bool {
    parts(finding, words).iter().all(|part| part.holds)
}

fn none_holds(finding: &Finding, words: &str) -> bool {
    parts(finding, words).iter().all(|part| !part.holds)
}

/// The parts with these words are true of one finding, and false of the other.
fn assert_turns(holds: &Finding, fails: &Finding, words: &str) {
    assert!(all_hold(holds, words) && none_holds(fails, words), "{words}");
}

/// Whether the verdict is that the claim fails because of `clause`.
fn is_blamed(finding: &Finding, clause: &str) -> bool {
    let Verdict { outcome, reason, .. } = finding.as_stated();
    let blamed = ["False: ", " cases: "].map(|start| format!("{start}“{clause}"));
    let blamed = blamed.iter().any(|blame| reason.contains(blame));
    outcome == Outcome::Fails && blamed
}

fn number(part: &ClaimPart, name: &str) -> f64 {
    let found = part.numbers.iter().find(|(other, _)| other == name);
    found.unwrap_or_else(|| panic!("no number {name}: {part:#?}")).1
}

pub fn plain(id: &str) -> Mechanism {
    Mechanism::plain(mechanism::find(id).unwrap())
}

/// The mechanism `id` with noise of scale factor/ε.
pub fn scaled(id: &str, factor: f64) -> Mechanism {
    let mut variant = plain(id);
    variant.options.scale_factor = Some(factor);
    variant
}

/// The mechanism `id` with another number before the sensitivity.
pub fn divided(id: &str, divisor: f64) -> Mechanism {
    let mut variant = plain(id);
    variant.options.divisor = Some(divisor);
    variant
}

#[test]
fn titles_are_short_and_figures_exist() {
    for claim in ALL {
        assert!(claim.title.chars().count() <= 64, "{}", claim.title);
        for figure in claim.figures {
            let config = format!("{}/configs/papers/{figure}.toml", env!("CARGO_MANIFEST_DIR"));
            assert!(std::path::Path::new(&config).is_file(), "{config}");
        }
    }
}

#[test]
fn a_second_reading_is_judged_where_one_is_named() {
    for claim in ALL {
        let finding = right(claim.number, HELLINGER);
        assert_eq!(claim.meant.is_some(), finding.as_meant().is_some(), "{}", claim.number);
        for verdict in [Some(finding.as_stated()), finding.as_meant()].into_iter().flatten() {
            assert!(verdict.why.chars().count() <= ONE_LINE, "{}: {}", claim.number, verdict.why);
        }
    }
}

#[test]
fn table_one() {
    for lab in labs() {
        let finding = right(1, lab.distance);
        assert_eq!(finding.as_stated().outcome, Outcome::Holds);
        // ½ e^(−t/b) (1 − e^(−1/b)), b = k/ε = 2 and 1.
        for (part, (b, t)) in
            finding.parts.iter().zip([(2.0, 0), (2.0, 1), (2.0, 2), (1.0, 0), (1.0, 1), (1.0, 2)])
        {
            let law = -0.5 * f64::exp(-f64::from(t) / b) * f64::exp_m1(-1.0 / b);
            assert!((number(part, "exact") - law).abs() < 1e-15);
        }
        // The law that arxiv §6.1.3 gives LSHist: scale 2/ε.
        let wrong = judge(1, &lab.substitute("lshist", scaled("lshist", 2.0)));
        assert!(all_hold(&wrong, "LSDim") && none_holds(&wrong, "LSHist"));
    }
}

#[test]
fn good_answers() {
    for lab in labs() {
        let finding = right(2, lab.distance);
        // At balanced binary data the error is within one step if ⌊Y⌋ is −1, 0 or 1: for LSHist
        // with probability 1 − (e^(−1) + e^(−2))/2, which is the first to pass one half.
        let expected = 1.0 - 0.5 * (f64::exp(-1.0) + f64::exp(-2.0));
        let part = parts(finding, "LSHist answers well most often, k = 2")[0];
        let name = "P[H ≤ median of LSHist], LSHist";
        assert!((number(part, name) - expected).abs() < 1e-12);

        let wrong = judge(2, &lab.clone().substitute("lshist", scaled("lshist", 4.0)));
        assert_turns(finding, &wrong, "LSHist answers well most often");
        let wrong = judge(2, &lab.substitute("ehd", plain("ehdl")));
        assert_turns(finding, &wrong, "EHD answers well least often");
    }
}

#[test]
fn large_epsilon() {
    for lab in labs() {
        let finding = right(3, lab.distance);
        for part in parts(finding, "LSDim and LSHist perform alike") {
            // P[H = 0] = ½ (1 − e^(−ε/s)), s = 2 and 1.
            for (name, s) in [("P[H = 0], LSDim", 2.0), ("P[H = 0], LSHist", 1.0)] {
                assert!((number(part, name) + 0.5 * f64::exp_m1(-5.0 / s)).abs() < 1e-12);
            }
            // E|⌊Y⌋| = ½ + 1 / (e^(ε/s) − 1); at balanced data H grows almost like the steps.
            let steps = |s: f64| 0.5 + 1.0 / f64::exp_m1(5.0 / s);
            let ratio = number(part, "LSDim / LSHist");
            assert!((ratio / (steps(2.0) / steps(1.0)) - 1.0).abs() < 1e-3, "{ratio}");
        }
        let alike = judge(3, &lab.clone().substitute("lsdim", scaled("lsdim", 1.05)));
        assert_turns(&alike, finding, "LSDim and LSHist perform alike");
        // The other clause does not save the sentence.
        assert!(is_blamed(finding, "LSDim and LSHist perform alike"));
        assert_eq!(alike.as_stated().outcome, Outcome::Holds);
        let wrong = judge(3, &lab.substitute("ehds", plain("lshist")));
        assert_turns(finding, &wrong, "exact most often");
    }
}

#[test]
fn real_data() {
    for lab in labs() {
        let finding = right(4, lab.distance);
        let setting = lab.setting(&[1.0; 3], &[463, 247, 21], 1.0, None);
        let weather = parts(finding, "bike weather (463, 247, 21)")[0];
        assert_eq!(number(weather, "mean error of EHDS"), lab.mean(&setting, "ehds"));

        assert_eq!(finding.as_stated().outcome, Outcome::Holds);
        for (wrong, clause) in [
            (lab.clone().substitute("ehd", plain("lshist")), "EHD is worst"),
            (lab.clone().substitute("ehds", divided("ehds", 400.0)), "EHDS is better than EHD"),
            (lab.clone().substitute("ehdl", divided("ehdl", 40.0)), "EHDL is better than both"),
        ] {
            let wrong = judge(4, &wrong);
            assert!(none_holds(&wrong, clause) && is_blamed(&wrong, clause), "{clause}");
        }
    }
}

#[test]
fn loss_in_practice() {
    for lab in labs() {
        let finding = right(5, lab.distance);
        let brute = brute_loss(&lab, "ehdl", 10);
        let setting = lab.setting(&[1.0, 1.0], &[5, 5], 1.0, None);
        let audited = loss(plain("ehdl").law(&setting).unwrap().as_ref(), &setting, &Scope::All)
            .unwrap()
            .loss;
        assert!((brute - audited).abs() < 1e-9, "{brute}, {audited}");
        assert_eq!(parts(finding, "EHDL loses ε or more, n from 10")[0].holds, brute >= 1.0);

        let wrong = lab.clone().substitute("ehd", divided("ehd", 0.5));
        let wrong = judge(5, &wrong.substitute("ehds", divided("ehds", 0.5)));
        for clause in ["EHD loses less than ε", "EHDS loses less than ε"] {
            assert_turns(finding, &wrong, clause);
        }
        let wrong = judge(5, &lab.substitute("ehdl", divided("ehdl", 0.5)));
        assert!(all_hold(&wrong, "EHDL loses ε or more"));
    }
    // Known independently.
    let lab = Lab::new(HELLINGER);
    let setting = lab.setting(&[1.0, 1.0], &[25, 25], 1.0, None);
    for (id, known) in [("ehds", 0.374), ("ehd", 0.555)] {
        let found =
            loss(plain(id).law(&setting).unwrap().as_ref(), &setting, &Scope::All).unwrap().loss;
        assert!((found - known).abs() < 5e-4, "{id}: {found}");
    }
}

/// The privacy loss over all binary data sets of n records, from probabilities one by one; prior
/// (1, 1), ε = 1.
fn brute_loss(lab: &Lab, id: &str, n: u64) -> f64 {
    let log = |x: u64, r: u64| {
        let setting = lab.setting(&[1.0, 1.0], &[x, n - x], 1.0, None);
        lab.probability(&setting, id, &[r, n - r]).ln()
    };
    let pairs = (0..n).flat_map(|x| (0..=n).map(move |r| (x, r)));
    pairs.map(|(x, r)| (log(x, r) - log(x + 1, r)).abs()).fold(0.0, f64::max)
}

#[test]
fn smooth_sensitivity() {
    for mut lab in labs() {
        assert_eq!(right(6, lab.distance).as_stated().outcome, Outcome::Holds);
        // The local sensitivity is not smooth.
        lab.smooth = |setting, _| setting.sensitivity().local();
        let wrong = judge(6, &lab);
        assert!(none_holds(&wrong, "Theorem 5.1") && all_hold(&wrong, "Lemma 5.4"));
    }
    // The square of a distance breaks the triangle inequality on which the lemma rests.
    let wrong = judge(6, &Lab::new(&Squared));
    assert!(all_hold(&wrong, "Theorem 5.1") && none_holds(&wrong, "Lemma 5.4"));
}

/// H² in place of H.
struct Squared;

struct SquaredField(Box<dyn Field>);

impl Distance for Squared {
    fn id(&self) -> &'static str {
        "squared"
    }

    fn title(&self) -> &'static str {
        "squared Hellinger distance"
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        Box::new(SquaredField(HELLINGER.field(posterior, reach)))
    }

    fn power(&self, prior: &Prior, n: u64) -> Option<f64> {
        HELLINGER.power(prior, n)
    }
}

impl Field for SquaredField {
    fn row(&self, row: &Row, out: &mut [f64]) {
        self.0.row(row, out);
        out.iter_mut().for_each(|h| *h *= *h);
    }

    fn n(&self) -> u64 {
        self.0.n()
    }
}

#[test]
fn pure_privacy() {
    for lab in labs() {
        let finding = right(7, lab.distance);
        assert_eq!(finding.as_stated().outcome, Outcome::Holds);
        // A Laplace mechanism of the right scale loses all of its ε.
        let tight = number(parts(finding, "LSHist")[0], "largest loss / ε");
        assert!((tight - 1.0).abs() < 1e-9, "{tight}");

        for (id, title, wrong) in [
            ("lsdim", "LSDim", scaled("lsdim", 0.9)),
            ("lshist", "LSHist", scaled("lshist", 0.9)),
            ("ehd", "EHD is ε", divided("ehd", 0.5)),
            ("ehds", "EHDS", divided("ehds", 0.5)),
            ("mh-gamma", "MH", divided("mh-gamma", 0.5)),
        ] {
            let wrong = judge(7, &lab.clone().substitute(id, wrong));
            assert!(none_holds(&wrong, title), "{title}");
            assert_eq!(wrong.parts.iter().filter(|part| !part.holds).count(), 1);
        }
    }
}

#[test]
fn approximate_privacy() {
    for lab in labs() {
        let finding = right(8, lab.distance);
        assert!(all_hold(finding, "k = 2") && all_hold(finding, "k = 4"));
        // The local sensitivity needs more than a small δ.
        let wrong = judge(8, &lab.substitute("mh-beta", plain("ehdl")));
        assert!(none_holds(&wrong, "k = 3"));
    }
}

#[test]
fn approximate_privacy_fails_with_many_categories() {
    let finding = right(8, HELLINGER);
    assert_eq!(finding.as_stated().outcome, Outcome::InPart);
    let failing = parts(finding, "n = 10, ε = 16, δ = 1e-8, k from 16");
    assert!(failing.iter().all(|part| !part.holds));
    // Computed with 40 digits for k = 16.
    let needed = number(failing[0], "least δ needed / δ") * 1e-8;
    assert!((needed / 1.175_168_215_49e-8 - 1.0).abs() < 1e-8, "{needed:e}");
}

#[test]
fn growing_data() {
    for lab in labs() {
        let finding = right(9, lab.distance);
        // In the limit both errors are proportional to the steps: two-sided geometric noise of
        // rate ½ against ⌊Lap(1)⌋ and ⌊Lap(2)⌋.
        let geometric = 1.0 / f64::sinh(0.5);
        let floored = |b: f64| 0.5 + 1.0 / f64::exp_m1(1.0 / b);
        let part = parts(finding, "falls below 1.1, k = 2")[0];
        let ratio = number(part, "MH / LSHist at n = 15000");
        assert!((ratio / (geometric / floored(1.0)) - 1.0).abs() < 2e-3, "{ratio}");
        let large = *parts(finding, "MH beats LSDim above n = 300, k = 2").last().unwrap();
        let ratio = number(large, "least MH / LSDim");
        assert!((ratio / (geometric / floored(2.0)) - 1.0).abs() < 2e-3, "{ratio}");
    }
}

#[test]
fn growing_data_judges_who_plays() {
    // Under one distance only: k = 4 has millions of candidates.
    let lab = Lab::new(HELLINGER);
    let wrong = judge(9, &lab.clone().substitute("mh-beta", plain("lshist")));
    assert!(none_holds(&wrong, "both Laplace mechanisms beat MH") && all_hold(&wrong, "MH beats"));
    assert!(none_holds(&wrong, "approaches"), "equal from the start, so nothing falls");
    assert!(is_blamed(&wrong, "both Laplace mechanisms beat MH below n = 300"));
    let wrong = judge(9, &lab.substitute("lsdim", plain("lshist")));
    assert!(none_holds(&wrong, "MH beats LSDim above n = 300, k = 2"));
}

#[test]
fn growing_priors() {
    for lab in labs() {
        let finding = right(10, lab.distance);
        assert!(all_hold(finding, "overtakes LSDim"));
        assert!(none_holds(finding, "comes close to LSHist"));
        let last = number(parts(finding, "comes close")[0], "MH / LSHist at b = 2000");
        let limit = 1.0 / f64::sinh(0.5) / (0.5 + 1.0 / f64::exp_m1(1.0));
        assert!((last / limit - 1.0).abs() < 3e-3, "{last}");

        let wrong = judge(10, &lab.clone().substitute("lsdim", plain("lshist")));
        assert!(none_holds(&wrong, "overtakes LSDim"));
        // Half the divisor: nearer than 10 % from the start, and falling.
        let wrong = judge(10, &lab.substitute("mh-beta", divided("mh-beta", 1.0)));
        assert!(all_hold(&wrong, "comes close to LSHist"));
    }
}

#[test]
fn theory_of_the_notes() {
    for lab in labs() {
        let finding = right(11, lab.distance);
        let setting = lab.setting(&[1.0, 1.0], &[49, 49], 0.8, Some(0.0005));
        let ratio = lab.mean(&setting, "mh-beta") / lab.mean(&setting, "lsdim");
        let part = parts(finding, "(49, 49)")[0];
        assert_eq!(number(part, "MH / Laplace"), ratio);
        assert_eq!(part.holds, ratio < 1.0);

        let meant = parts(finding, "(49, 49), with εc/S")[0];
        assert!(meant.holds && meant.reading == Reading::Meant);
        if lab.distance.id() == HELLINGER.id() {
            assert!((number(meant, "MH / Laplace") - 0.542).abs() < 5e-4);
        }

        // With the exponent that §4.4 writes the first sentence is true, the others do not change.
        let sharper = judge(11, &lab.clone().substitute("mh-beta", divided("mh-beta", 1.0)));
        assert!(all_hold(&sharper, "(49, 49)") && all_hold(&sharper, "(20, 20, 20, 20)"));
        let wrong = judge(11, &lab.substitute("mh-beta", plain("lshist")));
        assert!(none_holds(&wrong, "Laplace"), "equal is neither slightly nor clearly better");
    }
}
