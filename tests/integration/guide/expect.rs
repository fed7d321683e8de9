//! What a command was to print and what it printed. A line `…` stands for any lines, a `…` within a
//! line for any text. Progress is left out of what was printed: whether there is some depends on the machine.

use regex_lite::Regex;

/// The lines of an output without progress, spaces at their ends and empty lines around them.
pub fn trimmed(output: &str) -> Vec<&str> {
    let lines = output.trim_matches('\n').lines().filter(|line| !line.contains(" % done"));
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    let empty = lines.iter().take_while(|line| line.is_empty()).count();
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(empty, |last| last + 1);
    lines[empty..end].to_vec()
}

/// Whether `got` is what `expected` says.
pub fn matches(expected: &[String], got: &[&str]) -> bool {
    let line = |line: &String| match line.trim() {
        "…" | "..." => r"(?:[^\n]*\n)*".to_owned(),
        _ => regex_lite::escape(line).replace('…', r"[^\n]*") + "\n",
    };
    let pattern: String = expected.iter().map(line).collect();
    let got: String = got.iter().map(|line| format!("{line}\n")).collect();
    Regex::new(&format!("^{pattern}$")).unwrap().is_match(&got)
}

/// What to show from now on: all that was printed or, if only parts were shown, the lines that resemble them most.
pub fn renewed(expected: &[String], got: &[&str]) -> Vec<String> {
    let is_gap = |line: &String| ["…", "..."].contains(&line.trim());
    if !expected.iter().any(is_gap) {
        return got.iter().map(|line| without_times(line)).collect();
    }
    let line = |old: &String| {
        let is_there = |new: &&str| matches(std::slice::from_ref(old), &[*new]);
        if is_gap(old) || got.iter().any(is_there) {
            return old.clone();
        }
        let likeness = |new: &&&str| (strsim::normalized_levenshtein(old, new) * 1000.0) as u64;
        got.iter().max_by_key(likeness).map_or(String::new(), |line| without_times(line))
    };
    expected.iter().map(line).collect()
}

/// A line with `…` for what differs from one machine or run to the next: `in … s` for the time that
/// something took, `in all …` for an order of magnitude.
fn without_times(line: &str) -> String {
    let replace = |pattern: &str, line: &str, by: &str| {
        Regex::new(pattern).unwrap().replace(line, by).into_owned()
    };
    let line = replace(" in (less than )?[0-9.]+ s", line, " in … s");
    replace("in all .*", &line, "in all …")
}
