//! Parsing of code objects into instructions with their source positions.

use super::blocks;
use super::dialect::{Dialect, Direction, InstructionKind};
use super::exception_table::{self, ExceptionEntry};
use super::line_table::{self, SourcePosition};

/// One instruction, including its `EXTENDED_ARG` prefixes and its caches.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// The opcode.
    pub(crate) operation: u8,
    pub(crate) argument: u32,
    /// The code unit after it, caches included.
    pub(crate) end: usize,
    /// The number of cache units, which are all zero in code that never ran.
    pub(crate) caches: usize,
    pub(crate) position: SourcePosition,
    /// The number of the instruction it may jump to, or of the handler that it sets up.
    pub(crate) target: Option<usize>,
}

/// The instructions of a code object, and their handlers.
pub(crate) struct Instructions {
    pub(crate) list: Vec<Instruction>,
    pub(crate) exception_entries: Vec<ExceptionEntry>,
    /// True if exceptions without a handler can be sent to an additional one.
    pub(crate) can_catch_all: bool,
}

/// The parts of a code object that are parsed.
pub(crate) struct CodeParts<'a> {
    pub(crate) code: &'a [u8],
    pub(crate) line_table: &'a [u8],
    pub(crate) exception_table: &'a [u8],
    pub(crate) first_line: u32,
}

impl Instructions {
    /// Parses a code object. Returns `None` if it does not conform to the instruction set.
    pub(crate) fn read(dialect: &Dialect, text: &CodeParts<'_>) -> Option<Instructions> {
        let units = text.code.len() / 2;
        let positions = line_table::read(dialect.minor, text.line_table, text.first_line, units)?;
        let mut list: Vec<Instruction> = Vec::with_capacity(units / 2);
        let mut number_at = vec![usize::MAX; units + 1];
        let (mut unit, mut start, mut argument) = (0, 0, 0u32);
        while unit < units {
            let operation = text.code[2 * unit];
            argument = argument << 8 | u32::from(text.code[2 * unit + 1]);
            if dialect.kind(operation) == InstructionKind::ExtendedArgument {
                unit += 1;
                continue;
            }
            let caches = dialect.caches(operation);
            let end = unit + 1 + caches;
            number_at[start] = list.len();
            list.push(Instruction {
                operation,
                argument,
                end,
                caches,
                position: positions[unit],
                target: None,
            });
            (unit, start, argument) = (end, end, 0);
        }
        if unit != units {
            return None;
        }
        number_at[units] = list.len();
        let number_of = |unit: usize| match number_at.get(unit) {
            Some(&number) if number != usize::MAX => Some(number),
            _ => None,
        };
        for instruction in &mut list {
            if let Some(unit) = target(dialect, instruction) {
                instruction.target = Some(number_of(unit)?);
            }
        }
        let blocks = (dialect.minor < 11).then(|| blocks::find(dialect, &list));
        let can_catch_all = blocks
            .as_ref()
            .is_none_or(|blocks| blocks.has_room_for_outer);
        let exception_entries = match blocks {
            None => exception_table::read(text.exception_table)?
                .into_iter()
                .map(|entry| {
                    Some(ExceptionEntry {
                        start: number_of(entry.start)?,
                        end: number_of(entry.end)?,
                        handler: number_of(entry.handler)?,
                        ..entry
                    })
                })
                .collect::<Option<Vec<ExceptionEntry>>>()?,
            Some(blocks) => blocks.exception_entries,
        };
        let inside = |instruction: &Instruction| instruction.target < Some(list.len());
        list.iter()
            .all(inside)
            .then_some(())
            .map(|()| Instructions {
                list,
                exception_entries,
                can_catch_all,
            })
    }

    /// Returns the number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the line of an instruction.
    pub(crate) fn line(&self, number: usize) -> Option<u32> {
        self.list[number].position.line
    }
}

/// Returns the code unit that an instruction may jump to.
fn target(dialect: &Dialect, instruction: &Instruction) -> Option<usize> {
    let distance = instruction.argument as usize / dialect.bytes_per_jump_unit();
    let direction = match dialect.kind(instruction.operation) {
        InstructionKind::Jump(direction) | InstructionKind::Branch(direction) => direction,
        InstructionKind::ForIter | InstructionKind::Send | InstructionKind::Setup => {
            Direction::Forward
        }
        _ => return None,
    };
    Some(match direction {
        Direction::Forward => instruction.end + distance,
        // Malformed code gets a target outside the code instead of a panic.
        Direction::Backward => instruction.end.checked_sub(distance).unwrap_or(usize::MAX),
        Direction::Absolute => distance,
    })
}
