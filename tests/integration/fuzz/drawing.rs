//! Drawings as a stranger may have made them: our own figures and hostile ones, with changes that know
//! where tags, attributes and values begin. Whatever becomes of them, their page holds nothing but
//! what our own pages hold.

use face::report::{Gallery, GalleryFigure, GalleryFolder, Picture};
use figure::{CurveFigure, Figure, Format, HeatFigure, TableFigure, Width, render};

use super::dice::Dice;
use super::page;
use super::text;

/// A file and the words that stand around it.
pub struct Drawing {
    pub bytes: Vec<u8>,
    words: String,
}

/// Every element and attribute of our figures, in few bytes.
const OWN: &str = "<svg width=\"486pt\" height=\"90.5pt\" stroke-linejoin=\"round\" \
viewBox=\"0 0 4860 905\" xmlns=\"http://www.w3.org/2000/svg\">
<rect x=\"0\" y=\"-1\" width=\"4860\" height=\"905\" fill=\"#FFFFFF\" stroke=\"none\"/>
<line stroke=\"#333333\" stroke-width=\"8\" x1=\"1\" y1=\"2\" x2=\"3\" y2=\"4\"/>
<polyline fill=\"none\" stroke=\"#0072B2\" stroke-width=\"8\" points=\"1,2 3,4 5,6 \"/>
<polygon fill=\"#0072B2\" points=\"1,2 3,4 5,6 \"/>
<circle cx=\"1\" cy=\"2\" r=\"3\" fill=\"none\" stroke=\"#D55E00\" stroke-width=\"5\"/>
<text x=\"9\" y=\"9\" dy=\"0.76em\" text-anchor=\"start\" font-family=\"DejaVu Sans, Verdana, \
Helvetica, Arial, sans-serif\" font-size=\"70.5\" fill=\"#1A1A1A\" font-weight=\"bold\" \
transform=\"rotate(270, 9, 9)\">
ε &lt; 1 &amp; &quot;two&quot; &apos;three&apos;
</text>
</svg>
";

/// Drawings that run or load something, in as many ways as are known.
const HOSTILE: [&str; 14] = [
    "<svg viewBox=\"0 0 9 9\" =\"  onload='\" x=\";alert(1)//' \">\n<rect x=\"1\"/>\n</svg>\n",
    "<svg onload=\"alert(1)\" viewBox=\"0 0 9 9\">\n<rect x=\"1\"/>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<script>\nalert(1)\n</script>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<script href=\"data:text/javascript,alert(1)\"/>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<image href=\"x\" onerror=\"alert(1)\"/>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<animate onbegin=\"alert(1)\" dur=\"1s\"/>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<a href=\"javascript:alert(1)\">\n<rect x=\"1\"/>\n</a>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<use href=\"http://x/y.svg#z\"/>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<style>\n@import 'http://x';\n</style>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<foreignObject>\n<iframe src=\"x\"/>\n</foreignObject>\n</svg>\n",
    "<!DOCTYPE svg [<!ENTITY x \"<script>alert(1)</script>\">]>\n<svg>\n<text x=\"1\">\n&x;\n</text>\n\
     </svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<![CDATA[<]]><script>alert(1)</script>\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<!-- --!><img src=x onerror=alert(1)>-->\n</svg>\n",
    "<svg viewBox=\"0 0 9 9\">\n<text x=\"1\">\n<title><p><img src=x onerror=alert(1)>\n</text>\n</svg>\n",
];

/// Pieces of tags, attributes and whatever ends or hides them.
const PIECES: [&str; 62] = [
    " onload=\"alert(1)\"",
    " onload='alert(1)'",
    " onload=alert(1)",
    " ONLOAD=\"alert(1)\"",
    "/onload=\"alert(1)\"",
    " =\"  onload='\" x=\";alert(1)//' \"",
    " =\"\"",
    "=",
    " '=\"",
    "\"",
    "'",
    "\"\"",
    "`",
    "\" onload=\"",
    "' onload='",
    ">",
    "<",
    "/>",
    "\"/>",
    "\">",
    "\n",
    "\r\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\0",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    " ",
    "/",
    "<script>alert(1)</script>",
    "<script x=\"1\"/>\n",
    "</text>",
    "</text>\n",
    "</svg>",
    "</svg>\n",
    "<svg>",
    "<text x=\"1\">\n",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "-->",
    "--!>",
    "<![CDATA[",
    "]]>",
    "<?x ",
    "?>",
    "<!DOCTYPE svg>",
    "&lt;script&gt;",
    "&#60;",
    "&#x22;",
    "&quot;",
    "&amp;lt;",
    "&lt",
    "&nbsp;",
    "&x;",
    " style=\"fill:url(http://x)\"",
    " xmlns:xlink=\"http://www.w3.org/1999/xlink\"",
    " xlink:href=\"javascript:alert(1)\"",
    " id=\"x\"",
    "<style>",
    "<title>",
];

/// Names of elements and attributes, known and unknown.
const NAMES: [&str; 36] = [
    "svg",
    "rect",
    "line",
    "polyline",
    "polygon",
    "circle",
    "text",
    "script",
    "SCRIPT",
    "svg:script",
    "style",
    "foreignObject",
    "a",
    "use",
    "image",
    "set",
    "title",
    "x",
    "y",
    "points",
    "fill",
    "stroke",
    "width",
    "viewBox",
    "viewbox",
    "transform",
    "onload",
    "onclick",
    "href",
    "xlink:href",
    "src",
    "id",
    "class",
    "filter",
    "",
    "\u{17f}vg",
];

/// Values that an attribute of ours may have, or nearly.
const VALUES: [&str; 30] = [
    "0",
    "-12.5",
    "1e9",
    "NaN",
    "infinity",
    "+1",
    ".5",
    "-",
    "1 2",
    "1,2",
    "1,2 3,4 ",
    "0 0 9 9",
    "9pt",
    "9px",
    "100%",
    "none",
    "#abcdef",
    "#+1a2b3",
    "#12",
    "red",
    "url(#x)",
    "url(http://x)",
    "\\75rl(http://x)",
    "javascript:alert(1)",
    "rotate(270, 1, 2)",
    "rotate(270, 1, 2) scale(9)",
    "bold",
    "start",
    "",
    "999999999999999999999999999999999999999999999999999999999999999999",
];

/// Sound drawings to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let title = || "a < b & \"c\"".to_owned();
    let figures = [
        Figure::new(title(), "", CurveFigure::default()),
        Figure::new(title(), "", HeatFigure::default()),
        Figure::new(title(), "", TableFigure::default()),
    ];
    let files = figures.map(|figure| render(&figure, Format::Svg, Width::Text).expect("a figure"));
    files.into_iter().chain([OWN.into(), OWN.into()]).collect()
}

impl Drawing {
    /// A drawing made by chance.
    pub fn new(seeds: &[Vec<u8>], dice: &mut Dice) -> Self {
        let mut bytes = start(seeds, dice);
        for _ in 0..dice.between(0, 3) {
            mutate(&mut bytes, seeds, dice);
        }
        let words = (0..dice.between(1, 3)).map(|_| dice.pick(&PIECES)).collect();
        Self { bytes, words }
    }

    /// Whether the file became a part of its page, or what is wrong with the page.
    pub fn judge(&self) -> Result<bool, String> {
        let picture = Picture::of_svg(&self.bytes, || "a.svg".into());
        let is_drawn = matches!(picture, Picture::Drawing(_));
        page::examine(&gallery(picture, &self.words), &self.words, is_drawn).map(|()| is_drawn)
    }
}

/// The page of a picture. All words around it are these.
fn gallery(picture: Picture, words: &str) -> String {
    let words = || words.to_owned();
    let figures = vec![GalleryFigure { file: words(), title: words(), picture }];
    let (name, title, path) = (words(), words(), words());
    let folder = GalleryFolder { name, title, path, width: Width::Text, figures };
    Gallery { folders: vec![folder] }.html()
}

#[test]
fn hostile_drawings_would_be_found_in_a_page() {
    for hostile in HOSTILE {
        let as_it_is = gallery(Picture::Drawing(hostile.into()), "words");
        assert!(page::examine(&as_it_is, "words", true).is_err(), "{hostile}");
    }
    for own in seeds() {
        assert!(matches!(Drawing { bytes: own, words: "words".into() }.judge(), Ok(true)));
    }
}

fn start(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    match dice.once_in(4) {
        true => dice.pick(&HOSTILE).into(),
        false => dice.one(seeds).clone(),
    }
}

/// One change.
fn mutate(file: &mut Vec<u8>, seeds: &[Vec<u8>], dice: &mut Dice) {
    match dice.below(12) {
        0 => text::mutate(file, dice),
        1 => {
            let at = dice.below(file.len() + 1);
            file.splice(at..at, dice.pick(&PIECES).bytes());
        }
        2..=3 => {
            let at = boundary(file, dice);
            file.splice(at..at, dice.pick(&PIECES).bytes());
        }
        4..=5 => replace(file, b"=\"", b"\"", dice.pick(&VALUES), dice),
        6 => replace(file, b"=\"", b"\"", dice.pick(&PIECES), dice),
        7 => replace(file, b" ", b"=", dice.pick(&NAMES), dice),
        8 => {
            let before: &[u8] = dice.pick(&[&b"<"[..], b"</"]);
            let after: &[u8] = dice.pick(&[&b" "[..], b">"]);
            replace(file, before, after, dice.pick(&NAMES), dice);
        }
        // The words of a text.
        9 => replace(file, b">\n", b"\n</text>", dice.pick(&PIECES), dice),
        10 => {
            let from = boundary(file, dice);
            let to = (from + dice.between(1, 12)).min(file.len());
            for byte in &mut file[from..to] {
                *byte = if dice.once_in(3) { *byte } else { *byte ^ (*byte >> 1 & 0x20) };
            }
        }
        _ => {
            let other = start(seeds, dice);
            let (head, tail) = (boundary(file, dice), boundary(&other, dice));
            file.truncate(head);
            file.extend_from_slice(&other[tail..]);
        }
    }
}

/// A place where something begins or ends.
fn boundary(file: &[u8], dice: &mut Dice) -> usize {
    let is_sign = |i: &usize| b" \"'<>=/\n&;".contains(&file[*i]);
    let places: Vec<usize> = (0..file.len()).filter(is_sign).collect();
    if places.is_empty() { 0 } else { dice.one(&places) + dice.below(2) }
}

/// Replaces what stands between two signs, somewhere in the file.
fn replace(file: &mut Vec<u8>, before: &[u8], after: &[u8], new: &str, dice: &mut Dice) {
    let find = |from: usize, sign: &[u8]| {
        file[from..].windows(sign.len()).position(|part| part == sign).map(|at| from + at)
    };
    let from = dice.below(file.len() + 1);
    if let Some(start) = find(from, before).map(|at| at + before.len())
        && let Some(end) = find(start, after)
    {
        file.splice(start..end, new.bytes());
    }
}
