//! What a command was to print and what it printed. A line `…` stands for any lines, a `…` within a
//! line for any text. Forecasts of time are left out of what was printed: whether there is one depends
//! on the number of threads.

/// Whether a line stands for any number of lines.
fn is_gap(line: &str) -> bool {
    matches!(line.trim(), "…" | "...")
}

/// The lines of an output without forecasts, spaces at their ends and empty lines around them.
pub fn trimmed(output: &str) -> Vec<&str> {
    let is_forecast = |line: &&str| line.starts_with("this will take about ");
    let lines = output.lines().filter(|line| !is_forecast(line));
    let mut lines: Vec<&str> = lines.map(str::trim_end).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let empty = lines.iter().take_while(|line| line.is_empty()).count();
    lines.split_off(empty)
}

/// Whether `got` is what `expected` says.
pub fn matches(expected: &[String], got: &[&str]) -> bool {
    match expected.split_first() {
        None => got.is_empty(),
        Some((gap, rest)) if is_gap(gap) => {
            (0..=got.len()).any(|skipped| matches(rest, &got[skipped..]))
        }
        Some((line, rest)) => {
            !got.is_empty() && line_matches(line, got[0]) && matches(rest, &got[1..])
        }
    }
}

/// Whether a line is what `pattern` says.
fn line_matches(pattern: &str, line: &str) -> bool {
    let mut pieces = pattern.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// What to show from now on: `got`, shortened as `expected` was.
///
/// Each run of lines between two gaps is replaced by the lines of `got` that resemble it most.
pub fn renewed(expected: &[String], got: &[&str]) -> Vec<String> {
    if !expected.iter().any(|line| is_gap(line)) {
        return got.iter().map(|line| without_times(line)).collect();
    }
    let mut shown = Vec::new();
    let mut at = 0;
    let runs: Vec<&[String]> = expected.split(|line| is_gap(line)).collect();
    for (number, run) in runs.iter().enumerate() {
        let last = got.len().saturating_sub(run.len());
        let from = match number {
            0 => 0,
            _ if number + 1 == runs.len() => last.max(at),
            _ => (at..=last.max(at))
                .max_by_key(|&from| (likeness(run, &got[from.min(got.len())..]), usize::MAX - from))
                .unwrap_or(at),
        };
        let to = (from + run.len()).min(got.len());
        if number > 0 {
            shown.push("…".to_owned());
        }
        for (old, new) in run.iter().zip(&got[from.min(to)..to]) {
            let kept = line_matches(old, new);
            shown.push(if kept { old.clone() } else { without_times(new) });
        }
        at = to;
    }
    shown
}

/// How much lines resemble each other, in thousandths a line.
fn likeness(run: &[String], got: &[&str]) -> u64 {
    run.iter()
        .zip(got)
        .map(|(old, new)| match line_matches(old, new) {
            true => 2000,
            false => (strsim::normalized_levenshtein(old, new) * 1000.0) as u64,
        })
        .sum()
}

/// A line with `…` for what differs from one machine or run to the next: `in … s` for the time that
/// something took, `in all about …` for a prediction.
fn without_times(line: &str) -> String {
    let prediction = "in all about ";
    if let Some(at) = line.find(prediction) {
        return line[..at + prediction.len()].to_owned() + "…";
    }
    let Some(at) = line.find(" in ").map(|at| at + " in ".len()) else { return line.to_owned() };
    let time = line[at..].strip_prefix("less than ").unwrap_or(&line[at..]);
    let rest = time.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    match rest.len() < time.len() && rest.starts_with(" s") {
        true => format!("{}…{rest}", &line[..at]),
        false => line.to_owned(),
    }
}

#[test]
fn gaps_stand_for_lines_and_for_text() {
    let expected = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let got = trimmed("\nthis will take about 8 s\na 1\nb\nc 2 d\n\n");
    assert_eq!(got, ["a 1", "b", "c 2 d"]);
    for fits in ["a 1\nb\nc 2 d", "…\nc … d", "a 1\n…", "…", "a…1\n...\nb\nc 2 d", "…\nb\n…"]
    {
        assert!(matches(&expected(fits), &got), "{fits}");
    }
    for other in ["", "a 1\nb", "b\n…", "a 2\n…", "…\nc … e", "a 1\nb\nc 2 d\ne", "…\nd\n…"]
    {
        assert!(!matches(&expected(other), &got), "{other}");
    }
}

#[test]
fn what_was_shortened_stays_short() {
    let expected: Vec<String> = ["…", "mean 3", "…", "wrote x in … s"].map(str::to_owned).into();
    let got = ["head", "mean 4", "tail", "wrote x in 2 s"];
    assert_eq!(renewed(&expected, &got), ["…", "mean 4", "…", "wrote x in … s"]);
    assert_eq!(renewed(&[], &["wrote y in 0.2 s: a"]), ["wrote y in … s: a"]);
    assert_eq!(renewed(&[], &["wrote y in less than 0.1 s: a"]), ["wrote y in … s: a"]);
    assert_eq!(renewed(&[], &["in all about 2 s, on 2 threads", "in 2 figures"]).len(), 2);
}
