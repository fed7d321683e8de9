use super::entry::{OWN, START};
use super::*;
use engine::analysis::composition::Profile;
use engine::posterior::privacy::Delta;
use std::fs;

fn entry(epsilon: &str, budget: Option<&str>) -> Entry {
    Entry {
        time: "2026-01-01T00:00:00Z".into(),
        data: "d".into(),
        column: "ε".into(),
        mechanism: "geometric".into(),
        epsilon: epsilon.parse().unwrap(),
        budget: budget.map(|budget| budget.parse().unwrap()),
        previous: String::new(),
        delta: None,
        parts: Vec::new(),
    }
}

fn enter(path: &Path, entry: Entry) -> Result<Account, LedgerError> {
    super::enter(path, entry, &|_| ())
}

fn in_folder(test: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    test(&folder.path().join("ledger.jsonl"));
}

#[test]
fn ten_tenths_are_one_and_the_eleventh_is_refused() {
    in_folder(|path| {
        for i in 1..=10 {
            let account = enter(path, entry("0.1", Some("1"))).unwrap();
            assert_eq!(account.releases, i);
        }
        let before = fs::read(path).unwrap();
        let error = enter(path, entry("0.1", Some("1"))).unwrap_err().to_string();
        assert!(error.contains("1 of 1 is spent in 10 releases"), "{error}");
        // Without a budget the last one holds.
        assert!(enter(path, entry("0.000000000000000001", None)).is_err());
        assert_eq!(fs::read(path).unwrap(), before);
        assert_eq!(enter(path, entry("1", Some("2"))).unwrap().total, "2".parse().unwrap());
    });
}

#[test]
fn other_files_count_too_and_nobody_is_told_which_is_which() {
    in_folder(|path| {
        enter(path, Entry { data: "other".into(), ..entry("1", None) }).unwrap();
        let same = enter(path, entry("0.5", None)).unwrap();
        assert_eq!(same.total, "1.5".parse().unwrap());
        let refused = |data: &str| {
            let entry = Entry { data: data.into(), ..entry("1", Some("2")) };
            enter(path, entry).unwrap_err().to_string()
        };
        assert_eq!(refused("d"), refused("new"));
    });
}

#[test]
fn only_its_owner_reads_it() {
    in_folder(|path| {
        enter(path, entry("1", None)).unwrap();
        assert_ne!(platform::is_private(&fs::metadata(path).unwrap()), Some(false));
    });
}

/// A ledger of three entries, with budgets and amounts of their own.
fn three(path: &Path) -> String {
    for (epsilon, budget) in [("1", Some("10")), ("0.25", None), ("2.5", Some("8"))] {
        enter(path, entry(epsilon, budget)).unwrap();
    }
    fs::read_to_string(path).unwrap()
}

#[test]
fn changes_are_noticed() {
    in_folder(|path| {
        let text = three(path);
        let lines: Vec<&str> = text.lines().collect();
        let first = text.replacen("\"epsilon\":\"1\"", "\"epsilon\":\"0\"", 1);
        let last = text.replacen("\"epsilon\":\"2.5\"", "\"epsilon\":\"1.5\"", 1);
        let budget = text.replacen("\"budget\":\"8\"", "\"budget\":\"9\"", 1);
        let removed = [lines[0], lines[2], ""].join("\n");
        let swapped = [lines[0], lines[2], lines[1], ""].join("\n");
        let unhashed = format!("{}}}\n", lines[0].rsplit_once(OWN).unwrap().0);
        let cut = format!("{}\n{}", lines[0], &lines[1].replace(':', ";"));
        let others = ["id,answer\n1,yes\n", "{}\n", "notes of mine", "\n", "{ "].map(str::to_owned);
        let changed = [first, last, budget, removed, swapped, unhashed, cut];
        for damaged in changed.iter().chain(&others) {
            assert_ne!(*damaged, text);
            fs::write(path, damaged).unwrap();
            let error = enter(path, entry("1", None)).unwrap_err().to_string();
            assert!(error.starts_with("the ledger is damaged"), "{damaged}: {error}");
            assert_eq!(fs::read_to_string(path).unwrap(), *damaged);
        }
        fs::write(path, [0; 4]).unwrap();
        assert!(enter(path, entry("1", None)).is_err());
        // A last line that was cut hides no other change.
        let short = |line: &str| line[..line.len() - 2].to_owned();
        let alone = short(lines[2]);
        let gap = format!("{}\n{}", lines[0], short(lines[2]));
        let two = format!("{}\n{}\n", lines[0], lines[1]);
        let epsilon = |text: &str| {
            let new = format!("\"epsilon\":\"{text}\"");
            two.clone() + &short(&lines[2].replace("\"epsilon\":\"2.5\"", &new))
        };
        let amounts = ["I", "0.001", "-1", "1e400"].map(epsilon);
        for damaged in [alone, gap].iter().chain(&amounts) {
            fs::write(path, damaged).unwrap();
            let error = enter(path, entry("1", None)).unwrap_err().to_string();
            assert!(error.starts_with("the ledger is damaged"), "{damaged}: {error}");
        }
    });
}

#[test]
fn wherever_the_last_entry_is_cut_the_ledger_goes_on_and_legible_amounts_count() {
    in_folder(|path| {
        let text = three(path);
        let start = text[..text.len() - 1].rfind('\n').unwrap() + 1;
        let whole = start + START.len() + "2.5\"".len();
        for length in start + 1..text.len() {
            // Zeros after it are usual after a power failure.
            let zeros = vec![0; length % 3];
            fs::write(path, [&text.as_bytes()[..length], &zeros].concat()).unwrap();
            let account = enter(path, entry("1", Some("8"))).unwrap();
            let (releases, total) = if length < whole { (3, "2.25") } else { (4, "4.75") };
            assert_eq!(account.releases, releases, "{length}");
            assert_eq!(account.total, total.parse().unwrap(), "{length}");
            // What was recovered is part of the ledger from now on.
            assert_eq!(enter(path, entry("1", None)).unwrap().releases, releases + 1);
        }
    });
}

#[test]
fn what_a_user_should_know_is_told() {
    in_folder(|path| {
        let told = std::cell::RefCell::new(Vec::new());
        let tell = |line: &str| told.borrow_mut().push(line.to_owned());
        super::enter(path, entry("1", Some("2")), &tell).unwrap();
        assert!(told.borrow().is_empty());
        super::enter(path, entry("1", Some("9")), &tell).unwrap();
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, &text[..text.len() - 9]).unwrap();
        super::enter(path, entry("1", Some("9")), &tell).unwrap();
        fs::write(path, "{").unwrap();
        super::enter(path, entry("1", None), &tell).unwrap();
        let told = told.into_inner();
        assert_eq!(told[0], "the budget is raised from 2 to 9");
        assert!(told[1].ends_with("cut short: its ε = 1 counts as spent"), "{told:?}");
        assert_eq!(told[2], "the budget is raised from 2 to 9");
        assert!(told[3].ends_with("and it is not counted") && told.len() == 4, "{told:?}");
    });
}

/// A release of randomised response.
fn part(epsilon: &str) -> Part {
    let epsilon: Amount = epsilon.parse().unwrap();
    Part {
        id: "0123456789abcdef".into(),
        column: "c".into(),
        mechanism: "geometric".into(),
        epsilon,
        private_n: false,
        profile: Profile::pure(epsilon),
        released: vec![3, 4],
        content: Some("c".into()),
    }
}

fn with_delta(entry: Entry, budget: &str, delta: f64) -> Entry {
    let (budget, delta) = (budget.parse().ok(), Delta::new(delta).ok());
    Entry { budget, delta, ..entry }
}

#[test]
fn several_releases_of_one_entry_of_before_are_read_again_as_they_were() {
    in_folder(|path| {
        let parts = vec![part("0.1"), part("0.333333333333333333"), part("2")];
        let epsilon = parts.iter().map(|part| part.epsilon).sum();
        let of_before = Entry { epsilon, parts, ..entry("1", None) };
        let of_before = with_delta(of_before, "3", 1e-6);
        assert_eq!(enter(path, of_before.clone()).unwrap().releases, 3);
        assert_eq!(enter(path, entry("0.1", None)).unwrap().releases, 4);
        let lines = read(path, &|_| ()).unwrap();
        assert_eq!(lines.entries[0], of_before);
        assert_eq!(lines.budget().unwrap().delta.unwrap().get(), 1e-6);
        // The ε of an entry is that of its parts.
        let text = fs::read_to_string(path).unwrap();
        let (line, _) = Entry { epsilon: "1".parse().unwrap(), ..of_before }.line().unwrap();
        fs::write(path, line + "\n").unwrap();
        let error = enter(path, entry("1", None)).unwrap_err().to_string();
        assert!(error.contains("not the sum of its releases"), "{error}");
        // Wherever the parts are cut, the whole ε counts.
        let first = text.lines().next().unwrap();
        let from = first.find("\"parts\"").unwrap();
        for length in from..first.len() {
            fs::write(path, &first[..length]).unwrap();
            let lines = read(path, &|_| ()).unwrap();
            assert_eq!(lines.entries[0].epsilon, "2.433333333333333333".parse().unwrap());
            assert!(lines.entries[0].parts.is_empty());
        }
    });
}

/// Wherever the only entry is cut, its ε counts and its kind is unknown: no release is certain to be of its kind.
#[test]
fn a_ledger_that_does_not_say_its_kind_is_closed() {
    in_folder(|path| {
        let of_kind = |private_n| {
            let parts = vec![Part { private_n, ..part("1") }];
            Entry { parts, ..entry("1", None) }
        };
        for (kind, next) in [(true, false), (true, true), (false, true), (false, false)] {
            let _ = fs::remove_file(path);
            enter(path, of_kind(kind)).unwrap();
            let text = fs::read(path).unwrap();
            fs::write(path, &text[..200]).unwrap();
            let error = enter(path, of_kind(next)).unwrap_err().to_string();
            assert!(error.starts_with("the first entry of this ledger was cut short"), "{error}");
            assert_eq!(fs::read(path).unwrap().len(), 200);
            let entries = read(path, &|_| ()).unwrap().entries;
            assert_eq!(Account::new(&entries, None).private_n, None);
            // What was cut short later is of the kind of the entries before it.
            fs::write(path, &text).unwrap();
            enter(path, of_kind(kind)).unwrap();
            let text = fs::read(path).unwrap();
            fs::write(path, &text[..text.len() - 200]).unwrap();
            assert_eq!(enter(path, of_kind(next)).is_ok(), next == kind);
        }
    });
}

#[test]
fn a_budget_that_was_cut_short_is_lowered_and_not_raised_and_has_no_delta() {
    in_folder(|path| {
        for (set, cut, held) in [
            (("3", Some(1e-6)), ("3", Some(1e-6)), ("3", None)),
            (("3", Some(1e-6)), ("2", Some(1e-3)), ("2", None)),
            (("3", Some(1e-6)), ("4", Some(1e-6)), ("3", Some(1e-6))),
            (("3", None), ("3", Some(1e-6)), ("3", None)),
            (("10", None), ("8", None), ("8", None)),
            (("10", None), ("20", None), ("10", None)),
        ] {
            let _ = fs::remove_file(path);
            for (budget, delta) in [set, cut] {
                let delta = delta.and_then(|delta| Delta::new(delta).ok());
                enter(path, Entry { delta, ..entry("1", Some(budget)) }).unwrap();
            }
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, &text[..text.len() - 20]).unwrap();
            let lines = read(path, &|_| ()).unwrap();
            let spent: Amount = lines.entries.iter().map(|entry| entry.epsilon).sum();
            assert_eq!(spent, "2".parse().unwrap());
            let found = lines.budget().map(|b| (b.epsilon.to_string(), b.delta.map(Delta::get)));
            assert_eq!(found, Some((held.0.to_owned(), held.1)), "{set:?} {cut:?}");
        }
    });
}
