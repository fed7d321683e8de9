//! Values for the keys of a config: mostly such that the reader takes them, some at the very ends
//! of what it takes, some beyond.

use toml::{Table, Value};

use super::dice::Dice;

/// A table of these entries.
pub fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(Table::from_iter(entries.map(|(key, value)| (key.to_owned(), value))))
}

/// Any whole number: small, at a border, or any bits.
pub fn whole(dice: &mut Dice) -> i64 {
    const BORDERS: [i64; 16] = [
        0,
        1,
        2,
        3,
        100_000,
        100_001,
        10_000,
        10_001,
        100_000_000,
        1_000_000_000,
        1 << 31,
        1 << 32,
        1 << 53,
        (1 << 53) + 1,
        i64::MAX,
        i64::MIN,
    ];
    if !dice.is_wild() {
        return dice.below(60) as i64;
    }
    match dice.below(20) {
        0 | 1 => *dice.one(&BORDERS),
        2 => dice.bits() as i64 >> dice.below(64),
        3 => -(dice.below(100) as i64),
        _ => dice.below(60) as i64,
    }
}

/// Any number: usual, at a border, or any bits.
pub fn number(dice: &mut Dice) -> f64 {
    const BORDERS: [f64; 24] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-100,
        1e100,
        9.9e-101,
        1.1e100,
        5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::EPSILON,
        1e-8,
        1e-16,
        0.999_999_999_999_999_9,
        1.000_000_000_000_000_2,
        1e15,
        1e16,
        1e-3,
        1e3,
    ];
    let usual = |dice: &mut Dice| (1 + dice.below(9_999)) as f64 / 1000.0;
    if !dice.is_wild() {
        return usual(dice);
    }
    match dice.below(16) {
        0 => *dice.one(&BORDERS),
        1 => f64::from_bits(dice.bits()),
        2 => 10_f64.powi(dice.below(200) as i32 - 100),
        3..=8 => (1 + dice.below(20)) as f64,
        _ => usual(dice),
    }
}

/// A number between 0 and 1, as a rule.
pub fn share(dice: &mut Dice) -> f64 {
    let odd = dice.is_wild() && dice.once_in(12);
    if odd { number(dice) } else { (1 + dice.below(99)) as f64 / 100.0 }
}

/// A text: a word as a rule, now and then empty, long or with odd characters.
pub fn text(dice: &mut Dice) -> String {
    const ODD: [&str; 12] = [
        "",
        " ",
        "\n",
        "\0",
        "\u{1b}[1m",
        "..",
        "a/b",
        "\u{202e}",
        "日本語",
        "e\u{301}",
        "NaN",
        ".x",
    ];
    let choice = if dice.is_wild() { dice.below(12) } else { 12 };
    match choice {
        0 => (*dice.one(&ODD)).to_owned(),
        1 => dice.pick(&["x", "ε", "日", "a\n"]).repeat(dice.between(1, 3000)),
        _ => format!("{}{}", dice.pick(&["a", "b", "ehds", "n_", "Größe"]), dice.below(100)),
    }
}

/// So many of something: few as a rule.
pub fn length(dice: &mut Dice) -> usize {
    let choice = if dice.is_wild() { dice.below(60) } else { 60 };
    match choice {
        0 => 0,
        1 => dice.between(100, 2000),
        2..=5 => dice.between(4, 20),
        _ => dice.between(1, 3),
    }
}

fn list(dice: &mut Dice, mut element: impl FnMut(&mut Dice) -> Value) -> Value {
    if dice.once_in(3) {
        return element(dice);
    }
    let length = length(dice);
    Value::Array((0..length).map(|_| element(dice)).collect())
}

/// `{ from, to, count, spacing }`; `wide` ones have very many numbers.
pub fn range(dice: &mut Dice, whole_ends: bool, wide: bool) -> Value {
    let count = match wide {
        true => dice.between(1000, 10_000) as i64,
        false if dice.is_wild() && dice.once_in(10) => whole(dice),
        false => dice.between(2, 5) as i64,
    };
    let mut end = || match whole_ends {
        true => Value::Integer(whole(dice)),
        false => Value::Float(number(dice)),
    };
    let (mut from, mut to) = (end(), end());
    if from.as_integer() > to.as_integer() || from.as_float() > to.as_float() {
        std::mem::swap(&mut from, &mut to);
    }
    let mut range = table([("from", from), ("to", to), ("count", count.into())]);
    if let (true, Some(range)) = (dice.once_in(2), range.as_table_mut()) {
        range.insert("spacing".into(), (*dice.one(&["linear", "log"])).into());
    }
    range
}

/// A number, a list or a range of numbers.
pub fn numbers(dice: &mut Dice, wide: bool, element: fn(&mut Dice) -> f64) -> Value {
    if wide || dice.once_in(8) {
        return range(dice, false, wide);
    }
    list(dice, |dice| element(dice).into())
}

/// A number of records, a list or a range of them.
pub fn sizes(dice: &mut Dice, wide: bool) -> Value {
    if wide || dice.once_in(8) {
        return range(dice, true, wide);
    }
    list(dice, |dice| whole(dice).into())
}

/// A prior of `k` categories, several of them, or a range.
pub fn prior(dice: &mut Dice, k: usize, wide: bool) -> Value {
    if wide || dice.once_in(10) {
        let mut range = range(dice, false, wide);
        let k = if wide { dice.between(2, 10_000) } else { k };
        if let Some(range) = range.as_table_mut() {
            range.insert("k".into(), (k as i64).into());
        }
        return range;
    }
    let vector = |dice: &mut Dice| {
        let symmetric = dice.once_in(2).then(|| number(dice));
        Value::Array((0..k).map(|_| symmetric.unwrap_or_else(|| number(dice)).into()).collect())
    };
    match dice.once_in(4) {
        true => list(dice, vector),
        false => vector(dice),
    }
}

/// A vector of `k` counts.
pub fn counts(dice: &mut Dice, k: usize) -> Value {
    Value::Array((0..k).map(|_| whole(dice).into()).collect())
}

/// A value of any type.
pub fn any(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => whole(dice).into(),
        1 => number(dice).into(),
        2 => text(dice).into(),
        3 => Value::Boolean(dice.once_in(2)),
        4 => Value::Array(Vec::new()),
        5 => numbers(dice, false, number),
        6 => prior(dice, 2, false),
        7 => Value::Table(Table::new()),
        8 => Value::Datetime("1979-05-27T07:32:00Z".parse().expect("a date")),
        _ => {
            let depth = dice.between(1, 60);
            (0..depth).fold(Value::Integer(1), |inner, _| Value::Array(vec![inner]))
        }
    }
}

/// Names of Rényi divergences, not all of them right.
const RENYI: [&str; 5] = ["renyi:0.5", "renyi:2", "renyi:1e-300", "renyi:nan", "renyi:"];

/// The name of a distance.
pub fn distance(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => text(dice).into(),
        1 => format!("renyi:{}", number(dice)).into(),
        2..=4 => "hellinger".into(),
        _ => {
            let named = engine::posterior::distance::NAMED.iter().map(|distance| distance.id());
            let names: Vec<&str> = named.chain(RENYI).collect();
            (*dice.one(&names)).into()
        }
    }
}

/// A mechanism, by its name or with options.
pub fn mechanism(dice: &mut Dice) -> Value {
    let mechanism = *dice.one(engine::mechanism::ALL);
    if dice.once_in(2) {
        return mechanism.id().into();
    }
    let mut options = Table::new();
    options.insert("id".into(), mechanism.id().into());
    if dice.once_in(2) {
        options.insert("label".into(), text(dice).into());
    }
    for choice in mechanism.choices().iter().map(|choice| choice.key()).chain(["remap"]) {
        if dice.once_in(4) {
            options.insert(choice.into(), option(choice, dice));
        }
    }
    Value::Table(options)
}

fn option(choice: &str, dice: &mut Dice) -> Value {
    match choice {
        "global" => (*dice.one(&["exact", "bound"])).into(),
        "candidates_in_beta" => {
            use engine::named::Named;
            dice.one(engine::posterior::sensitivity::CandidatesInBeta::ALL).id().into()
        }
        "calibrated" | "remap" => Value::Boolean(!dice.once_in(4)),
        _ => number(dice).into(),
    }
}

/// A list of mechanisms, mostly all different.
pub fn mechanisms(dice: &mut Dice) -> Value {
    let length = length(dice);
    let mut list: Vec<Value> = Vec::new();
    for _ in 0..length.min(200) {
        let mechanism = mechanism(dice);
        if !list.contains(&mechanism) || dice.once_in(20) {
            list.push(mechanism);
        }
    }
    Value::Array(list)
}
