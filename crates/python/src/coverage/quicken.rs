//! Observed code at full speed again, since 3.12.
//!
//! To tell tools of events, the interpreter changes instructions where it reads them. When nobody waits for an event
//! any more, it changes them back, but for two things:
//!
//! - It looks whether a line begins wherever a jump goes to, even if all who come there come from the same line:
//!   `a if b else c` has two such places. Nobody is ever told of a line there, so nobody can say that it was enough,
//!   and the look costs more than the instruction. Besides, the instruction is not adapted to its operands.
//! - 3.12 has instructions that do what two others do, and puts them in when a code object is made. As soon as a tool
//!   waits for anything at all, it takes them out of all code that runs, and never puts them in again.
//!
//! Both are undone here. All that is written is what the interpreter itself would have written; whatever it changes
//! later starts from there.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::assemble::{Assembled, Origin};
use super::code_memory::CodeMemory;
use super::dialect::{Dialect, Joint};
use super::instructions::{CodeText, Instructions};
use super::tracing::Tracing;

/// What can be undone in a code object.
#[derive(Default)]
pub(crate) struct Shortcuts {
    /// Where the interpreter looks for lines and nothing is learnt: code units, and the operations that belong there.
    vain: Vec<(usize, u8)>,
    pairs: Vec<Pair>,
    /// The places in [`Shortcuts::pairs`] of those that may be joined when a line has begun.
    pairs_by_line: FxHashMap<u32, Vec<usize>>,
}

/// Two instructions that can be one.
struct Pair {
    /// The code unit of the first.
    unit: usize,
    joint: Joint,
}

impl Shortcuts {
    /// `is_waited_for`: whether something is learnt from a line that begins with what comes from there.
    pub(crate) fn new(
        dialect: &Dialect,
        assembled: &Assembled,
        first_line: u32,
        is_waited_for: impl Fn(Origin) -> bool,
    ) -> Shortcuts {
        let text = CodeText {
            code: &assembled.code,
            line_table: &assembled.line_table,
            exception_table: &assembled.exception_table,
            first_line,
        };
        let Some(code) = Instructions::read(dialect, &text) else {
            return Shortcuts::default();
        };
        let start_of = |number: usize| match number.checked_sub(1) {
            Some(before) => code.list[before].end,
            None => 0,
        };
        let tracing = Tracing::new(dialect, &code);
        let vain = (0..code.len())
            .filter(|number| tracing.start_of(*number).is_some())
            .map(start_of)
            .filter(|unit| !is_waited_for(assembled.origins[*unit]))
            .map(|unit| (unit, dialect.while_waited_for(assembled.code[2 * unit])));
        let pairs = pairs(dialect, &assembled.code);
        let mut lines = vec![None; assembled.code.len() / 2];
        for (number, instruction) in code.list.iter().enumerate() {
            lines[start_of(number)..instruction.end].fill(instruction.place.line);
        }
        let mut pairs_by_line: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (place, pair) in pairs.iter().enumerate() {
            // A line that begins in the pair, or right after it, is in the way until it has begun.
            let end = lines.len().min(pair.unit + 3);
            let lines: BTreeSet<u32> = lines[pair.unit..end].iter().flatten().copied().collect();
            for line in lines {
                pairs_by_line.entry(line).or_default().push(place);
            }
        }
        Shortcuts {
            vain: vain.collect(),
            pairs,
            pairs_by_line,
        }
    }

    pub(crate) fn has_vain_places(&self) -> bool {
        !self.vain.is_empty()
    }

    /// Has the interpreter look for lines only where something is learnt from it.
    ///
    /// No other tool may wait for events: it would not be told of some. One that comes later is told of all.
    pub(crate) fn look_no_more_in_vain(&self, dialect: &Dialect, memory: &CodeMemory) {
        for &(unit, operation) in &self.vain {
            let [now, argument] = memory.get(unit);
            if now == dialect.numbers.instrumented_line {
                memory.set(unit, [operation, argument]);
            }
        }
    }

    /// Joins all pairs that no tool waits for.
    pub(crate) fn join(&self, dialect: &Dialect, memory: &CodeMemory) {
        for pair in &self.pairs {
            pair.join(dialect, memory);
        }
    }

    pub(crate) fn has_pairs_at(&self, line: u32) -> bool {
        self.pairs_by_line.contains_key(&line)
    }

    /// The same with those that a line was in the way of.
    pub(crate) fn join_at(&self, line: u32, dialect: &Dialect, memory: &CodeMemory) {
        for place in self.pairs_by_line.get(&line).into_iter().flatten() {
            self.pairs[*place].join(dialect, memory);
        }
    }
}

/// Joins the pairs of any code object, whose instructions are these.
pub(crate) fn join_all(dialect: &Dialect, code: &[u8], memory: &CodeMemory) {
    for pair in pairs(dialect, code) {
        pair.join(dialect, memory);
    }
}

impl Pair {
    fn join(&self, dialect: &Dialect, memory: &CodeMemory) {
        let [first, argument] = memory.get(self.unit);
        let [second, _] = memory.get(self.unit + 1);
        // The second may be the first of another pair that was joined.
        let joined = dialect.joints.iter().find(|joint| joint.both == second);
        let second = joined.map_or(second, |joint| joint.first);
        // Joined, the first one counts as the previous instruction for the one after them, and may have another line.
        let after = self.unit + 2;
        let looks_for_line =
            after < memory.len() && memory.get(after)[0] == dialect.numbers.instrumented_line;
        if first == self.joint.first && second == self.joint.second && !looks_for_line {
            memory.set(self.unit, [self.joint.both, argument]);
        }
    }
}

/// The pairs in a code object that never ran.
fn pairs(dialect: &Dialect, code: &[u8]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    if dialect.joints.is_empty() {
        return pairs;
    }
    let operation = |unit: usize| code.get(2 * unit).copied();
    let mut unit = 0;
    while let Some(first) = operation(unit) {
        let next = unit + 1 + dialect.caches(first);
        // None of those that can be joined have caches.
        let joint = dialect
            .joints
            .iter()
            .find(|joint| joint.first == first && Some(joint.second) == operation(next));
        pairs.extend(joint.map(|&joint| Pair { unit, joint }));
        unit = next;
    }
    pairs
}
