//! The JSON Schema of a release file.

use serde_json::{Value, json};

use super::document::{ONE, SEVERAL, VERSION};

/// The schema of what `dpbi release --out` writes and `--json` prints.
pub fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A dpbi release",
        "description": "A private release, or several that were made together. Everything in it is public.",
        "anyOf": [{ "$ref": "#/definitions/release" }, { "$ref": "#/definitions/releases" }],
        "definitions": {
            "release": release(),
            "releases": object(
                "Releases of one plan.",
                json!({
                    "format": { "const": SEVERAL },
                    "version": { "const": VERSION },
                    "releases": list(reference("release")),
                    "ledger": or_null(reference("ledger")),
                }),
                &["format", "version", "releases"],
            ),
            "ledger": object(
                "The ledger after the release.",
                json!({
                    "releases": about(whole(), "Releases entered so far."),
                    "spent": about(text(), "Their ε together, a decimal number."),
                    "budget": or_null(text()),
                    "delta": about(or_null(number()), "The δ of the budget."),
                    "composed_delta": about(or_null(number()), "δ of the exact composition at the budget's ε."),
                    "kept": about(or_null(text()), "What keeps the budget."),
                }),
                &["releases", "spent"],
            ),
            "estimate": object(
                "A mean and a credible interval.",
                json!({ "mean": number(), "low": number(), "high": number() }),
                &["mean", "low", "high"],
            ),
            "row": row(),
            "answer": object(
                "How the shares of two groups compare.",
                json!({
                    "probability_greater": number(),
                    "difference": reference("estimate"),
                    "ratio": object(
                        "The first share over the second.",
                        json!({ "median": number(), "low": number(), "high": number() }),
                        &["median", "low", "high"],
                    ),
                }),
                &["probability_greater", "difference", "ratio"],
            ),
            "joint": object(
                "Intervals that hold for all cells at once, with the level (exact) or at least with it.",
                json!({ "exact": { "type": "boolean" }, "intervals": list(list(number())) }),
                &["exact", "intervals"],
            ),
            "accuracy": accuracy(),
        },
    })
}

fn release() -> Value {
    let mut properties = json!({
        "format": { "const": ONE },
        "version": { "const": VERSION },
        "id": about(text(), "What tells it from all other releases."),
        "time": about(text(), "When it was made, in UTC."),
        "name": or_null(text()),
        "columns": about(
            list(object(
                "A column and its categories.",
                json!({ "name": text(), "categories": list(text()) }),
                &["name", "categories"],
            )),
            "The columns of the table; the last one is the outcome. Cells are in order of the first column, \
             then of the second, and so on.",
        ),
        "fixed_groups": or_null(about(list(whole()), "Sizes of the groups, if each is released on its own.")),
        "n": about(whole(), "The number of records."),
        "prior": about(list(number()), "The prior's parameter of every cell."),
        "released": about(list(whole()), "The released count of every cell."),
        "posterior": about(list(number()), "The naive posterior's parameter of every cell."),
        "mechanism": text(),
        "reason": about(text(), "Why this mechanism was taken."),
        "epsilon": about(text(), "The ε that was asked for, a decimal number."),
        "price": about(text(), "The part of ε that rounding costs."),
        "spent": about(text(), "The ε that was spent."),
        "guarantee": text(),
        "level": about(number(), "The probability of credible intervals."),
        "compare": about(list(text()), "Categories whose shares are compared between groups."),
        "histograms": about(list(reference("accuracy")), "The accuracy in every group of a fixed size."),
        "categories": about(list(reference("row")), "The share of every category, without groups."),
        "cells": about(list(reference("row")), "The share of every cell."),
        "margins": list(object(
            "A table of fewer columns.",
            json!({ "columns": text(), "rows": list(reference("row")) }),
            &["columns", "rows"],
        )),
        "groups": list(object(
            "The outcome in one group.",
            json!({ "group": text(), "rows": list(reference("row")) }),
            &["group", "rows"],
        )),
        "comparisons": list(object(
            "The share of a category in two groups.",
            json!({
                "category": text(),
                "group": text(),
                "other": text(),
                "naive": or_null(reference("answer")),
                "aware": or_null(reference("answer")),
            }),
            &["category", "group", "other", "naive", "aware"],
        )),
        "uncompared": about(or_null(text()), "Why there are no noise-aware comparisons."),
        "joint": object(
            "Intervals for all cells at once.",
            json!({ "naive": or_null(reference("joint")), "aware": or_null(reference("joint")) }),
            &["naive", "aware"],
        ),
        "unaware": about(or_null(text()), "Why there is no noise-aware posterior."),
        "ungrouped": about(or_null(text()), "Why no share within a group is noise-aware."),
        "ledger": or_null(reference("ledger")),
    });
    if let (Value::Object(all), Value::Object(more)) =
        (&mut properties, accuracy()["properties"].take())
    {
        all.extend(more);
    }
    object("A release.", properties, &super::document::READ)
}

fn row() -> Value {
    object(
        "The share of some cells.",
        json!({
            "category": text(),
            "cell": text(),
            "categories": text(),
            "released": about(or_null(whole()), "Their released counts together."),
            "parameter": about(number(), "The naive posterior's parameter of a category."),
            "naive": about(or_null(reference("estimate")), "The released counts are taken for the true ones."),
            "aware": about(or_null(reference("estimate")), "The noise is taken into account."),
            "naive_coverage": about(
                or_null(number()),
                "The probability of the naive interval under the noise-aware posterior.",
            ),
        }),
        &["naive", "aware"],
    )
}

fn accuracy() -> Value {
    object(
        "The privacy loss and the expected error of a histogram.",
        json!({
            "exact_loss": about(or_null(number()), "The exact privacy loss over all data sets."),
            "loss_at_most": about(or_null(number()), "A bound, where the exact loss takes long."),
            "expected_error": object(
                "Exact mean errors, as Hellinger distances from the true posterior.",
                json!({
                    "predictive": or_null(number()),
                    "estimated": or_null(number()),
                    "standard_error": or_null(number()),
                    "as_released": or_null(number()),
                }),
                &[],
            ),
        }),
        &[],
    )
}

fn object(description: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "description": description,
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

fn about(mut value: Value, description: &str) -> Value {
    value["description"] = description.into();
    value
}

fn or_null(value: Value) -> Value {
    json!({ "anyOf": [value, { "const": null }] })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn number() -> Value {
    json!({ "type": "number" })
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}
