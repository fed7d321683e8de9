//! Why something cannot be done, and what would be right.

use std::ops::Range;

/// Why something cannot be done, and what would help. It does not know in which file the input stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct Refusal {
    pub cause: String,
    /// What would be right.
    pub remedy: String,
    /// The part of the user's expression that is meant, if it is about one.
    pub span: Option<Range<usize>>,
}

impl Refusal {
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { cause: cause.into(), remedy: remedy.into(), span: None }
    }

    /// One about a part of the user's expression.
    pub fn at(span: Range<usize>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { span: Some(span), ..Self::new(cause, remedy) }
    }
}

/// "did you mean `x`?" for the nearest of `known`, or a list of them.
pub fn suggest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let list = list(&known);
    match nearest(unknown, &known) {
        Some(candidate) => format!("did you mean `{candidate}`? (known: {list})"),
        None => format!("known: {list}"),
    }
}

/// At most this many names are listed.
const MOST_LISTED: usize = 50;

fn list(known: &[&str]) -> String {
    match known.len().checked_sub(MOST_LISTED) {
        Some(more) if more > 0 => {
            format!("{}, and {more} more", known[..MOST_LISTED].join(", "))
        }
        _ => known.join(", "),
    }
}

/// The name that `unknown` may be a typing error of. The time and memory of a comparison grow with
/// the product of the lengths, so names of very different lengths are not compared: they are far
/// from each other.
pub fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = unknown.to_lowercase();
    let length = lower.chars().count();
    let tolerance = |candidate: &str| 1 + candidate.len() / 3;
    let comparable = |candidate: &&&str| {
        let other = candidate.chars().count();
        length.max(other) <= LONGEST_NAME && length.abs_diff(other) <= tolerance(candidate)
    };
    let distances = known.iter().filter(comparable).map(|candidate| {
        (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), *candidate)
    });
    let near = distances.filter(|(distance, candidate)| *distance <= tolerance(candidate));
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Names that are longer than this are not compared: nobody mistypes one of them.
const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_and_many_names_are_no_burden() {
        let long = "x".repeat(1_000_000);
        assert_eq!(suggest(&long, ["ehd"]), "known: ehd");
        assert!(suggest(&long[1..], [long.as_str()]).starts_with("known: "));
        let many: Vec<String> = (0..1000).map(|i| format!("category {i}")).collect();
        let hint = suggest("category x", many.iter().map(String::as_str));
        assert!(
            hint.contains("did you mean `category 0`?") && hint.ends_with("and 950 more)"),
            "{hint}"
        );
    }

    #[test]
    fn a_long_name_may_be_nearer_than_a_short_one() {
        assert_eq!(nearest("renyi", &["print", "renyi:0.5"]), Some("renyi:0.5"));
        assert_eq!(nearest("ANSWER", &["id", "Answer"]), Some("Answer"));
    }

    #[test]
    fn far_names_are_not_suggested() {
        assert_eq!(suggest("banana", ["ehd", "lshist"]), "known: ehd, lshist");
    }
}
