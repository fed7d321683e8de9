//! Mutations of the bundled configs that know what a key means.

use toml::{Table, Value};

use super::dice::Dice;
use super::{grammar, value};

/// A step on the way to a value.
#[derive(Clone)]
enum Step {
    Key(String),
    Place(usize),
}

/// One of `bases` with one mutation or a few.
pub fn config(bases: &[Table], dice: &mut Dice) -> Table {
    let mut tree = Value::Table(dice.one(bases).clone());
    if !dice.once_in(500) {
        slim(&mut tree);
    }
    for _ in 0..dice.between(1, 3) {
        mutate(&mut tree, bases, dice);
    }
    match tree {
        Value::Table(table) => table,
        other => Table::from_iter([("name".to_owned(), other)]),
    }
}

/// Shortens long ranges: maps of thousands of settings take long, and find no more than small ones.
fn slim(tree: &mut Value) {
    match tree {
        Value::Array(list) => list.iter_mut().for_each(slim),
        Value::Table(table) => {
            if let Some(Value::Integer(count)) = table.get_mut("count") {
                *count = (*count).min(3);
            }
            table.iter_mut().for_each(|(_, inner)| slim(inner));
        }
        _ => {}
    }
}

/// The way to every value in a tree.
fn places(tree: &Value) -> Vec<Vec<Step>> {
    fn walk(tree: &Value, way: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
        let mut visit = |step: Step, inner: &Value| {
            way.push(step);
            found.push(way.clone());
            walk(inner, way, found);
            way.pop();
        };
        match tree {
            Value::Table(table) => table.iter().for_each(|(k, v)| visit(Step::Key(k.clone()), v)),
            // Far into a long list all elements are alike.
            Value::Array(list) => {
                list.iter().enumerate().take(8).for_each(|(i, v)| visit(Step::Place(i), v));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(tree, &mut Vec::new(), &mut found);
    found
}

fn at<'a>(tree: &'a mut Value, way: &[Step]) -> &'a mut Value {
    way.iter().fold(tree, |tree, step| match step {
        Step::Key(key) => &mut tree[key.as_str()],
        Step::Place(place) => &mut tree[*place],
    })
}

/// The last key on a way.
fn key(way: &[Step]) -> &str {
    let keys = way.iter().rev().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Place(_) => None,
    });
    keys.into_iter().next().unwrap_or("")
}

fn mutate(tree: &mut Value, bases: &[Table], dice: &mut Dice) {
    let places = places(tree);
    if places.is_empty() {
        return;
    }
    let way = dice.one(&places).clone();
    match dice.below(20) {
        0..=7 => fitting(at(tree, &way), key(&way), dice),
        8..=10 => graft(tree, &way, bases, dice),
        11 => *at(tree, &way) = value::any(dice),
        12 => remove(tree, &way),
        13 => {
            let other = dice.one(&places).clone();
            let (here, there) = (at(tree, &way).clone(), at(tree, &other).clone());
            *at(tree, &other) = here;
            // The first may have been inside the second.
            if !way.starts_with_way(&other) {
                *at(tree, &way) = there;
            }
        }
        14 => repeat(at(tree, &way), dice),
        15 => {
            let inner = at(tree, &way);
            *inner = Value::Array(vec![inner.clone()]);
        }
        16 => {
            if let Some(Value::Array(list)) = way.split_last().map(|(_, rest)| at(tree, rest)) {
                list.reverse();
            }
        }
        17 => rename(tree, &way, dice),
        _ => insert(tree, &way, dice),
    }
}

trait Ways {
    fn starts_with_way(&self, other: &[Step]) -> bool;
}

impl Ways for Vec<Step> {
    fn starts_with_way(&self, other: &[Step]) -> bool {
        let same = |(a, b): (&Step, &Step)| match (a, b) {
            (Step::Key(a), Step::Key(b)) => a == b,
            (Step::Place(a), Step::Place(b)) => a == b,
            _ => false,
        };
        other.len() <= self.len() && self.iter().zip(other).all(same)
    }
}

/// Another value such as this key may have.
fn fitting(place: &mut Value, key: &str, dice: &mut Dice) {
    *place = match (key, &*place) {
        ("epsilon", Value::Integer(_) | Value::Float(_)) => {
            value::numbers(dice, false, value::number)
        }
        ("delta", Value::Integer(_) | Value::Float(_)) => value::numbers(dice, false, value::share),
        ("sizes", Value::Array(_)) => value::sizes(dice, false),
        ("prior", Value::Array(list)) => {
            let k = list.len().max(1);
            value::prior(dice, k, false)
        }
        ("mechanisms", Value::Array(_)) => value::mechanisms(dice),
        ("mechanisms", _) => value::mechanism(dice),
        ("distance", _) => value::distance(dice),
        ("data", Value::Table(_)) => grammar::data(dice, 2, false),
        ("kind", _) => dice.one(lab::experiment::kind::ALL).id().into(),
        (_, Value::Integer(_)) => value::whole(dice).into(),
        (_, Value::Float(_)) => value::number(dice).into(),
        (_, Value::String(_)) => value::text(dice).into(),
        (_, Value::Boolean(flag)) => Value::Boolean(!flag),
        (_, other) => other.clone(),
    };
}

/// What another config has under the same key.
fn graft(tree: &mut Value, way: &[Step], bases: &[Table], dice: &mut Dice) {
    fn collect<'a>(tree: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
        match tree {
            Value::Table(table) => {
                found.extend(table.get(key));
                table.iter().for_each(|(_, inner)| collect(inner, key, found));
            }
            Value::Array(list) => list.iter().take(8).for_each(|inner| collect(inner, key, found)),
            _ => {}
        }
    }
    let Some(Step::Key(key)) = way.last() else { return };
    let donor = Value::Table(dice.one(bases).clone());
    let mut found = Vec::new();
    collect(&donor, key, &mut found);
    if !found.is_empty() {
        let mut piece = (*dice.one(&found)).clone();
        slim(&mut piece);
        *at(tree, way) = piece;
    }
}

fn remove(tree: &mut Value, way: &[Step]) {
    let Some((last, rest)) = way.split_last() else { return };
    match (at(tree, rest), last) {
        (Value::Table(table), Step::Key(key)) => drop(table.remove(key)),
        (Value::Array(list), Step::Place(place)) => drop(list.remove(*place)),
        _ => {}
    }
}

/// A list becomes longer, a text too.
fn repeat(place: &mut Value, dice: &mut Dice) {
    let times = if dice.once_in(6) { dice.between(10, 3000) } else { 2 };
    match place {
        Value::Array(list) => {
            *list = list.iter().cycle().take(list.len().min(20) * times).cloned().collect()
        }
        Value::String(text) => *text = text.chars().take(20).collect::<String>().repeat(times),
        other => *other = Value::Array(vec![other.clone(); times]),
    }
}

fn rename(tree: &mut Value, way: &[Step], dice: &mut Dice) {
    let Some((Step::Key(key), rest)) = way.split_last() else { return };
    if let Value::Table(table) = at(tree, rest)
        && let Some(inner) = table.remove(key)
    {
        let mut name: Vec<char> = key.chars().collect();
        let place = dice.below(name.len() + 1);
        match dice.below(3) {
            0 => name.insert(place, 'x'),
            1 if place < name.len() => drop(name.remove(place)),
            _ => name = value::text(dice).chars().collect(),
        }
        table.insert(name.into_iter().collect(), inner);
    }
}

/// A key more, such as configs have.
fn insert(tree: &mut Value, way: &[Step], dice: &mut Dice) {
    let Some((_, rest)) = way.split_last() else { return };
    if let Value::Table(table) = at(tree, rest) {
        let wide = dice.once_in(30);
        let (key, value) = match dice.below(9) {
            0 => ("delta", value::numbers(dice, wide, value::share)),
            1 => ("gamma", value::numbers(dice, wide, value::number)),
            2 => ("epsilon", value::numbers(dice, wide, value::number)),
            3 => ("runs", value::whole(dice).into()),
            4 => ("distance", value::distance(dice)),
            5 => ("seed", value::whole(dice).into()),
            6 => ("steps", value::sizes(dice, false)),
            7 => ("prior", value::prior(dice, 2, wide)),
            _ => ("data", grammar::data(dice, 2, wide)),
        };
        table.insert(key.to_owned(), value);
    }
}
