//! `dpbi generate schema`.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};

use crate::command::{account, audit, choose, claims, inspect, list, mechanisms, optimum};
use crate::command::{json_text, plot, print_document, release, run, verify};
use crate::failure::Failure;
use crate::report::ReportDocument;
use engine::refusal::suggest;
use lab::experiment::config;
use lab::run::size::SizeDocument;
use service::release::document::{PosteriorDocument, ReleaseFile};
use service::selftest;
use system::diagnostic::Diagnostic;

/// A command, and the schema of what it prints.
type Printed = (&'static str, fn() -> Schema);

/// The schema of the document that each command prints with `--json`.
const DOCUMENTS: &[Printed] = &[
    ("run", schema::<Vec<run::Document>>),
    ("check", schema::<Vec<SizeDocument>>),
    ("plot", schema::<Vec<plot::Drawn>>),
    ("merge", schema::<run::Document>),
    ("verify", schema::<Vec<verify::FolderCheck>>),
    ("list", schema::<Vec<list::ListedExperiment>>),
    ("reproduce", schema::<ReportDocument>),
    ("claims", schema::<Vec<claims::Document>>),
    ("inspect", schema::<inspect::Document>),
    ("audit", schema::<audit::Document>),
    ("choose", schema::<choose::Document>),
    ("optimum", schema::<optimum::Document>),
    ("mechanisms", schema::<Vec<mechanisms::ListedMechanism>>),
    ("release", schema::<ReleaseDocument>),
    ("posterior", schema::<PosteriorDocument>),
    ("account", schema::<account::Document>),
    ("selftest", schema::<selftest::Document>),
];

/// A release, or with `--dry-run` what it would cost.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum ReleaseDocument {
    Release(ReleaseFile),
    DryRun(release::dry_run::Document),
}

pub(super) fn print(command: Option<&str>) -> Result<(), Failure> {
    let Some(command) = command else {
        return print_document(&json_text(&config::schema())?);
    };
    let names = DOCUMENTS.iter().map(|(name, _)| *name);
    let Some((_, schema)) = DOCUMENTS.iter().find(|(name, _)| *name == command) else {
        let cause = format!("there is no command `{command}` that prints JSON");
        return Err(Diagnostic::new(cause).help(suggest(command, names)).into());
    };
    let mut schema = schema();
    schema.insert("title".to_owned(), format!("dpbi {command} --json").into());
    print_document(&json_text(&schema)?)
}

fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft07().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(close));
    settings.into_generator().into_root_schema_for::<T>()
}

/// A document has no other keys than its schema names. The names of Rust's types of numbers say nothing.
fn close(schema: &mut Schema) {
    schema.remove("format");
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}
