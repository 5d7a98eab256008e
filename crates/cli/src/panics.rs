//! Panics as errors: a panic is a bug of Testwright, and the user gets one clear message instead of
//! a page of addresses.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo, UnwindSafe};

use testwright_core::Error;

thread_local! {
    /// The message and the location of this thread's last panic.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work` and turns a panic into an error that asks for a report.
///
/// With `TESTWRIGHT_BACKTRACE` set, the message has the backtrace, too.
pub(crate) fn catch<R>(work: impl FnOnce() -> R + UnwindSafe) -> Result<R, Error> {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let message = describe(info);
        LAST.with(|last| last.replace(Some(message)));
    }));
    let result = panic::catch_unwind(work);
    panic::set_hook(previous);
    result.map_err(|_| {
        let message = LAST.with(RefCell::take).unwrap_or_default();
        Error::new(format!("internal error: {message}")).with_help(format!(
            "this is a bug in Testwright {}, not in your code; please report it, with what you did",
            crate::VERSION
        ))
    })
}

/// Describes a panic: its message, its location and, if requested, its backtrace.
fn describe(info: &PanicHookInfo<'_>) -> String {
    let words = info.payload_as_str().unwrap_or("no message");
    let location = info
        .location()
        .map(|location| format!(" ({location})"))
        .unwrap_or_default();
    let trace = match std::env::var_os("TESTWRIGHT_BACKTRACE") {
        Some(_) => format!("\n{}", Backtrace::force_capture()),
        None => String::new(),
    };
    format!("{words}{location}{trace}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_panic_is_one_message_that_asks_for_a_report() {
        let error = super::catch(|| panic!("index {} is out of range", 7)).unwrap_err();
        assert!(
            error
                .message
                .starts_with("internal error: index 7 is out of range (crates/cli/src/panics.rs:")
        );
        assert!(error.help.unwrap().contains("please report it"));
    }
}
