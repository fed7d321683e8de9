//! Claim 3: what changes at ε = 5.

use super::contest::{Contest, NEAR, title};
use super::{Claim, ClaimPart, Finding, Lab, balanced};

pub static CLAIM: Claim = Claim {
    number: 3,
    title: "At ε = 5 LSDim and LSHist are alike, EHDS is exact most often",
    source: "icml §7.1.1, Figure 3",
    figures: &["icml/fig3"],
    statement: "Balanced data of two categories, n = 1000 and 10000, ε = 5. LSDim \
                and LSHist perform alike (their mean errors are within 10 %). EHDS \
                returns the exact posterior more often than every other private \
                mechanism.",
    meant: None,
    outputs: 5e6,
    judge,
};

const OTHERS: &[&str] = &["lsdim", "lshist", "ehd"];

fn judge(lab: &Lab) -> Finding {
    let sizes = [1_000, 10_000];
    let parts = sizes.into_iter().flat_map(|n| [alike(lab, n), exact_posterior(lab, n)]);
    Finding { parts: parts.collect(), remarks: sizes.map(|n| by_peak(lab, n)).to_vec() }
}

/// The figure shows probabilities, not means; its first point is P[H = 0].
fn by_peak(lab: &Lab, n: u64) -> String {
    let [(_, dim), (_, hist)] = ["lsdim", "lshist"].map(|id| p_exact(lab, n, id));
    let ratio = dim.max(hist) / dim.min(hist);
    let words = if ratio <= NEAR { "within" } else { "not within" };
    format!("n = {n}: P[H = 0] of LSDim and LSHist is {words} 10 % (ratio {ratio:.3})")
}

fn alike(lab: &Lab, n: u64) -> ClaimPart {
    let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), 5.0, None);
    let contest = Contest::new(lab, &setting, &["lsdim", "lshist"]);
    let ratio = contest.ratio("lsdim", "lshist");
    let holds = ratio.max(1.0 / ratio) <= NEAR;
    let exactly = ["lsdim", "lshist"].map(|id| p_exact(lab, n, id));
    let ratio = std::iter::once(("LSDim / LSHist".into(), ratio));
    let numbers = ratio.chain(contest.means()).chain(exactly);
    ClaimPart::new("LSDim and LSHist perform alike", format!("n = {n}"), holds, numbers)
}

fn exact_posterior(lab: &Lab, n: u64) -> ClaimPart {
    let ours = p_exact(lab, n, "ehds");
    let others: Vec<_> = OTHERS.iter().map(|id| p_exact(lab, n, id)).collect();
    let holds = others.iter().all(|(_, other)| ours.1 > *other);
    let numbers = std::iter::once(ours).chain(others);
    ClaimPart::new("EHDS is exact most often", format!("n = {n}"), holds, numbers)
}

fn p_exact(lab: &Lab, n: u64, id: &str) -> (String, f64) {
    let setting = lab.setting(&[1.0, 1.0], &balanced(n, 2), 5.0, None);
    (format!("P[H = 0], {}", title(id)), lab.exact(&setting, id).p_exact)
}
