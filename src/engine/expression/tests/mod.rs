mod faults;
mod random;
mod values;

use super::*;

/// Variables x, y, z and long_name with the numbers 3, 1, 4 and 7, and the constant c = 2.5.
struct Letters;

const VARIABLES: [(&str, usize); 4] = [("x", 3), ("y", 1), ("z", 4), ("long_name", 7)];

impl Names for Letters {
    type Variable = usize;

    fn find(&self, name: &str) -> Option<Symbol<usize>> {
        let variable = VARIABLES.iter().find(|(known, _)| *known == name);
        let variable = variable.map(|(_, number)| Symbol::Variable(*number));
        variable.or_else(|| (name == "c").then_some(Symbol::Constant(2.5)))
    }

    fn known(&self) -> Vec<String> {
        VARIABLES.iter().map(|(name, _)| (*name).to_owned()).chain(["c".to_owned()]).collect()
    }
}

fn parsed(text: &str) -> Expression<usize> {
    Expression::parse(text, &Letters).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

/// The values of the variables x, y and z, and 0 for the last.
fn at(x: f64, y: f64, z: f64) -> impl Fn(usize) -> f64 {
    move |variable| match variable {
        3 => x,
        1 => y,
        4 => z,
        _ => 0.0,
    }
}

fn value(text: &str, x: f64, y: f64, z: f64) -> f64 {
    parsed(text).value(&at(x, y, z))
}

/// The same number; one NaN is as good as another.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
