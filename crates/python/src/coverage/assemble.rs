//! Reassembly of code objects with marks inserted.
//!
//! A mark is a piece of code without effect, placed on exactly one step from an instruction to the
//! next. It has the line of the instruction before it. So tracebacks, debuggers and other tools
//! notice no difference.
//!
//! ```text
//!         …                       the instruction before `target`
//!         mark of the fall        jumps over the following marks
//!  branch mark:
//!         mark of a branch        a branch to `target` jumps here instead
//!         jump to `target`
//!  target:
//!         mark of the target      runs on every path to `target`
//!         …
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::{Dialect, Direction, InstructionKind};
use super::exception_table::{self, ExceptionEntry};
use super::instructions::{Instruction, Instructions};
use super::line_table::{self, SourcePosition};

/// A mark to insert.
#[derive(Clone, Debug)]
pub(crate) struct CodeMark {
    pub(crate) position: MarkPosition,
    /// The number of the mark, as in [`AssembledCode::origins`].
    pub(crate) number: usize,
    pub(crate) code: MarkCode,
    /// True if it has the line of the instruction before. Otherwise the next line is reported after
    /// it, and the interpreter need not check whether the mark starts a line.
    pub(crate) has_line: bool,
}

/// The position of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkPosition {
    /// Before an instruction, on the step from the one before it.
    Fall(usize),
    /// On the jump of this conditional instruction.
    Branch(usize),
    /// Before an instruction, on every path to it.
    Before(usize),
    /// Before the first instruction of a handler. The mark finds the offset of the raising
    /// instruction on the stack, below the exception, and removes it if the handler does not expect
    /// it.
    Handler(usize),
    /// After all other code, as the handler of otherwise unhandled exceptions. It finds the same on
    /// the stack.
    Uncaught,
}

/// The code of a mark.
#[derive(Clone, Debug)]
pub(crate) enum MarkCode {
    /// A jump to the next instruction, which raises a monitoring event.
    Jump,
    /// These instructions: opcode and argument.
    Sequence(Vec<(u8, u32)>),
}

/// The origin of a code unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitOrigin {
    /// This instruction of the original.
    Instruction(usize),
    /// This mark, by its number.
    CodeMark(usize),
    /// Inserted to keep control flow unchanged.
    Detour,
}

/// The new parts of a code object.
pub(crate) struct AssembledCode {
    pub(crate) code: Vec<u8>,
    pub(crate) line_table: Vec<u8>,
    pub(crate) exception_table: Vec<u8>,
    /// The origin of each code unit.
    pub(crate) origins: Vec<UnitOrigin>,
}

/// A position that jumps or tables refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum JumpLabel {
    /// The first mark inserted before an instruction.
    Before(usize),
    /// The code that runs before an instruction on every path to it.
    Target(usize),
    /// An instruction itself.
    Instruction(usize),
    /// The mark on the jump of a branch.
    BranchMark(usize),
    /// The handler of otherwise unhandled exceptions.
    Uncaught,
}

/// An instruction to emit.
struct AssemblyItem {
    operation: u8,
    argument: ItemArgument,
    caches: usize,
    position: SourcePosition,
    origin: UnitOrigin,
    /// The number of `EXTENDED_ARG` prefixes; it grows until all arguments fit.
    prefixes: usize,
}

/// The argument of an instruction to emit.
#[derive(Clone, Copy)]
enum ItemArgument {
    /// A fixed number.
    Number(u32),
    Label(JumpLabel),
}

/// Inserts marks into the instructions of a code object.
pub(crate) fn assemble(
    dialect: &Dialect,
    code: &Instructions,
    first_line: u32,
    marks: &[CodeMark],
) -> AssembledCode {
    let mut assembler = Assembler {
        dialect,
        items: Vec::with_capacity(code.len() + 2 * marks.len()),
        labels: BTreeMap::new(),
        entry: entry(dialect, code),
        handlers: BTreeSet::new(),
    };
    assembler.emit(code, marks);
    let starts = assembler.resolve_sizes();
    assembler.finish(code, first_line, &starts)
}

/// The state of an assembly.
struct Assembler<'a> {
    dialect: &'a Dialect,
    items: Vec<AssemblyItem>,
    /// Item numbers of labels.
    labels: BTreeMap<JumpLabel, usize>,
    /// The instruction at which tracing starts.
    entry: usize,
    /// Handlers that need the offset of the raising instruction.
    handlers: BTreeSet<usize>,
}

/// Returns the instruction at which tracing starts.
fn entry(dialect: &Dialect, code: &Instructions) -> usize {
    let is_entry = |one: &Instruction| dialect.kind(one.operation) == InstructionKind::Resume;
    code.list.iter().position(is_entry).unwrap_or(0)
}

impl Assembler<'_> {
    /// Emits all instructions, with marks in their positions.
    fn emit(&mut self, code: &Instructions, marks: &[CodeMark]) {
        let mut falls: BTreeMap<usize, &CodeMark> = BTreeMap::new();
        let mut befores: BTreeMap<usize, Vec<&CodeMark>> = BTreeMap::new();
        let mut branch_marks: BTreeMap<usize, Vec<(usize, &CodeMark)>> = BTreeMap::new();
        let mut redirected: BTreeSet<usize> = BTreeSet::new();
        let mut uncaught = None;
        for mark in marks {
            match mark.position {
                MarkPosition::Fall(number) => {
                    falls.insert(number, mark);
                }
                MarkPosition::Before(number) => befores.entry(number).or_default().push(mark),
                MarkPosition::Handler(number) => {
                    self.handlers.insert(number);
                    befores.entry(number).or_default().insert(0, mark);
                }
                MarkPosition::Uncaught => uncaught = Some(mark),
                MarkPosition::Branch(number) => {
                    if let Some(target) = code.list[number].target {
                        branch_marks.entry(target).or_default().push((number, mark));
                        redirected.insert(number);
                    }
                }
            }
        }
        for (number, instruction) in code.list.iter().enumerate() {
            self.label(JumpLabel::Before(number));
            let before = number.checked_sub(1).map(|before| &code.list[before]);
            let line_before = before.map(|before| before.position.line);
            // On 3.11 the first line is reported even if it equals the one before.
            let line_before = line_before
                .filter(|_| self.dialect.minor != 11 || number.checked_sub(1) != Some(self.entry));
            if uncaught.is_some() && self.opens_block_before(number, code) {
                let position = match self.dialect.minor {
                    10.. => None,
                    // Every instruction has a line before 3.10; another line here would be
                    // reported.
                    _ => instruction.position.line,
                };
                self.items.push(AssemblyItem {
                    operation: self.dialect.opcodes.setup_finally,
                    argument: ItemArgument::Label(JumpLabel::Uncaught),
                    caches: 0,
                    position: line_only(position),
                    origin: UnitOrigin::Detour,
                    prefixes: 0,
                });
            }
            let branch_marks = branch_marks
                .get(&number)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let target = JumpLabel::Target(number);
            if let Some(mark) = falls.get(&number) {
                let position = line_only(line_before.flatten().filter(|_| mark.has_line));
                self.mark(mark, position, target);
                if let (MarkCode::Sequence(_), false) = (&mark.code, branch_marks.is_empty()) {
                    self.jump(target, position, UnitOrigin::Detour);
                }
            } else if !branch_marks.is_empty()
                && before.is_some_and(|before| self.falls_through(before.operation))
            {
                self.jump(target, line_only(line_before.flatten()), UnitOrigin::Detour);
            }
            for (branch, mark) in branch_marks {
                self.label(JumpLabel::BranchMark(*branch));
                // Before 3.12 a line is reported whenever a branch goes back.
                let hides_line = self.dialect.minor < 12 && number <= *branch;
                let position =
                    line_only(code.line(*branch).filter(|_| !hides_line && mark.has_line));
                self.mark(mark, position, target);
                if let MarkCode::Sequence(_) = mark.code {
                    self.jump(target, position, UnitOrigin::Detour);
                }
            }
            self.label(target);
            for mark in befores.get(&number).map(Vec::as_slice).unwrap_or_default() {
                self.mark(
                    mark,
                    line_only(instruction.position.line),
                    JumpLabel::Instruction(number),
                );
            }
            self.label(JumpLabel::Instruction(number));
            let argument = match instruction.target {
                None => ItemArgument::Number(instruction.argument),
                Some(_) if redirected.contains(&number) => {
                    ItemArgument::Label(JumpLabel::BranchMark(number))
                }
                Some(target) => ItemArgument::Label(JumpLabel::Target(target)),
            };
            self.items.push(AssemblyItem {
                operation: instruction.operation,
                argument,
                caches: instruction.caches,
                position: instruction.position,
                origin: UnitOrigin::Instruction(number),
                prefixes: 0,
            });
        }
        self.label(JumpLabel::Before(code.len()));
        if let Some(mark) = uncaught {
            self.label(JumpLabel::Uncaught);
            self.mark(mark, line_only(None), JumpLabel::Uncaught);
        }
    }

    /// Returns true if the block around all code opens before this instruction. There are no blocks
    /// since 3.11.
    fn opens_block_before(&self, number: usize, code: &Instructions) -> bool {
        let starts_generator = |one: &Instruction| {
            self.dialect.minor == 10 && one.operation == self.dialect.opcodes.start_generator
        };
        let begin = usize::from(code.list.first().is_some_and(starts_generator));
        self.dialect.minor < 11 && number == begin
    }

    /// Sets a label at the current position.
    fn label(&mut self, label: JumpLabel) {
        self.labels.insert(label, self.items.len());
    }

    /// Emits the code of a mark.
    fn mark(&mut self, mark: &CodeMark, position: SourcePosition, target: JumpLabel) {
        let origin = UnitOrigin::CodeMark(mark.number);
        match &mark.code {
            MarkCode::Jump => self.jump(target, position, origin),
            MarkCode::Sequence(sequence) => {
                for &(operation, argument) in sequence {
                    self.items.push(AssemblyItem {
                        operation,
                        argument: ItemArgument::Number(argument),
                        caches: self.dialect.caches(operation),
                        position,
                        origin,
                        prefixes: 0,
                    });
                }
            }
        }
    }

    /// Emits a jump.
    fn jump(&mut self, to: JumpLabel, position: SourcePosition, origin: UnitOrigin) {
        self.items.push(AssemblyItem {
            operation: self.dialect.opcodes.jump_forward,
            argument: ItemArgument::Label(to),
            caches: 0,
            position,
            origin,
            prefixes: 0,
        });
    }

    /// Returns true if an instruction may continue with the next one.
    fn falls_through(&self, operation: u8) -> bool {
        !matches!(
            self.dialect.kind(operation),
            InstructionKind::Jump(_)
                | InstructionKind::Return
                | InstructionKind::Raise
                | InstructionKind::Reraise
        )
    }

    /// Gives every item the prefixes that its argument needs. Returns the first code unit of each
    /// item.
    fn resolve_sizes(&mut self) -> Vec<usize> {
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
                // Sizes never shrink, so that the loop terminates.
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

    /// Returns the argument of an item, given the positions of all items.
    fn argument(&self, number: usize, starts: &[usize]) -> u32 {
        let item = &self.items[number];
        let label = match item.argument {
            ItemArgument::Number(number) => return number,
            ItemArgument::Label(label) => label,
        };
        let target = starts[self.labels[&label]];
        let end = starts[number + 1];
        let distance = match self.dialect.kind(item.operation) {
            InstructionKind::Jump(Direction::Absolute)
            | InstructionKind::Branch(Direction::Absolute) => target,
            InstructionKind::Jump(Direction::Backward)
            | InstructionKind::Branch(Direction::Backward) => end - target,
            _ => target - end,
        };
        (distance * self.dialect.bytes_per_jump_unit()) as u32
    }

    /// Writes the bytes and tables.
    fn finish(self, code: &Instructions, first_line: u32, starts: &[usize]) -> AssembledCode {
        let units = starts[self.items.len()];
        let mut bytes = Vec::with_capacity(2 * units);
        let mut origins = Vec::with_capacity(units);
        let mut runs: Vec<(usize, SourcePosition)> = Vec::with_capacity(self.items.len());
        for (number, item) in self.items.iter().enumerate() {
            let argument = self.argument(number, starts);
            for prefix in (1..=item.prefixes).rev() {
                bytes.push(self.dialect.opcodes.extended_argument);
                bytes.push((argument >> (8 * prefix)) as u8);
            }
            bytes.extend([item.operation, argument as u8]);
            bytes.resize(bytes.len() + 2 * item.caches, 0);
            let length = starts[number + 1] - starts[number];
            origins.resize(origins.len() + length, item.origin);
            match runs.last_mut() {
                Some((units, position)) if *position == item.position => *units += length,
                _ => runs.push((length, item.position)),
            }
        }
        let unit_of = |label: JumpLabel| starts[self.labels[&label]];
        let mut exception_entries: Vec<ExceptionEntry> = code
            .exception_entries
            .iter()
            .map(|entry| ExceptionEntry {
                start: unit_of(JumpLabel::Before(entry.start)),
                end: unit_of(JumpLabel::Before(entry.end)),
                handler: unit_of(JumpLabel::Target(entry.handler)),
                depth_and_lasti: if self.handlers.contains(&entry.handler) {
                    entry.depth_and_lasti | exception_table::PUSH_LASTI
                } else {
                    entry.depth_and_lasti
                },
            })
            .collect();
        if self.dialect.minor >= 11 && self.labels.contains_key(&JumpLabel::Uncaught) {
            let generator = self.dialect.opcodes.return_generator;
            // An exception may be thrown into a generator that has not started.
            let start = code.list.iter().position(|one| one.operation == generator);
            let start = unit_of(JumpLabel::Instruction(start.unwrap_or(self.entry)));
            let end = unit_of(JumpLabel::Before(code.len()));
            let handler = unit_of(JumpLabel::Uncaught);
            exception_table::cover_gaps(&mut exception_entries, start..end, handler);
        }
        AssembledCode {
            code: bytes,
            line_table: line_table::write(self.dialect.minor, &runs, first_line),
            exception_table: exception_table::write(&exception_entries),
            origins,
        }
    }
}

/// Returns a position without columns.
fn line_only(line: Option<u32>) -> SourcePosition {
    SourcePosition { line, span: None }
}
