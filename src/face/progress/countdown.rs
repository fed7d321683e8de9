//! The remaining time, as it is shown.

/// A remaining time that does not climb. An estimate moves while work goes on; what a user has read
/// is never taken back. If the estimate has grown since, the time shown is a lower bound.
pub(super) struct Countdown {
    /// The predicted seconds of the whole work.
    predicted: f64,
    /// What is shown, and when it was: the seconds since the start.
    shown: Option<(f64, f64)>,
}

/// A remaining time to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Left {
    seconds: f64,
    /// Whether it will be more.
    is_lower_bound: bool,
}

/// At first nothing is shown, since the pace tells more than a prediction: for this many seconds, or
/// until this share of the work is finished.
const SILENT: (f64, f64) = (3.0, 0.1);

/// A lower estimate is adopted within about this many seconds, since it may be a passing one.
const DAMPING: f64 = 2.0;

/// An estimate that exceeds the time shown by less than this share is the same.
const SAME: f64 = 0.15;

impl Countdown {
    pub(super) fn new(predicted: f64) -> Self {
        Self { predicted, shown: None }
    }

    /// The time to show after `elapsed` seconds, when `fraction` of the work is finished.
    pub(super) fn at(&mut self, elapsed: f64, fraction: f64) -> Option<Left> {
        if elapsed < SILENT.0 && fraction < SILENT.1 {
            return None;
        }
        let estimate = remaining(elapsed, fraction, self.predicted);
        let seconds = match self.shown {
            None => estimate,
            Some((before, since)) => {
                let step = (elapsed - since).max(0.0);
                let expected = before - step;
                match estimate < expected {
                    true => expected + (estimate - expected) * step / (step + DAMPING),
                    false => estimate.min(before),
                }
            }
        };
        self.shown = Some((seconds, elapsed));
        Some(Left { seconds, is_lower_bound: estimate > (1.0 + SAME) * seconds + 1.0 })
    }
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.seconds.ceil().max(1.0);
        let over = if self.is_lower_bound { "over " } else { "" };
        match seconds {
            s if s < 100.0 => write!(f, "{over}{s} s left"),
            s if s < 6000.0 => write!(f, "{over}{} min left", (s / 60.0).ceil()),
            s => write!(f, "{over}{} h left", (s / 3600.0).ceil()),
        }
    }
}

/// The seconds left after `elapsed`, when cells that make up `fraction` of the predicted work are
/// finished. At first this is the prediction, since large cells may be half done without showing. When
/// a quarter is finished, it is almost only what the pace so far says.
fn remaining(elapsed: f64, fraction: f64, predicted: f64) -> f64 {
    let pace = if fraction > 0.0 { elapsed / (fraction * predicted) } else { 1.0 };
    let trust = 1.0 - (1.0 - fraction).powi(6);
    let trusted = 1.0 + trust * (pace.clamp(0.1, 10.0) - 1.0);
    ((1.0 - fraction) * predicted * trusted).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_moves_from_prediction_to_pace() {
        assert_eq!(remaining(0.0, 0.0, 80.0), 80.0);
        // One per cent that takes four times too long may be chance; a quarter of the work is not.
        assert!((remaining(3.2, 0.01, 80.0) / 79.2 - 1.17).abs() < 0.01);
        assert!((remaining(80.0, 0.25, 80.0) / 240.0 - 0.87).abs() < 0.01);
        assert!((remaining(80.0, 0.5, 80.0) / 80.0 - 0.99).abs() < 0.01);
        assert_eq!(remaining(100.0, 1.0, 80.0), 0.0);
    }

    /// The times shown every fifth of a second of work that takes `whole` seconds, of which
    /// `fraction(t)` is finished at the share t of that time.
    fn shown(predicted: f64, whole: f64, fraction: impl Fn(f64) -> f64) -> Vec<(f64, Left)> {
        let mut countdown = Countdown::new(predicted);
        let times = (0..).map(|i| 0.2 * f64::from(i)).take_while(|&time| time <= whole);
        times.filter_map(|time| Some((time, countdown.at(time, fraction(time / whole))?))).collect()
    }

    #[test]
    fn after_a_slow_start_the_time_shown_does_not_climb() {
        // 18 s are predicted, 33 s are needed: a third of them for the first ninth of the work, and
        // then it goes on steadily. The estimate climbs.
        let slow = |t: f64| if t < 1.0 / 3.0 { t / 3.0 } else { (4.0 * t - 1.0) / 3.0 };
        let estimates = (5..60).map(|i| 0.2 * f64::from(i));
        let highest = estimates.map(|t| remaining(t, slow(t / 33.0), 18.0)).fold(0.0, f64::max);
        assert!(highest > 25.0, "{highest}");
        let shown = shown(18.0, 33.0, slow);
        assert!(shown.windows(2).all(|pair| pair[1].1.seconds <= pair[0].1.seconds));
        assert!(shown.iter().any(|(_, left)| left.is_lower_bound));
        // The end is near when it is said to be near.
        for (time, left) in shown.iter().filter(|(_, left)| left.seconds < 10.0) {
            assert!((33.0 - time - left.seconds).abs() < 5.0, "{time}: {left}");
        }
    }

    #[test]
    fn a_prediction_that_is_too_long_is_soon_given_up() {
        let shown = shown(60.0, 20.0, |t| t);
        let (_, half) = shown[shown.len() / 2];
        assert!((8.0..20.0).contains(&half.seconds), "{half}");
        assert!(shown.last().unwrap().1.seconds < 4.0);
    }

    #[test]
    fn times_in_words() {
        let left = |seconds, is_lower_bound| Left { seconds, is_lower_bound }.to_string();
        assert_eq!(left(0.2, false), "1 s left");
        assert_eq!(left(17.3, true), "over 18 s left");
        assert_eq!(
            (left(170.0, false), left(9000.0, false)),
            ("3 min left".into(), "3 h left".into())
        );
    }
}
