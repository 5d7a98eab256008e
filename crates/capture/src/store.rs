//! Recordings on disk.
//!
//! Each watched process appends to a file of its own. A line is a record: a checksum, a space,
//! JSON. Readers ignore a record that is incomplete, so a process may be killed at any time and
//! loses only the record that it was writing. A value is written once, under a digest of its
//! content, before the first call that needs it. Reading runs no code, and needs neither the
//! program nor its classes.
//!
//! [`RecordingWriter`] appends, [`load`] reads all files of a folder. The records are defined in
//! `format`.

mod format;
mod graphs;
mod read;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use format::{Digest, StoreRecord, VERSION};
pub use read::{LoadedRecordings, files, load, load_file, load_files};

use crate::recording::{Call, CallId, CodeUnit, ProgramRun, UnitId};

/// The extension of the files.
pub const EXTENSION: &str = "recording";

/// The default limit of the bytes that one process may write.
pub const MAX_BYTES: u64 = 1 << 30;

/// A writer that appends the calls of one process to its file.
pub struct RecordingWriter {
    /// The open file.
    file: File,
    /// Its path.
    path: PathBuf,
    /// The number of bytes written.
    bytes_written: u64,
    /// The limit of bytes.
    limit: u64,
    /// The digests of values that were written already.
    values: BTreeSet<Digest>,
    /// The number of units that were written.
    units: u32,
}

impl RecordingWriter {
    /// Creates a file in a folder, and the folder if necessary. `name` should be unique to the
    /// process; if it is taken, a number is added.
    pub fn create(
        folder: &Path,
        name: &str,
        execution: &ProgramRun,
    ) -> io::Result<RecordingWriter> {
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
        let mut writer = RecordingWriter {
            file,
            path,
            bytes_written: 0,
            limit: MAX_BYTES,
            values: BTreeSet::new(),
            units: 0,
        };
        let execution = execution.clone();
        writer.append(&StoreRecord::Begin {
            version: VERSION,
            execution,
        })?;
        Ok(writer)
    }

    /// Sets another limit of bytes.
    pub fn with_limit(self, limit: u64) -> RecordingWriter {
        RecordingWriter { limit, ..self }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the limit is reached: calls are still counted, but no longer written.
    pub fn is_full(&self) -> bool {
        self.bytes_written >= self.limit
    }

    /// Writes a unit that was called for the first time. Calls refer to it by the returned number.
    pub fn add_unit(&mut self, unit: &CodeUnit) -> io::Result<UnitId> {
        self.append(&StoreRecord::Unit(unit.clone()))?;
        self.units += 1;
        Ok(UnitId(self.units - 1))
    }

    /// Writes the beginning of a call. Without a later record of it, the call has not ended.
    pub fn enter_call(
        &mut self,
        call: CallId,
        unit: UnitId,
        caller: Option<CallId>,
    ) -> io::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        self.append(&StoreRecord::Entered { call, unit, caller })
    }

    /// Writes a finished call with its values.
    pub fn add_call(&mut self, call: Call) -> io::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        let (stored, values) = graphs::encode_call(call);
        for (digest, value) in values {
            if self.values.insert(digest) {
                self.append(&StoreRecord::Value(digest, value))?;
            }
        }
        self.append(&StoreRecord::Call(Box::new(stored)))
    }

    /// Writes that a call has ended and is not kept.
    pub fn drop_call(&mut self, call: CallId) -> io::Result<()> {
        self.append(&StoreRecord::Dropped(call))
    }

    /// Writes how often each unit was called, by number. The last such record counts.
    pub fn write_counts(&mut self, counts: &[u64]) -> io::Result<()> {
        self.append(&StoreRecord::Counts(counts.to_vec()))
    }

    /// Writes an error of the recorder.
    pub fn add_problem(&mut self, problem: &str) -> io::Result<()> {
        self.append(&StoreRecord::Trouble(problem.to_owned()))
    }

    /// Writes the end of the process or of the recording.
    pub fn finish(&mut self) -> io::Result<()> {
        self.append(&StoreRecord::End)
    }

    /// Appends a record by one write to the operating system, so that it is complete even if the
    /// process dies right after.
    fn append(&mut self, record: &StoreRecord) -> io::Result<()> {
        let line = record.line().map_err(io::Error::other)?;
        self.file.write_all(line.as_bytes())?;
        self.bytes_written += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
