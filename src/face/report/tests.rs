//! A report with something of everything, and what must be true of its page.

use super::*;
use paper::claims::{Finding, Reading};
use service::archaeology;

const HOSTILE: &str = "<script>alert('\"&\"')</script>";

const fn claim(number: u32) -> Claim {
    Claim {
        number,
        title: HOSTILE,
        source: HOSTILE,
        figures: &["icml/fig2", HOSTILE],
        statement: HOSTILE,
        meant: Some(HOSTILE),
        outputs: 0.0,
        judge: |_| Finding::default(),
    }
}

static CLAIMS: [Claim; 3] = [claim(1), claim(2), claim(3)];

fn svg() -> String {
    "<svg viewBox=\"0 0 7 3\" fill=\"none\"><path fill=\"#0072B2\" d=\"M0 0h7v3h-7z\"/></svg>"
        .into()
}

fn panel(printed: bool) -> PanelReport {
    let drawing = |name: &str| Drawing {
        name: name.into(),
        alt: HOSTILE.into(),
        svg: svg(),
        ..Drawing::default()
    };
    let row = |within, note: &str| ReadingRow {
        panel: String::new(),
        mechanism: HOSTILE.into(),
        at: "0.0343".into(),
        quantity: "mean".into(),
        read: 0.2,
        error: 0.001,
        computed: 0.200_24,
        deviation: 2.4e-4,
        allowed: Some(0.002),
        z: None,
        within,
        note: note.into(),
    };
    let rows = vec![row(true, ""), row(true, ""), row(false, "the marker is hidden")];
    let readings = Readings::new(HOSTILE, rows);
    PanelReport {
        id: "a".into(),
        title: HOSTILE.into(),
        printed,
        print_distance: printed,
        own: false,
        drawings: vec![drawing("box"), drawing("mean")],
        tables: vec![Digest {
            caption: HOSTILE.into(),
            columns: vec![HOSTILE.into(), "n".into()],
            rows: vec![vec![HOSTILE.into(), "1".into()]],
        }],
        readings: printed.then_some(readings),
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    let part = ClaimPart::new(HOSTILE, "", outcome != Outcome::Fails, [(HOSTILE, 0.25)]);
    let part = ClaimPart { reading: Reading::Meant, ..part };
    let sentence = Sentence { words: HOSTILE.into(), outcome, reason: HOSTILE.into() };
    let reading = |outcome| ReadingVerdict {
        outcome,
        why: HOSTILE.into(),
        reason: HOSTILE.into(),
        sentences: vec![sentence.clone(), sentence.clone()],
    };
    Verdict {
        stated: reading(outcome),
        as_meant: Some(reading(Outcome::InPart)),
        evidence: vec![part.clone(), part],
        remarks: vec![HOSTILE.into()],
        command: HOSTILE.into(),
    }
}

fn finding(id: &str) -> PrintFinding {
    PrintFinding {
        finding: archaeology::Finding {
            id: id.into(),
            title: format!("{id} {HOSTILE}"),
            sentence: HOSTILE.into(),
            source: HOSTILE.into(),
            claims: vec![2, 99],
            trials: Vec::new(),
        },
        figures: vec!["icml/fig2".into(), "notes/fig2".into()],
        evidence: vec![PrintEvidence {
            setting: HOSTILE.into(),
            within: 3,
            total: 81,
            largest: HOSTILE.into(),
        }],
    }
}

fn report() -> Report {
    let figure = |name: &str| FigureReport {
        id: "fig2".into(),
        name: name.into(),
        title: HOSTILE.into(),
        source: HOSTILE.into(),
        answers: vec![HOSTILE.into()],
        print_status: PrintStatus::of(&[panel(false), panel(true)], None),
        nearest_optimum: Some(NearestOptimum {
            mechanism: HOSTILE.into(),
            cases: 7,
            optimal: 5,
            excess: 0.01,
        }),
        tables: panel(false).tables,
        notes: vec![HOSTILE.into()],
        command: HOSTILE.into(),
        seconds: 1.0,
        panels: vec![panel(false), panel(true)],
        files: vec![HOSTILE.into()],
    };
    let document = Document {
        id: "icml".into(),
        title: HOSTILE.into(),
        figures: vec![figure("icml-fig2"), figure("icml-fig3")],
    };
    let number = |agrees| PrintedNumber {
        place: HOSTILE,
        what: HOSTILE.into(),
        printed: "0.5",
        computed: 0.4999,
        allowed: 0.001,
        agrees,
        by_their_rounding: agrees,
        note: HOSTILE.into(),
    };
    let judged = |(claim, (defined, printed))| JudgedClaim {
        claim,
        defined: verdict(defined),
        printed: verdict(printed),
    };
    let outcomes = [
        (Outcome::Holds, Outcome::Holds),
        (Outcome::Fails, Outcome::Holds),
        (Outcome::InPart, Outcome::Fails),
    ];
    Report {
        partial: false,
        version: HOSTILE.into(),
        generated: HOSTILE.into(),
        command: HOSTILE.into(),
        seconds: 90.0,
        documents: vec![document],
        numbers: vec![number(true), number(false)],
        claims: CLAIMS.iter().zip(outcomes).map(judged).collect(),
        questions: vec![figure("open-optimum")],
        print_findings: vec![finding("exchanged"), finding("epsilon")],
    }
}

#[test]
fn the_summary_counts() {
    let summary = report().summary();
    let expected = Summary {
        figures: 2,
        panels: 4,
        prints: PrintCounts { compared: 2, not_compared: 0, no_print: 0 },
        readings: 6,
        // Both figures have the same table of readings.
        values: 3,
        readings_within: 4,
        readings_by_sampling: 0,
        readings_named: 2,
        readings_beyond: 0,
        numbers: 2,
        numbers_agreeing: 1,
        numbers_by_their_rounding: 1,
        claims: 3,
        defined: Standing { hold: 1, in_part: 1, fail: 1 },
        printed: Standing { hold: 2, in_part: 0, fail: 1 },
        // Each claim has two.
        sentences: Standing { hold: 2, in_part: 2, fail: 2 },
        differing: vec![2, 3],
        questions: 1,
    };
    assert_eq!(summary, expected);
    let lines = summary.to_string();
    assert!(lines.contains("readings compared    6 (3 values)"), "{lines}");
    assert!(lines.contains("  not                2 known outliers, 0 beyond"), "{lines}");
    assert!(lines.contains("…, print distance    2 hold, 0 hold in part, 1 fails"), "{lines}");
}

#[test]
fn a_title_stands_once_and_words_are_explained_where_they_appear() {
    let panel = |printed| PanelReport { title: "One title".into(), ..panel(printed) };
    let panels = vec![panel(false), panel(true)];
    let mut report = report();
    let figure = &mut report.documents[0].figures[0];
    (figure.title, figure.panels) = ("One title".into(), panels);
    let html = report.html();
    let headings = |level: &str| html.matches(&format!("One title</{level}>")).count();
    assert_eq!((headings("h3"), headings("h4")), (1, 0));
    for words in ["±: the error of reading", "allowed: the largest", "vertex: P", "whisker_high:"]
    {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn all_text_is_escaped() {
    let html = report().html();
    assert_eq!(html.matches("<script").count(), 1, "only our own");
    assert!(!html.contains("alert('\""));
    assert!(html.contains("&lt;script&gt;alert('&quot;&amp;&quot;')&lt;/script&gt;"));
}

/// The values of an attribute, wherever it occurs.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let rest = html.split(attribute).skip(1);
    rest.filter_map(|rest| rest.split_once('"')).map(|(value, _)| value).collect()
}

#[test]
fn anchors_are_unique_and_links_lead_to_them() {
    let html = report().html();
    let ids = values(&html, " id=\"");
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(ids.len(), unique.len(), "{ids:?}");
    let links = values(&html, "href=\"#");
    assert!(!links.is_empty());
    for link in links {
        assert!(ids.contains(&link), "{link}");
    }
}

#[test]
fn findings_figures_and_claims_link_to_each_other() {
    let html = report().html();
    let between = |from: &str, to: &str| {
        let (_, rest) = html.split_once(from).expect(from);
        rest.split_once(to).expect(to).0.to_owned()
    };
    let finding = between("id=\"print-exchanged\"", "</article>");
    assert!(finding.contains("3 of 81"));
    assert!(finding.contains("<a href=\"#icml-fig2\">icml/fig2</a>, notes/fig2"), "{finding}");
    assert!(finding.contains("<a href=\"#claim-2\">2</a>, 99"), "{finding}");
    for place in ["id=\"icml-fig2\"", "id=\"claim-2\""] {
        assert!(between(place, "</article>").contains("<a href=\"#print-exchanged\">"), "{place}");
    }
    assert!(!between("id=\"claim-3\"", "</article>").contains("#print-exchanged"));
}

#[test]
fn the_first_screen_counts_in_sentences() {
    let html = report().html();
    let (_, found) = html.split_once("<dl class=\"found\">").expect("the sentences");
    let found = found.split_once("</dl>").expect("their end").0;
    assert_eq!(found.matches("<dd>").count(), 5, "{found}");
    for words in [
        "2 figures and tables",
        "3 values",
        "6 comparisons",
        "4 agree",
        "1 of 2 numbers",
        "1 holds",
        "5 of",
    ] {
        assert!(found.contains(words), "{words}: {found}");
    }
}

#[test]
fn files_are_links_and_every_figure_has_its_status() {
    let html = report().html();
    assert_eq!(
        html.matches("<p class=\"status most\">Compared: 2 of 3 readings agree.").count(),
        2
    );
    assert_eq!(html.matches("<a href=\"icml-fig2/&lt;script&gt;").count(), 1);
}

#[test]
fn tags_are_closed() {
    let html = report().html();
    let tags = [
        "section", "article", "div", "details", "summary", "table", "thead", "tbody", "tr", "td",
        "th", "ul", "li", "p", "dl", "dt", "dd", "h2", "h3", "h4", "figure", "svg", "span", "code",
        "a", "b", "i", "nav", "header", "footer", "small", "strong",
    ];
    for tag in tags {
        let opened = [" ", ">"].map(|end| html.matches(&format!("<{tag}{end}")).count());
        let closed = html.matches(&format!("</{tag}>")).count();
        assert_eq!(opened[0] + opened[1], closed, "{tag}");
    }
}

#[test]
fn an_empty_report_is_a_page_too() {
    let html = Report::default().html();
    assert!(html.contains("<section id=\"summary\">"));
    assert!(!html.contains("id=\"claims\""));
    assert!(html.trim_end().ends_with("</html>"));
}

#[test]
fn machines_get_the_same_without_drawings() {
    let json = serde_json::json!(report().document());
    assert_eq!(json["summary"]["defined"]["in_part"], 1);
    assert_eq!(json["claims"][2]["defined"]["outcome"], "holds when");
    let panel = &json["documents"][0]["figures"][0]["panels"][1];
    assert_eq!(panel["readings"]["rows"][2]["within"], false);
    assert_eq!(panel["drawings"][0]["name"], "box");
    assert!(panel["drawings"][0].get("svg").is_none());
    let figure = &json["documents"][0]["figures"][0];
    assert_eq!(figure["print_status"]["compared"]["total"], 3);
}
