//! The findings. Commits are those of the authors' public repository, JiawenUB/DP-Bayesian-Inference.

use super::{Finding, Trial};

/// The setting that was found: that of the bundled config.
const fn found(figure: &'static str, panel: &'static str, setting: &'static str) -> Trial {
    Trial { figure, panel, setting, change: "", runs: None, agrees: true }
}

/// A setting that the readings reject.
const fn rejected(
    figure: &'static str,
    panel: &'static str,
    setting: &'static str,
    change: &'static str,
) -> Trial {
    Trial { figure, panel, setting, change, runs: None, agrees: false }
}

/// A number of runs, which the scatter of the printed means confirms or rejects.
const fn of_runs(figure: &'static str, setting: &'static str, runs: f64, agrees: bool) -> Trial {
    Trial { figure, panel: "printed", setting, change: "", runs: Some(runs), agrees }
}

/// Every finding, in the order of the report.
pub static FINDINGS: &[Finding] = &[
    Finding {
        id: "distance",
        title: "The distance changed in July 2018",
        sentence: "The figures of notes and early were computed with the Hellinger distance of the text. \
                   Those of icml and arxiv, except arxiv Figure 2, were computed with the print distance, \
                   whose ln BC is divided by the logarithm of the total. The readings of each figure \
                   reject the other distance.",
        source: "codes/dirichlet.py divides by log(sum) from 2018-07-26 on",
        claims: &[2, 3, 4, 5, 9, 10, 17],
        trials: &[
            found("notes/fig3", "a-printed", "Hellinger distance"),
            rejected("notes/fig3", "a-printed", "print distance", "distance = \"print\""),
            found("arxiv/fig3", "a-printed", "print distance"),
            rejected(
                "arxiv/fig3",
                "a-printed",
                "Hellinger distance, as the text defines",
                HELLINGER,
            ),
            found("icml/fig1", "printed", "print distance"),
            rejected("icml/fig1", "printed", "Hellinger distance, as the text defines", HELLINGER),
        ],
    },
    Finding {
        id: "epsilon",
        title: "ε is 0.8 where two captions say 1",
        sentence: "arxiv Figures 4 and 6 were computed with ε = 0.8. Their captions say 1.0. Figure 6 has \
                   δ = 1e-8, and its caption says 0.0005.",
        source: "the bitmap of Figure 4 (33d799ab) was committed on 2018-09-25 with \"epsilon_0.8\" in its \
                 name, and renamed to \"epsilon_1\" on 2018-09-30 (0c949f8c)",
        claims: &[9, 17],
        trials: &[
            found("arxiv/fig4", "printed", "ε = 0.8"),
            rejected("arxiv/fig4", "printed", "ε = 1, as the caption says", "epsilon = 1.0"),
            found("arxiv/fig6", "printed", "ε = 0.8, δ = 1e-8"),
            rejected("arxiv/fig6", "printed", "ε = 1, as the caption says", "epsilon = 1.0"),
            rejected("arxiv/fig6", "printed", "δ = 0.0005, as the caption says", "delta = 0.0005"),
        ],
    },
    Finding {
        id: "beta",
        title: "β counts n candidates, not n + 1",
        sentence: "The text defines β with n + 1 candidates. The program used n. The authors' record of 57 \
                   privacy losses, with 12 digits each, shows the difference.",
        source: "figures/epsilon_study/global_epsilon_datas.txt, in the history at 0671b753",
        claims: &[8, 17],
        trials: &[
            found("arxiv/fig6", "unprinted-printed", "β with n"),
            rejected(
                "arxiv/fig6",
                "unprinted-printed",
                "β with n + 1, as the text defines",
                "mechanisms = [{ id = \"mh-beta\", label = \"MH (β-smooth)\" }]",
            ),
        ],
    },
    Finding {
        id: "divisor-notes",
        title: "The divisor is 1 in all of notes",
        sentence: "MH weighs a candidate by exp(−εH / (2S)). The figures of notes and early leave out the \
                   2, which doubles the privacy loss.",
        source: "notes Figures 2 to 7 and early Figures 2 and 3",
        claims: &[8, 11],
        trials: &[
            found("notes/fig2", "a-printed", "divisor 1"),
            rejected("notes/fig2", "a-printed", "divisor 2, as the text defines", DIVISOR_2),
            found("notes/fig3", "a-printed", "divisor 1"),
            rejected("notes/fig3", "a-printed", "divisor 2, as the text defines", DIVISOR_2),
            found("notes/fig5", "a-printed", "divisor 1"),
            rejected("notes/fig5", "a-printed", "divisor 2, as the text defines", DIVISOR_2_BOUND),
        ],
    },
    Finding {
        id: "smooth",
        title: "The smooth sensitivity was never in force",
        sentence: "In every figure of notes and early the smooth sensitivity equals the local one. In Figure \
                   2 a missing zip() makes the Hamming distance too large, in Figures 3 and 4 the ℓ1 norm \
                   stands for it, which is twice as large, and for Figures 5 to 8 the line is commented \
                   out. Where δ is 0.8, S_β as defined equals LS as well. With δ = 0.0005 it is 0.189 at \
                   (20, 20, 20), and LS is 0.110: the readings reject it.",
        source: "the programs of notes, main.pdf of commit 1d759318 (2018-06-16)",
        claims: &[8, 11],
        trials: &[
            found("notes/fig6", "a-printed", "S = LS"),
            rejected("notes/fig6", "a-printed", "S = S_β as defined, δ = 0.0005", SMOOTH_BETA),
        ],
    },
    Finding {
        id: "captions-notes2",
        title: "The captions of notes, Figure 2, are exchanged",
        sentence: "Picture (a) shows 300 records with ε = 0.5, picture (b) 500 records with ε = 0.8. The \
                   captions say 500 and 300.",
        source: "figures/accuracy_box/accuracy_box_2.eps is (a), accuracy_box_1.eps is (b)",
        claims: &[11],
        trials: &[
            found("notes/fig2", "a-printed", "n = 300, ε = 0.5"),
            rejected(
                "notes/fig2",
                "a-printed",
                "n = 500, as the caption says",
                "data = { counts = { counts = [411, 89], labels = [\"(259, 41)\"] } }",
            ),
            found("notes/fig2", "b-printed", "n = 500, ε = 0.8"),
            rejected(
                "notes/fig2",
                "b-printed",
                "n = 300, ε = 0.5, as the caption says",
                "epsilon = 0.5\ndata = { counts = { counts = [259, 41], labels = [\"(411, 89)\"] } }",
            ),
        ],
    },
    Finding {
        id: "labels-icml4",
        title: "Two labels of icml, Figure 4, are exchanged",
        sentence: "The boxes labelled immunotherapy show the badges data, and those labelled badges show \
                   immunotherapy. The text gives the sizes in the order of the boxes: 731, 90, 294, 90.",
        source: "icml §7.1.2",
        claims: &[4],
        trials: &[
            found("icml/fig4", "printed", "(84, 210) under the label immunotherapy"),
            rejected(
                "icml/fig4",
                "printed",
                "the data that the labels name",
                "data = { counts = { counts = [[231, 500], [42, 48], [19, 71], [84, 210]], \
                 labels = [\"bike\", \"cryotherapy\", \"immunotherapy\", \"badges\"] } }",
            ),
        ],
    },
    Finding {
        id: "records-arxiv3",
        title: "arxiv, Figure 3 (b), has 300 records",
        sentence: "The sub-caption says 600. The curves are those of (100, 100, 100).",
        source: "data_[100, 100, 100]_*.txt, in the history at 5e83a87c",
        claims: &[9],
        trials: &[
            found("arxiv/fig3", "b-printed", "n = 300"),
            rejected(
                "arxiv/fig3",
                "b-printed",
                "n = 600, as the sub-caption says",
                "data = { counts = { counts = [200, 200, 200] } }",
            ),
        ],
    },
    Finding {
        id: "neighbours",
        title: "The change of score looks at half of the neighbours",
        sentence: "For every candidate the largest change of score is taken over the neighbours that have \
                   one record more in category i and one less in category j, i < j. The opposite ones are \
                   left out, so that the printed peak is lower than the local sensitivity.",
        source: "figures/sensitivity_study/efficiency.png (efeea401); efficiency.eps (b5a3b1c1, d2afa52c)",
        claims: &[6],
        trials: &[
            found("arxiv/fig2", "k3-printed", "three neighbours, i < j"),
            rejected("arxiv/fig2", "k3-printed", "all six neighbours", "neighbours = \"all\""),
            found("notes/fig1", "k3-printed", "three neighbours, i < j"),
            rejected("notes/fig1", "k3-printed", "all six neighbours", "neighbours = \"all\""),
        ],
    },
    Finding {
        id: "divisors-icml",
        title: "The divisors of icml differ from figure to figure",
        sentence: "EHDL has divisor 1 in Figures 2 and 3, and 2 in Figures 4 to 6. EHDS has divisor 4 in \
                   Figures 2 to 5, and 2 in Figure 6. So the accuracy and the privacy loss that are \
                   printed for EHDS belong to two different mechanisms.",
        source: "icml Figures 2 to 6",
        claims: &[2, 3, 5],
        trials: &[
            found("icml/fig2", "a-printed", "EHDL with divisor 1"),
            rejected(
                "icml/fig2",
                "a-printed",
                "EHDL with divisor 2, as the text defines",
                "mechanisms = [{ id = \"lsdim\", label = \"LSDim\" }, \
                 { id = \"lshist\", label = \"LSHist\" }, { id = \"ehdl\", label = \"EHDL\" }, \
                 { id = \"ehd\", label = \"EHD\", global = \"bound\" }, \
                 { id = \"ehds\", label = \"EHDS\" }]",
            ),
            found("icml/fig4", "printed", "EHDL with divisor 2"),
            rejected(
                "icml/fig4",
                "printed",
                "EHDL with divisor 1, as in Figure 2",
                "mechanisms = [{ id = \"lsdim\", label = \"LSDim\" }, \
                 { id = \"lshist\", label = \"LSHist\" }, { id = \"ehds\", label = \"EHDS\" }, \
                 { id = \"ehd\", label = \"EHD\", global = \"bound\" }, \
                 { id = \"ehdl\", label = \"EHDL\", divisor = 1 }]",
            ),
            found("icml/fig6", "printed", "EHDS with divisor 2"),
            rejected(
                "icml/fig6",
                "printed",
                "EHDS with divisor 4, as the text defines",
                "mechanisms = [{ id = \"ehd\", label = \"EHD\", global = \"bound\" }, \
                 { id = \"ehdl\", label = \"EHDL\" }, { id = \"ehds\", label = \"EHDS\" }]",
            ),
        ],
    },
    Finding {
        id: "noise",
        title: "Legends state other sensitivities than were used",
        sentence: "In icml Figure 5 the Laplace noise of LSDim and LSHist has scale 3/ε and 2/ε, and the \
                   legend says 2 and 1. In arxiv Figure 5 (b) the curve labelled sensitivity 4 has scale \
                   3/ε. In arxiv Figure 5 (a) the data have 0.9n records.",
        source: "codes/main.py of bdc31908 has percentage = [0.3, 0.3, 0.3] for arxiv Figure 5 (a)",
        claims: &[4, 9],
        trials: &[
            found("icml/fig5", "printed", "scales 3/ε and 2/ε"),
            rejected(
                "icml/fig5",
                "printed",
                "scales 2/ε and 1/ε, as the legend says",
                "mechanisms = [{ id = \"lsdim\", label = \"LSDim\", scale_factor = 2 }, \
                 { id = \"lshist\", label = \"LSHist\", scale_factor = 1 }, \
                 { id = \"ehds\", label = \"EHDS\" }, \
                 { id = \"ehd\", label = \"EHD\", global = \"bound\" }, \
                 { id = \"ehdl\", label = \"EHDL\" }]",
            ),
            found("arxiv/fig5b", "printed", "scale 3/ε"),
            rejected(
                "arxiv/fig5b",
                "printed",
                "scale 4/ε, as the legend says",
                "mechanisms = [{ id = \"mh-beta\", label = \"MH (β-smooth)\" }, \
                 { id = \"lshist\", label = \"improved Laplace\" }, \
                 { id = \"lsdim\", label = \"Laplace (baseline)\" }]",
            ),
        ],
    },
    Finding {
        id: "runs",
        title: "More runs than the text says",
        sentence: "arxiv §7.2.2 says that every mean is that of 1000 runs. The printed means of Figure 4 \
                   scatter as little around the exact ones as those of 7000 to 13000 runs do, and the \
                   means of Figure 5 (a) as little as those of 3900 to 8000 (95 % intervals by the \
                   likelihood). They are compared as means of 10000 and 5000 runs. Figure 5 (b) scatters \
                   as 1000 runs do, or somewhat fewer.",
        source: "the readings; notes, Figure 5 (a), of the same authors has 10000 runs",
        claims: &[9],
        trials: &[
            of_runs("arxiv/fig4", "10000 runs", 1e4, true),
            of_runs("arxiv/fig4", "1000 runs, as the text says", 1e3, false),
            of_runs("arxiv/fig5a", "5000 runs", 5e3, true),
            of_runs("arxiv/fig5a", "1000 runs, as the text says", 1e3, false),
        ],
    },
    Finding {
        id: "other-experiment",
        title: "notes, Figure 8 (a), is of another experiment",
        sentence: "The printed file is named after the prior (2, 2, 2, 2) and 200 records; its data are \
                   unknown. Only the box of Laplace can be read. It rejects x = (1, 1, 1, 77), so this \
                   picture is not reproduced.",
        source: "theory_compare_1_1_1_77.eps equals order-4-size-200-runs-1000-…png, in the history at \
                 8e07a075",
        claims: &[11],
        trials: &[rejected(
            "notes/fig8",
            "a-defined",
            "x = (1, 1, 1, 77), as the caption says",
            "readings = \"notes-fig8a\"\n\
             mechanisms = [{ id = \"laplace-absolute\", label = \"Laplace\" }]",
        )],
    },
];

const HELLINGER: &str = "distance = \"hellinger\"";

const DIVISOR_2: &str = "mechanisms = [\
    { id = \"mh-beta\", label = \"MH (smooth)\", smooth = \"local\" }, \
    { id = \"ehdl\", label = \"MH (local)\" }, \
    { id = \"ehd\", label = \"MH (global)\", global = \"neighbour\" }, \
    { id = \"laplace-rounded\", label = \"Laplace\" }]";

const DIVISOR_2_BOUND: &str = "mechanisms = [\
    { id = \"mh-beta\", label = \"MH (smooth)\", smooth = \"local\" }, \
    { id = \"ehdl\", label = \"MH (local)\" }, \
    { id = \"ehd\", label = \"MH (global)\", global = \"bound\" }, \
    { id = \"laplace-absolute\", label = \"Laplace\" }]";

const SMOOTH_BETA: &str = "mechanisms = [\
    { id = \"mh-beta\", label = \"MH (smooth)\", divisor = 1 }, \
    { id = \"ehdl\", label = \"MH (local)\", divisor = 1 }, \
    { id = \"ehd\", label = \"MH (global)\", global = \"bound\", divisor = 1 }, \
    { id = \"laplace-absolute\", label = \"Laplace\" }]";
