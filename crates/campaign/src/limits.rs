//! What a process may use up.

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// What a process, and all that it starts, may use up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory. Who asks for more is refused, which in Python is a `MemoryError`.
    pub memory: Option<u64>,
    /// Bytes in one file. Who writes more gets an error.
    pub file_size: Option<u64>,
}

impl Limits {
    /// Limits this process from now on. Where the system has no such limit, there is none.
    pub fn apply(&self) {
        // Shared libraries and reserved addresses cost nothing, so what counts is data, where that can be counted.
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

/// How much memory the machine has to spare, where it tells.
pub fn spare_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
