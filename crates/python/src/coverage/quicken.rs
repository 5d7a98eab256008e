//! Removal of the remaining cost of observation, since 3.12.
//!
//! To report events, the interpreter rewrites instructions in memory. When an event is no longer
//! awaited, it restores them, with two exceptions:
//!
//! - It checks for a new line at every jump target, even if all paths come from the same line: `a
//!   if b else c` has two such targets. No line event is ever raised there, so the check is never
//!   switched off. It costs more than the instruction, which also cannot be specialized.
//! - 3.12 has superinstructions, which it inserts when a code object is created. As soon as a tool
//!   awaits any event, it removes them from all running code, and never inserts them again.
//!
//! Both are undone here. Only instructions that the interpreter itself would have written are
//! written, so its later changes start from a valid state.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::assemble::{AssembledCode, UnitOrigin};
use super::code_memory::CodeMemory;
use super::dialect::{Dialect, Superinstruction};
use super::instructions::{CodeParts, Instructions};
use super::tracing::TracingRules;

/// The changes that quicken a code object.
#[derive(Default)]
pub(crate) struct QuickeningPlan {
    /// Line checks that never raise an event: code unit, and the instruction that belongs there.
    idle_line_checks: Vec<(usize, u8)>,
    /// Pairs that can become superinstructions.
    pairs: Vec<InstructionPair>,
    /// Indices in [`QuickeningPlan::pairs`] of the pairs that may be joined once a line has
    /// started.
    pairs_by_line: FxHashMap<u32, Vec<usize>>,
}

/// Two instructions that can be replaced by a superinstruction.
struct InstructionPair {
    /// The code unit of the first.
    unit: usize,
    superinstruction: Superinstruction,
}

impl QuickeningPlan {
    /// Plans the changes. `is_awaited` returns true if a line event at code of this origin reaches
    /// a target.
    pub(crate) fn new(
        dialect: &Dialect,
        assembled: &AssembledCode,
        first_line: u32,
        is_awaited: impl Fn(UnitOrigin) -> bool,
    ) -> QuickeningPlan {
        let text = CodeParts {
            code: &assembled.code,
            line_table: &assembled.line_table,
            exception_table: &assembled.exception_table,
            first_line,
        };
        let Some(code) = Instructions::read(dialect, &text) else {
            return QuickeningPlan::default();
        };
        let first_unit = |number: usize| match number.checked_sub(1) {
            Some(before) => code.list[before].end,
            None => 0,
        };
        let tracing = TracingRules::new(dialect, &code);
        let idle_line_checks = (0..code.len())
            .filter(|number| tracing.starts_line(*number).is_some())
            .map(first_unit)
            .filter(|unit| !is_awaited(assembled.origins[*unit]))
            .map(|unit| (unit, dialect.instrumented_form(assembled.code[2 * unit])));
        let pairs = pairs(dialect, &assembled.code);
        let mut lines = vec![None; assembled.code.len() / 2];
        for (number, instruction) in code.list.iter().enumerate() {
            lines[first_unit(number)..instruction.end].fill(instruction.position.line);
        }
        let mut pairs_by_line: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (index, pair) in pairs.iter().enumerate() {
            // A line that starts in the pair, or right after it, prevents joining until it has
            // started.
            let end = lines.len().min(pair.unit + 3);
            let lines: BTreeSet<u32> = lines[pair.unit..end].iter().flatten().copied().collect();
            for line in lines {
                pairs_by_line.entry(line).or_default().push(index);
            }
        }
        QuickeningPlan {
            idle_line_checks: idle_line_checks.collect(),
            pairs,
            pairs_by_line,
        }
    }

    /// Returns true if there are line checks to remove.
    pub(crate) fn has_idle_line_checks(&self) -> bool {
        !self.idle_line_checks.is_empty()
    }

    /// Removes the line checks that never raise an event.
    ///
    /// No other tool may await events, as it would miss some. A tool installed later gets all of
    /// them.
    pub(crate) fn remove_idle_line_checks(&self, dialect: &Dialect, memory: &CodeMemory) {
        for &(unit, operation) in &self.idle_line_checks {
            let [now, argument] = memory.get(unit);
            if now == dialect.opcodes.instrumented_line {
                memory.set(unit, [operation, argument]);
            }
        }
    }

    /// Joins all pairs for which no event is awaited.
    pub(crate) fn join(&self, dialect: &Dialect, memory: &CodeMemory) {
        for pair in &self.pairs {
            pair.join(dialect, memory);
        }
    }

    /// Returns true if pairs depend on a line having started.
    pub(crate) fn has_pairs_at(&self, line: u32) -> bool {
        self.pairs_by_line.contains_key(&line)
    }

    /// Joins the pairs that a line prevented from being joined.
    pub(crate) fn join_at(&self, line: u32, dialect: &Dialect, memory: &CodeMemory) {
        for index in self.pairs_by_line.get(&line).into_iter().flatten() {
            self.pairs[*index].join(dialect, memory);
        }
    }
}

/// Joins the pairs of any code object, given its instructions.
pub(crate) fn join_all(dialect: &Dialect, code: &[u8], memory: &CodeMemory) {
    for pair in pairs(dialect, code) {
        pair.join(dialect, memory);
    }
}

impl InstructionPair {
    /// Writes the superinstruction, if both instructions are in their original form.
    fn join(&self, dialect: &Dialect, memory: &CodeMemory) {
        let [first, argument] = memory.get(self.unit);
        let [second, _] = memory.get(self.unit + 1);
        // The second instruction may be the first of another joined pair.
        let joined = dialect
            .superinstructions
            .iter()
            .find(|superinstruction| superinstruction.both == second);
        let second = joined.map_or(second, |superinstruction| superinstruction.first);
        // After joining, the first instruction counts as the predecessor of the one that follows,
        // and may have another line.
        let after = self.unit + 2;
        let looks_for_line =
            after < memory.len() && memory.get(after)[0] == dialect.opcodes.instrumented_line;
        if first == self.superinstruction.first
            && second == self.superinstruction.second
            && !looks_for_line
        {
            memory.set(self.unit, [self.superinstruction.both, argument]);
        }
    }
}

/// Finds the pairs in a code object that never ran.
fn pairs(dialect: &Dialect, code: &[u8]) -> Vec<InstructionPair> {
    let mut pairs = Vec::new();
    if dialect.superinstructions.is_empty() {
        return pairs;
    }
    let operation = |unit: usize| code.get(2 * unit).copied();
    let mut unit = 0;
    while let Some(first) = operation(unit) {
        let next = unit + 1 + dialect.caches(first);
        // None of the instructions that can be joined have caches.
        let superinstruction = dialect.superinstructions.iter().find(|superinstruction| {
            superinstruction.first == first && Some(superinstruction.second) == operation(next)
        });
        pairs.extend(superinstruction.map(|&superinstruction| InstructionPair {
            unit,
            superinstruction,
        }));
        unit = next;
    }
    pairs
}
