//! How different colours look, also to people who confuse red and green.

use std::array;

use super::theme::Colour;

/// What people see: all colours, or without the cones for red or for green (Machado et al., 2009).
const EYES: [[[f64; 3]; 3]; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ],
    [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ],
];

fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    array::from_fn(|i| (0..3).map(|j| matrix[i][j] * v[j]).sum())
}

/// CIE L*a*b* of a colour as these eyes see it.
fn lab(colour: Colour, eyes: &[[f64; 3]; 3]) -> [f64; 3] {
    const XYZ: [[f64; 3]; 3] = [
        [0.412_456_4, 0.357_576_1, 0.180_437_5],
        [0.212_672_9, 0.715_152_2, 0.072_175_0],
        [0.019_333_9, 0.119_192_0, 0.950_304_1],
    ];
    const WHITE: [f64; 3] = [0.950_47, 1.0, 1.088_83];
    let (r, g, b) = colour.rgb;
    let linear = [r, g, b].map(|part| match f64::from(part) / 255.0 {
        part if part <= 0.040_45 => part / 12.92,
        part => libm::pow((part + 0.055) / 1.055, 2.4),
    });
    let seen = times(eyes, linear).map(|part| part.clamp(0.0, 1.0));
    let xyz = times(&XYZ, seen);
    let [x, y, z] = array::from_fn(|i| match xyz[i] / WHITE[i] {
        t if t > 216.0 / 24389.0 => t.cbrt(),
        t => (24389.0 / 27.0 * t + 16.0) / 116.0,
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The difference of two colours, CIEDE2000.
fn ciede2000(p: [f64; 3], q: [f64; 3]) -> f64 {
    let seventh = |c: f64| (c.powi(7) / (c.powi(7) + 25_f64.powi(7))).sqrt();
    let g = 0.5 * (1.0 - seventh((p[1].hypot(p[2]) + q[1].hypot(q[2])) / 2.0));
    let polar = |[l, a, b]: [f64; 3]| {
        let a = (1.0 + g) * a;
        (l, a.hypot(b), b.atan2(a).to_degrees().rem_euclid(360.0))
    };
    let ((l1, c1, h1), (l2, c2, h2)) = (polar(p), polar(q));
    let turn = (h2 - h1 + 180.0).rem_euclid(360.0) - 180.0;
    let (l, c, h) = ((l1 + l2) / 2.0, (c1 + c2) / 2.0, h1 + turn / 2.0);
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
        - 0.2 * cos(4.0 * h - 63.0);
    let light = (l2 - l1) / (1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt());
    let chroma = (c2 - c1) / (1.0 + 0.045 * c);
    let hue = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin() / (1.0 + 0.015 * c * t);
    let h = h.rem_euclid(360.0);
    let rotation = (60.0 * libm::exp(-((h - 275.0) / 25.0).powi(2))).to_radians().sin();
    let mixed = -2.0 * seventh(c) * rotation * chroma * hue;
    (light.powi(2) + chroma.powi(2) + hue.powi(2) + mixed).sqrt()
}

/// How far two colours are apart, by CIEDE2000: to usual eyes, and to those of people who do not see red, or
/// green, the smaller of the two.
pub fn difference(a: Colour, b: Colour) -> (f64, f64) {
    let [usual, protan, deutan] = EYES.map(|eyes| ciede2000(lab(a, &eyes), lab(b, &eyes)));
    (usual, protan.min(deutan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_ciede2000() {
        // Pairs from Sharma, Wu and Dalal (2005).
        let pairs = [
            ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
            ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
            ([50.0, -1.0, 2.0], [50.0, 0.0, 0.0], 2.3669),
            ([22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373),
        ];
        for (p, q, expected) in pairs {
            assert!((ciede2000(p, q) - expected).abs() < 1e-4, "{p:?} {q:?}: {}", ciede2000(p, q));
        }
    }
}
