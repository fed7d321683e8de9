//! Where the time goes.

use crate::report::{Report, Stretch};

/// At most this many of the slowest parts are named.
const NAMED: usize = 8;

/// The slowest parts with their shares, and the others together.
pub(super) fn text(report: &Report, at_a_time: usize) -> String {
    let times = &report.times;
    let named = if times.len() <= NAMED + 1 { times.len() } else { NAMED };
    let (slowest, others) = times.split_at(named);
    let rest = Stretch {
        part: format!("the other {}", others.len()),
        seconds: others.iter().map(|stretch| stretch.seconds).sum(),
        share: others.iter().map(|stretch| stretch.share).sum(),
    };
    let rows: Vec<&Stretch> = slowest.iter().chain((!others.is_empty()).then_some(&rest)).collect();
    let width = rows.iter().map(|row| row.part.chars().count()).max().unwrap_or(0);
    let mut text = match at_a_time {
        1 => "where the time goes, by the clock\n".to_owned(),
        _ => format!("where the time goes, by the clock, {at_a_time} parts at a time\n"),
    };
    for Stretch { part, seconds, share } in rows {
        text += &format!("  {part:width$}  {seconds:>6.1} s  {:>3.0} %\n", 100.0 * share);
    }
    text + &format!("  {:width$}  {:>6.1} s  from start to end\n", "all", report.seconds)
}

/// Every part with its share, the slowest first.
pub(super) fn shared(parts: Vec<(String, f64)>) -> Vec<Stretch> {
    let sum: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
    let share = |seconds: f64| if sum > 0.0 { seconds / sum } else { 0.0 };
    let stretch = |(part, seconds)| Stretch { part, seconds, share: share(seconds) };
    let mut times: Vec<Stretch> = parts.into_iter().map(stretch).collect();
    times.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_and_the_others() {
        let parts = (1..=12).map(|i| (format!("claim {i}"), f64::from(i))).collect();
        let report = Report { times: shared(parts), seconds: 40.0, ..Report::default() };
        let text = text(&report, 2);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 11);
        assert_eq!(lines[0], "where the time goes, by the clock, 2 parts at a time");
        assert_eq!(lines[1], "  claim 12       12.0 s   15 %");
        assert_eq!(lines[9], "  the other 4    10.0 s   13 %");
        assert_eq!(lines[10], "  all            40.0 s  from start to end");
    }

    #[test]
    fn one_other_is_named_too() {
        let parts = (1..=9).map(|i| (format!("{i}"), 0.0)).collect();
        let report = Report { times: shared(parts), ..Report::default() };
        assert_eq!(text(&report, 1).lines().count(), 11);
        assert!(!text(&report, 1).contains("other"));
    }
}
