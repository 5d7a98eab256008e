//! Reads recordings from files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::format::{Digest, Link, StoreRecord, StoredCall, VERSION};
use super::{EXTENSION, graphs};
use crate::recording::{Call, CallId, CodeUnit, ProgramRun, Recording, UnitId};
use crate::value::Value;

/// The recordings of a folder or of some files.
#[derive(Debug, Default)]
pub struct LoadedRecordings {
    /// The calls of all files together.
    pub recording: Recording,
    /// The files, in the order of [`Recording::executions`].
    pub files: Vec<PathBuf>,
    /// Files that are no recordings, or of another version, with the reason.
    pub ignored: Vec<(PathBuf, String)>,
    /// The number of damaged or incomplete lines. A killed process leaves one at the end of its
    /// file.
    pub damaged: usize,
}

/// Loads all recordings of a folder, in the order of their file names. A missing folder counts as
/// empty.
pub fn load(folder: &Path) -> io::Result<LoadedRecordings> {
    load_files(&files(folder)?)
}

/// Finds the recordings of a folder, in the order of their names. A missing folder counts as empty.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == EXTENSION) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Loads one file.
pub fn load_file(path: &Path) -> io::Result<LoadedRecordings> {
    load_files(std::slice::from_ref(&path))
}

/// Loads several files into one recording.
pub fn load_files(paths: &[impl AsRef<Path>]) -> io::Result<LoadedRecordings> {
    let mut loaded = LoadedRecordings::default();
    for path in paths {
        loaded.add(path.as_ref())?;
    }
    Ok(loaded)
}

/// The records of one file.
#[derive(Default)]
struct FileRecords {
    /// The version of the format.
    version: u32,
    /// The process that wrote the file; `None` if it does not begin as a recording.
    execution: Option<ProgramRun>,
    /// The units, by number.
    units: Vec<CodeUnit>,
    /// The number of calls of each unit.
    counts: Vec<u64>,
    /// The values, by digest.
    values: BTreeMap<Digest, Value<Link>>,
    /// The finished calls.
    calls: Vec<StoredCall>,
    /// Calls that began and did not end.
    unfinished_calls: BTreeMap<CallId, (UnitId, Option<CallId>)>,
    /// The number of damaged lines.
    damaged: usize,
}

impl FileRecords {
    /// Reads all lines of a file.
    fn parse(content: &[u8]) -> FileRecords {
        let mut lines = FileRecords::default();
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n").and_then(StoreRecord::from_line) {
                Some(record) => lines.add_record(record),
                None => lines.damaged += 1,
            }
        }
        lines
    }

    /// Adds a record.
    fn add_record(&mut self, record: StoreRecord) {
        match record {
            StoreRecord::Begin { version, execution } => {
                self.version = version;
                self.execution.get_or_insert(execution);
            }
            StoreRecord::Unit(unit) => self.units.push(unit),
            StoreRecord::Value(digest, value) => {
                self.values.insert(digest, value);
            }
            StoreRecord::Entered { call, unit, caller } => {
                self.unfinished_calls.insert(call, (unit, caller));
            }
            StoreRecord::Call(call) => {
                self.unfinished_calls.remove(&call.id);
                self.calls.push(*call);
            }
            StoreRecord::Dropped(call) => {
                self.unfinished_calls.remove(&call);
            }
            StoreRecord::Counts(counts) => self.counts = counts,
            StoreRecord::Trouble(problem) => {
                if let Some(execution) = &mut self.execution {
                    execution.problems.push(problem);
                }
            }
            StoreRecord::End => {
                if let Some(execution) = &mut self.execution {
                    execution.is_complete = true;
                }
            }
        }
    }
}

impl LoadedRecordings {
    /// Adds the recording in a file.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let mut lines = FileRecords::parse(&fs::read(path)?);
        let Some(execution) = lines.execution.take() else {
            let reason = "it does not begin as a recording does".to_owned();
            self.ignored.push((path.to_path_buf(), reason));
            return Ok(());
        };
        if lines.version != VERSION {
            let version = lines.version;
            let reason = format!("it is a recording of version {version}, this reads {VERSION}");
            self.ignored.push((path.to_path_buf(), reason));
            return Ok(());
        }
        let number = u32::try_from(self.recording.executions.len()).unwrap_or(u32::MAX);
        self.recording.executions.push(execution);
        self.files.push(path.to_path_buf());
        self.damaged += lines.damaged;
        let units: Vec<UnitId> = (lines.units.into_iter().enumerate())
            .map(|(index, unit)| {
                let calls = lines.counts.get(index).copied().unwrap_or(0);
                self.merge_unit(unit, calls)
            })
            .collect();
        let mut calls = Vec::new();
        for stored in lines.calls {
            match graphs::decode_call(stored, number, &lines.values) {
                Some(call) => calls.push(call),
                None => self.damaged += 1,
            }
        }
        calls.extend(
            (lines.unfinished_calls.into_iter())
                .map(|(id, (unit, caller))| Call::unfinished(id, number, unit, caller)),
        );
        calls.sort_by_key(|call| call.id);
        for mut call in calls {
            match units.get(call.unit.0 as usize) {
                Some(unit) => {
                    call.unit = *unit;
                    self.recording.calls.push(call);
                }
                None => self.damaged += 1,
            }
        }
        Ok(())
    }

    /// Returns the number of a unit among those of all files, and adds to its calls.
    fn merge_unit(&mut self, unit: CodeUnit, calls: u64) -> UnitId {
        let units = &mut self.recording.units;
        let is_same = |known: &CodeUnit| {
            known.name() == unit.name() && known.file == unit.file && known.line == unit.line
        };
        let index = units.iter().position(is_same).unwrap_or_else(|| {
            units.push(CodeUnit { calls: 0, ..unit });
            units.len() - 1
        });
        units[index].calls += calls;
        UnitId(u32::try_from(index).unwrap_or(u32::MAX))
    }
}
