//! How to read the page: what its labels and signs mean.

use maud::{Markup, html};

pub(super) fn section() -> Markup {
    html! {
        section #reading {
            h2 { "How to read this page" }
            dl.terms {
                dt { span.kind.defined { "As defined" } }
                dd {
                    "Computed with the Hellinger distance that the texts define, "
                    i { "H" } " = √(1 − BC), where BC is the Bhattacharyya coefficient of the "
                    "released and the true posterior, and with the mechanisms that the texts define."
                }
                dt { span.kind.printed { "As printed" } }
                dd {
                    "Computed with the settings that reproduce the printed figure. These may differ "
                    "from the text: another distance, another divisor, other data or another ε. The "
                    "notes of each figure say which."
                }
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
                dt { "Signs in figures" }
                dd {
                    "Hollow circles and the pale left halves of boxes are read off the print. A diamond "
                    "is an exact mean; the notch of a box is about a 95 % confidence interval of its "
                    "median. Hatching and broken lines mark a mechanism that is not private."
                }
            }
        }
    }
}
