//! The terminal that progress is drawn on.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use indicatif::TermLike;

use system::console;

/// This many columns are left free: a terminal writes `^C` behind the line, which must not begin a
/// second one.
const MARGIN: usize = 3;

/// The characters that the line may have.
pub(super) fn width() -> usize {
    console::terminal_width().saturating_sub(MARGIN).max(1)
}

/// Standard error. What is drawn is sent at once, so that it does not flicker.
#[derive(Debug, Default)]
pub(super) struct Screen {
    drawn: Mutex<String>,
}

impl Screen {
    fn draw(&self, text: &str) -> io::Result<()> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        Ok(())
    }

    /// Moves the cursor; a terminal takes 0 for 1.
    fn move_cursor(&self, n: usize, direction: char) -> io::Result<()> {
        if n == 0 { Ok(()) } else { self.draw(&format!("\x1b[{n}{direction}")) }
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        u16::try_from(width()).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.draw(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.draw(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.draw("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let drawn = std::mem::take(&mut *self.drawn.lock().unwrap_or_else(PoisonError::into_inner));
        let mut stderr = io::stderr().lock();
        stderr.write_all(drawn.as_bytes()).and_then(|()| stderr.flush())
    }
}
