//! The record of what can be reached, and of what was reached.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use testwright_core::{Coverage, TargetId};

use super::flow::Arc;

/// Arcs of files as targets, and the targets reached.
#[derive(Default)]
pub(crate) struct CoverageRecord {
    /// The paths of the observed files, by number.
    files: Vec<PathBuf>,
    /// The lines that have code, by file.
    lines: Vec<BTreeSet<u32>>,
    /// File and arc, by target.
    targets: Vec<(u32, Arc)>,
    /// Targets by file and arc.
    ids: FxHashMap<(u32, Arc), TargetId>,
    /// Targets reached since the start.
    pub(crate) all: Coverage,
    /// Targets reached since the last reset.
    pub(crate) current: Coverage,
    /// Targets reached for the first time, since this list was last taken.
    pub(crate) fresh: Vec<TargetId>,
    /// True while targets that are reached do not count.
    pub(crate) is_paused: bool,
}

impl CoverageRecord {
    /// Returns the number of a file, assigning one if needed.
    pub(crate) fn file_number(&mut self, path: &Path) -> u32 {
        let known = self.files.iter().position(|file| file == path);
        known.unwrap_or_else(|| {
            self.files.push(path.to_path_buf());
            self.lines.push(BTreeSet::new());
            self.files.len() - 1
        }) as u32
    }

    /// Returns the target of an arc of a file, assigning one if needed.
    pub(crate) fn target(&mut self, file: u32, arc: Arc) -> TargetId {
        let next = TargetId(self.targets.len() as u32);
        let targets = &mut self.targets;
        *self.ids.entry((file, arc)).or_insert_with(|| {
            targets.push((file, arc));
            next
        })
    }

    /// Records that a target was reached.
    pub(crate) fn reach(&mut self, target: TargetId) {
        if self.is_paused {
            return;
        }
        self.current.insert(target);
        if self.all.insert(target) {
            self.fresh.push(target);
        }
    }

    /// Adds lines that have code.
    pub(crate) fn add_lines(&mut self, file: u32, lines: impl Iterator<Item = u32>) {
        // The interpreter starts a module in line 0.
        self.lines[file as usize].extend(lines.filter(|line| *line > 0));
    }

    /// Returns the lines that have code, by file.
    pub(crate) fn lines(&self) -> &[BTreeSet<u32>] {
        &self.lines
    }

    /// Returns the paths of the files, by number.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Returns the file and the arc of a target.
    pub(crate) fn file_and_arc(&self, target: TargetId) -> (u32, Arc) {
        self.targets[target.0 as usize]
    }
}
