//! Choices made by a seeded stream: input number i of a seed is the same on every machine.

use engine::rng::{self, Stream, uniform_below};

/// A stream of choices.
pub struct Dice {
    stream: Stream,
    /// Whether extremes are rare.
    tame: bool,
}

impl Dice {
    /// The choices behind one input.
    pub fn new(seed: u64, input: u64) -> Self {
        Self { stream: rng::stream(seed, &format!("fuzz {input}")), tame: false }
    }

    /// From now on extremes are rare: of an input with many values most should be taken.
    pub fn tame(&mut self) {
        self.tame = true;
    }

    /// Whether the next value may be an extreme one.
    pub fn is_wild(&mut self) -> bool {
        !self.tame || self.once_in(25)
    }

    /// A whole number in [0, `bound`).
    pub fn below(&mut self, bound: usize) -> usize {
        uniform_below(bound as u64, &mut self.stream) as usize
    }

    /// A whole number in [`from`, `to`].
    pub fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// True once in `many`.
    pub fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// One of `choices`.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    /// One of `choices`.
    pub fn one<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        rand::Rng::next_u64(&mut self.stream)
    }

    /// Random bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.bits() as u8).collect()
    }
}
