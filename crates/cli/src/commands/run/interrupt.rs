//! Being asked to end while workers work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::ExitStatus;

/// Ctrl-C, and a request to end.
pub(in crate::commands) struct Interrupt {
    pub(in crate::commands) is_wanted: Arc<AtomicBool>,
    /// Who asks now has asked before, and does not want to wait.
    is_repeated: Arc<AtomicBool>,
    handlers: Vec<signal_hook::SigId>,
}

impl Interrupt {
    pub(in crate::commands) fn listen() -> Interrupt {
        let is_wanted = Arc::new(AtomicBool::new(false));
        let is_repeated = Arc::new(AtomicBool::new(false));
        let mut handlers = Vec::new();
        for signal in [
            signal_hook::consts::SIGINT,
            signal_hook::consts::SIGTERM,
            signal_hook::consts::SIGHUP,
        ] {
            // Workers end by themselves when nobody is left to work for.
            let status = i32::from(ExitStatus::CouldNot.code());
            let twice = signal_hook::flag::register_conditional_shutdown(
                signal,
                status,
                is_repeated.clone(),
            );
            let once = signal_hook::flag::register(signal, is_wanted.clone());
            handlers.extend([twice, once].into_iter().flatten());
        }
        Interrupt {
            is_wanted,
            is_repeated,
            handlers,
        }
    }

    /// Some programs send a signal twice at once, to a process and to its group, and mean one.
    const ONCE: Duration = Duration::from_millis(500);

    pub(super) fn expect_another(&self, since: Duration) {
        if since >= Interrupt::ONCE {
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
