//! What a ledger says about a release.

use serde::{Deserialize, Serialize};

use super::super::{Released, profile};
use super::Amount;
use engine::analysis::composition::Profile;
use engine::posterior::model::Counts;
use engine::posterior::privacy::Delta;
use lab::run::store::sha256;

/// What was entered at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The ε that it spent, whatever becomes of its output.
    #[serde(with = "text")]
    pub epsilon: Amount,
    #[serde(with = "optional_text", default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Amount>,
    /// The SHA-256 of the line before, empty in the first.
    pub previous: String,
    /// When, in UTC.
    pub time: String,
    /// The SHA-256 of the data file.
    pub data: String,
    pub column: String,
    pub mechanism: String,
    /// The δ of the budget. Without one, the sum must keep the budget.
    #[serde(with = "optional_delta", default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// The release; entries of before may have several. Without any, it is one of which only ε is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// One release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A random name.
    pub id: String,
    pub column: String,
    pub mechanism: String,
    /// The ε that it spent.
    #[serde(with = "text")]
    pub epsilon: Amount,
    /// Whether the number of records is private: neighbours then differ by one record more or less, and in other
    /// entries by one record that is replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private_n: bool,
    /// An upper bound of its δ at every ε.
    #[serde(with = "knots")]
    pub profile: Profile,
    /// The counts that were released. They are drawn before they are entered, and shown afterwards: if the
    /// process ends in between, what was paid for stands here. Entries of before have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Counts,
    /// The SHA-256 of everything that was released, by which a file is known to be this release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl Part {
    /// The part of a release. A record belongs to one of its histograms, so that the largest profile
    /// counts.
    pub fn new(release: &Released) -> Self {
        let profiles = release.methods().iter().map(profile);
        Self {
            id: release.id.clone(),
            column: release.request.table.title(),
            mechanism: release.mechanism().to_owned(),
            epsilon: release.spent(),
            private_n: release.n().is_none(),
            profile: profiles
                .reduce(|a, b| a.max(&b))
                .unwrap_or_else(|| Profile::pure(release.spent())),
            released: release.counts.clone(),
            content: Some(release.content()),
        }
    }

    /// In what a release that bears its id differs from what was entered, as far as the entry tells.
    pub fn difference(&self, release: &Released) -> Option<String> {
        let both = |what: &str, file: &dyn std::fmt::Display, here: &dyn std::fmt::Display| {
            Some(format!("{what} is {file} there and {here} in the ledger"))
        };
        let title = release.request.table.title();
        match &self.content {
            Some(content) if *content == release.content() => None,
            _ if self.mechanism != release.mechanism() => {
                both("the mechanism", &release.mechanism(), &self.mechanism)
            }
            _ if self.epsilon != release.spent() => both("ε", &release.spent(), &self.epsilon),
            _ if self.private_n != release.n().is_none() => {
                let which = |is_private| if is_private { "private" } else { "public" };
                both("n", &which(release.n().is_none()), &which(self.private_n))
            }
            _ if self.column != title => both("what was counted", &title, &self.column),
            None => None,
            Some(_) if self.released != release.counts => Some("the counts are others".to_owned()),
            Some(_) => Some("its ε, its categories or its number of records are others".to_owned()),
        }
    }
}

/// The beginning of every line.
pub const START: &str = "{\"epsilon\":\"";

/// The text before the budget, if there is one.
pub const BUDGET: &str = ",\"budget\":\"";

/// The text before a line's own SHA-256, which is computed from everything before this text.
pub const OWN: &str = ",\"sha256\":\"";

/// What stands in place of what an entry that was cut short does not tell.
const CUT_SHORT: &str = "unknown: the entry was cut short";

impl Entry {
    /// This release of a file with the SHA-256 `data`, without a budget.
    pub fn new(part: Part, time: String, data: String) -> Self {
        Self {
            epsilon: part.epsilon,
            budget: None,
            previous: String::new(),
            time,
            data,
            column: part.column.clone(),
            mechanism: part.mechanism.clone(),
            delta: None,
            parts: vec![part],
        }
    }

    /// Whether its releases keep the number of records private; `None` if it was cut short. Other entries without
    /// releases are older than private numbers of records.
    pub(super) fn private_n(&self) -> Option<bool> {
        match self.parts.first() {
            Some(part) => Some(part.private_n),
            None => (self.time != CUT_SHORT).then_some(false),
        }
    }

    pub fn releases(&self) -> usize {
        self.parts.len().max(1)
    }

    /// ε and the profile of every release.
    pub fn profiles(&self) -> Vec<(Amount, Profile)> {
        match &self.parts[..] {
            [] => vec![(self.epsilon, Profile::pure(self.epsilon))],
            parts => parts.iter().map(|part| (part.epsilon, part.profile.clone())).collect(),
        }
    }

    /// Its line, without the line end, and the line's SHA-256.
    pub(super) fn line(&self) -> serde_json::Result<(String, String)> {
        let text = serde_json::to_string(self)?;
        let open = text.strip_suffix('}').unwrap_or(&text);
        let hash = sha256(open.as_bytes());
        Ok((format!("{open}{OWN}{hash}\"}}"), hash))
    }

    /// The entry of a line, and the line's SHA-256.
    pub(super) fn parse(line: &[u8]) -> Result<(Self, String), &'static str> {
        const NO_ENTRY: &str = "this line is not an entry";
        let line = std::str::from_utf8(line).map_err(|_| NO_ENTRY)?;
        let Some((open, rest)) = line.rsplit_once(OWN) else {
            return Err(match serde_json::from_str::<Self>(line) {
                Ok(_) => "this entry has no SHA-256 of its own (those of dpbi 0.1.0 have none)",
                Err(_) => NO_ENTRY,
            });
        };
        let hash = sha256(open.as_bytes());
        if rest.strip_suffix("\"}") != Some(&hash) {
            return Err("this line was changed: its own SHA-256 does not fit");
        }
        let entry: Self = serde_json::from_str(&format!("{open}}}")).map_err(|_| NO_ENTRY)?;
        let parts: Amount = entry.parts.iter().map(|part| part.epsilon).sum();
        if !entry.parts.is_empty() && parts != entry.epsilon {
            return Err("the ε of this entry is not the sum of its releases");
        }
        Ok((entry, hash))
    }

    /// The entry of a line of which only the beginning is known.
    pub(super) fn cut_short(epsilon: Amount, budget: Option<Amount>) -> Self {
        let unknown = || CUT_SHORT.to_owned();
        Self {
            epsilon,
            budget,
            previous: String::new(),
            time: unknown(),
            data: unknown(),
            column: unknown(),
            mechanism: unknown(),
            delta: None,
            parts: Vec::new(),
        }
    }
}

/// Amounts as text: many programs read the numbers of JSON as doubles.
pub(super) mod text {
    use super::Amount;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(amount: &Amount, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(amount)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Amount, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

pub(super) mod optional_text {
    use super::Amount;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(amount: &Option<Amount>, to: S) -> Result<S::Ok, S::Error> {
        match amount {
            Some(amount) => super::text::serialize(amount, to),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Amount>, D::Error> {
        super::text::deserialize(from).map(Some)
    }
}

mod optional_delta {
    use super::Delta;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(delta: &Option<Delta>, to: S) -> Result<S::Ok, S::Error> {
        match delta {
            Some(delta) => to.collect_str(&format_args!("{:?}", delta.get())),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Delta>, D::Error> {
        let delta = String::deserialize(from)?.parse().map_err(D::Error::custom)?;
        Delta::new(delta).map(Some).map_err(|refusal| D::Error::custom(refusal.cause))
    }
}

/// Pairs of ε and δ as text. The text of a double gives the same double again.
mod knots {
    use super::Profile;
    use engine::analysis::composition::Knot;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(profile: &Profile, to: S) -> Result<S::Ok, S::Error> {
        let pair = |knot: &Knot| [knot.epsilon.to_string(), format!("{:?}", knot.delta)];
        to.collect_seq(profile.knots().iter().map(pair))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Profile, D::Error> {
        let mut knots = Vec::new();
        for [epsilon, delta] in Vec::<[String; 2]>::deserialize(from)? {
            let epsilon = epsilon.parse().map_err(D::Error::custom)?;
            knots.push(Knot { epsilon, delta: delta.parse().map_err(D::Error::custom)? });
        }
        Profile::new(knots).map_err(D::Error::custom)
    }
}
