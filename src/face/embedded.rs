//! Commands within another program, such as Python: their output is returned, and they are stopped without a
//! signal.
//!
//! They are carried out one at a time, always by the same thread: the threads that compute belong to it.

use std::ffi::OsString;

use crate::cli::{Cli, Command, Inspect};
use crate::command;
use crate::failure::Failure;
use crate::interrupt;
use lab::run::store::declare_command;
use system::console;
use system::diagnostic::Diagnostic;

pub use crate::command::ListedLaw;

/// Carries out a command and returns what it prints on standard output.
pub fn answer(arguments: &[OsString]) -> Result<String, Failure> {
    let cli = begin(arguments)?;
    let (done, printed) = console::captured(|| command::execute(&cli));
    done.map(|()| printed)
}

/// What `inspect` answers about one mechanism, and every output that it can make.
pub fn law(arguments: &[OsString]) -> Result<ListedLaw, Failure> {
    command::law(&inspected(begin(arguments)?)?)
}

/// Refuses a setting that `inspect` would refuse. Nothing is computed.
pub fn check_setting(arguments: &[OsString]) -> Result<(), Failure> {
    Ok(command::check_setting(&inspected(Cli::read_embedded(arguments)?)?)?)
}

fn inspected(cli: Cli) -> Result<Inspect, Diagnostic> {
    match cli.command {
        Some(Command::Inspect(args)) => Ok(args),
        _ => Err(Diagnostic::new("this is what `inspect` is asked")),
    }
}

/// Makes ready for the next command: signals are left to the other program, and what stopped earlier work does not
/// stop this. From here on [`stop`] may be called.
pub fn prepare() {
    interrupt::leave_to_others();
}

fn begin(arguments: &[OsString]) -> Result<Cli, Failure> {
    declare_command(arguments);
    if arguments.get(1).is_some_and(|name| name == "release") {
        return Err(Diagnostic::new("real data are released by the program only")
            .help("run `dpbi release` in a terminal: its ledger counts every release")
            .into());
    }
    Ok(Cli::read_embedded(arguments)?)
}

/// Stops the command that is carried out, by unwinding with [`engine::parallel::Cancelled`]: an experiment, which
/// keeps its finished cells, at the end of its cells.
pub fn stop() {
    interrupt::ask();
}

/// Whether a command keeps what it has computed when it is stopped.
pub fn keeps_cells(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|name| name == "run" || name == "reproduce")
}
