//! Helpers of the tests.

use super::canvas::{Canvas, Shape, Text};

/// A small generator of repeatable pseudo-random numbers.
pub(super) struct Lcg(u64);

impl Lcg {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform on [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About `length` letters, some of them spaces.
    pub(super) fn words(&mut self, length: f64) -> String {
        let count = 1 + (self.unit() * length) as usize;
        let mut letter = || match (self.unit() * 30.0) as u8 {
            i @ 0..26 => char::from(b'a' + i),
            _ => ' ',
        };
        (0..count).map(|_| letter()).collect()
    }
}

pub(super) fn texts(canvas: &Canvas) -> Vec<&Text> {
    let shapes = canvas.shapes.iter();
    let texts = shapes.filter_map(|shape| match shape {
        Shape::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

/// Two texts that overlap, if any do.
pub(super) fn overlaps(texts: &[&Text]) -> Option<(String, String)> {
    for (i, a) in texts.iter().enumerate() {
        for b in &texts[i + 1..] {
            let (p, q) = (a.bounds(), b.bounds());
            let beside = p.right() <= q.left + 0.01 || q.right() <= p.left + 0.01;
            let above = p.bottom() <= q.top + 0.01 || q.bottom() <= p.top + 0.01;
            if !beside && !above {
                return Some((a.content.clone(), b.content.clone()));
            }
        }
    }
    None
}
