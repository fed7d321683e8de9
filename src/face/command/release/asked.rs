//! A release as it was written, by flags or in a file, and how it is checked.

use std::collections::BTreeSet;

use engine::mechanism::Mechanism;
use engine::posterior::model::{MOST_RECORDS, Prior};
use engine::posterior::privacy::Delta;
use engine::refusal::suggest;
use lab::experiment::config::MOST_CATEGORIES;
use service::release::{
    Amount, Attribute, Budget, PRIVATE_N_MECHANISM, Request, Table, check_releases,
};
use system::diagnostic::Diagnostic;

/// The parameters of a group, or of all groups if there is no name.
pub type GroupPrior = (Option<String>, Vec<f64>);

/// A release as it was written. Names of columns and groups are as the user gave them.
pub struct Asked {
    pub by: Vec<String>,
    pub column: String,
    /// The categories of columns; those without a name belong to the only column.
    pub categories: Vec<(Option<String>, Vec<String>)>,
    pub other: Vec<(Option<String>, String)>,
    /// The sizes of groups; `None` if they are not fixed.
    pub fixed_groups: Option<Vec<(String, u64)>>,
    /// Whether the number of records is private, or not known.
    pub private_n: bool,
    /// Parameters of groups; those without a name hold for all of them.
    pub prior: Vec<GroupPrior>,
    /// None where nothing is released.
    pub epsilon: Option<String>,
    pub mechanism: Option<String>,
}

/// A complaint about the value of a key: the key, and the cause.
pub type Wrong<'a> = &'a dyn Fn(&str, &str) -> Diagnostic;

/// With a larger parameter, the ends of an interval would be the same double.
const LARGEST_PRIOR: f64 = 1e12;

/// The most columns of a table: it has 14 margins then.
const MOST_COLUMNS: usize = 4;

impl Asked {
    /// The request, checked.
    pub fn check(&self, wrong: Wrong) -> Result<Request, Diagnostic> {
        let table = self.table(wrong)?;
        let prior = self.prior(&table, wrong)?;
        let fixed = self.fixed(&table, wrong)?;
        let parse = |label: &String| {
            Mechanism::parse(label)
                .map_err(|refusal| wrong("mechanism", &refusal.cause).help(refusal.remedy))
        };
        let variant = self.mechanism.as_ref().map(parse).transpose()?;
        if let Some(variant) = &variant {
            let k = if fixed.is_some() { table.outcomes() } else { table.cells() };
            check_releases(variant, k)
                .map_err(|refusal| wrong("mechanism", &refusal.cause).help(refusal.remedy))?;
        }
        self.check_private_n(variant.as_ref(), wrong)?;
        Ok(Request {
            table,
            fixed,
            private_n: self.private_n,
            prior,
            epsilon: match &self.epsilon {
                Some(epsilon) => positive("epsilon", epsilon, wrong)?,
                None => Amount::ZERO,
            },
            variant,
        })
    }

    /// If the number of records is private, nothing may tell it.
    fn check_private_n(&self, variant: Option<&Mechanism>, wrong: Wrong) -> Result<(), Diagnostic> {
        if self.private_n && self.fixed_groups.is_some() {
            let cause =
                "the sizes of the groups tell the number of records, which is to be private";
            return Err(wrong("fixed-groups", cause).help("leave out one of both"));
        }
        match variant.filter(|variant| self.private_n && variant.label != PRIVATE_N_MECHANISM) {
            None => Ok(()),
            Some(other) => {
                let cause = format!(
                    "`{}` is made for a known number of records, which is to be private",
                    other.label
                );
                Err(wrong("mechanism", &cause)
                    .help(format!("leave it out: the noise is that of {PRIVATE_N_MECHANISM}")))
            }
        }
    }

    fn table(&self, wrong: Wrong) -> Result<Table, Diagnostic> {
        let columns: Vec<&str> =
            self.by.iter().chain([&self.column]).map(|name| name.trim()).collect();
        let mut seen = BTreeSet::new();
        if let Some(twice) = columns.iter().find(|column| !seen.insert(**column)) {
            let key = if *twice == self.column.trim() { "column" } else { "by" };
            return Err(wrong(key, &format!("the column `{twice}` is named twice"))
                .help("name every column once"));
        }
        if columns.len() > MOST_COLUMNS {
            let cause = format!("{} columns are too many", columns.len());
            return Err(wrong("by", &cause).help(format!("use at most {MOST_COLUMNS}")));
        }
        let mut attributes = Vec::new();
        for &column in &columns {
            let listed = belonging("categories", &self.categories, column, &columns, wrong)?;
            let categories = listed.cloned().unwrap_or_default();
            check_categories(&categories, wrong)?;
            let other = belonging("other", &self.other, column, &columns, wrong)?;
            let other = other.map(|other| place("other", other, &categories, wrong)).transpose()?;
            attributes.push(Attribute { name: column.to_owned(), categories, other });
        }
        let table = Table::new(attributes);
        match table.cells() as u64 {
            ..=MOST_CATEGORIES => Ok(table),
            cells => Err(wrong("categories", &format!("a table of {cells} cells is too large"))
                .help(format!("use at most {MOST_CATEGORIES} cells"))),
        }
    }

    /// The prior's parameter of every cell.
    fn prior(&self, table: &Table, wrong: Wrong) -> Result<Vec<f64>, Diagnostic> {
        let (groups, outcomes, cells) = (table.groups(), table.outcomes(), table.cells());
        let fill = |alpha: &[f64]| match alpha.len() {
            1 => Some(vec![alpha[0]; outcomes]),
            many if many == outcomes => Some(alpha.to_vec()),
            _ => None,
        };
        let parameters = match self.prior.as_slice() {
            [(None, alpha)] if alpha.len() == cells => Some(alpha.clone()),
            [(None, alpha)] => fill(alpha).map(|alpha| alpha.repeat(groups)),
            named => {
                let mut parameters = Vec::new();
                for group in 0..groups {
                    let name = table.group_name(group);
                    let found = named.iter().find(|(group, _)| group.as_ref() == Some(&name));
                    let alpha = found.and_then(|(_, alpha)| fill(alpha)).ok_or_else(|| {
                        let cause = format!("group `{name}` has no prior");
                        wrong("prior", &cause)
                            .help(format!("give {outcomes} numbers, or one, for every group"))
                    })?;
                    parameters.extend(alpha);
                }
                if named.len() > groups {
                    let names: Vec<String> = (0..groups).map(|g| table.group_name(g)).collect();
                    let mut given = named.iter().filter_map(|(name, _)| name.as_ref());
                    return Err(match given.find(|name| !names.contains(name)) {
                        Some(unknown) => wrong("prior", &format!("there is no group `{unknown}`"))
                            .help(suggest(unknown, names.iter().map(String::as_str))),
                        None => {
                            wrong("prior", "a group has two of them").help("give each group one")
                        }
                    });
                }
                Some(parameters)
            }
        };
        let Some(parameters) = parameters else {
            let given = self.prior.first().map_or(0, |(_, alpha)| alpha.len());
            let cause = match groups {
                1 => format!("{given} numbers for {outcomes} categories"),
                _ => format!("{given} numbers for {outcomes} categories in {groups} groups"),
            };
            let help = match groups {
                1 => "give one number for all categories, or one for every category (all 1 is the \
                      uniform prior); names that hold a comma stand in a file, --categories-from"
                    .to_owned(),
                _ => format!(
                    "give one number for all cells, {outcomes} that hold in every group, or {cells}, \
                     one for every cell"
                ),
            };
            return Err(wrong("prior", &cause).help(help));
        };
        Prior::new(parameters.clone())
            .map_err(|error| wrong("prior", &error.to_string()).help("use for example 1"))?;
        match parameters.iter().find(|alpha| **alpha > LARGEST_PRIOR) {
            Some(large) => Err(wrong("prior", &format!("{large:?} outweighs any data"))
                .help(format!("use at most {LARGEST_PRIOR:e}"))),
            None => Ok(parameters),
        }
    }

    /// The sizes of the groups, in order.
    fn fixed(&self, table: &Table, wrong: Wrong) -> Result<Option<Vec<u64>>, Diagnostic> {
        const KEY: &str = "fixed-groups";
        let Some(named) = &self.fixed_groups else { return Ok(None) };
        let names: Vec<String> = (0..table.groups()).map(|group| table.group_name(group)).collect();
        if let Some((unknown, _)) = named.iter().find(|(name, _)| !names.contains(name)) {
            let help = suggest(unknown, names.iter().map(String::as_str));
            return Err(wrong(KEY, &format!("there is no group `{unknown}`")).help(help));
        }
        let mut sizes = Vec::new();
        for name in &names {
            let found: Vec<u64> =
                named.iter().filter(|(other, _)| other == name).map(|(_, size)| *size).collect();
            match found[..] {
                [size] if (1..=MOST_RECORDS).contains(&size) => sizes.push(size),
                [size] => {
                    let cause = format!("group `{name}` cannot have {size} records");
                    return Err(wrong(KEY, &cause).help("use at least 1"));
                }
                [] => {
                    let cause = format!("the size of group `{name}` is missing");
                    return Err(wrong(KEY, &cause).help(WHY_FIXED));
                }
                _ => {
                    let cause = format!("group `{name}` is named twice");
                    return Err(wrong(KEY, &cause).help("name every group once"));
                }
            }
        }
        Ok(Some(sizes))
    }
}

/// Why groups are released on their own only if their sizes are fixed.
pub const WHY_FIXED: &str = "groups are released on their own only if the size of each is public and fixed by \
     design. Otherwise a record that changes its group changes two histograms, and each would cost ε. Without \
     fixed groups all cells are released as one histogram, at ε";

/// What was given for a column: by its name, or without one if there is only one column.
fn belonging<'a, T>(
    key: &str,
    given: &'a [(Option<String>, T)],
    column: &str,
    columns: &[&str],
    wrong: Wrong,
) -> Result<Option<&'a T>, Diagnostic> {
    let unknown = |name: &&String| !columns.contains(&name.as_str());
    if let Some(unknown) = given.iter().filter_map(|(name, _)| name.as_ref()).find(unknown) {
        let help = suggest(unknown, columns.iter().copied());
        return Err(wrong(key, &format!("no column is called `{unknown}`")).help(help));
    }
    if columns.len() > 1 && given.iter().any(|(name, _)| name.is_none()) {
        return Err(wrong(key, "this does not say which column it is about")
            .help(format!("with several columns, name the column: --{key} {column}=…")));
    }
    let mut belonging =
        given.iter().filter(|(name, _)| name.as_ref().is_none_or(|name| name == column));
    let first = belonging.next();
    if belonging.next().is_some() {
        return Err(wrong(key, &format!("given twice for `{column}`")).help("give it once"));
    }
    Ok(first.map(|(_, value)| value))
}

/// Refuses categories that are not at least two different names.
fn check_categories(categories: &[String], wrong: Wrong) -> Result<(), Diagnostic> {
    const KEY: &str = "categories";
    if categories.iter().any(String::is_empty) {
        return Err(wrong(KEY, "a category has no name")
            .help("leave out the comma; empty values go to --other"));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = categories.iter().find(|category| !seen.insert(*category)) {
        return Err(wrong(KEY, &format!("`{twice}` occurs twice")).help("name every category once"));
    }
    match categories.len() as u64 {
        0 | 1 => Err(wrong(KEY, "there must be at least two categories").help(
            "for example --categories no,yes; with --by, --categories NAME=no,yes for each column",
        )),
        2..=MOST_CATEGORIES => Ok(()),
        many => Err(wrong(KEY, &format!("{many} are too many"))
            .help(format!("use at most {MOST_CATEGORIES}"))),
    }
}

fn place(
    key: &str,
    category: &str,
    categories: &[String],
    wrong: Wrong,
) -> Result<usize, Diagnostic> {
    categories.iter().position(|known| known == category).ok_or_else(|| {
        wrong(key, &format!("`{category}` is none of the categories"))
            .help(suggest(category, categories.iter().map(String::as_str)))
    })
}

/// An amount of privacy above 0.
pub fn positive(key: &str, text: &str, wrong: Wrong) -> Result<Amount, Diagnostic> {
    const REMEDY: &str = "use a decimal number above 0, such as 1";
    match text.parse::<Amount>() {
        Ok(Amount::ZERO) => Err(wrong(key, &format!("`{text}` is nothing")).help(REMEDY)),
        Ok(amount) => Ok(amount),
        Err(error) => Err(wrong(key, &format!("`{text}`: {error}")).help(REMEDY)),
    }
}

/// A budget: E, or E,D with the δ of the exact composition.
pub fn budget(text: &str, wrong: Wrong) -> Result<Budget, Diagnostic> {
    let (epsilon, delta) = text.split_once(',').map_or((text, None), |(e, d)| (e, Some(d)));
    let epsilon = positive("budget", epsilon.trim(), wrong)?;
    let number = |text: &str| {
        let wrong = |cause: &str| wrong("budget", cause).help("use for example --budget 3,1e-6");
        let delta = text.trim().parse::<f64>();
        let delta = delta.map_err(|_| wrong(&format!("`{text}` is not a number")))?;
        Delta::new(delta).map_err(|refusal| wrong(&refusal.cause))
    };
    Ok(Budget { epsilon, delta: delta.map(number).transpose()? })
}

/// The δ of an exact composition.
pub fn check_delta(delta: f64, wrong: Wrong) -> Result<Delta, Diagnostic> {
    Delta::new(delta)
        .map_err(|refusal| wrong("at-delta", &refusal.cause).help("use for example 1e-6"))
}
