//! Which instructions are protected by which handlers, before there was a table of it.
//!
//! Until 3.10 instructions open and close blocks at run time. They do so in the same way whichever way the control
//! takes, so it can be told beforehand which blocks are open where.

use super::dialect::{Dialect, Kind};
use super::exception_table::Protection;
use super::instructions::Instruction;

/// As many as the interpreter has room for.
const LIMIT: usize = 20;

/// The handler of an open block; `None` if an exception is being handled.
type Block = Option<usize>;

/// What is known about the blocks of a code object.
pub(crate) struct Blocks {
    pub(crate) protections: Vec<Protection>,
    /// Whether there is room for one more around all of them.
    pub(crate) has_room: bool,
}

/// Finds the handlers.
pub(crate) fn find(dialect: &Dialect, list: &[Instruction]) -> Blocks {
    let mut open: Vec<Option<Vec<Block>>> = vec![None; list.len()];
    let mut waiting: Vec<(usize, Vec<Block>)> = vec![(0, Vec::new())];
    while let Some((number, mut blocks)) = waiting.pop() {
        if number >= list.len() || open[number].is_some() {
            continue;
        }
        open[number] = Some(blocks.clone());
        let kind = dialect.kind(list[number].operation);
        let target = list[number].target;
        match kind {
            Kind::Return | Kind::Raise | Kind::Reraise => continue,
            Kind::EndOfBlock => {
                blocks.pop();
            }
            Kind::Setup => {
                let mut handling = blocks.clone();
                handling.push(None);
                waiting.extend(target.map(|target| (target, handling)));
                blocks.push(target);
            }
            _ => waiting.extend(target.map(|target| (target, blocks.clone()))),
        }
        if !matches!(kind, Kind::Jump(_)) {
            waiting.push((number + 1, blocks));
        }
    }
    let mut protections: Vec<Protection> = Vec::new();
    for (number, blocks) in open.iter().enumerate() {
        let blocks = blocks.as_deref().unwrap_or_default();
        let Some(handler) = blocks.iter().rev().find_map(|block| *block) else {
            continue;
        };
        match protections.last_mut() {
            Some(last) if last.end == number && last.handler == handler => last.end += 1,
            _ => protections.push(Protection {
                start: number,
                end: number + 1,
                handler,
                depth_and_place: 0,
            }),
        }
    }
    let deepest = open.iter().flatten().map(Vec::len).max();
    Blocks {
        protections,
        // An open block becomes one that handles, and its handler may open another.
        has_room: deepest.unwrap_or_default() + 2 < LIMIT,
    }
}
