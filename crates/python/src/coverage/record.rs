//! What can be reached, and what was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use testwright_core::{Coverage, TargetId};

use super::flow::Arc;

/// Arcs of files as targets, and which of them were reached.
#[derive(Default)]
pub(crate) struct Record {
    files: Vec<PathBuf>,
    /// By file: the lines that its code mentions.
    lines: Vec<BTreeSet<u32>>,
    targets: Vec<(u32, Arc)>,
    ids: FxHashMap<(u32, Arc), TargetId>,
    /// Ever.
    pub(crate) all: Coverage,
    /// Since somebody asked for a new beginning.
    pub(crate) current: Coverage,
    /// For the first time, since somebody asked.
    pub(crate) fresh: Vec<TargetId>,
    /// What is reached does not count at the moment.
    pub(crate) paused: bool,
}

impl Record {
    /// The number of a file.
    pub(crate) fn file(&mut self, path: &Path) -> u32 {
        let known = self.files.iter().position(|file| file == path);
        known.unwrap_or_else(|| {
            self.files.push(path.to_path_buf());
            self.lines.push(BTreeSet::new());
            self.files.len() - 1
        }) as u32
    }

    /// The target for an arc of a file.
    pub(crate) fn target(&mut self, file: u32, arc: Arc) -> TargetId {
        let next = TargetId(self.targets.len() as u32);
        let targets = &mut self.targets;
        *self.ids.entry((file, arc)).or_insert_with(|| {
            targets.push((file, arc));
            next
        })
    }

    pub(crate) fn reach(&mut self, target: TargetId) {
        if self.paused {
            return;
        }
        self.current.insert(target);
        if self.all.insert(target) {
            self.fresh.push(target);
        }
    }

    /// Notes that code of a file mentions lines.
    pub(crate) fn mention(&mut self, file: u32, lines: impl Iterator<Item = u32>) {
        // The interpreter starts a module in line 0.
        self.lines[file as usize].extend(lines.filter(|line| *line > 0));
    }

    pub(crate) fn lines(&self) -> &[BTreeSet<u32>] {
        &self.lines
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What a target stands for: file and arc.
    pub(crate) fn meaning(&self, target: TargetId) -> (u32, Arc) {
        self.targets[target.0 as usize]
    }
}
