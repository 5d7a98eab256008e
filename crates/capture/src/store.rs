//! Recordings on disk.
//!
//! Each watched process appends to a file of its own, a line a record: a checksum, a space, JSON. A record is there
//! completely or, to whoever reads, not at all, so a process may be killed at any byte and loses what it was writing
//! and nothing else. A value is written once, under a digest of its content, before the first call that needs it.
//! Reading runs nothing, and needs neither the program nor its classes.
//!
//! [`Writer`] appends, [`load`] reads all files of a folder. The records themselves are in `format`.

mod format;
mod graphs;
mod read;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use format::{Digest, Record, VERSION};
pub use read::{Loaded, files, load, load_file, load_files};

use crate::recording::{Call, CallId, Execution, Unit, UnitId};

/// The end of the names of the files.
pub const EXTENSION: &str = "recording";

/// How much a process may write, in bytes, unless told otherwise.
pub const MOST_BYTES: u64 = 1 << 30;

/// Appends what one process does to its file.
pub struct Writer {
    file: File,
    path: PathBuf,
    written: u64,
    limit: u64,
    values: BTreeSet<Digest>,
    units: u32,
}

impl Writer {
    /// Begins a file in a folder, which is made if need be. `name` should be one that no other process uses; if it is
    /// taken all the same, a number is added to it.
    pub fn create(folder: &Path, name: &str, execution: &Execution) -> io::Result<Writer> {
        fs::create_dir_all(folder)?;
        let mut number = 1;
        let (path, file) = loop {
            let ending = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let path = folder.join(format!("{name}{ending}.{EXTENSION}"));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                opened => break (path, opened?),
            }
        };
        let mut writer = Writer {
            file,
            path,
            written: 0,
            limit: MOST_BYTES,
            values: BTreeSet::new(),
            units: 0,
        };
        let execution = execution.clone();
        writer.append(&Record::Begin {
            version: VERSION,
            execution,
        })?;
        Ok(writer)
    }

    /// With another limit on what may be written.
    pub fn with_limit(self, limit: u64) -> Writer {
        Writer { limit, ..self }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the limit is reached: calls are counted but not written any more.
    pub fn is_full(&self) -> bool {
        self.written >= self.limit
    }

    /// A unit that was called for the first time. Its number is to be used in calls.
    pub fn unit(&mut self, unit: &Unit) -> io::Result<UnitId> {
        self.append(&Record::Unit(unit.clone()))?;
        self.units += 1;
        Ok(UnitId(self.units - 1))
    }

    /// A call begins, and if nothing more is heard of it, it has not ended.
    pub fn entered(
        &mut self,
        call: CallId,
        unit: UnitId,
        caller: Option<CallId>,
    ) -> io::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        self.append(&Record::Entered { call, unit, caller })
    }

    /// A call that is worth keeping, with its values.
    pub fn call(&mut self, call: Call) -> io::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        let (stored, values) = graphs::stored(call);
        for (digest, value) in values {
            if self.values.insert(digest) {
                self.append(&Record::Value(digest, value))?;
            }
        }
        self.append(&Record::Call(Box::new(stored)))
    }

    /// A call that is not worth keeping has ended.
    pub fn dropped(&mut self, call: CallId) -> io::Result<()> {
        self.append(&Record::Dropped(call))
    }

    /// How often each unit was called, by their numbers. The last word counts.
    pub fn counts(&mut self, counts: &[u64]) -> io::Result<()> {
        self.append(&Record::Counts(counts.to_vec()))
    }

    /// Something went wrong in the recorder.
    pub fn trouble(&mut self, trouble: &str) -> io::Result<()> {
        self.append(&Record::Trouble(trouble.to_owned()))
    }

    /// The process comes to its end, or the recording does.
    pub fn finish(&mut self) -> io::Result<()> {
        self.append(&Record::End)
    }

    /// One write to the operating system, so that nothing of it is lost when the process dies in the next moment.
    fn append(&mut self, record: &Record) -> io::Result<()> {
        let line = record.line().map_err(io::Error::other)?;
        self.file.write_all(line.as_bytes())?;
        self.written += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
