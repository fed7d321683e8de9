//! `dpbi verify`: any changed byte is found, and named.

use crate::common::{Sandbox, ended, holds, refused};
use engine::rng;
use lab::experiment::config::{self, Overrides};
use lab::run::store::{CellStore, Key, log_head, log_record};
use lab::run::sweep::Sweep;
use system::source::Source;

const CONFIG: &str = r#"
name = "v"
runs = 40
prior = [1, 1]
epsilon = [0.5, 1.0]
gamma = [0.5, 1.0]
mechanisms = ["lshist", "ehds"]
data.balanced.sizes = [8, 12]
[[panel]]
id = "a"
[[panel]]
id = "p"
kind = "privacy"
epsilon = 1.0
gamma = 1.0
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("v.toml", CONFIG).succeed(&["run", "v.toml", "--format", "svg"]);
    sandbox
}

#[test]
fn a_sound_folder_is_sound() {
    let sandbox = sandbox();
    let text = sandbox.succeed(&["verify", "results/v", "--cells", "7", "--seed", "4"]);
    assert!(text.contains("results/v: as it was written"), "{text}");
    assert!(text.contains("7 of 18 cells computed again (--seed 4)"), "{text}");
    let all = sandbox.json(&["verify", "results/v", "--cells", "1000", "--json"]);
    assert_eq!((all[0]["sampled"].as_u64(), all[0]["cells"].as_u64()), (Some(18), Some(18)));
    assert!(all[0]["problems"].as_array().unwrap().is_empty());
}

#[test]
fn a_flipped_byte_anywhere_is_found_and_its_file_named() {
    let sandbox = sandbox();
    let mut chance = rng::stream(2, "flips");
    for (name, bytes) in sandbox.files("results/v") {
        for _ in 0..4 {
            let mut flipped = bytes.clone();
            let place = rng::uniform_below(bytes.len() as u64, &mut chance) as usize;
            flipped[place] ^= 1 << rng::uniform_below(8, &mut chance);
            std::fs::write(sandbox.path(&format!("results/v/{name}")), &flipped).unwrap();
            let outcome = sandbox.dpbi(&["verify", "results/v"]);
            assert_eq!(outcome.status, 3, "{name}, byte {place}: {}", outcome.stderr);
            let file = format!("results/v/{name} is not as it was written");
            assert!(outcome.stderr.contains(&file), "{name}: {}", outcome.stderr);
        }
        std::fs::write(sandbox.path(&format!("results/v/{name}")), &bytes).unwrap();
        sandbox.succeed(&["verify", "results/v", "--cells", "0"]);
    }
}

/// Changes files of the folder, and forges their hashes. What `verify` finds.
fn forged(sandbox: &Sandbox, files: &[(&str, &[u8])]) -> String {
    let mut manifest = sandbox.manifest("results/v");
    for (name, bytes) in files {
        std::fs::write(sandbox.path(&format!("results/v/{name}")), bytes).unwrap();
        manifest["files"][name] = lab::run::store::sha256(bytes).into();
    }
    sandbox.forge_manifest("results/v", manifest);
    let outcome = sandbox.dpbi(&["verify", "results/v", "--cells", "100"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stdout);
    outcome.stdout
}

/// Someone who changes a number and the hashes is caught by the cells; someone who changes these as
/// well, by the computation.
#[test]
fn a_forged_manifest_does_not_help() {
    let sandbox = sandbox();
    let summary = sandbox.text("results/v/summary.csv");
    let other = summary.replacen("lshist", "ehds", 1);
    let found =
        forged(&sandbox, &[("summary.csv", other.as_bytes()), ("a-box-gamma=1.svg", b"<svg/>")]);
    holds(
        &found,
        "summary.csv is not what the cells give … a-box-gamma=1.svg is not what the tables give",
    );
    let found = forged(&sandbox, &[("theory.csv", b"setting\n1\n")]);
    holds(&found, "theory.csv is not a file of this experiment");
    // A sound record of the right cell, with another content.
    let sandbox = self::sandbox();
    let path = sandbox.path("results/v");
    let config = Source::Disk(path.join("config.toml"));
    let experiment = config::load(&config, &Overrides::default()).unwrap();
    let sweep = Sweep::whole(&experiment);
    let store = CellStore::of(&[&path]).unwrap();
    let mut log = log_head();
    for (panel, case) in sweep.cases() {
        for cell in sweep.cells(panel, case) {
            let key = Key::new(&cell.text);
            let (_, mut content) = store.get(key).unwrap().unwrap();
            if (panel, case) == (0, 0) {
                // The last bits of the last error.
                *content.last_mut().unwrap() ^= 1;
            }
            log.extend(log_record(key, &content));
        }
    }
    holds(&forged(&sandbox, &[("cells.log", &log)]), "computed again it is different");
    // The whole as if it were a shard, which has no tables.
    let mut manifest = sandbox.manifest("results/v");
    manifest["shard"] = serde_json::json!({ "index": 1, "count": 1 });
    sandbox.forge_manifest("results/v", manifest);
    holds(&forged(&sandbox, &[]), "summary.csv is not a file of this experiment");
}

/// A folder has one width, which its manifest names.
#[test]
fn figures_are_verified_at_their_own_width() {
    let sandbox = sandbox();
    let (wide, figure) = (sandbox.files("results/v"), "a-box-gamma=1.svg");
    let state = || {
        sandbox.succeed(&["verify", "results/v", "--cells", "0"]);
        (sandbox.manifest("results/v")["width"].clone(), sandbox.files("results/v"))
    };
    assert_eq!(state().0, "text");
    // Another width draws the formats that are there again, and changes no table.
    sandbox.succeed(&["plot", "results/v", "--format", "png", "--width", "column"]);
    let (width, narrow) = state();
    assert_eq!(width, "column");
    assert!(narrow.contains_key("a-box-gamma=1.png") && narrow[figure] != wide[figure]);
    for (name, bytes) in wide.iter().filter(|(name, _)| !name.ends_with(".svg")) {
        assert!(&narrow[name] == bytes, "{name}");
    }
    // A run does, too, and keeps every cell.
    let args = ["run", "v.toml", "--format", "svg", "--width", "text", "--json"];
    let document = sandbox.json(&args);
    assert_eq!(document[0]["kept"], document[0]["cells"]);
    assert!(state() == ("text".into(), wide.clone()));
    // A manifest that names another width is one of other figures.
    let mut manifest = sandbox.manifest("results/v");
    manifest["width"] = "column".into();
    sandbox.forge_manifest("results/v", manifest);
    let outcome = sandbox.dpbi(&["verify", "results/v", "--cells", "0"]);
    ended(&outcome, 3, "a-box-gamma=1.svg is not what the tables give");
}

#[test]
fn what_is_damaged_lost_or_not_finished_is_said() {
    let sandbox = sandbox();
    let verify = || sandbox.dpbi(&["verify", "results/v"]);
    let path = |name: &str| sandbox.path(&format!("results/v/{name}"));
    refused(&sandbox.dpbi(&["verify", "nowhere"]), "nowhere holds no manifest.json of dpbi");
    let sound = sandbox.text("results/v/manifest.json");
    for (text, cause) in [
        (sound.replacen("\"seed\": 0", "\"seed\": 1", 1), "its own SHA-256 does not fit"),
        (sound[..sound.len() / 2].to_owned(), "EOF while parsing"),
        (String::new(), "EOF while parsing"),
    ] {
        sandbox.write("results/v/manifest.json", &text);
        ended(&verify(), 3, &format!("results/v/manifest.json is damaged: {cause}"));
    }
    std::fs::remove_file(path("manifest.json")).unwrap();
    std::fs::create_dir(path("manifest.json")).unwrap();
    assert_eq!(verify().status, 3);
    std::fs::remove_dir(path("manifest.json")).unwrap();
    sandbox.write("results/v/manifest.json", &sound);
    // What is left out of the manifest is missed.
    let omit = |file: &str| {
        let mut manifest = sandbox.manifest("results/v");
        manifest["files"].as_object_mut().unwrap().remove(file);
        sandbox.forge_manifest("results/v", manifest);
    };
    std::fs::remove_file(path("settings.csv")).unwrap();
    omit("settings.csv");
    ended(&verify(), 3, "settings.csv is not what the cells give");
    std::fs::remove_file(path("privacy.csv")).unwrap();
    ended(&verify(), 3, "privacy.csv is gone, or cannot be read");
    omit("config.toml");
    ended(&verify(), 3, "config.toml is not in the manifest");
    // A run of which a cell failed.
    let fault = "rm -r results; DPBI_FAULT=ehds@1 $DPBI run v.toml --format none";
    assert_eq!(sandbox.shell(fault).status, 1);
    ended(&verify(), 3, "results/v is not complete");
}

/// An experiment may be called as the command `optimum` calls its folder: neither touches the other's files.
#[test]
fn an_experiment_called_optimum_and_the_command_stay_apart() {
    let sandbox = Sandbox::new();
    let optimum = ["optimum", "--prior", "1,1", "--n", "4", "--epsilon", "1", "--out"];
    let command = |out: &str| sandbox.dpbi(&[&optimum[..], &[out, "--format", "none"]].concat());
    sandbox.write("o.toml", &CONFIG.replace("\"v\"", "\"optimum\""));
    sandbox.succeed(&["run", "o.toml", "--format", "none"]);
    let before = sandbox.files("results/optimum");
    refused(&command("results"), "is the manifest of `optimum`, not of the command `dpbi optimum`");
    assert_eq!(sandbox.files("results/optimum"), before);
    // A folder without its config is not sound, whatever its name.
    let mut manifest = sandbox.manifest("results/optimum");
    manifest["files"].as_object_mut().unwrap().remove("config.toml");
    sandbox.forge_manifest("results/optimum", manifest);
    let outcome = sandbox.dpbi(&["verify", "results/optimum"]);
    assert!(outcome.status == 3 && outcome.stdout.contains("config.toml is not in the manifest"));
    // The other way round.
    assert_eq!(command("o").status, 0);
    let before = sandbox.files("o/optimum");
    let run = sandbox.dpbi(&["run", "o.toml", "--out", "o"]);
    refused(&run, "is the manifest of the command `dpbi optimum`, not of `optimum`");
    assert_eq!(sandbox.files("o/optimum"), before);
    assert!(sandbox.succeed(&["verify", "o/optimum"]).contains("as it was written"));
    assert_eq!(command("o").status, 0);
    let mut manifest = sandbox.manifest("o/optimum");
    manifest["files"]["errors.csv"] = manifest["files"]["bayes.csv"].clone();
    sandbox.forge_manifest("o/optimum", manifest);
    let outcome = sandbox.dpbi(&["verify", "o/optimum"]);
    holds(&outcome.stdout, "errors.csv is not a file of `dpbi optimum`");
}
