//! When the interpreter tells a tracing tool of a line.
//!
//! The rules are CPython's own, version by version. Tools such as coverage.py and debuggers hear of lines through
//! them, so whoever wants to count as they do must know them exactly.

use super::dialect::{Dialect, Kind};
use super::flow::loop_end;
use super::instructions::Instructions;

/// Whether a line is looked up at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumed {
    /// It is this one.
    Always(u32),
    /// It is this one, unless the control did not leave.
    Perhaps(u32),
    Never,
}

/// The rules, applied to one code object.
pub(crate) struct Tracing {
    minor: u8,
    lines: Vec<Option<u32>>,
    /// Since 3.12, and until 3.9: whether an instruction may be the first of a line.
    starts: Vec<bool>,
    kinds: Vec<Kind>,
    /// Since 3.12: whether an instruction tells of its jumps.
    tells_of_jumps: Vec<bool>,
    runs_frames: Vec<bool>,
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
            runs_frames: code
                .list
                .iter()
                .map(|one| dialect.runs_frames(one.operation))
                .collect(),
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
            10 => self.lines[previous] != Some(line) || number < previous,
            _ => self.starts[number] || number < previous,
        };
        told.then_some(line)
    }

    /// The line that a tool is told of when an exception takes the control from an instruction to a handler.
    pub(crate) fn tells_handler(&self, previous: usize, handler: usize) -> Option<u32> {
        match self.minor {
            10.. => self.tells(previous, handler),
            // The interpreter forgets the previous instruction, unless that was the first of a line, or in the first.
            _ if self.waits_at(previous) => self.lines[handler],
            _ if !self.starts[previous] && self.starts[1..=previous].contains(&true) => {
                self.lines[handler]
            }
            _ => self.tells(previous, handler),
        }
    }

    /// Whether a frame that has come to an instruction waits there, in a `yield` or `await`.
    ///
    /// Until 3.10 it waits at the `yield` itself, but before a `yield from`, which it does again when it goes on.
    /// Since 3.13 that is where the code goes on, before that it is the instruction in front of it.
    pub(crate) fn waits_at(&self, number: usize) -> bool {
        if self.minor < 11 {
            return self.kinds[number] == Kind::Yield
                || self.kinds.get(number + 1) == Some(&Kind::YieldFrom);
        }
        let resumed = if self.minor >= 13 { number } else { number + 1 };
        resumed != self.entry && self.kinds.get(resumed) == Some(&Kind::Resume)
    }

    /// Whether coverage.py takes an exception that is thrown into a frame waiting here for a new call: on 3.11, it
    /// looks at the argument of the instruction, which is zero for a `yield` as for the beginning of a function.
    pub(crate) fn forgets_line_at(&self, number: usize) -> bool {
        self.minor == 11 && self.waits_at(number)
    }

    /// The line that a tool is told of when the first instruction runs, if it is told of that at all.
    pub(crate) fn tells_at_entry(&self) -> Option<u32> {
        match self.minor {
            11.. => None,
            _ => self.lines.first().copied().flatten(),
        }
    }

    /// Whether coverage.py looks up the line when the control comes back to a frame that waited at an instruction.
    pub(crate) fn looks_up_line(&self, number: usize) -> Resumed {
        let always = self.lines[number].map_or(Resumed::Never, Resumed::Always);
        match (self.minor, self.kinds[number]) {
            (11.., Kind::Resume) if number != self.entry => always,
            (10, Kind::Yield) => always,
            (10, Kind::YieldFrom) => {
                let before = number.checked_sub(1);
                let line = before.and_then(|before| self.lines[before]);
                line.map_or(Resumed::Never, Resumed::Perhaps)
            }
            // Until 3.9 frames remember the line that a tool was told of.
            _ => Resumed::Never,
        }
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
            self.minor == 12 && self.runs_frames[before] && self.kinds[before] == Kind::Plain;
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
    if dialect.minor < 10 {
        // Not where jumps go: a line begins in one place each time it stands in the table.
        for (number, start) in starts.iter_mut().enumerate() {
            *start = number == 0 || code.line(number) != code.line(number - 1);
        }
        return starts;
    }
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
