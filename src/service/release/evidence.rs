//! Counts of one table that were released, once or several times: by dpbi, or by somebody else.

use super::findings::TablePosterior;
use super::posterior::{Inferred, Published, PublishedNoise};
use super::released::Released;
use super::request::Request;
use engine::posterior::amount::Amount;
use engine::posterior::model::Prior;
use engine::text::legible;

/// Released counts, and how they were made.
pub enum Evidence {
    /// Releases of dpbi, all of the same data. There is at least one.
    Own(Vec<Released>),
    Elsewhere(Box<Elsewhere>),
}

/// Counts that somebody else has released.
pub struct Elsewhere {
    /// The table and the prior.
    pub request: Request,
    /// What was released, once or several times, and the noise of each.
    pub values: Vec<Vec<f64>>,
    pub noises: Vec<PublishedNoise>,
    /// The number of records, if it is public.
    pub n: Option<u64>,
}

impl Evidence {
    /// The table and the prior.
    pub fn request(&self) -> &Request {
        match self {
            Self::Own(releases) => &releases[0].request,
            Self::Elsewhere(elsewhere) => &elsewhere.request,
        }
    }

    /// The number of records, if it is public.
    pub fn n(&self) -> Option<u64> {
        match self {
            Self::Own(releases) => releases[0].n(),
            Self::Elsewhere(elsewhere) => elsewhere.n,
        }
    }

    /// How many times counts were released.
    pub fn times(&self) -> usize {
        match self {
            Self::Own(releases) => releases.len(),
            Self::Elsewhere(elsewhere) => elsewhere.values.len(),
        }
    }

    /// The ε of all releases together, if they are of dpbi.
    pub fn spent(&self) -> Option<Amount> {
        match self {
            Self::Own(releases) => Some(releases.iter().map(Released::spent).sum()),
            Self::Elsewhere(_) => None,
        }
    }

    /// What is known of the table; or why that is not computed.
    pub fn posterior(&self) -> Result<TablePosterior<'_>, String> {
        match self {
            Self::Own(releases) => TablePosterior::new(releases),
            Self::Elsewhere(elsewhere) => elsewhere.posterior(),
        }
    }

    /// By which mechanisms or with what noise the counts were released, in words.
    pub fn how(&self) -> String {
        match self {
            Self::Own(releases) => {
                let each: Vec<String> = (releases.iter())
                    .map(|one| format!("{} at ε = {}", one.mechanism(), one.request.epsilon))
                    .collect();
                format!("released by {}", each.join(" and "))
            }
            Self::Elsewhere(elsewhere) => {
                format!("released elsewhere, with noise on every count: {}", elsewhere.noise())
            }
        }
    }
}

impl Elsewhere {
    fn posterior(&self) -> Result<TablePosterior<'_>, String> {
        let prior = Prior::new(self.request.prior.clone());
        let prior = prior.map_err(|error| error.to_string())?;
        let releases: Vec<Published> = (self.values.iter().zip(&self.noises))
            .map(|(values, noise)| Published { noise, values })
            .collect();
        let inferred = Inferred::new(&prior, self.n, &releases)?;
        let once = (self.values.len() == 1).then(|| self.values[0].clone());
        Ok(TablePosterior::published(&self.request, inferred, once))
    }

    /// The noise, and what was done with the noisy counts.
    pub(super) fn noise(&self) -> String {
        let mut words: Vec<&str> = self.noises.iter().map(PublishedNoise::words).collect();
        words.dedup();
        let handling = match (self.noises[0].is_rounded(), self.noises[0].is_clamped()) {
            (false, false) => "",
            (true, false) => ", rounded",
            (false, true) => ", with 0 for what was negative",
            (true, true) => ", rounded, with 0 for what was negative",
        };
        legible(&words.join(" and ")) + handling
    }
}
