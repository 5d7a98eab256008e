//! Putting code objects together again, with marks in them.
//!
//! A mark is a bit of code that nothing but the tool notices: it has the line of the instruction before it, it
//! does nothing, and it stands in the way of exactly one step from an instruction to the next. So tracebacks,
//! debuggers and other tools see what they saw before.
//!
//! ```text
//!         …                       the instruction that stands before `target`
//!         mark of the fall        jumps over what follows
//!  way 1: mark of a branch        a branch that jumped to `target` jumps here instead
//!         jump to `target`
//!  target: mark of the target     whoever comes, from wherever
//!         …
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::{Dialect, Direction, Kind};
use super::exception_table::{self, Protection};
use super::instructions::{Instruction, Instructions};
use super::line_table::{self, Place};

/// Something to insert.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) place: MarkPlace,
    /// Comes back in [`Assembled::origins`].
    pub(crate) number: usize,
    pub(crate) code: MarkCode,
    /// Whether it has the line of the instruction before. Without, tools are told of the line after it, and the
    /// interpreter spends no time on finding out that a mark starts no line.
    pub(crate) has_line: bool,
}

/// Where to insert it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkPlace {
    /// Before an instruction, in the way of the one that stands before it.
    Fall(usize),
    /// In the way of a jump on a condition, which is this instruction.
    Branch(usize),
    /// Before an instruction, however it is reached.
    Before(usize),
    /// Before the first instruction of a handler. It finds the place of the exception on the stack, below the
    /// exception, and has to take it away if the handler does not expect it.
    Handler(usize),
    /// After everything else: where exceptions go that no handler takes. It finds the same on the stack.
    Uncaught,
}

/// What a mark consists of.
#[derive(Clone, Debug)]
pub(crate) enum MarkCode {
    /// A jump to where the control goes anyway, which monitoring tools hear of.
    Jump,
    /// These instructions: operation and argument.
    Sequence(Vec<(u8, u32)>),
}

/// Where a code unit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This instruction of the original.
    Instruction(usize),
    /// This mark, by its number.
    Mark(usize),
    /// Inserted to keep the control on its way.
    Detour,
}

/// A code object's new parts.
pub(crate) struct Assembled {
    pub(crate) code: Vec<u8>,
    pub(crate) line_table: Vec<u8>,
    pub(crate) exception_table: Vec<u8>,
    /// By code unit.
    pub(crate) origins: Vec<Origin>,
}

/// A place that jumps can go to, or a table can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// All that was inserted before an instruction.
    Surroundings(usize),
    /// What is run before an instruction however it is reached.
    Target(usize),
    /// An instruction itself.
    Itself(usize),
    /// The mark in the way of a branch.
    Way(usize),
    /// What takes the exceptions that no handler takes.
    Uncaught,
}

struct Item {
    operation: u8,
    argument: Argument,
    caches: usize,
    place: Place,
    origin: Origin,
    /// Larger-argument prefixes; grows until everything fits.
    prefixes: usize,
}

#[derive(Clone, Copy)]
enum Argument {
    Number(u32),
    To(Label),
}

/// Inserts marks.
pub(crate) fn assemble(
    dialect: &Dialect,
    code: &Instructions,
    first_line: u32,
    marks: &[Mark],
) -> Assembled {
    let mut program = Program {
        dialect,
        items: Vec::with_capacity(code.len() + 2 * marks.len()),
        labels: BTreeMap::new(),
        entry: entry(dialect, code),
        handlers: BTreeSet::new(),
    };
    program.write(code, marks);
    let starts = program.settle();
    program.finish(code, first_line, &starts)
}

struct Program<'a> {
    dialect: &'a Dialect,
    items: Vec<Item>,
    /// Numbers of items.
    labels: BTreeMap<Label, usize>,
    /// Where tracing tools begin to listen.
    entry: usize,
    /// Those that need to know the place of the exception.
    handlers: BTreeSet<usize>,
}

fn entry(dialect: &Dialect, code: &Instructions) -> usize {
    let is_entry = |one: &Instruction| dialect.kind(one.operation) == Kind::Resume;
    code.list.iter().position(is_entry).unwrap_or(0)
}

impl Program<'_> {
    fn write(&mut self, code: &Instructions, marks: &[Mark]) {
        let mut falls: BTreeMap<usize, &Mark> = BTreeMap::new();
        let mut befores: BTreeMap<usize, Vec<&Mark>> = BTreeMap::new();
        let mut ways: BTreeMap<usize, Vec<(usize, &Mark)>> = BTreeMap::new();
        let mut sent_elsewhere: BTreeSet<usize> = BTreeSet::new();
        let mut uncaught = None;
        for mark in marks {
            match mark.place {
                MarkPlace::Fall(number) => {
                    falls.insert(number, mark);
                }
                MarkPlace::Before(number) => befores.entry(number).or_default().push(mark),
                MarkPlace::Handler(number) => {
                    self.handlers.insert(number);
                    befores.entry(number).or_default().insert(0, mark);
                }
                MarkPlace::Uncaught => uncaught = Some(mark),
                MarkPlace::Branch(number) => {
                    if let Some(target) = code.list[number].target {
                        ways.entry(target).or_default().push((number, mark));
                        sent_elsewhere.insert(number);
                    }
                }
            }
        }
        for (number, instruction) in code.list.iter().enumerate() {
            self.label(Label::Surroundings(number));
            let before = number.checked_sub(1).map(|before| &code.list[before]);
            let place_before = before.map(|before| before.place.line);
            // On 3.11 tracing tools are told of the first line even if it is the one before.
            let place_before = place_before
                .filter(|_| self.dialect.minor != 11 || number.checked_sub(1) != Some(self.entry));
            if uncaught.is_some() && self.opens_block_before(number, code) {
                let place = match self.dialect.minor {
                    10.. => None,
                    // Every instruction has a line; one more here would not go unnoticed.
                    _ => instruction.place.line,
                };
                self.items.push(Item {
                    operation: self.dialect.numbers.setup_finally,
                    argument: Argument::To(Label::Uncaught),
                    caches: 0,
                    place: line_only(place),
                    origin: Origin::Detour,
                    prefixes: 0,
                });
            }
            let ways = ways.get(&number).map(Vec::as_slice).unwrap_or_default();
            let target = Label::Target(number);
            if let Some(mark) = falls.get(&number) {
                let place = line_only(place_before.flatten().filter(|_| mark.has_line));
                self.mark(mark, place, target);
                if let (MarkCode::Sequence(_), false) = (&mark.code, ways.is_empty()) {
                    self.jump(target, place, Origin::Detour);
                }
            } else if !ways.is_empty() && before.is_some_and(|before| self.falls(before.operation))
            {
                self.jump(target, line_only(place_before.flatten()), Origin::Detour);
            }
            for (branch, mark) in ways {
                self.label(Label::Way(*branch));
                // Before 3.12, tracing tools are told of a line whenever a branch goes back.
                let hides = self.dialect.minor < 12 && number <= *branch;
                let place = line_only(code.line(*branch).filter(|_| !hides && mark.has_line));
                self.mark(mark, place, target);
                if let MarkCode::Sequence(_) = mark.code {
                    self.jump(target, place, Origin::Detour);
                }
            }
            self.label(target);
            for mark in befores.get(&number).map(Vec::as_slice).unwrap_or_default() {
                self.mark(
                    mark,
                    line_only(instruction.place.line),
                    Label::Itself(number),
                );
            }
            self.label(Label::Itself(number));
            let argument = match instruction.target {
                None => Argument::Number(instruction.argument),
                Some(_) if sent_elsewhere.contains(&number) => Argument::To(Label::Way(number)),
                Some(target) => Argument::To(Label::Target(target)),
            };
            self.items.push(Item {
                operation: instruction.operation,
                argument,
                caches: instruction.caches,
                place: instruction.place,
                origin: Origin::Instruction(number),
                prefixes: 0,
            });
        }
        self.label(Label::Surroundings(code.len()));
        if let Some(mark) = uncaught {
            self.label(Label::Uncaught);
            self.mark(mark, line_only(None), Label::Uncaught);
        }
    }

    /// Whether the block around everything begins before this instruction; there are no blocks since 3.11.
    fn opens_block_before(&self, number: usize, code: &Instructions) -> bool {
        let starts_generator = |one: &Instruction| {
            self.dialect.minor == 10 && one.operation == self.dialect.numbers.start_generator
        };
        let begin = usize::from(code.list.first().is_some_and(starts_generator));
        self.dialect.minor < 11 && number == begin
    }

    fn label(&mut self, label: Label) {
        self.labels.insert(label, self.items.len());
    }

    fn mark(&mut self, mark: &Mark, place: Place, target: Label) {
        let origin = Origin::Mark(mark.number);
        match &mark.code {
            MarkCode::Jump => self.jump(target, place, origin),
            MarkCode::Sequence(sequence) => {
                for &(operation, argument) in sequence {
                    self.items.push(Item {
                        operation,
                        argument: Argument::Number(argument),
                        caches: self.dialect.caches(operation),
                        place,
                        origin,
                        prefixes: 0,
                    });
                }
            }
        }
    }

    fn jump(&mut self, to: Label, place: Place, origin: Origin) {
        self.items.push(Item {
            operation: self.dialect.numbers.jump_forward,
            argument: Argument::To(to),
            caches: 0,
            place,
            origin,
            prefixes: 0,
        });
    }

    fn falls(&self, operation: u8) -> bool {
        !matches!(
            self.dialect.kind(operation),
            Kind::Jump(_) | Kind::Return | Kind::Raise | Kind::Reraise
        )
    }

    /// Gives every item as many prefixes as its argument needs, and returns where items start, in code units.
    fn settle(&mut self) -> Vec<usize> {
        loop {
            let mut starts = Vec::with_capacity(self.items.len() + 1);
            let mut unit = 0;
            for item in &self.items {
                starts.push(unit);
                unit += item.prefixes + 1 + item.caches;
            }
            starts.push(unit);
            let mut grown = false;
            for number in 0..self.items.len() {
                let argument = self.argument(number, &starts);
                let needed = (1..4).filter(|byte| argument >> (8 * byte) != 0).count();
                let item = &mut self.items[number];
                // Never less than before, so that this comes to an end.
                if needed > item.prefixes {
                    item.prefixes = needed;
                    grown = true;
                }
            }
            if !grown {
                return starts;
            }
        }
    }

    fn argument(&self, number: usize, starts: &[usize]) -> u32 {
        let item = &self.items[number];
        let label = match item.argument {
            Argument::Number(number) => return number,
            Argument::To(label) => label,
        };
        let target = starts[self.labels[&label]];
        let end = starts[number + 1];
        let distance = match self.dialect.kind(item.operation) {
            Kind::Jump(Direction::Absolute) | Kind::Branch(Direction::Absolute) => target,
            Kind::Jump(Direction::Backward) | Kind::Branch(Direction::Backward) => end - target,
            _ => target - end,
        };
        (distance * self.dialect.bytes_per_jump_unit()) as u32
    }

    fn finish(self, code: &Instructions, first_line: u32, starts: &[usize]) -> Assembled {
        let units = starts[self.items.len()];
        let mut bytes = Vec::with_capacity(2 * units);
        let mut origins = Vec::with_capacity(units);
        let mut runs: Vec<(usize, Place)> = Vec::with_capacity(self.items.len());
        for (number, item) in self.items.iter().enumerate() {
            let argument = self.argument(number, starts);
            for prefix in (1..=item.prefixes).rev() {
                bytes.push(self.dialect.numbers.extended_argument);
                bytes.push((argument >> (8 * prefix)) as u8);
            }
            bytes.extend([item.operation, argument as u8]);
            bytes.resize(bytes.len() + 2 * item.caches, 0);
            let length = starts[number + 1] - starts[number];
            origins.resize(origins.len() + length, item.origin);
            match runs.last_mut() {
                Some((units, place)) if *place == item.place => *units += length,
                _ => runs.push((length, item.place)),
            }
        }
        let unit_of = |label: Label| starts[self.labels[&label]];
        let mut protections: Vec<Protection> = code
            .protections
            .iter()
            .map(|protection| Protection {
                start: unit_of(Label::Surroundings(protection.start)),
                end: unit_of(Label::Surroundings(protection.end)),
                handler: unit_of(Label::Target(protection.handler)),
                depth_and_place: if self.handlers.contains(&protection.handler) {
                    protection.depth_and_place | exception_table::WITH_PLACE
                } else {
                    protection.depth_and_place
                },
            })
            .collect();
        if self.dialect.minor >= 11 && self.labels.contains_key(&Label::Uncaught) {
            let generator = self.dialect.numbers.return_generator;
            // An exception may be thrown into a generator that has not begun.
            let start = code.list.iter().position(|one| one.operation == generator);
            let start = unit_of(Label::Itself(start.unwrap_or(self.entry)));
            let end = unit_of(Label::Surroundings(code.len()));
            let handler = unit_of(Label::Uncaught);
            exception_table::protect_the_rest(&mut protections, start..end, handler);
        }
        Assembled {
            code: bytes,
            line_table: line_table::write(self.dialect.minor, &runs, first_line),
            exception_table: exception_table::write(&protections),
            origins,
        }
    }
}

fn line_only(line: Option<u32>) -> Place {
    Place { line, span: None }
}
