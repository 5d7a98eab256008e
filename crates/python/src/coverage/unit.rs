//! One code object under observation.

use rustc_hash::{FxHashMap, FxHashSet};
use testwright_core::TargetId;

use super::assemble::{Mark, MarkCode, MarkPlace, Origin};
use super::dialect::Dialect;
use super::flow::{Arc, Flow, Look, Sight, Thrown, findings};
use super::instructions::Instructions;
use super::record::Record;
use super::watch::{Watch, watches};

/// What is known about a code object: where its code units come from, and what follows from them.
pub(crate) struct Unit {
    pub(crate) file: u32,
    flow: Flow,
    /// By code unit.
    origins: Vec<Origin>,
    /// By instruction: reached when the interpreter tells of a line there.
    starts: FxHashMap<usize, TargetId>,
    lines: FxHashMap<u32, LineMeaning>,
    /// Those of [`Unit::starts`] that were not reached yet.
    waiting: FxHashSet<TargetId>,
    /// By instruction: what is seen when it jumps or returns.
    leaving: FxHashMap<usize, Vec<Seen>>,
    /// By number of the mark.
    marks: Vec<Seen>,
}

/// What a sight means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The target is reached.
    Target(TargetId),
    /// This was the last line.
    Remember(Thrown),
    /// An arc was made from the line that was remembered to this one.
    FromRemembered(i32),
}

impl Seen {
    fn new(sight: Sight, file: u32, record: &mut Record) -> Seen {
        match sight {
            Sight::Arc(arc) => Seen::Target(record.target(file, arc)),
            Sight::Remember(last_line) => Seen::Remember(Thrown {
                last_line,
                previous: 0,
            }),
            Sight::FromRemembered(line) => Seen::FromRemembered(line),
        }
    }
}

/// What it means that the interpreter tells of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineMeaning {
    /// This target is reached, or nothing that is not noticed elsewhere.
    Sure(Option<TargetId>),
    /// The line begins in several places, and it depends on which.
    Depends,
}

impl Unit {
    /// Plans the observation of a code object by the interpreter's own events, and the marks it needs.
    pub(crate) fn monitored(
        dialect: &Dialect,
        code: &Instructions,
        first_line: u32,
        file: u32,
        record: &mut Record,
    ) -> (Unit, Vec<Mark>) {
        record.mention(file, code.list.iter().filter_map(|one| one.place.line));
        let flow = Flow::new(dialect, code, first_line);
        let told_of_lines = true;
        let found = findings(&flow, dialect, code, told_of_lines);
        let mut unit = Unit::new(flow, file);
        let mut marks = Vec::new();
        for (look, sight) in found {
            let seen = Seen::new(sight, file, record);
            let tells = |number: usize| dialect.tells_of_jumps(code.list[number].operation);
            let place = match (look, seen) {
                (Look::Line(number), Seen::Target(target)) => {
                    unit.starts.insert(number, target);
                    continue;
                }
                (Look::Return(number), _) => {
                    unit.leaving.entry(number).or_default().push(seen);
                    continue;
                }
                (Look::Jump(number), _) if tells(number) => {
                    unit.leaving.entry(number).or_default().push(seen);
                    continue;
                }
                (Look::Line(number) | Look::Jump(number), _) => MarkPlace::Before(number),
                (Look::Fall(number), _) => MarkPlace::Fall(number),
                (Look::Branch(number), _) => MarkPlace::Branch(number),
            };
            marks.push(Mark {
                place,
                number: unit.marks.len(),
                code: MarkCode::Jump,
                has_line: !is_told(code, place, sight),
            });
            unit.marks.push(seen);
        }
        unit.give_lines_meaning(code);
        unit.begin_anew();
        (unit, marks)
    }

    /// Plans the observation of a code object by probes: where they are to be, and what each of them watches.
    pub(crate) fn probed(
        dialect: &Dialect,
        code: &Instructions,
        first_line: u32,
        file: u32,
        record: &mut Record,
    ) -> (Unit, Vec<(MarkPlace, Watch)>) {
        record.mention(file, code.list.iter().filter_map(|one| one.place.line));
        let flow = Flow::new(dialect, code, first_line);
        let told_of_lines = false;
        let found = findings(&flow, dialect, code, told_of_lines)
            .into_iter()
            .map(|(look, sight)| (look, Seen::new(sight, file, record)))
            .collect();
        let watches = watches(dialect, code, &flow, found);
        (Unit::new(flow, file), watches)
    }

    fn new(flow: Flow, file: u32) -> Unit {
        Unit {
            file,
            flow,
            origins: Vec::new(),
            starts: FxHashMap::default(),
            lines: FxHashMap::default(),
            waiting: FxHashSet::default(),
            leaving: FxHashMap::default(),
            marks: Vec::new(),
        }
    }

    /// Most lines have one beginning, or all their beginnings mean the same.
    fn give_lines_meaning(&mut self, code: &Instructions) {
        for number in 0..code.len() {
            let Some(line) = self.flow.tracing.start_of(number) else {
                continue;
            };
            let meaning = LineMeaning::Sure(self.starts.get(&number).copied());
            let known = self.lines.entry(line).or_insert(meaning);
            if *known != meaning {
                *known = LineMeaning::Depends;
            }
        }
    }

    /// Whether something is learnt when the interpreter tells of a line at an instruction or mark.
    ///
    /// A mark in front of an instruction, however that is reached, begins the instruction's line.
    pub(crate) fn waits_for_line_at(&self, origin: Origin, marks: &[Mark]) -> bool {
        let number = match origin {
            Origin::Instruction(number) => Some(number),
            Origin::Mark(number) => match marks[number].place {
                MarkPlace::Before(number) => Some(number),
                _ => None,
            },
            Origin::Detour => None,
        };
        number.is_some_and(|number| self.starts.contains_key(&number))
    }

    /// Waits for all lines again.
    pub(crate) fn begin_anew(&mut self) {
        if self.waiting.len() < self.starts.len() {
            self.waiting = self.starts.values().copied().collect();
        }
    }

    /// Notes that a line has begun; `true` if it was the last to wait for.
    pub(crate) fn has_begun(&mut self, target: TargetId) -> bool {
        self.waiting.remove(&target) && self.waiting.is_empty()
    }

    /// Where the code units of the code object that runs come from.
    pub(crate) fn set_origins(&mut self, origins: Vec<Origin>) {
        self.origins = origins;
    }

    fn origin(&self, offset: usize) -> Option<Origin> {
        self.origins.get(offset / 2).copied()
    }

    fn instruction(&self, offset: usize) -> Option<usize> {
        match self.origin(offset)? {
            Origin::Instruction(number) => Some(number),
            Origin::Mark(_) | Origin::Detour => None,
        }
    }

    pub(crate) fn line(&self, line: u32) -> LineMeaning {
        let nothing = LineMeaning::Sure(None);
        self.lines.get(&line).copied().unwrap_or(nothing)
    }

    /// The target reached by beginning a line at an offset.
    pub(crate) fn line_at(&self, offset: usize) -> Option<TargetId> {
        self.starts.get(&self.instruction(offset)?).copied()
    }

    /// What is seen when the control jumps or returns at an offset.
    pub(crate) fn left_at(&self, offset: usize) -> &[Seen] {
        match self.origin(offset) {
            Some(Origin::Instruction(number)) => self
                .leaving
                .get(&number)
                .map(Vec::as_slice)
                .unwrap_or_default(),
            Some(Origin::Mark(number)) => &self.marks[number..=number],
            Some(Origin::Detour) | None => &[],
        }
    }

    /// An exception appears at an offset.
    pub(crate) fn thrown(&self, offset: usize) -> Option<Thrown> {
        let previous = self.instruction(offset)?;
        let last_line = self.flow.last_line(previous)?;
        Some(Thrown {
            last_line,
            previous,
        })
    }

    /// An exception appears again at an offset; `before` is what was known of it.
    pub(crate) fn thrown_again(&self, offset: usize, before: Option<Thrown>) -> Option<Thrown> {
        let number = self.instruction(offset)?;
        let last_line = self.flow.last_line(number);
        let last_line = last_line.or(before.map(|before| before.last_line))?;
        let previous = self.flow.restores_place(number);
        let previous = before
            .filter(|_| previous)
            .map_or(number, |before| before.previous);
        Some(Thrown {
            last_line,
            previous,
        })
    }

    /// The instruction at a code unit, or the last one before it.
    pub(crate) fn instruction_up_to(&self, unit: usize) -> Option<usize> {
        let origins = self.origins.get(..=unit)?;
        origins.iter().rev().find_map(|origin| match origin {
            Origin::Instruction(number) => Some(*number),
            Origin::Mark(_) | Origin::Detour => None,
        })
    }

    /// Where an exception comes from that an instruction throws again, unless it is where it came from before.
    pub(crate) fn throws_again_from(&self, number: usize) -> Option<usize> {
        (!self.flow.restores_place(number)).then_some(number)
    }

    /// An exception comes from an instruction, as the interpreter has it; `last_line` if that is known, and
    /// otherwise `before` if it does not follow from the instruction.
    pub(crate) fn thrown_from(
        &self,
        previous: usize,
        last_line: Option<i32>,
        before: Option<i32>,
    ) -> Option<Thrown> {
        let last_line = last_line.or_else(|| self.flow.line_thrown_from(previous));
        Some(Thrown {
            last_line: last_line.or(before)?,
            previous,
        })
    }

    /// The line that a tool was told of last when an instruction runs, if that does not depend on the past.
    pub(crate) fn last_line(&self, number: usize) -> Option<i32> {
        self.flow.last_line(number)
    }

    /// An exception comes to a handler, which begins with this instruction.
    pub(crate) fn handled_by(&self, thrown: Thrown, handler: usize) -> Option<Arc> {
        self.flow.at_handler(thrown, handler)
    }

    /// An exception is handled at an offset.
    pub(crate) fn handled(&self, thrown: Thrown, offset: usize) -> Option<Arc> {
        self.flow.after_exception(thrown, self.instruction(offset)?)
    }

    /// An exception leaves.
    ///
    /// One that was thrown into a generator looks like a `yield` to coverage.py, and does not count.
    pub(crate) fn unwound(&self, thrown: Thrown) -> Option<Arc> {
        let looks_like_yield = self.flow.tracing.waits_at(thrown.previous);
        (!looks_like_yield).then_some((thrown.last_line, self.flow.exit))
    }
}

/// Whether tools are told of a line right after a mark, or there is none to be told of.
fn is_told(code: &Instructions, place: MarkPlace, sight: Sight) -> bool {
    let target = match place {
        MarkPlace::Fall(number) => Some(number),
        MarkPlace::Branch(number) => code.list[number].target,
        _ => None,
    };
    target.is_some_and(|target| match (code.line(target), sight) {
        (None, _) => true,
        (Some(line), Sight::Arc((_, to)) | Sight::FromRemembered(to)) => to == line as i32,
        (Some(_), Sight::Remember(_)) => false,
    })
}
