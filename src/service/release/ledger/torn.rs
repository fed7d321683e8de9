//! An entry that was cut short, because the machine stopped while it was written.

use super::Amount;
use super::entry::{BUDGET, OWN, START};
use lab::run::store::sha256;

/// The beginning of an entry that was cut short.
pub struct Torn {
    pub bytes: Vec<u8>,
    /// ε and the budget, if they are legible.
    pub amounts: Option<(Amount, Option<Amount>)>,
}

impl Torn {
    /// The beginning of an entry that follows the line whose SHA-256 is `last`; `None` if `content`
    /// cannot be one. After a power failure zeros may follow it, or replace it if it `follows`
    /// another line.
    pub fn new(content: &[u8], last: &str, follows: bool) -> Option<Self> {
        let torn = |amounts| Self { bytes: content.to_vec(), amounts };
        let length = content.iter().rposition(|&byte| byte != 0).map_or(0, |place| place + 1);
        let text = match std::str::from_utf8(&content[..length]) {
            Ok(text) => text,
            // It may end in the middle of a character.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&content[..error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        let Some(inside) = text.strip_prefix(START) else {
            return (START.starts_with(text) && (follows || !text.is_empty())).then(|| torn(None));
        };
        let Some((epsilon, rest)) = inside.split_once('"') else { return Some(torn(None)) };
        let epsilon = epsilon.parse().ok()?;
        let budget = rest.strip_prefix(BUDGET).and_then(|rest| rest.split_once('"'));
        let (budget, rest) = match budget {
            Some((budget, rest)) => (Some(budget.parse().ok()?), rest),
            None => (None, rest),
        };
        let ends_in_budget =
            budget.is_none() && (rest.starts_with(BUDGET) || BUDGET.starts_with(rest));
        let previous = format!(",\"previous\":\"{last}\",");
        let fits = ends_in_budget || rest.starts_with(&previous) || previous.starts_with(rest);
        (fits && is_cut(text)).then(|| torn(Some((epsilon, budget))))
    }
}

/// Whether the JSON of a text is incomplete, and the part that is there of its own SHA-256 is right.
fn is_cut(text: &str) -> bool {
    let parsed = serde_json::from_str::<serde::de::IgnoredAny>(text);
    let hash_fits = text.rsplit_once(OWN).is_none_or(|(open, hash)| {
        let own = sha256(open.as_bytes()) + "\"}";
        own.starts_with(hash)
    });
    parsed.is_err_and(|error| error.is_eof()) && hash_fits
}
