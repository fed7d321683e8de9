//! `dpbi verify`: any changed byte is found, and named.

use crate::common::{Sandbox, refused};
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

/// Someone who changes a number and the hashes is caught by the cells; someone who changes these as
/// well, by the computation.
#[test]
fn a_forged_manifest_does_not_help() {
    let sandbox = sandbox();
    let forge = |file: &str, bytes: &[u8]| {
        std::fs::write(sandbox.path(&format!("results/v/{file}")), bytes).unwrap();
        let mut manifest = sandbox.manifest("results/v");
        manifest["files"][file] = lab::run::store::sha256(bytes).into();
        sandbox.forge_manifest("results/v", manifest);
    };
    let summary = sandbox.text("results/v/summary.csv");
    forge("summary.csv", summary.replacen("lshist", "ehds", 1).as_bytes());
    let outcome = sandbox.dpbi(&["verify", "results/v"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stdout);
    let message = "summary.csv is not what the cells give";
    assert!(outcome.stdout.contains(message), "{}", outcome.stdout);
    forge("summary.csv", summary.as_bytes());
    // A sound record of the right cell, with another content.
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
    forge("cells.log", &log);
    let outcome = sandbox.dpbi(&["verify", "results/v", "--cells", "100"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("computed again it is different"), "{}", outcome.stdout);
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
    let run = |width: &str| {
        let args = ["run", "v.toml", "--format", "svg", "--width", width, "--json"];
        let document = sandbox.json(&args);
        assert_eq!(document[0]["kept"], document[0]["cells"]);
        state()
    };
    assert!(run("text") == ("text".into(), wide.clone()));
    let (width, again) = run("column");
    assert!(width == "column" && again[figure] == narrow[figure]);
    // A manifest that names another width, or none, is one of other figures.
    let mut manifest = sandbox.manifest("results/v");
    manifest.as_object_mut().unwrap().remove("width");
    sandbox.forge_manifest("results/v", manifest);
    let outcome = sandbox.dpbi(&["verify", "results/v", "--cells", "0"]);
    assert_eq!(outcome.status, 3);
    assert!(
        outcome.stdout.contains("a-box-gamma=1.svg is not what the tables give"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn what_was_never_finished_is_no_result() {
    let sandbox = Sandbox::new();
    let slow = "name = \"v\"\nprior = [1, 1, 1, 1]\nepsilon = 1\nmechanisms = [\"ehds\"]\n\
                data.counts.counts = [1500, 900, 700, 300]\n";
    let mut child = sandbox.write("v.toml", slow).start(&["run", "v.toml"]);
    while !sandbox.path("results/v/manifest.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let outcome = sandbox.dpbi(&["verify", "results/v"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("results/v is not complete"), "{}", outcome.stderr);
}

#[test]
fn a_manifest_that_cannot_be_read_is_a_difference() {
    let sandbox = sandbox();
    let sound = sandbox.text("results/v/manifest.json");
    for (text, cause) in [
        (sound.replacen("\"seed\": 0", "\"seed\": 1", 1), "its own SHA-256 does not fit"),
        (sound[..sound.len() / 2].to_owned(), "EOF while parsing"),
        (String::new(), "EOF while parsing"),
    ] {
        let outcome =
            sandbox.write("results/v/manifest.json", &text).dpbi(&["verify", "results/v"]);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        let message = "results/v/manifest.json is damaged: ".to_owned() + cause;
        assert!(outcome.stdout.contains(&message), "{}", outcome.stdout);
    }
    std::fs::remove_file(sandbox.path("results/v/manifest.json")).unwrap();
    std::fs::create_dir(sandbox.path("results/v/manifest.json")).unwrap();
    assert_eq!(sandbox.dpbi(&["verify", "results/v"]).status, 3);
}

#[test]
fn what_is_left_out_of_the_manifest_is_missed() {
    let sandbox = sandbox();
    let omit = |file: &str| {
        let mut manifest = sandbox.manifest("results/v");
        manifest["files"].as_object_mut().unwrap().remove(file);
        sandbox.forge_manifest("results/v", manifest);
        let outcome = sandbox.dpbi(&["verify", "results/v"]);
        assert_eq!(outcome.status, 3, "{file}: {}", outcome.stdout);
        outcome.stdout
    };
    std::fs::remove_file(sandbox.path("results/v/settings.csv")).unwrap();
    let message = omit("settings.csv");
    assert!(message.contains("settings.csv is not what the cells give"), "{message}");
    let message = omit("config.toml");
    assert!(message.contains("config.toml is not in the manifest"), "{message}");
}

#[test]
fn what_is_not_there_or_not_complete_is_said() {
    let sandbox = sandbox();
    let outcome = sandbox.dpbi(&["verify", "nowhere"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("nowhere holds no manifest.json of dpbi"),
        "{}",
        outcome.stderr
    );
    std::fs::remove_file(sandbox.path("results/v/a-box-gamma=1.svg")).unwrap();
    std::fs::remove_file(sandbox.path("results/v/privacy.csv")).unwrap();
    let outcome = sandbox.dpbi(&["verify", "results/v"]);
    assert_eq!(outcome.status, 3);
    assert!(
        outcome.stdout.contains("privacy.csv is gone, or cannot be read"),
        "{}",
        outcome.stdout
    );
    let fault = "DPBI_FAULT=ehds@1 $DPBI run v.toml --format none --fresh";
    assert_eq!(sandbox.shell(fault).status, 1);
    let outcome = sandbox.dpbi(&["verify", "results/v"]);
    assert!(outcome.stderr.contains("results/v is not complete"), "{}", outcome.stderr);
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
    assert!(outcome.stdout.contains("errors.csv is not a file of `dpbi optimum`"));
}
