//! From files to a recording.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::format::{Digest, Link, Record, StoredCall, VERSION};
use super::{EXTENSION, graphs};
use crate::recording::{Call, CallId, Execution, Recording, Unit, UnitId};
use crate::value::Value;

/// What was found in a folder or a file.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Everything that could be read.
    pub recording: Recording,
    /// The files, in the order of [`Recording::executions`].
    pub files: Vec<PathBuf>,
    /// Files that are none of ours, or of another version, with the reason.
    pub ignored: Vec<(PathBuf, String)>,
    /// How many lines were damaged or cut off. One at the end of a file is what a killed process leaves.
    pub damaged: usize,
}

/// Everything in a folder, in the order of the file names. A folder that does not exist has nothing in it.
pub fn load(folder: &Path) -> io::Result<Loaded> {
    load_files(&files(folder)?)
}

/// The recordings in a folder, in the order of their names. A folder that does not exist has nothing in it.
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

/// One file.
pub fn load_file(path: &Path) -> io::Result<Loaded> {
    load_files(std::slice::from_ref(&path))
}

/// Several files together.
pub fn load_files(paths: &[impl AsRef<Path>]) -> io::Result<Loaded> {
    let mut loaded = Loaded::default();
    for path in paths {
        loaded.add(path.as_ref())?;
    }
    Ok(loaded)
}

/// What the lines of one file say.
#[derive(Default)]
struct Lines {
    version: u32,
    execution: Option<Execution>,
    units: Vec<Unit>,
    counts: Vec<u64>,
    values: BTreeMap<Digest, Value<Link>>,
    calls: Vec<StoredCall>,
    /// Calls that began and of which nothing more was heard.
    open: BTreeMap<CallId, (UnitId, Option<CallId>)>,
    damaged: usize,
}

impl Lines {
    fn of(content: &[u8]) -> Lines {
        let mut lines = Lines::default();
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n").and_then(Record::from_line) {
                Some(record) => lines.note(record),
                None => lines.damaged += 1,
            }
        }
        lines
    }

    fn note(&mut self, record: Record) {
        match record {
            Record::Begin { version, execution } => {
                self.version = version;
                self.execution.get_or_insert(execution);
            }
            Record::Unit(unit) => self.units.push(unit),
            Record::Value(digest, value) => {
                self.values.insert(digest, value);
            }
            Record::Entered { call, unit, caller } => {
                self.open.insert(call, (unit, caller));
            }
            Record::Call(call) => {
                self.open.remove(&call.id);
                self.calls.push(*call);
            }
            Record::Dropped(call) => {
                self.open.remove(&call);
            }
            Record::Counts(counts) => self.counts = counts,
            Record::Trouble(trouble) => {
                if let Some(execution) = &mut self.execution {
                    execution.troubles.push(trouble);
                }
            }
            Record::End => {
                if let Some(execution) = &mut self.execution {
                    execution.is_complete = true;
                }
            }
        }
    }
}

impl Loaded {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let mut lines = Lines::of(&fs::read(path)?);
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
            .map(|(place, unit)| {
                let calls = lines.counts.get(place).copied().unwrap_or(0);
                self.unit(unit, calls)
            })
            .collect();
        let mut calls = Vec::new();
        for stored in lines.calls {
            match graphs::restored(stored, number, &lines.values) {
                Some(call) => calls.push(call),
                None => self.damaged += 1,
            }
        }
        calls.extend(
            (lines.open.into_iter())
                .map(|(id, (unit, caller))| Call::begun(id, number, unit, caller)),
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

    /// The number of a unit among those of all files.
    fn unit(&mut self, unit: Unit, calls: u64) -> UnitId {
        let units = &mut self.recording.units;
        let is_same = |known: &Unit| {
            known.name() == unit.name() && known.file == unit.file && known.line == unit.line
        };
        let place = units.iter().position(is_same).unwrap_or_else(|| {
            units.push(Unit { calls: 0, ..unit });
            units.len() - 1
        });
        units[place].calls += calls;
        UnitId(u32::try_from(place).unwrap_or(u32::MAX))
    }
}
