//! Handlers of instructions before 3.11, when there was no exception table.
//!
//! Until 3.10 instructions open and close blocks at run time. The open blocks at an instruction are
//! the same on every path to it, so they can be found statically.

use super::dialect::{Dialect, InstructionKind};
use super::exception_table::ExceptionEntry;
use super::instructions::Instruction;

/// The maximum number of nested blocks, a limit of the interpreter.
const MAX_BLOCKS: usize = 20;

/// The handler of an open block; `None` while an exception is being handled.
type Block = Option<usize>;

/// The blocks of a code object.
pub(crate) struct BlockAnalysis {
    pub(crate) exception_entries: Vec<ExceptionEntry>,
    /// True if another block fits around all of them.
    pub(crate) has_room_for_outer: bool,
}

/// Finds the handlers by following all paths.
pub(crate) fn find(dialect: &Dialect, list: &[Instruction]) -> BlockAnalysis {
    let mut open: Vec<Option<Vec<Block>>> = vec![None; list.len()];
    let mut pending: Vec<(usize, Vec<Block>)> = vec![(0, Vec::new())];
    while let Some((number, mut blocks)) = pending.pop() {
        if number >= list.len() || open[number].is_some() {
            continue;
        }
        open[number] = Some(blocks.clone());
        let kind = dialect.kind(list[number].operation);
        let target = list[number].target;
        match kind {
            InstructionKind::Return | InstructionKind::Raise | InstructionKind::Reraise => continue,
            InstructionKind::PopBlock => {
                blocks.pop();
            }
            InstructionKind::Setup => {
                let mut handling = blocks.clone();
                handling.push(None);
                pending.extend(target.map(|target| (target, handling)));
                blocks.push(target);
            }
            _ => pending.extend(target.map(|target| (target, blocks.clone()))),
        }
        if !matches!(kind, InstructionKind::Jump(_)) {
            pending.push((number + 1, blocks));
        }
    }
    let mut exception_entries: Vec<ExceptionEntry> = Vec::new();
    for (number, blocks) in open.iter().enumerate() {
        let blocks = blocks.as_deref().unwrap_or_default();
        let Some(handler) = blocks.iter().rev().find_map(|block| *block) else {
            continue;
        };
        match exception_entries.last_mut() {
            Some(last) if last.end == number && last.handler == handler => last.end += 1,
            _ => exception_entries.push(ExceptionEntry {
                start: number,
                end: number + 1,
                handler,
                depth_and_lasti: 0,
            }),
        }
    }
    let deepest = open.iter().flatten().map(Vec::len).max();
    BlockAnalysis {
        exception_entries,
        // An open block becomes a handling one, and its handler may open another.
        has_room_for_outer: deepest.unwrap_or_default() + 2 < MAX_BLOCKS,
    }
}
