//! `dpbi prior`.

use clap::Args;

use super::Print;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi prior --mean 0.2 --interval 0.1,0.35 --level 0.9\n  \
    dpbi prior --interval 0.1,0.35              both tails alike\n  \
    dpbi prior --mean 0.5,0.3,0.2 --interval 0.4,0.6\n  \
    dpbi prior --mean 0.2 --records 10          worth ten records\n\n\
    The prior says what you believe before you see the data. This command never\n\
    looks at data, and neither should you.")]
pub struct Prior {
    /// The mean of the share, or the means of all categories, separated by commas [default: chosen so
    /// that the share lies below and above the interval with the same probability]
    #[arg(long, value_name = "M,…", value_delimiter = ',', allow_negative_numbers = true)]
    pub mean: Vec<f64>,
    #[command(flatten)]
    pub strength: Strength,
    /// The probability of the interval
    #[arg(long, value_name = "P", default_value_t = 0.9, allow_negative_numbers = true)]
    pub level: f64,
    /// The category that the interval is about, from 1
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "mean",
        conflicts_with = "records",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub category: u32,
    #[command(flatten)]
    pub print: Print,
}

// How sure the prior is.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Strength {
    /// The interval in which the share lies
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', allow_negative_numbers = true)]
    pub interval: Option<Vec<f64>>,
    /// How many records the prior is worth
    #[arg(long, value_name = "N", requires = "mean", allow_negative_numbers = true)]
    pub records: Option<f64>,
}
