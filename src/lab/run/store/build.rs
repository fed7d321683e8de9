//! What the program was built from, for manifests.

use std::sync::OnceLock;

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
