//! Parts of an experiment, run anywhere and in any order, make the bytes of one run.

use crate::common::{Sandbox, ended, holds, refused};

const CONFIG: &str = r#"
name = "s"
seed = 5
runs = 1300
prior = [[1, 1], [2, 1]]
epsilon = [0.3, 1.0, 3.0]
delta = 1e-6
gamma = [0.5, 1.0]
mechanisms = ["lshist", "ehds", "mh-beta", { id = "ehdl", calibrated = true }]
data.balanced.sizes = [10, 25]
[[panel]]
id = "accuracy"
[[panel]]
id = "privacy"
kind = "privacy"
gamma = 1.0
epsilon = 1.0
prior = [1, 1]
[[panel]]
id = "phase"
kind = "phase"
gamma = 1.0
prior = [1, 1]
mechanisms = ["lshist", "ehds", { id = "ehdl", calibrated = true }]
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("s.toml", CONFIG).write("t.toml", &CONFIG.replace("0.3, 1.0", "0.4, 1.0"));
    sandbox
}

fn run_shard(sandbox: &Sandbox, config: &str, shard: &str, out: &str, threads: &str) {
    sandbox.succeed(&["run", config, "--shard", shard, "--out", out, "--threads", threads, "-q"]);
}

#[test]
fn eight_shards_in_any_order_on_any_threads_make_the_bytes_of_one_run() {
    let sandbox = sandbox();
    sandbox.succeed(&["run", "s.toml", "--format", "svg"]);
    for (i, threads) in
        [(3, "1"), (8, "2"), (1, "5"), (5, "1"), (2, "3"), (7, "1"), (4, "2"), (6, "1")]
    {
        run_shard(&sandbox, "s.toml", &format!("{i}/8"), &format!("p{i}"), threads);
    }
    let parts = ["p7", "p2/s", "p8", "p1", "p3", "p6/s", "p5", "p4"];
    let merge = [&["merge"][..], &parts, &["--out", "merged", "--format", "svg"]].concat();
    let text = sandbox.succeed(&merge);
    assert!(text.contains("wrote merged/s"), "{text}");
    assert!(sandbox.files("merged/s") == sandbox.files("results/s"));
    // Every cell is in one shard, and the parts are about as long.
    let cells = |folder: &str| sandbox.manifest(folder)["cells"].as_array().unwrap().len();
    let counts: Vec<usize> = (1..=8).map(|i| cells(&format!("p{i}/s"))).collect();
    assert_eq!(counts.iter().sum::<usize>(), cells("results/s"));
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    sandbox.succeed(&["verify", "merged/s", "p3/s"]);
    // Of more shards than settings some have no work.
    let few = "name = \"f\"\nruns = 10\nprior = [1, 1]\nepsilon = 1\nmechanisms = [\"lshist\"]\n\
               data.balanced.sizes = [3, 4]\n";
    sandbox.write("f.toml", few).succeed(&["run", "f.toml", "--format", "none"]);
    for i in 1..=3 {
        run_shard(&sandbox, "f.toml", &format!("{i}/3"), &format!("f{i}"), "1");
    }
    sandbox.succeed(&["merge", "f1", "f2", "f3", "--out", "m", "--format", "none"]);
    assert!(sandbox.files("m/f") == sandbox.files("results/f"));
    // A merge is repeated as it is; what was merged is kept by a run of the whole.
    sandbox.succeed(&merge);
    let whole = sandbox.dpbi(&["run", "s.toml", "--out", "merged", "--format", "svg"]);
    holds(&whole.stderr, "all ");
    assert!(sandbox.files("merged/s") == sandbox.files("results/s"));
}

#[test]
fn missing_doubled_and_foreign_shards_are_refused_by_name() {
    let sandbox = sandbox();
    for i in 1..=3 {
        run_shard(&sandbox, "s.toml", &format!("{i}/3"), &format!("p{i}"), "2");
    }
    run_shard(&sandbox, "s.toml", "2/3", "twin", "1");
    run_shard(&sandbox, "t.toml", "2/3", "foreign", "2");
    run_shard(&sandbox, "s.toml", "2/4", "fourth", "2");
    sandbox.succeed(&["run", "s.toml", "--shard", "2/3", "--out", "seeded", "--seed", "6", "-q"]);
    sandbox.succeed(&["run", "s.toml", "--format", "none", "-q"]);
    sandbox.write("other.toml", &CONFIG.replace("\"s\"", "\"o\""));
    run_shard(&sandbox, "other.toml", "2/3", "other", "2");
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let refused = |parts: &[&str], message: &str| {
        let outcome = sandbox.dpbi(&[&["merge"][..], parts, &["--out", "merged"]].concat());
        assert_eq!(outcome.status, 2, "{parts:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{parts:?}: {}", outcome.stderr);
        holds(&outcome.stderr, "help: ");
        assert!(!sandbox.path("merged").exists());
    };
    refused(&["p1", "p3"], "shard 2 of 3 is missing");
    refused(&["p2"], "shards 1, 3 of 3 are missing");
    refused(&["p1", "p2", "twin", "p3"], "p2/s and twin/s are both shard 2 of 3");
    refused(&["p1", "foreign", "p3"], "foreign/s is of another config: `panel` is different");
    refused(&["p1", "seeded", "p3"], "seeded/s is of another config: `seed` is different");
    refused(&["p1", "fourth", "p3"], "fourth/s is of another division: into 4, not into 3");
    refused(&["p1", "other", "p3"], "other/o is of `o`, not of `s`");
    refused(&["p1", "results", "p3"], "results/s holds all of `s`, not a shard");
    refused(&["p1", "empty", "p3"], "empty holds no results of dpbi");
    refused(&["p1", "nowhere", "p3"], "nowhere holds no results of dpbi");
    // One that was changed, and one that was not finished.
    let log = sandbox.read("twin/s/cells.log");
    std::fs::write(sandbox.path("twin/s/cells.log"), &log[..log.len() - 1]).unwrap();
    refused(&["p1", "twin", "p3"], "twin/s/cells.log of shard 2 of 3 is not as it was written");
    let fault = "DPBI_FAULT=ehds@1 $DPBI run s.toml --shard 1/1 --out failing -q";
    assert_eq!(sandbox.shell(fault).status, 1);
    refused(&["failing"], "shard 1 of 1 in failing/s is not finished: 2 of its cells failed");
    let failures = sandbox.text("failing/s/failures.csv");
    assert_eq!(failures.lines().count(), 3, "{failures}");
}

#[test]
fn a_folder_stays_what_it_is() {
    let sandbox = sandbox();
    run_shard(&sandbox, "s.toml", "1/2", "p", "2");
    let refused = |args: &[&str], message: &str| {
        let outcome = sandbox.dpbi(&[&["run", "s.toml", "--format", "none"], args].concat());
        refused(&outcome, message);
    };
    refused(
        &["--out", "p", "--shard", "2/2"],
        "holds shard 1 of 2 of `s`, but this run is shard 2",
    );
    refused(&["--out", "p"], "holds shard 1 of 2 of `s`, but this run is the whole");
    for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/99999999999"] {
        let outcome = sandbox.dpbi(&["run", "s.toml", &format!("--shard={wrong}")]);
        assert_eq!(outcome.status, 2, "{wrong}: {}", outcome.stderr);
    }
    // The same shard again has nothing to do.
    let again = sandbox.dpbi(&["run", "s.toml", "--shard", "1/2", "--out", "p"]);
    holds(&again.stderr, "cells are kept from an earlier run");
    holds(&again.stdout, "s, shard 1 of 2: ");
}

#[test]
fn shards_of_another_division_are_refused_before_anything_is_written() {
    let sandbox = sandbox();
    for i in 1..=2 {
        run_shard(&sandbox, "s.toml", &format!("{i}/2"), &format!("p{i}"), "2");
    }
    let sound = [1, 2].map(|i| sandbox.manifest(&format!("p{i}/s")));
    let cases = |manifest: &serde_json::Value| manifest["division"]["cases"].as_u64().unwrap();
    assert_eq!(sound[0]["division"]["rule"], 1);
    assert!(cases(&sound[0]).abs_diff(cases(&sound[1])) <= 1, "{sound:?}");
    let merge = || sandbox.dpbi(&["merge", "p1", "p2", "--out", "merged"]);
    let refused_with = |rules: [Option<u64>; 2], message: &str| {
        for (i, rule) in rules.into_iter().enumerate() {
            let mut manifest = sound[i].clone();
            match rule {
                Some(rule) => manifest["division"]["rule"] = rule.into(),
                None => drop(manifest.as_object_mut().unwrap().remove("division")),
            }
            sandbox.forge_manifest(&format!("p{}/s", i + 1), manifest);
        }
        refused(&merge(), message);
        assert!(!sandbox.path("merged").exists());
    };
    let mixed = "join only shards of one config, made by one version, with one N";
    let older = "p2/s is of another division: by the rule of an older dpbi, not by rule 1";
    refused_with([Some(1), None], &format!("{older} … {mixed}"));
    let newer = "p2/s is of another division: by rule 2, not by rule 1";
    refused_with([Some(1), Some(2)], &format!("{newer} … {mixed}"));
    let whole = "or run them again with this one";
    let newer = "p1/s was divided by rule 2, this dpbi divides by rule 1";
    refused_with([Some(2); 2], &format!("{newer} … {whole}"));
    let older = "p1/s was divided by the rule of an older dpbi, this dpbi";
    refused_with([None; 2], &format!("{older} … {whole}"));
    // A shard that says of itself what cannot be.
    let mut wrong = sound[0].clone();
    wrong["division"]["cases"] = 1.into();
    sandbox.forge_manifest("p1/s", wrong);
    sandbox.forge_manifest("p2/s", sound[1].clone());
    refused(&merge(), "p1/s has 1 cases with  … help: run it again: ");
    assert!(!sandbox.path("merged").exists());
    let verified = sandbox.dpbi(&["verify", "p1/s"]);
    ended(&verified, 3, "is not the one that this dpbi makes");
    sandbox.forge_manifest("p1/s", sound[0].clone());
    sandbox.succeed(&["merge", "p1", "p2", "--out", "merged", "--format", "none"]);
}
