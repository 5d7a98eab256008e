//! Limits on the resources of a worker process.

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// Limits on the resources of a process and its children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Maximum memory in bytes. Allocations beyond it fail, which in Python raises `MemoryError`.
    pub memory: Option<u64>,
    /// Maximum size of one file in bytes. Writes beyond it fail.
    pub file_size: Option<u64>,
}

impl ResourceLimits {
    /// Applies the limits to this process and the processes it starts. Limits that the operating
    /// system does not support are skipped. Core dumps are always disabled.
    pub fn apply(&self) {
        // Mapped libraries and reserved addresses take no memory, so only data counts where the
        // system can limit that.
        #[cfg(target_os = "linux")]
        let memory = Resource::Data;
        #[cfg(not(target_os = "linux"))]
        let memory = Resource::As;
        let limits = [
            (memory, self.memory),
            (Resource::Fsize, self.file_size),
            // A campaign that crashes a thousand processes must not leave a thousand dumps.
            (Resource::Core, Some(0)),
        ];
        for (resource, limit) in limits {
            if limit.is_some() {
                let limit = Rlimit {
                    current: limit,
                    maximum: limit,
                };
                let _stricter_ones_stay = setrlimit(resource, limit);
            }
        }
    }
}

/// Returns the available memory of the machine in bytes, if the operating system reports it.
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
