//! A folder as a fresh clone has it, and a shell in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a reader's `cargo` does in the guide: `cargo run --release -- …` is `dpbi …`.
const CARGO: &str = "#!/bin/sh
[ \"$1 $2 $3\" = 'run --release --' ] || { echo \"cargo $*: not in the guide\"; exit 1; }
shift 3
exec dpbi \"$@\"
";

/// What a command left behind.
pub struct Outcome {
    pub status: i32,
    /// Both streams, as a terminal shows them.
    pub output: String,
}

pub struct Shell {
    home: tempfile::TempDir,
    status: i32,
}

impl Shell {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let (clone, tools) = (home.path().join("dpbi"), home.path().join("bin"));
        for folder in ["configs", "data"] {
            copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &clone.join(folder));
        }
        std::fs::create_dir(&tools).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dpbi"), tools.join("dpbi")).unwrap();
        std::fs::write(tools.join("cargo"), CARGO).unwrap();
        make_executable(&tools.join("cargo"));
        Self { home, status: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("dpbi").join(name)
    }

    /// Writes a file, or adds to it.
    pub fn write(&self, name: &str, text: &str, append: bool) {
        let path = self.path(name);
        let mut options = std::fs::OpenOptions::new();
        options.create(true).write(true).append(append).truncate(!append);
        options.open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(name)).ok()
    }

    /// Runs one command; `$?` in it is the status of the one before.
    pub fn run(&mut self, command: &str) -> Outcome {
        let script = format!("exec 2>&1\n(exit {})\n{command}\n", self.status);
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).current_dir(self.path("")).stdin(Stdio::null());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DPBI_")) {
            shell.env_remove(name);
        }
        shell.env("PATH", format!("{}:{path}", self.home.path().join("bin").display()));
        shell.env("HOME", self.home.path()).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
        shell.env("COLUMNS", "80");
        let output = shell.output().unwrap();
        self.status = output.status.code().unwrap_or(-1);
        Outcome { status: self.status, output: String::from_utf8_lossy(&output.stdout).into() }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
