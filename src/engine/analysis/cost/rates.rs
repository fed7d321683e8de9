//! Measured time and memory of each kind of work: nanoseconds of one thread, and bytes. All rates are
//! here.

/// The time until a process has read its config.
pub const START_SECONDS: f64 = 0.004;
/// The memory of a process that has read its config.
pub const START_BYTES: f64 = 7e6;

/// A setting of few categories: its sensitivities and its row. One thread does this alone.
pub const NS_PER_SETTING: f64 = 20_000.0;
/// The largest number of categories that counts as few.
pub const FEW_CATEGORIES: usize = 6;
/// A pair of categories that differ, for each sensitivity. A distance may take many times as long:
/// see `sensitivity_effort`.
pub const NS_PER_PAIR_OF_CATEGORIES: f64 = 2_000.0;
/// Sensitivities of a setting's row and its mechanisms.
pub const SENSITIVITIES_PER_SETTING: f64 = 10.0;
/// The rows of a setting.
pub const BYTES_PER_SETTING: f64 = 2_000.0;
/// A mechanism at one setting.
pub const NS_PER_CELL: f64 = 10_000.0;
/// The rows of a mechanism at one setting, for each error.
pub const BYTES_PER_CELL: f64 = 1_000.0;

/// An entry of a table.
pub const NS_PER_ENTRY: f64 = 30.0;
/// An entry of a table.
pub const BYTES_PER_ENTRY: f64 = 8.0;

/// An error of a candidate that exponential mechanisms weigh, once for all of them. A distance may
/// take several times as long: see `effort`.
pub const NS_PER_VALUE: f64 = 4.5;
/// The weight of a candidate, for each exponential mechanism and error.
pub const NS_PER_WEIGHT: f64 = 4.5;
/// An output of a law that is made by itself, for each error.
pub const NS_PER_RESTORED: f64 = 22.0;
/// A row of candidates or outputs that is walked, for each error: the window of each further category is
/// found for it.
pub fn ns_per_walked_row(k: usize) -> f64 {
    380.0 * (1.0 + 1.2 * k.saturating_sub(3) as f64)
}
/// An entry of a convolution.
pub const NS_PER_CONVOLVED: f64 = 20.0;
/// A product of a convolution that takes all pairs of terms.
pub const NS_PER_PRODUCT: f64 = 1.2;
/// A number at which an expression of the user's is evaluated.
pub const NS_PER_EVALUATED: f64 = 40.0;
/// The part of the passes over the outputs that is left if only the mean is computed, without spread and
/// quantiles.
pub const PART_FOR_MEAN: f64 = 0.3;
/// A block of outputs, without its coordinates.
pub const BYTES_PER_BLOCK: f64 = 12.0;
/// The sum of a block, for each mechanism.
pub const BYTES_PER_SUM: f64 = 8.0;
/// An output, while quantiles are searched among few, for each mechanism and error.
pub const BYTES_PER_SEARCHED: f64 = 2.0;
/// The histograms, while quantiles are searched among many, for each mechanism and error.
pub const BYTES_PER_SEARCH: f64 = 3e6;

/// A draw.
pub const NS_PER_DRAW: f64 = 60.0;
/// An output of a block that is walked again for all draws from it.
pub const NS_PER_RESCAN: f64 = 4.0;
/// The error of a single output.
pub const NS_PER_LOOKUP: f64 = 20.0;
/// A row of a table with every run, which one thread writes alone.
pub const NS_PER_ROW: f64 = 40.0;
/// A count in such a row, drawn and written.
pub const NS_PER_COORDINATE: f64 = 40.0;
/// An error in such a row.
pub const NS_PER_NUMBER: f64 = 60.0;
/// A row of a table on disk, and in the log.
pub const DISK_PER_TABLE_ROW: f64 = 105.0;
/// A cell in the manifest.
pub const DISK_PER_CELL: f64 = 30.0;
/// The config and the manifest of a folder.
pub const DISK_PER_FOLDER: f64 = 6e3;
/// A figure of pixels.
pub const DISK_PER_PIXEL_FIGURE: f64 = 5.5e4;
/// A figure of lines.
pub const DISK_PER_VECTOR_FIGURE: f64 = 3e4;
/// A run on disk, in the table, in the log, and in the log of unfinished work beside it.
pub const DISK_PER_ROW: f64 = 14.0;
/// A count of it.
pub const DISK_PER_COORDINATE: f64 = 6.5;
/// An error of it.
pub const DISK_PER_NUMBER: f64 = 35.0;
/// A row of a table with every run.
pub const BYTES_PER_ROW: f64 = 34.0;
/// A count in such a row.
pub const BYTES_PER_COORDINATE: f64 = 10.0;
/// An error in such a row.
pub const BYTES_PER_NUMBER: f64 = 24.0;

/// An output of a law that is listed value by value and sorted.
pub const NS_PER_LISTED: f64 = 150.0;
/// An output of such a law.
pub const BYTES_PER_LISTED: f64 = 45.0;
/// A row of a table with every value of a law, which one thread writes alone.
pub const NS_PER_LEVEL: f64 = 600.0;
/// Such a row.
pub const BYTES_PER_LEVEL: f64 = 250.0;

/// A candidate whose change of score is listed, for every neighbour of the data.
pub const NS_PER_CHANGE: f64 = 150.0;
/// A candidate whose change of score is listed.
pub const BYTES_PER_CHANGE: f64 = 300.0;

/// An output of a pair of adjacent data sets.
pub const NS_PER_COMPARISON: f64 = 4.0;
/// A pair of adjacent data sets under an exponential mechanism, without its outputs.
pub const NS_PER_WEIGHED_PAIR: f64 = 20_000.0;
/// An output of a pair of data sets of two categories, which are all on one line.
pub const NS_PER_LINE_COMPARISON: f64 = 1.2;
/// A pair of data sets on a line, without its outputs.
pub const NS_PER_LINE_PAIR: f64 = 1_500.0;
/// A pair of adjacent data sets whose loss has a closed form.
pub const NS_PER_PAIR: f64 = 1_100.0;
/// A pair of adjacent data sets with noise on their counts.
pub const NS_PER_NOISY_PAIR: f64 = 4_500.0;
/// The δ of such a pair, for every ε.
pub const NS_PER_NOISY_DELTA: f64 = 600.0;
/// The δ of a pair with noise on the lattice, for every ε.
pub const NS_PER_LATTICE_DELTA: f64 = 150.0;
/// A combination of two noisy counts whose ratio is listed, for a δ.
pub const NS_PER_CLASS: f64 = 22.0;
/// Such a combination.
pub const BYTES_PER_CLASS: f64 = 100.0;
/// An output on a line, as the class of a pair of data sets, and its part of δ.
pub const NS_PER_LINE_CLASS: f64 = 100.0;
/// A term of a sum of logarithms, or of a tail.
pub const NS_PER_LOG_TERM: f64 = 12.0;
/// The probability of an output at a data set, for a remapping.
pub const NS_PER_TABLED: f64 = 60.0;
/// The same for an expression of the user's, with its part of the searches of a calibration.
pub const NS_PER_OWN: f64 = 600.0;
/// An output of a data set while it is compared.
pub const BYTES_PER_COMPARISON: f64 = 64.0;
/// The number of passes over all outputs that the profile of an exponential mechanism takes. (The
/// profiles of other mechanisms are quick.)
pub const PASSES_PER_PROFILE: f64 = 30.0;
/// The number of passes that its trade-off curve takes.
pub const PASSES_PER_TRADE_OFF: f64 = 5.0;
/// Audits that a calibration takes.
pub const AUDITS_PER_CALIBRATION: f64 = 5.0;
/// A term of a remapping.
pub const NS_PER_TERM: f64 = 1.0;
/// A term of the descent to the candidate in place of one output.
pub const NS_PER_SEARCHED_TERM: f64 = 15.0;
/// The probability of an output that a candidate of a list replaces.
pub const NS_PER_TABLED_OUTPUT: f64 = 250.0;
/// An output of a law that a candidate replaces which was searched for.
pub const NS_PER_REPLACED_OUTPUT: f64 = 1_200.0;
/// A data set of those that are listed with their symmetries.
pub const NS_PER_DATA_SET: f64 = 600.0;
/// A value of a distribution of errors until it is mixed, and in the mixture.
pub const BYTES_PER_MIXED_LEVEL: f64 = 64.0;
/// What is kept of a searched output.
pub const BYTES_PER_SEARCHED_OUTPUT: f64 = 500.0;
/// A row of candidates whose tight weights are added up. With more categories the rows are shorter, the way
/// to each is longer, and there are more of them than are counted.
pub fn ns_per_tight_row(k: usize) -> f64 {
    6.0 * libm::pow(1.3, k as f64 - 3.0)
}
/// A tight weight, with its running sums.
pub const BYTES_PER_TIGHT_WEIGHT: f64 = 60.0;
/// A data set whose mean error is kept.
pub const BYTES_PER_DATA_SET: f64 = 80.0;
/// Sizes that are tried for a crossover.
pub const SIZES_PER_CROSSOVER: f64 = 500.0;

/// A figure of vectors, which one thread draws alone.
pub const NS_PER_VECTOR_FIGURE: f64 = 3e6;
/// A figure of pixels, which one thread draws alone.
pub const NS_PER_PIXEL_FIGURE: f64 = 5e7;
/// A figure of pixels.
pub const BYTES_PER_PIXEL_FIGURE: f64 = 3.5e7;
