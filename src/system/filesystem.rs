//! How files are opened and made in a folder that may come from a stranger: only regular files are
//! opened, links are not followed, and nothing waits forever for a pipe.
//!
//! Paths that a user names may be links, and may be pipes; see [`open_named`].

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::platform;

/// Opens a file inside a results folder for reading. A link, a pipe, a device or a folder is refused.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// Opens a file inside a results folder for reading and writing in place, or makes it. A file that
/// has a second name is refused, too: whatever is written would appear under that name.
pub fn open_in_place(path: &Path) -> io::Result<File> {
    let file = open(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
    if platform::has_other_names(&file.metadata()?) {
        return Err(refused("it has another name elsewhere (a hard link)"));
    }
    Ok(file)
}

/// Makes a new file under a random name. Its process holds a lock on it as long as it is open: one that
/// nobody holds was left by a process that was killed, and is removed here.
pub fn create_temporary(folder: &Path) -> io::Result<(File, PathBuf)> {
    remove_abandoned(folder);
    loop {
        let number = RandomState::new().hash_one(folder);
        let path = folder.join(format!("{TEMPORARY}{number:016x}{TEMPORARY_END}"));
        match File::create_new(&path) {
            // Another process may have taken it for an abandoned one before it was locked.
            Ok(file) if hold(&file) && is_at(&file, &path)? => return Ok((file, path)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Locks a file until it is closed; `false` if another process holds it. Where nothing can be locked,
/// nobody holds anything.
pub fn hold(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Whether a file is still the one at its path. On systems that cannot tell, an open file cannot be
/// replaced either.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let here = file.metadata()?;
    Ok(path.metadata().is_ok_and(|there| platform::is_same_file(&here, &there).unwrap_or(true)))
}

/// The file that is locked in a results folder.
pub const LOCK: &str = ".lock";

/// Removes temporary files that no process holds. A results folder is cleared by the run that has locked
/// it: temporary files of a run are closed, and wait for their names.
fn remove_abandoned(folder: &Path) {
    if is_taken(&folder.join(LOCK)) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_str().is_some_and(is_temporary)
            && let Ok(file) = open_regular(&path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(path);
        }
    }
}

const TEMPORARY: &str = ".dpbi-";
const TEMPORARY_END: &str = ".part";

/// Whether a name is one that [`create_temporary`] gives.
pub fn is_temporary(name: &str) -> bool {
    let number = name.strip_prefix(TEMPORARY).and_then(|rest| rest.strip_suffix(TEMPORARY_END));
    number.is_some_and(|number| {
        number.len() == 16
            && number.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Whether two paths are known to lead to the same file.
pub fn is_same_path(a: &Path, b: &Path) -> bool {
    let both = a.metadata().ok().zip(b.metadata().ok());
    both.and_then(|(a, b)| platform::is_same_file(&a, &b)).unwrap_or(false)
}

/// Whether two paths lead to one file, or would if both were written: by their names, by where links lead,
/// or by the numbers of the system, which know hard links.
pub fn is_same_place(a: &Path, b: &Path) -> bool {
    let theirs = places(b);
    places(a).iter().any(|place| theirs.contains(place)) || is_same_path(a, b)
}

/// Links are followed so often at most: they may lead in a circle.
const MOST_LINKS: usize = 40;

/// The place of a path, and those to which it leads if it is a link, though nothing may be there.
fn places(path: &Path) -> Vec<PathBuf> {
    let mut places = vec![place(path)];
    while places.len() < MOST_LINKS
        && let Some(last) = places.last()
        && let Ok(to) = fs::read_link(last)
    {
        places.push(place(&last.with_file_name("").join(to)));
    }
    places
}

/// The path, with its folder as the system calls it.
fn place(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => {
            fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).join(name)
        }
        _ => fs::canonicalize(&whole).unwrap_or(whole),
    }
}

/// Whether anything stands at a path: a file, a folder, or a link, wherever it leads.
pub fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether a regular file stands at a path.
pub fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_file())
}

/// Tries `take` with `name.changed`, `name.changed-2`, … until one is free, and returns that. `take`
/// fails with [`io::ErrorKind::AlreadyExists`] for a name that is taken.
pub fn beside(path: &Path, take: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let aside = path.with_file_name(format!("{name}.changed{suffix}"));
        match take(&aside) {
            Ok(()) => return Ok(aside),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Renames a file, unless the new name is taken.
pub fn rename_to_free(path: &Path, free: &Path) -> io::Result<()> {
    if is_taken(free) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(path, free)
}

/// How long to wait until somebody writes into a pipe.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens a file or a pipe that a user names. A pipe into which nobody writes is given up after a
/// few seconds.
pub fn open_named(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(refused("it is a folder"));
    }
    if kind.is_file() {
        return File::open(path);
    }
    let (sender, receiver) = mpsc::channel();
    let owned = path.to_owned();
    let open = move || {
        // If the wait is over, nothing receives the file.
        let _ = sender.send(File::open(owned));
    };
    thread::Builder::new().spawn(open)?;
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let waited = PATIENCE.as_secs();
        Err(io::Error::other(format!("nobody writes to this pipe (waited {waited} s)")))
    })
}

/// Syncs a folder, so that the names of its files are on the disk, where the system can do that.
pub fn sync_folder(folder: &Path) {
    // Some file systems refuse. Nothing more can be done there.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match path.symlink_metadata() {
        Ok(about) => check_regular(&about)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // The file may have been replaced since, so that the opened one is checked again.
    let file = platform::without_surprises(options).open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(about: &Metadata) -> io::Result<()> {
    match about.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_symlink() => Err(refused("it is a link, and links are not followed here")),
        kind if kind.is_dir() => Err(refused("it is a folder")),
        _ => Err(refused("it is not a regular file")),
    }
}

fn refused(cause: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_known_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (_, first) = create_temporary(folder.path()).unwrap();
        let (_, second) = create_temporary(folder.path()).unwrap();
        assert_ne!(first, second);
        assert!(
            [first, second]
                .iter()
                .all(|path| is_temporary(path.file_name().unwrap().to_str().unwrap()))
        );
        for other in [".mine.part", ".dpbi-.part", ".dpbi-0123456789ABCDEF.part", ".dpbi-probe"] {
            assert!(!is_temporary(other), "{other}");
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_held_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (held, first) = create_temporary(folder.path()).unwrap();
        fs::write(path(".dpbi-0123456789abcdef.part"), "").unwrap();
        fs::write(path("mine.part"), "").unwrap();
        create_temporary(folder.path()).unwrap();
        assert!(first.exists() && path("mine.part").exists());
        assert!(!path(".dpbi-0123456789abcdef.part").exists());
        drop(held);
        // In a results folder only the run that has locked it removes anything.
        fs::write(path(LOCK), "").unwrap();
        create_temporary(folder.path()).unwrap();
        assert!(first.exists());
        fs::remove_file(path(LOCK)).unwrap();
        create_temporary(folder.path()).unwrap();
        assert!(!first.exists());
    }

    #[test]
    fn one_place_is_known_by_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("inner")).unwrap();
        fs::write(path("file"), "x").unwrap();
        fs::hard_link(path("file"), path("hard")).unwrap();
        let same = |a: &str, b: &str| is_same_place(&path(a), &path(b));
        for (a, b) in [("file", "hard"), ("file", "inner/../file"), ("new", "inner/../new")] {
            assert!(same(a, b), "{a} {b}");
        }
        assert!(same("absent/new", "absent/new"));
        assert!(!same("file", "new") && !same("new", "newer") && !same("new", "inner/new"));
        if !platform::symlink(&path("file"), &path("link")) {
            return;
        }
        assert!(platform::symlink(Path::new("new"), &path("dangling")));
        assert!(platform::symlink(Path::new("inner"), &path("way")));
        assert!(platform::symlink(Path::new("circle"), &path("circle")));
        for (a, b) in [("link", "hard"), ("dangling", "new"), ("way/new", "inner/new")] {
            assert!(same(a, b) && same(b, a), "{a} {b}");
        }
        assert!(!same("circle", "new") && !same("dangling", "link"));
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "x").unwrap();
        if !platform::symlink(&path("file"), &path("link")) {
            return;
        }
        assert!(platform::symlink(&path("nowhere"), &path("dangling")));
        std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
        open_regular(&path("file")).unwrap();
        open_in_place(&path("file")).unwrap();
        open_in_place(&path("new")).unwrap();
        for name in ["link", "dangling", "pipe", "."] {
            assert!(open_regular(&path(name)).is_err(), "{name}");
            assert!(open_in_place(&path(name)).is_err(), "{name}");
        }
        assert!(open_regular(Path::new("/dev/zero")).is_err());
        assert!(!is_taken(&path("nowhere")) && is_taken(&path("dangling")));
        fs::hard_link(path("file"), path("second")).unwrap();
        open_regular(&path("file")).unwrap();
        assert!(open_in_place(&path("file")).unwrap_err().to_string().contains("hard link"));
    }

    #[test]
    fn a_name_beside_is_one_that_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let names = [".changed", ".changed-2", ".changed-3"];
        for name in names {
            let aside = beside(&path, |aside| File::create_new(aside).map(drop)).unwrap();
            assert_eq!(aside, folder.path().join(format!("a.csv{name}")));
        }
    }
}
