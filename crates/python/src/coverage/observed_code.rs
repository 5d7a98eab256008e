//! One code object under observation.

use rustc_hash::{FxHashMap, FxHashSet};
use testwright_core::TargetId;

use super::assemble::{CodeMark, MarkCode, MarkPosition, UnitOrigin};
use super::dialect::Dialect;
use super::flow::{Arc, ArcEffect, CodeFlow, ExceptionOrigin, ObservationPoint, find_points};
use super::instructions::Instructions;
use super::probe_plan::{ProbeKind, plan_probes};
use super::record::CoverageRecord;

/// A code object under observation: the origin of its code units, and the meaning of the events in
/// it.
pub(crate) struct ObservedCode {
    /// The number of its file in the record.
    pub(crate) file: u32,
    flow: CodeFlow,
    /// The origin of each code unit of the code that runs.
    origins: Vec<UnitOrigin>,
    /// The targets reached by line events, by instruction.
    starts: FxHashMap<usize, TargetId>,
    /// The meaning of line events, by line.
    lines: FxHashMap<u32, LineMeaning>,
    /// Targets in [`ObservedCode::starts`] that have not been reached since the last reset.
    unreached: FxHashSet<TargetId>,
    /// Effects of an instruction that jumps or returns, by instruction.
    exits: FxHashMap<usize, Vec<TargetEffect>>,
    /// Effects of marks, by number of the mark.
    marks: Vec<TargetEffect>,
}

/// The effect of reaching an observation point, as a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetEffect {
    /// The target is reached.
    Target(TargetId),
    /// The last line becomes this one, in this thread.
    Remember(ExceptionOrigin),
    /// The arc from the remembered last line to this one is reached.
    FromRemembered(i32),
}

impl TargetEffect {
    /// Turns an effect on an arc into one on a target.
    fn new(effect: ArcEffect, file: u32, record: &mut CoverageRecord) -> TargetEffect {
        match effect {
            ArcEffect::Arc(arc) => TargetEffect::Target(record.target(file, arc)),
            ArcEffect::Remember(last_line) => TargetEffect::Remember(ExceptionOrigin {
                last_line,
                previous: 0,
            }),
            ArcEffect::FromRemembered(line) => TargetEffect::FromRemembered(line),
        }
    }
}

/// The meaning of a line event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineMeaning {
    /// It reaches this target, or none that is not noticed by other means.
    Unique(Option<TargetId>),
    /// The line starts at several instructions with different meanings.
    Ambiguous,
}

impl ObservedCode {
    /// Plans the observation of a code object through events of the interpreter. Returns the marks
    /// to insert.
    pub(crate) fn monitored(
        dialect: &Dialect,
        code: &Instructions,
        first_line: u32,
        file: u32,
        record: &mut CoverageRecord,
    ) -> (ObservedCode, Vec<CodeMark>) {
        record.add_lines(file, code.list.iter().filter_map(|one| one.position.line));
        let flow = CodeFlow::new(dialect, code, first_line);
        let gets_line_events = true;
        let points = find_points(&flow, dialect, code, gets_line_events);
        let mut unit = ObservedCode::new(flow, file);
        let mut marks = Vec::new();
        for (point, arc_effect) in points {
            let effect = TargetEffect::new(arc_effect, file, record);
            let reports = |number: usize| dialect.reports_jumps(code.list[number].operation);
            let position = match (point, effect) {
                (ObservationPoint::Line(number), TargetEffect::Target(target)) => {
                    unit.starts.insert(number, target);
                    continue;
                }
                (ObservationPoint::Return(number), _) => {
                    unit.exits.entry(number).or_default().push(effect);
                    continue;
                }
                (ObservationPoint::Jump(number), _) if reports(number) => {
                    unit.exits.entry(number).or_default().push(effect);
                    continue;
                }
                (ObservationPoint::Line(number) | ObservationPoint::Jump(number), _) => {
                    MarkPosition::Before(number)
                }
                (ObservationPoint::Fall(number), _) => MarkPosition::Fall(number),
                (ObservationPoint::Branch(number), _) => MarkPosition::Branch(number),
            };
            marks.push(CodeMark {
                position,
                number: unit.marks.len(),
                code: MarkCode::Jump,
                has_line: !is_line_reported(code, position, arc_effect),
            });
            unit.marks.push(effect);
        }
        unit.set_line_meanings(code);
        unit.reset();
        (unit, marks)
    }

    /// Plans the observation of a code object through probes. Returns the probes and their
    /// positions.
    pub(crate) fn probed(
        dialect: &Dialect,
        code: &Instructions,
        first_line: u32,
        file: u32,
        record: &mut CoverageRecord,
    ) -> (ObservedCode, Vec<(MarkPosition, ProbeKind)>) {
        record.add_lines(file, code.list.iter().filter_map(|one| one.position.line));
        let flow = CodeFlow::new(dialect, code, first_line);
        let gets_line_events = false;
        let points = find_points(&flow, dialect, code, gets_line_events)
            .into_iter()
            .map(|(point, effect)| (point, TargetEffect::new(effect, file, record)))
            .collect();
        let plan_probes = plan_probes(dialect, code, &flow, points);
        (ObservedCode::new(flow, file), plan_probes)
    }

    fn new(flow: CodeFlow, file: u32) -> ObservedCode {
        ObservedCode {
            file,
            flow,
            origins: Vec::new(),
            starts: FxHashMap::default(),
            lines: FxHashMap::default(),
            unreached: FxHashSet::default(),
            exits: FxHashMap::default(),
            marks: Vec::new(),
        }
    }

    /// Sets the meaning of each line. Most lines have one start, or starts with the same meaning.
    fn set_line_meanings(&mut self, code: &Instructions) {
        for number in 0..code.len() {
            let Some(line) = self.flow.tracing.starts_line(number) else {
                continue;
            };
            let meaning = LineMeaning::Unique(self.starts.get(&number).copied());
            let known = self.lines.entry(line).or_insert(meaning);
            if *known != meaning {
                *known = LineMeaning::Ambiguous;
            }
        }
    }

    /// Returns true if a line event at an instruction or mark reaches a target.
    ///
    /// A mark in front of an instruction, on all paths to it, starts the instruction's line.
    pub(crate) fn awaits_line_at(&self, origin: UnitOrigin, marks: &[CodeMark]) -> bool {
        let number = match origin {
            UnitOrigin::Instruction(number) => Some(number),
            UnitOrigin::CodeMark(number) => match marks[number].position {
                MarkPosition::Before(number) => Some(number),
                _ => None,
            },
            UnitOrigin::Detour => None,
        };
        number.is_some_and(|number| self.starts.contains_key(&number))
    }

    /// Marks all lines as unreached.
    pub(crate) fn reset(&mut self) {
        if self.unreached.len() < self.starts.len() {
            self.unreached = self.starts.values().copied().collect();
        }
    }

    /// Marks a target as reached. Returns true if it was the last unreached one.
    pub(crate) fn mark_reached(&mut self, target: TargetId) -> bool {
        self.unreached.remove(&target) && self.unreached.is_empty()
    }

    /// Sets the origins of the code units, once the code is assembled.
    pub(crate) fn set_origins(&mut self, origins: Vec<UnitOrigin>) {
        self.origins = origins;
    }

    /// Returns the origin of the code unit at a byte offset.
    fn unit_origin(&self, offset: usize) -> Option<UnitOrigin> {
        self.origins.get(offset / 2).copied()
    }

    /// Returns the instruction at a byte offset.
    fn instruction(&self, offset: usize) -> Option<usize> {
        match self.unit_origin(offset)? {
            UnitOrigin::Instruction(number) => Some(number),
            UnitOrigin::CodeMark(_) | UnitOrigin::Detour => None,
        }
    }

    /// Returns the meaning of a line event.
    pub(crate) fn line(&self, line: u32) -> LineMeaning {
        let nothing = LineMeaning::Unique(None);
        self.lines.get(&line).copied().unwrap_or(nothing)
    }

    /// Returns the target reached by starting a line at an offset.
    pub(crate) fn line_at(&self, offset: usize) -> Option<TargetId> {
        self.starts.get(&self.instruction(offset)?).copied()
    }

    /// Returns the effects of a jump or return at an offset.
    pub(crate) fn effects_at(&self, offset: usize) -> &[TargetEffect] {
        match self.unit_origin(offset) {
            Some(UnitOrigin::Instruction(number)) => self
                .exits
                .get(&number)
                .map(Vec::as_slice)
                .unwrap_or_default(),
            Some(UnitOrigin::CodeMark(number)) => &self.marks[number..=number],
            Some(UnitOrigin::Detour) | None => &[],
        }
    }

    /// Returns the origin of an exception raised at an offset, if it does not depend on earlier
    /// lines.
    pub(crate) fn exception_origin(&self, offset: usize) -> Option<ExceptionOrigin> {
        let previous = self.instruction(offset)?;
        let last_line = self.flow.last_line(previous)?;
        Some(ExceptionOrigin {
            last_line,
            previous,
        })
    }

    /// Returns the origin of an exception reraised at an offset; `before` is its origin so far.
    pub(crate) fn reraise_origin(
        &self,
        offset: usize,
        before: Option<ExceptionOrigin>,
    ) -> Option<ExceptionOrigin> {
        let number = self.instruction(offset)?;
        let last_line = self.flow.last_line(number);
        let last_line = last_line.or(before.map(|before| before.last_line))?;
        let previous = self.flow.restores_origin(number);
        let previous = before
            .filter(|_| previous)
            .map_or(number, |before| before.previous);
        Some(ExceptionOrigin {
            last_line,
            previous,
        })
    }

    /// Returns the instruction at a code unit, or the last one before it.
    pub(crate) fn instruction_at_or_before(&self, unit: usize) -> Option<usize> {
        let origins = self.origins.get(..=unit)?;
        origins.iter().rev().find_map(|origin| match origin {
            UnitOrigin::Instruction(number) => Some(*number),
            UnitOrigin::CodeMark(_) | UnitOrigin::Detour => None,
        })
    }

    /// Returns an instruction that reraises, unless it restores the origin of the exception.
    pub(crate) fn reraise_instruction(&self, number: usize) -> Option<usize> {
        (!self.flow.restores_origin(number)).then_some(number)
    }

    /// Returns the origin of an exception that the interpreter attributes to an instruction. The
    /// last line is `last_line` if known, then the line that follows from the instruction, then
    /// `before`.
    pub(crate) fn origin_from(
        &self,
        previous: usize,
        last_line: Option<i32>,
        before: Option<i32>,
    ) -> Option<ExceptionOrigin> {
        let last_line = last_line.or_else(|| self.flow.line_thrown_from(previous));
        Some(ExceptionOrigin {
            last_line: last_line.or(before)?,
            previous,
        })
    }

    /// Returns the last line reported when an instruction runs, if it does not depend on earlier
    /// lines.
    pub(crate) fn last_line(&self, number: usize) -> Option<i32> {
        self.flow.last_line(number)
    }

    /// Returns the arc of an exception that arrives at a handler, given by its first instruction.
    pub(crate) fn arc_to_handler(&self, origin: ExceptionOrigin, handler: usize) -> Option<Arc> {
        self.flow.at_handler(origin, handler)
    }

    /// Returns the arc of an exception that is handled at an offset.
    pub(crate) fn arc_when_handled(&self, origin: ExceptionOrigin, offset: usize) -> Option<Arc> {
        self.flow.after_exception(origin, self.instruction(offset)?)
    }

    /// Returns the arc of an exception that leaves the code object.
    ///
    /// An exception thrown into a suspended generator looks like a `yield` to coverage.py, and
    /// makes no arc.
    pub(crate) fn arc_when_unwound(&self, origin: ExceptionOrigin) -> Option<Arc> {
        let looks_like_yield = self.flow.tracing.suspends_at(origin.previous);
        (!looks_like_yield).then_some((origin.last_line, self.flow.exit_line))
    }
}

/// Returns true if a line is reported right after a mark, or if there is no line to report.
fn is_line_reported(code: &Instructions, position: MarkPosition, effect: ArcEffect) -> bool {
    let target = match position {
        MarkPosition::Fall(number) => Some(number),
        MarkPosition::Branch(number) => code.list[number].target,
        _ => None,
    };
    target.is_some_and(|target| match (code.line(target), effect) {
        (None, _) => true,
        (Some(line), ArcEffect::Arc((_, to)) | ArcEffect::FromRemembered(to)) => to == line as i32,
        (Some(_), ArcEffect::Remember(_)) => false,
    })
}
