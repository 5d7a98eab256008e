//! When the interpreter tells a tracing tool of a line.
//!
//! The rules are CPython's own, version by version. Tools such as coverage.py and debuggers hear of lines through
//! them, so whoever wants to count as they do must know them exactly.

use super::dialect::{Dialect, Kind};
use super::flow::loop_end;
use super::instructions::Instructions;

/// The rules, applied to one code object.
pub(crate) struct Tracing {
    minor: u8,
    lines: Vec<Option<u32>>,
    /// Since 3.12: whether an instruction may be the first of a line.
    starts: Vec<bool>,
    kinds: Vec<Kind>,
    /// Since 3.12: whether an instruction tells of its jumps.
    tells_of_jumps: Vec<bool>,
    has_caches: Vec<bool>,
    entry: usize,
}

impl Tracing {
    pub(crate) fn new(dialect: &Dialect, code: &Instructions) -> Tracing {
        let kinds: Vec<Kind> = code
            .list
            .iter()
            .map(|instruction| dialect.kind(instruction.operation))
            .collect();
        let entry = match dialect.minor {
            11.. => kinds
                .iter()
                .position(|kind| *kind == Kind::Resume)
                .unwrap_or(kinds.len()),
            _ => 0,
        };
        Tracing {
            minor: dialect.minor,
            lines: code.list.iter().map(|one| one.place.line).collect(),
            starts: starts(dialect, code, &kinds, entry),
            tells_of_jumps: code
                .list
                .iter()
                .map(|one| dialect.tells_of_jumps(one.operation))
                .collect(),
            has_caches: code.list.iter().map(|one| one.caches > 0).collect(),
            kinds,
            entry,
        }
    }

    /// The instruction with which tracing begins.
    pub(crate) fn entry(&self) -> usize {
        self.entry
    }

    /// The line that a tool is told of when one instruction follows another.
    pub(crate) fn tells(&self, previous: usize, number: usize) -> Option<u32> {
        let line = self.lines[number]?;
        let told = match self.minor {
            12.. => {
                let is_new =
                    self.lines[previous] != Some(line) || self.kinds[previous] == Kind::Resume;
                self.starts[number] && is_new || self.is_told_by_jump(previous, number)
            }
            11 => {
                previous <= self.entry
                    || self.lines[previous] != Some(line)
                    || number < previous && self.kinds[number] != Kind::Send
            }
            _ => previous == number || self.lines[previous] != Some(line) || number < previous,
        };
        told.then_some(line)
    }

    /// Whether a frame that has come to an instruction waits there, in a `yield` or `await`.
    ///
    /// Since 3.13 that is where the code goes on, before that it is the instruction in front of it.
    pub(crate) fn waits_at(&self, number: usize) -> bool {
        let resumed = if self.minor >= 13 { number } else { number + 1 };
        resumed != self.entry && self.kinds.get(resumed) == Some(&Kind::Resume)
    }

    /// Whether coverage.py takes an exception that is thrown into a frame waiting here for a new call: on 3.11, it
    /// looks at the argument of the instruction, which is zero for a `yield` as for the beginning of a function.
    pub(crate) fn forgets_line_at(&self, number: usize) -> bool {
        self.minor == 11 && self.waits_at(number)
    }

    /// The line that an instruction may be the first of, since 3.12.
    pub(crate) fn start_of(&self, number: usize) -> Option<u32> {
        self.lines[number].filter(|_| self.starts[number])
    }

    /// The line that a tool may be told of once more at an instruction in the middle of it.
    ///
    /// 3.12 does not know the line any more when a call of a Python function returns to the instruction before.
    pub(crate) fn repeats(&self, number: usize) -> Option<u32> {
        let before = number.checked_sub(1)?;
        let line = self.start_of(number)?;
        let returns =
            self.minor == 12 && self.has_caches[before] && self.kinds[before] == Kind::Plain;
        (returns && self.lines[before] == Some(line)).then_some(line)
    }

    /// Since 3.12 a jump back within a line counts as a new line, but only because the jump tells of it.
    pub(crate) fn is_told_by_jump(&self, previous: usize, number: usize) -> bool {
        self.minor >= 12
            && number <= previous
            && self.lines[number].is_some()
            && self.lines[previous] == self.lines[number]
            && self.tells_of_jumps[previous]
            && super::flow::is_backward(self.kinds[previous])
    }
}

/// The instructions that may be the first of a line, in the eyes of the interpreter since 3.12.
fn starts(dialect: &Dialect, code: &Instructions, kinds: &[Kind], entry: usize) -> Vec<bool> {
    let mut starts = vec![false; code.len()];
    let mut current = None;
    for number in entry..code.len() {
        if matches!(kinds[number], Kind::EndOfLoop | Kind::Resume) {
            continue;
        }
        let line = code.line(number);
        starts[number] = line.is_some() && line != current;
        current = line;
    }
    for (number, instruction) in code.list.iter().enumerate().skip(entry) {
        let Some(target) = instruction.target else {
            continue;
        };
        let landing = match kinds[number] {
            Kind::ForIter => target + loop_end(dialect),
            Kind::Send => target + 1,
            _ => target,
        };
        if landing < code.len() && code.line(landing).is_some() {
            starts[landing] = true;
        }
    }
    for protection in &code.protections {
        let handler = protection.handler;
        if code.line(handler).is_some() && kinds[handler] != Kind::EndOfLoop {
            starts[handler] = true;
        }
    }
    starts
}
