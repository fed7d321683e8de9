//! How to read the page: what its words, colours and signs mean.

use maud::{Markup, html};

use super::Summary;
use super::tables::scroll;
use engine::mechanism::{self, usual_guarantee};
use figure::Colour;

pub(super) fn section(summary: &Summary) -> Markup {
    html! {
        section #reading {
            h2 { "How to read this page" }
            (distances(summary))
            h3 { "Letters" }
            (list(&LETTERS))
            h3 { "Words and signs" }
            (list(&WORDS))
            h3 #mechanisms { "Mechanisms" }
            p {
                "All of them release counts " i { "r" } " in place of the data’s counts " i { "x" }
                ", or rather the posterior with these counts. " i { "R" }
                " is the set of all counts with the same total as the data; " i { "H" }
                " is the distance between the released and the true posterior. GS, LS and "
                i { "S" } " are the global, local and smooth sensitivities of that distance. The "
                "last column says what is proved: ε-privacy, (ε, δ)-privacy, or nothing. Claimed "
                "means that the printed proof is incomplete. Historical mechanisms only show how a "
                "figure was made."
            }
            (scroll("mechanisms", mechanisms()))
        }
    }
}

/// What "as defined" and "as printed" mean.
fn distances(summary: &Summary) -> Markup {
    html! {
        dl.terms {
            div {
                dt { span.kind.defined { "As defined" } }
                dd {
                    "Computed with the Hellinger distance that the texts define, "
                    i { "H" } " = √(1 − BC), where BC is the Bhattacharyya coefficient of the "
                    "released and the true posterior, and with the mechanisms that the texts define."
                }
            }
            div {
                dt { span.kind.printed { "As printed" } }
                dd {
                    "Computed with the settings that reproduce the printed figure. These may differ "
                    "from the text: another distance, another divisor, other data or another ε. The "
                    "notes of each figure say which."
                    @if summary.readings > 0 {
                        " Of " (summary.readings) " values read off the prints, "
                        (summary.readings_within) " agree with the panels drawn as printed."
                    }
                }
            }
            div {
                dt { span.kind.printed { "Print distance" } }
                dd {
                    "The distance that the figures of icml and arxiv (except arxiv fig2) were drawn with: "
                    "√(1 − BC" sup { "1/ln " i { "N" } } ") for releases of the same total, where "
                    i { "N" } " = " i { "n" } " + Σα is the total of the posterior. It is smaller than "
                    "the Hellinger distance and has other sensitivities, so that mechanisms that "
                    "use it release other posteriors. A panel with this label uses the print "
                    "distance, and everything else as the text defines; no print of it is known. "
                    "Every claim is judged with both distances."
                }
            }
        }
    }
}

const LETTERS: [(&str, &str); 7] = [
    ("k", "The number of categories."),
    ("n", "The number of records. The data are counts x = (x₁, …, xₖ) with the total n."),
    (
        "α",
        "The parameters of the Dirichlet prior. With x they give the posterior, Dirichlet(α + x).",
    ),
    (
        "ε",
        "The privacy parameter: one record changes no output’s probability by more than the factor exp(ε).",
    ),
    ("δ", "The probability with which the guarantee of ε may fail. It is 0 where no δ is named."),
    ("γ", "The slope of the γ-smooth sensitivity, which EHDS and MH (γ-smooth) use."),
    (
        "β",
        "The rate of the β-smooth sensitivity, which MH (β-smooth) uses. It follows from ε, δ and n.",
    ),
];

const WORDS: [(&str, &str); 8] = [
    (
        "Divisor",
        "A mechanism that weighs candidates gives r the weight exp(−ε H / (divisor × sensitivity)). A \
         smaller divisor means less noise and less privacy.",
    ),
    (
        "Box and notch",
        "A box reaches from the lower to the upper quartile of the runs, its line is the median, and the \
         notch is about a 95 % confidence interval of the median. A diamond is the exact mean.",
    ),
    ("Half boxes", "Where a printed box plot was read, the pale left half is the print."),
    ("Hollow circles", "Values read off a printed curve."),
    ("Hatching, broken lines", "The mechanism is not private; it serves as a benchmark."),
    (
        "Reading",
        "A value measured on a printed figure, with the error of measuring it. It agrees if the computed \
         value lies within that error; for box plots, within the scatter of as many runs as were printed.",
    ),
    (
        "Standard error",
        "The standard deviation of an estimate from random runs. A reading of such an estimate is compared \
         in units of it.",
    ),
    (
        "Verdict",
        "A claim holds if all it says is true in every case that was tested, holds in part if each thing \
         it says is true in some case, and fails if one of them is true in none.",
    ),
];

fn list(terms: &[(&str, &str)]) -> Markup {
    html! {
        dl.glossary { @for (term, meaning) in terms { div { dt { (term) } dd { (meaning) } } } }
    }
}

fn mechanisms() -> Markup {
    html! {
        table.mechanisms {
            thead { tr { th { "mechanism" } th { "what it draws" } th { "guarantee" } } }
            tbody {
                @for mechanism in mechanism::ALL.iter().chain(mechanism::HISTORICAL) {
                    tr {
                        td { @if let Some(colour) = mechanism.colour() { (swatch(Colour::hex(colour))) " " } (mechanism.title()) }
                        td.note { (mechanism.draws()) }
                        td { (usual_guarantee(*mechanism)) }
                    }
                }
            }
        }
    }
}

/// A small area of a mechanism's colour. The style sheet chooses the one for light or dark pages.
fn swatch(colour: Colour) -> Markup {
    let [light, dark] = [colour, colour.on_dark()].map(Colour::code);
    html! { i.swatch style={ "--light:" (light) ";--dark:" (dark) } {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_has_its_formula_and_guarantee() {
        let html = mechanisms().into_string();
        for mechanism in mechanism::ALL.iter().chain(mechanism::HISTORICAL) {
            assert!(html.contains(&format!("</i> {}</td>", mechanism.title())), "{html}");
        }
        assert_eq!(
            html.matches("<tr>").count(),
            1 + mechanism::ALL.len() + mechanism::HISTORICAL.len()
        );
    }
}
