//! One rule for the files of every command: nothing that is written may be anything that is read, or
//! anything else that is written. It is asked before anything is done.

use std::path::{Path, PathBuf};

use super::typed;
use system::diagnostic::Diagnostic;
use system::filesystem::is_same_place;

/// The files of a command.
#[derive(Default)]
pub struct Paths {
    read: Vec<(&'static str, PathBuf)>,
    written: Vec<Written>,
}

struct Written {
    flag: &'static str,
    what: &'static str,
    path: PathBuf,
    /// Whether it is made anew, beside what stands there.
    made: bool,
}

impl Paths {
    /// What is read, and what a user calls it.
    pub fn read<'a>(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        self.read.extend(paths.into_iter().map(|path| (what, path.to_owned())));
        self
    }

    /// What is written, the flag that names it, and what a user calls it.
    pub fn written<'a>(
        mut self,
        flag: &'static str,
        what: &'static str,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        let one = |path: &Path| Written { flag, what, path: path.to_owned(), made: true };
        self.written.extend(paths.into_iter().map(one));
        self
    }

    /// The same, for a file to which something is added where it stands.
    pub fn extended(mut self, flag: &'static str, what: &'static str, path: Option<&Path>) -> Self {
        let one = |path: &Path| Written { flag, what, path: path.to_owned(), made: false };
        self.written.extend(path.map(one));
        self
    }

    /// Refuses a file that has two parts to play, or that cannot be written.
    pub fn check(&self) -> Result<(), Diagnostic> {
        // A terminal may well be read and written.
        let output = Path::new("/dev/stdout");
        let output = output.metadata().is_ok_and(|about| about.is_file()).then_some(output);
        let output = output.map(|output| ("where the output goes", output));
        for (place, Written { flag, path, made, .. }) in self.written.iter().enumerate() {
            let before = self.written[..place].iter().map(|one| (one.what, one.path.as_path()));
            let read = self.read.iter().map(|(what, path)| (*what, path.as_path()));
            if let Some((what, _)) =
                read.chain(before).chain(output).find(|(_, other)| is_same_place(path, other))
            {
                let cause = format!("{} is {what}", path.display());
                return Err(typed::wrong(flag, &cause).help("give it a file of its own"));
            }
            if !made {
                continue;
            }
            if path.is_dir() {
                let cause = format!("{} is a folder", path.display());
                return Err(typed::wrong(flag, &cause).help("name a file"));
            }
            typed::refuse_unwritable(flag, path)?;
        }
        Ok(())
    }
}
