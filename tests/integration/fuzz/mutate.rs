//! Mutations of sound texts, whatever these mean: a token, a line or any stretch becomes another.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Numbers that a reader may stumble over.
const NUMBERS: &str = "0 -0 -1 7 100 1_000 10001 1000000 0.5 -0.0 1e-8 nan -nan NaN inf -inf 1e400 \
    -1e400 1e-400 5e-324 2.2250738585072014e-308 1e100 1e-100 1e308 0.9999999999999999 4294967296 \
    9007199254740993 9223372036854775807 -9223372036854775808 18446744073709551616 0o17 \
    0xffffffffffffffff 99999999999999999999999999999999999999999999999999";

/// Values of TOML, whole or broken.
const VALUES: [&str; 18] = [
    "true",
    "\"\"",
    "\"../x\"",
    "\"/dev/zero\"",
    "\"renyi:nan\"",
    "\"\\u0000\\n\"",
    "'''\na\nb'''",
    "[]",
    "[[], []]",
    "[1, [2]]",
    "[1, \"a\"]",
    "{}",
    "{ from = 1 }",
    "1979-05-27T07:32:00Z",
    "{ from = 1, to = 10, count = 10000, spacing = \"log\" }",
    "{ from = -1e308, to = 1e308, count = 10000 }",
    "{ from = 5e-324, to = 1e308, count = 5, spacing = \"log\" }",
    "{ from = 1, to = 2, count = 10000, k = 10000 }",
];

/// Pieces of text.
const PIECES: &str =
    "\u{feff} \0 \r \u{202e} e\u{301} \u{1f600} \x1b[31m \" \"\"\" [[panel]]\n [1 , # = ;";

/// What may stand in the place of anything.
fn odd() -> Vec<&'static str> {
    NUMBERS.split(' ').chain(VALUES).chain(PIECES.split(' ')).collect()
}

/// A text of a file is not made longer than this.
const LONGEST: usize = 200_000;

/// Sound files, and the pieces that stand in them, by their sort.
pub struct Corpus {
    pub files: Vec<(String, Vec<u8>)>,
    pieces: BTreeMap<u8, Vec<Vec<u8>>>,
}

impl Corpus {
    /// Of files with their names; `more` has pieces that a file of them may have as well.
    pub fn new(files: Vec<(String, Vec<u8>)>, more: &str) -> Self {
        let mut known: BTreeMap<u8, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for text in files.iter().map(|(_, text)| text.as_slice()).chain([more.as_bytes()]) {
            for range in Target::Token.places(text).into_iter().chain(Target::Line.places(text)) {
                let piece = &text[range];
                known.entry(sort(piece)).or_default().insert(piece.to_vec());
            }
        }
        let pieces = known.into_iter().map(|(sort, pieces)| (sort, pieces.into_iter().collect()));
        Self { files, pieces: pieces.collect() }
    }

    /// Another piece of the same sort.
    fn like(&self, piece: &[u8], which: Index) -> Vec<u8> {
        self.pieces.get(&sort(piece)).map_or(Vec::new(), |all| which.get(all).clone())
    }

    /// One of the files with one mutation or a few: its place and its text.
    pub fn mutated(&self) -> impl Strategy<Value = (usize, Vec<u8>)> {
        let mutations = vec(Mutation::any(), 1..4);
        (0..self.files.len(), mutations).prop_map(|(place, mutations)| {
            let mut text = self.files[place].1.clone();
            mutations.iter().for_each(|mutation| mutation.apply(&mut text, Some(self)));
            (place, text)
        })
    }
}

/// What a piece of text is: one of the same sort may take its place. A number, a quoted text, a line, or a word.
fn sort(piece: &[u8]) -> u8 {
    let text = String::from_utf8_lossy(piece);
    match () {
        () if text.trim().parse::<f64>().is_ok() => 0,
        () if text.starts_with('"') => 1,
        () if text.ends_with('\n') => 2,
        () => 3,
    }
}

/// What a mutation replaces.
#[derive(Clone, Copy, Debug)]
enum Target {
    Token,
    /// What stands on one side of an equals sign.
    Side,
    Line,
    /// Some bytes, whatever they are.
    Stretch,
    /// Everything from somewhere on.
    Rest,
}

impl Target {
    /// Where such a target stands in a text.
    fn places(self, text: &[u8]) -> Vec<Range<usize>> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._\"".contains(&byte);
        let belongs = |a: u8, b: u8| match self {
            Self::Token => is_part(a) && is_part(b),
            Self::Side => a != b'=' && b != b'\n',
            Self::Line => a != b'\n',
            Self::Stretch | Self::Rest => false,
        };
        let mut start = 0;
        let ranges = text.chunk_by(|&a, &b| belongs(a, b)).map(|piece| {
            start += piece.len();
            start - piece.len()..start
        });
        match self {
            Self::Token => ranges.filter(|range| is_part(text[range.start])).collect(),
            Self::Rest => ranges.map(|range| range.start..text.len()).collect(),
            Self::Stretch => {
                ranges.map(|range| range.start..text.len().min(range.end + 20)).collect()
            }
            Self::Side | Self::Line => ranges.collect(),
        }
    }
}

/// What a mutation puts there.
#[derive(Clone, Copy, Debug)]
enum Replacement {
    /// A piece of the same sort, from any file.
    Known,
    /// The same, and the old piece after it.
    Inserted,
    Odd,
    Nothing,
    Repeated(usize),
    Flipped,
    /// In two bytes a character.
    Wide,
}

/// One change of a text.
#[derive(Clone, Debug)]
pub struct Mutation {
    target: Target,
    replacement: Replacement,
    place: Index,
    which: Index,
}

impl Mutation {
    pub fn any() -> impl Strategy<Value = Self> {
        let target = prop_oneof![
            6 => Just(Target::Token),
            2 => select(&[Target::Side, Target::Line][..]),
            1 => select(&[Target::Stretch, Target::Rest][..]),
        ];
        use Replacement::*;
        let rare = [Inserted, Nothing, Repeated(2), Repeated(3000), Flipped, Wide];
        let replacement = prop_oneof![
            6 => Just(Known),
            2 => Just(Odd),
            2 => select(rare.to_vec()),
        ];
        (target, replacement, any::<Index>(), any::<Index>()).prop_map(
            |(target, replacement, place, which)| Self { target, replacement, place, which },
        )
    }

    /// Changes a text; without a corpus, as bytes without meaning.
    pub fn apply(&self, text: &mut Vec<u8>, corpus: Option<&Corpus>) {
        let target = if corpus.is_some() { self.target } else { Target::Stretch };
        let places = target.places(text);
        if places.is_empty() {
            return;
        }
        let range = self.place.get(&places).clone();
        let old = &text[range.clone()];
        let odd = || self.which.get(&odd()).as_bytes().to_vec();
        let known = || corpus.map_or_else(odd, |corpus| corpus.like(old, self.which));
        let new = match self.replacement {
            Replacement::Known => known(),
            Replacement::Inserted => [&known(), old].concat(),
            Replacement::Odd => odd(),
            Replacement::Nothing => Vec::new(),
            Replacement::Repeated(times) => {
                old.repeat(times.min(LONGEST.saturating_sub(text.len()) / old.len()))
            }
            Replacement::Flipped => {
                let mut new = old.to_vec();
                new[self.which.index(old.len())] ^= 1 << self.which.index(8);
                new
            }
            Replacement::Wide => old.iter().flat_map(|&byte| [byte, 0]).collect(),
        };
        text.splice(range, new);
    }
}
