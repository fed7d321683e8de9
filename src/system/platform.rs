//! What differs between operating systems. No other file asks which one it is compiled for.

use std::process::Command;

pub use here::{
    has_other_names, is_private, is_same_file, outlive_file_limits, private, reader_is_gone,
    symlink, without_surprises,
};

#[cfg(unix)]
mod here {
    use std::fs::{Metadata, OpenOptions};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::sync::Arc;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// Whether two files are one; `None` where the system has no numbers for its files.
    pub fn is_same_file(a: &Metadata, b: &Metadata) -> Option<bool> {
        Some((a.dev(), a.ino()) == (b.dev(), b.ino()))
    }

    /// Whether a file has a second name (a hard link).
    pub fn has_other_names(about: &Metadata) -> bool {
        about.nlink() > 1
    }

    /// Opening does not follow a link, and does not wait for a pipe.
    pub fn without_surprises(options: &mut OpenOptions) -> &mut OpenOptions {
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
    }

    /// Only its owner can read and write a file that is made.
    pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
        options.mode(0o600)
    }

    /// A write beyond the limit of a file's size (`ulimit -f`) fails, and is reported like any other,
    /// instead of ending the process.
    pub fn outlive_file_limits() {
        // If this fails, the signal ends the process as before.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }

    /// Whether this is a pipe that nobody reads any more.
    pub fn reader_is_gone(pipe: &impl AsFd) -> bool {
        let mut asked = [PollFd::new(pipe, PollFlags::OUT)];
        let answered = poll(&mut asked, Some(&Timespec::default()));
        let gone = PollFlags::ERR | PollFlags::HUP;
        answered.is_ok() && asked[0].revents().intersects(gone)
    }

    /// Makes a link, for tests; `false` where there are none.
    pub fn symlink(original: &std::path::Path, link: &std::path::Path) -> bool {
        std::os::unix::fs::symlink(original, link).is_ok()
    }

    /// Whether only its owner can read a file; `None` where that cannot be told.
    pub fn is_private(about: &Metadata) -> Option<bool> {
        Some(about.mode() & 0o777 == 0o600)
    }
}

/// Taken to be free where the system does not say: work that needs more has to be forced.
const ASSUMED_MEMORY: f64 = 4e9;

/// The bytes of memory that are free.
pub fn available_memory() -> f64 {
    stated_memory().unwrap_or(ASSUMED_MEMORY)
}

/// The same, if the system says so: Linux in a file, macOS by a program.
fn stated_memory() -> Option<f64> {
    match std::env::consts::OS {
        "macos" => {
            let said = Command::new("/usr/bin/vm_stat").output().ok()?.stdout;
            free_pages(&String::from_utf8_lossy(&said))
        }
        _ => meminfo(&std::fs::read_to_string("/proc/meminfo").ok()?),
    }
}

/// The free memory in what Linux says in `/proc/meminfo`.
fn meminfo(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kilobytes)
}

/// The free memory in what `vm_stat` of macOS prints: pages that are free, or are given back when they are
/// asked for.
fn free_pages(said: &str) -> Option<f64> {
    let after = |before: &str| {
        let rest = said.split_once(before)?.1.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse::<f64>().ok()
    };
    let pages = after("Pages free:")? + after("Pages inactive:")?;
    let others = ["Pages speculative:", "Pages purgeable:"].into_iter().filter_map(after);
    Some(after("page size of")? * (pages + others.sum::<f64>()))
}

#[cfg(not(unix))]
mod here {
    use std::fs::{Metadata, OpenOptions};

    /// Whether two files are one; `None` where the system has no numbers for its files.
    pub fn is_same_file(_: &Metadata, _: &Metadata) -> Option<bool> {
        None
    }

    /// Whether a file has a second name (a hard link).
    pub fn has_other_names(_: &Metadata) -> bool {
        false
    }

    /// Opening does not follow a link, and does not wait for a pipe.
    pub fn without_surprises(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    /// Only its owner can read and write a file that is made.
    pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    /// That is noticed when something is written.
    pub fn reader_is_gone<T>(_: &T) -> bool {
        false
    }

    /// There is no such limit.
    pub fn outlive_file_limits() {}

    /// Makes a link, for tests; `false` where there are none.
    pub fn symlink(_: &std::path::Path, _: &std::path::Path) -> bool {
        false
    }

    /// Whether only its owner can read a file; `None` where that cannot be told.
    pub fn is_private(_: &Metadata) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_read_from_what_systems_say() {
        let linux = "MemTotal:       24000 kB\nMemFree: 10 kB\nMemAvailable:   20000 kB\n";
        assert_eq!(meminfo(linux), Some(20_480_000.0));
        let macos = "Mach Virtual Memory Statistics: (page size of 16384 bytes)\n\
                     Pages free:                               1000.\n\
                     Pages active:                           500000.\n\
                     Pages inactive:                           2000.\n\
                     Pages speculative:                          30.\n";
        assert_eq!(free_pages(macos), Some(16_384.0 * 3_030.0));
        assert_eq!((meminfo(""), free_pages("page size of 4096 bytes")), (None, None));
    }
}
