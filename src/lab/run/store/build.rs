//! What the program was built from and how it was called, for manifests.

use std::ffi::OsString;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The sources, the compiler and the platform of a program.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub commit: &'static str,
    pub rustc: &'static str,
    pub platform: &'static str,
}

static BUILD: OnceLock<Build> = OnceLock::new();

impl Build {
    /// The program says once what it was built from: only the program knows, so that a new commit compiles
    /// no library again.
    pub fn declare(self) {
        BUILD.get_or_init(|| self);
    }

    /// What the program has said.
    pub fn declared() -> Self {
        let unknown = Self { commit: "unknown", rustc: "unknown", platform: "unknown" };
        BUILD.get().copied().unwrap_or(unknown)
    }
}

static COMMAND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The program says how it was called. Arguments that are not UTF-8 are shown with replacement characters.
pub fn declare_command(arguments: &[OsString]) {
    let shown = arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
    *COMMAND.lock().unwrap_or_else(PoisonError::into_inner) = shown.collect();
}

/// What the program has said.
pub fn declared_command() -> Vec<String> {
    COMMAND.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
