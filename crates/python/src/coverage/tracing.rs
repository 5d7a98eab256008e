//! The rules by which the interpreter reports lines to tracing tools.
//!
//! The rules are CPython's own, and differ from version to version. Tools such as coverage.py and
//! debuggers rely on them, so coverage that agrees with them must follow the rules exactly.

use super::dialect::{Dialect, InstructionKind};
use super::flow::loop_end;
use super::instructions::Instructions;

/// The line that coverage.py looks up when a suspended frame resumes at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineLookup {
    /// This line.
    Always(u32),
    /// This line, unless the frame was not suspended.
    Perhaps(u32),
    /// No line is looked up.
    Never,
}

/// The rules, applied to one code object.
pub(crate) struct TracingRules {
    minor: u8,
    /// The line of each instruction.
    lines: Vec<Option<u32>>,
    /// True for instructions that may start a line; since 3.12, and until 3.9.
    starts: Vec<bool>,
    kinds: Vec<InstructionKind>,
    /// True for instructions that raise events for their jumps; since 3.12.
    reports_jumps: Vec<bool>,
    runs_frames: Vec<bool>,
    /// The instruction at which tracing starts.
    entry: usize,
}

impl TracingRules {
    /// Prepares the rules for a code object.
    pub(crate) fn new(dialect: &Dialect, code: &Instructions) -> TracingRules {
        let kinds: Vec<InstructionKind> = code
            .list
            .iter()
            .map(|instruction| dialect.kind(instruction.operation))
            .collect();
        let entry = match dialect.minor {
            11.. => kinds
                .iter()
                .position(|kind| *kind == InstructionKind::Resume)
                .unwrap_or(kinds.len()),
            _ => 0,
        };
        TracingRules {
            minor: dialect.minor,
            lines: code.list.iter().map(|one| one.position.line).collect(),
            starts: line_starts(dialect, code, &kinds, entry),
            reports_jumps: code
                .list
                .iter()
                .map(|one| dialect.reports_jumps(one.operation))
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

    /// Returns the instruction at which tracing starts.
    pub(crate) fn entry(&self) -> usize {
        self.entry
    }

    /// Returns the line reported when one instruction follows another.
    pub(crate) fn reported_line(&self, previous: usize, number: usize) -> Option<u32> {
        let line = self.lines[number]?;
        let is_reported = match self.minor {
            12.. => {
                let is_new = self.lines[previous] != Some(line)
                    || self.kinds[previous] == InstructionKind::Resume;
                self.starts[number] && is_new || self.is_reported_by_jump(previous, number)
            }
            11 => {
                previous <= self.entry
                    || self.lines[previous] != Some(line)
                    || number < previous && self.kinds[number] != InstructionKind::Send
            }
            10 => self.lines[previous] != Some(line) || number < previous,
            _ => self.starts[number] || number < previous,
        };
        is_reported.then_some(line)
    }

    /// Returns the line reported when an exception transfers control from an instruction to a
    /// handler.
    pub(crate) fn reported_at_handler(&self, previous: usize, handler: usize) -> Option<u32> {
        match self.minor {
            10.. => self.reported_line(previous, handler),
            // The interpreter forgets the previous instruction, unless it starts a line or belongs
            // to the first.
            _ if self.suspends_at(previous) => self.lines[handler],
            _ if !self.starts[previous] && self.starts[1..=previous].contains(&true) => {
                self.lines[handler]
            }
            _ => self.reported_line(previous, handler),
        }
    }

    /// Returns true if a frame at this instruction is suspended in a `yield` or `await`.
    ///
    /// Until 3.10 that is the `yield` itself, or the instruction before a `yield from`, which is
    /// repeated when the frame resumes. Since 3.13 it is the instruction at which the frame
    /// resumes, and in between the one before it.
    pub(crate) fn suspends_at(&self, number: usize) -> bool {
        if self.minor < 11 {
            return self.kinds[number] == InstructionKind::Yield
                || self.kinds.get(number + 1) == Some(&InstructionKind::YieldFrom);
        }
        let resumed = if self.minor >= 13 { number } else { number + 1 };
        resumed != self.entry && self.kinds.get(resumed) == Some(&InstructionKind::Resume)
    }

    /// Returns true if coverage.py takes an exception thrown into a frame suspended here for a new
    /// call. On 3.11 it looks at the argument of the instruction, which is zero both for a `yield`
    /// and for the start of a function.
    pub(crate) fn forgets_line_at(&self, number: usize) -> bool {
        self.minor == 11 && self.suspends_at(number)
    }

    /// Returns the line reported when the first instruction runs, if any.
    pub(crate) fn reported_at_entry(&self) -> Option<u32> {
        match self.minor {
            11.. => None,
            _ => self.lines.first().copied().flatten(),
        }
    }

    /// Returns the line that coverage.py looks up when control returns to a frame suspended at an
    /// instruction.
    pub(crate) fn line_lookup(&self, number: usize) -> LineLookup {
        let always = self.lines[number].map_or(LineLookup::Never, LineLookup::Always);
        match (self.minor, self.kinds[number]) {
            (11.., InstructionKind::Resume) if number != self.entry => always,
            (10, InstructionKind::Yield) => always,
            (10, InstructionKind::YieldFrom) => {
                let before = number.checked_sub(1);
                let line = before.and_then(|before| self.lines[before]);
                line.map_or(LineLookup::Never, LineLookup::Perhaps)
            }
            // Until 3.9 frames remember the line reported last.
            _ => LineLookup::Never,
        }
    }

    /// Returns the line that an instruction may start, since 3.12.
    pub(crate) fn starts_line(&self, number: usize) -> Option<u32> {
        self.lines[number].filter(|_| self.starts[number])
    }

    /// Returns the line that may be reported again at an instruction in the middle of it.
    ///
    /// 3.12 forgets the line when a call of a Python function returns to the instruction before.
    pub(crate) fn repeated_line(&self, number: usize) -> Option<u32> {
        let before = number.checked_sub(1)?;
        let line = self.starts_line(number)?;
        let returns = self.minor == 12
            && self.runs_frames[before]
            && self.kinds[before] == InstructionKind::Plain;
        (returns && self.lines[before] == Some(line)).then_some(line)
    }

    /// Returns true if a jump back within a line counts as a new line, which is so since 3.12 if
    /// the jump raises an event.
    pub(crate) fn is_reported_by_jump(&self, previous: usize, number: usize) -> bool {
        self.minor >= 12
            && number <= previous
            && self.lines[number].is_some()
            && self.lines[previous] == self.lines[number]
            && self.reports_jumps[previous]
            && super::flow::is_backward(self.kinds[previous])
    }
}

/// Finds the instructions that may start a line, by the rules of the interpreter since 3.12, and
/// until 3.9.
fn line_starts(
    dialect: &Dialect,
    code: &Instructions,
    kinds: &[InstructionKind],
    entry: usize,
) -> Vec<bool> {
    let mut starts = vec![false; code.len()];
    let mut current = None;
    if dialect.minor < 10 {
        // Targets of jumps do not count: a line starts wherever the table has a new entry.
        for (number, start) in starts.iter_mut().enumerate() {
            *start = number == 0 || code.line(number) != code.line(number - 1);
        }
        return starts;
    }
    for number in entry..code.len() {
        if matches!(
            kinds[number],
            InstructionKind::EndOfLoop | InstructionKind::Resume
        ) {
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
            InstructionKind::ForIter => target + loop_end(dialect),
            InstructionKind::Send => target + 1,
            _ => target,
        };
        if landing < code.len() && code.line(landing).is_some() {
            starts[landing] = true;
        }
    }
    for entry in &code.exception_entries {
        let handler = entry.handler;
        if code.line(handler).is_some() && kinds[handler] != InstructionKind::EndOfLoop {
            starts[handler] = true;
        }
    }
    starts
}
