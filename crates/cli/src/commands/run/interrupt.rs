//! Interrupts by the user while workers are running.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::ExitStatus;

/// Handler of Ctrl-C and of termination signals, removed when dropped.
///
/// The first signal only sets a flag. A second one ends the process, once
/// [`arm_second_signal`](Interrupt::arm_second_signal) has been called.
pub(in crate::commands) struct Interrupt {
    /// Set by the first signal.
    pub(in crate::commands) is_requested: Arc<AtomicBool>,
    /// True if the next signal ends the process.
    is_repeated: Arc<AtomicBool>,
    /// Installed handlers, to be removed.
    handlers: Vec<signal_hook::SigId>,
}

impl Interrupt {
    /// Installs the handlers.
    pub(in crate::commands) fn listen() -> Interrupt {
        let is_requested = Arc::new(AtomicBool::new(false));
        let is_repeated = Arc::new(AtomicBool::new(false));
        let mut handlers = Vec::new();
        for signal in [
            signal_hook::consts::SIGINT,
            signal_hook::consts::SIGTERM,
            signal_hook::consts::SIGHUP,
        ] {
            // Workers end by themselves once their pipe to this process is closed.
            let status = i32::from(ExitStatus::Error.code());
            let twice = signal_hook::flag::register_conditional_shutdown(
                signal,
                status,
                is_repeated.clone(),
            );
            let once = signal_hook::flag::register(signal, is_requested.clone());
            handlers.extend([twice, once].into_iter().flatten());
        }
        Interrupt {
            is_requested,
            is_repeated,
            handlers,
        }
    }

    /// Time within which a second signal is ignored: some programs signal a process and its group
    /// at once.
    const DEBOUNCE: Duration = Duration::from_millis(500);

    /// Lets the next signal end the process, unless the first one came only just now.
    pub(super) fn arm_second_signal(&self, since: Duration) {
        if since >= Interrupt::DEBOUNCE {
            self.is_repeated.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for handler in &self.handlers {
            signal_hook::low_level::unregister(*handler);
        }
    }
}
