//! Differentially private releases of categorical data, exactly: the output law of every mechanism, its
//! privacy loss, its error, and how far it is from the optimum.
//!
//! ```text
//! setting × mechanism ──► prepared (law) ──► loss, error over all data
//!                                  └─ at(x) ──► probabilities, summary, draws
//! ```
//!
//! The exact law of an output, and draws from it:
//!
//! ```
//! use dpbi_engine::prelude::*;
//!
//! // Ten records in two categories under a uniform prior, released once with ε = 1.
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, 10, Epsilon::new(1.0)?);
//! let geometric = Mechanism::parse("geometric")?.prepare(&setting)?;
//! let here = geometric.at(&[4, 6])?;
//! assert!((here.probability(&[4, 6]) - 0.4621).abs() < 1e-4);
//! println!("{:?}, and ten releases: {:?}", here.summary(), here.draw(10, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The exact privacy loss, with the data sets and the output that attain it:
//!
//! ```
//! use dpbi_engine::prelude::*;
//!
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, 30, Epsilon::new(1.0)?);
//! let ehd = Mechanism::parse("ehd")?.prepare(&setting)?;
//! let found = ehd.loss(&Scope::All, &[0.5])?;
//! // It is proved to lose at most ε = 1, and loses less.
//! assert!(found.loss.loss < 1.0 && found.deltas[0].delta > 0.0);
//! println!("{:?} against {:?}, by {:?}", found.loss.from, found.loss.to, found.loss.output);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is left of ε is used by calibration:
//!
//! ```
//! use dpbi_engine::prelude::*;
//!
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, 20, Epsilon::new(1.0)?);
//! let calibrated = Mechanism::parse("ehds+calibrated")?.prepare(&setting)?;
//! let certificate = calibrated.certificate.as_ref().ok_or("it was calibrated")?;
//! assert!(certificate.inner_epsilon.get() > 1.0 && (0.0..1e-9).contains(&certificate.margin()));
//! assert_eq!(calibrated.guarantee(), Guarantee::Computed(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! How far a mechanism is from the best that is possible:
//!
//! ```
//! use dpbi_engine::prelude::*;
//!
//! let setting = Setting::new(Prior::new(vec![1.0, 2.0])?, 10, Epsilon::new(1.0)?);
//! let least = Optimum::of(&setting)?;
//! let error = Mechanism::parse("geometric")?.prepare(&setting)?.error()?.ok_or("too large")?;
//! assert!(least.lower <= error.mean && error.mean < 1.2 * least.upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A law of one's own. Its loss, its calibration and its error need nothing else:
//!
//! ```
//! use std::sync::Arc;
//!
//! use dpbi_engine::prelude::*;
//!
//! /// The true counts with weight e^stay, every other candidate with weight 1.
//! struct Stay(f64);
//!
//! impl Law for Stay {
//!     fn at(&self, x: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
//!         let others = Outputs::new(self.outputs(), x.n(), x.k()).approximate_len() - 1.0;
//!         let (truth, ln_total) = (x.counts().to_vec(), (self.0.exp() + others).ln());
//!         let ln_p = move |r: &[u64]| if r == truth { self.0 - ln_total } else { -ln_total };
//!         Ok(Box::new(ListedAt::new(x, self.outputs(), ln_p)))
//!     }
//!     fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
//!         Ok(Arc::new(Self(self.0 / factor)))
//!     }
//! }
//!
//! let setting = Setting::new(Prior::new(vec![1.0; 3])?, 8, Epsilon::new(1.0)?);
//! let stay = Mechanism::of_law("stay", Stay(2.0)).prepare(&setting)?;
//! assert!((stay.loss(&Scope::All, &[])?.loss.loss - 2.0).abs() < 1e-12);
//! let error = stay.error()?.ok_or("too large")?.mean;
//! assert!(Optimum::of(&setting)?.lower < error);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it knows |
//! |---|---|
//! | [`numeric`] | numbers that keep their digits, whatever the processor |
//! | [`expression`] | formulas that users write |
//! | [`mod@named`] | things that a config calls by name |
//! | [`rng`] | random streams, each with a name |
//! | [`refusal`] | why something cannot be done, and what would help |
//! | [`text`] | texts of users as they are shown |
//! | [`words`] | quantities as they are shown |
//! | [`parallel`] | work on all threads, and how much of it is done |
//! | [`posterior`] | counts, priors, posteriors, distances, sensitivities, privacy parameters |
//! | [`mechanism`] | the mechanisms, and their exact laws and samplers |
//! | [`analysis`] | exact privacy loss, calibration, errors over all data sets, optimum, and how large they are |
//!
//! Comments cite the source documents by short names: `icml`, `arxiv`, `bounds`, `notes`, `early`;
//! the README lists them.

pub mod analysis;
pub mod expression;
pub mod mechanism;
mod memo;
pub mod named;
pub mod numeric;
mod orbits;
pub mod parallel;
pub mod posterior;
pub mod prelude;
pub mod prepared;
pub mod refusal;
pub mod rng;
pub mod text;
pub mod words;
