//! A code object as a list of instructions with their places in the source.

use super::blocks;
use super::dialect::{Dialect, Direction, Kind};
use super::exception_table::{self, Protection};
use super::line_table::{self, Place};

/// One instruction, with its larger-argument prefixes and its caches.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) operation: u8,
    pub(crate) argument: u32,
    /// The code unit after it, caches included.
    pub(crate) end: usize,
    /// The caches, which are all zero in code that never ran.
    pub(crate) caches: usize,
    pub(crate) place: Place,
    /// Where it may jump to, or where the handler is that it sets up: the number of an instruction.
    pub(crate) target: Option<usize>,
}

/// The instructions of a code object, and which of them are protected by which handlers.
pub(crate) struct Instructions {
    pub(crate) list: Vec<Instruction>,
    pub(crate) protections: Vec<Protection>,
    /// Whether exceptions that no handler takes can be sent to another one.
    pub(crate) can_be_protected: bool,
}

/// What a code object says about itself, as far as we need it.
pub(crate) struct CodeText<'a> {
    pub(crate) code: &'a [u8],
    pub(crate) line_table: &'a [u8],
    pub(crate) exception_table: &'a [u8],
    pub(crate) first_line: u32,
}

impl Instructions {
    /// Takes a code object apart; `None` if it is not as this dialect would have it.
    pub(crate) fn read(dialect: &Dialect, text: &CodeText<'_>) -> Option<Instructions> {
        let units = text.code.len() / 2;
        let places = line_table::read(dialect.minor, text.line_table, text.first_line, units)?;
        let mut list: Vec<Instruction> = Vec::with_capacity(units / 2);
        let mut number_at = vec![usize::MAX; units + 1];
        let (mut unit, mut start, mut argument) = (0, 0, 0u32);
        while unit < units {
            let operation = text.code[2 * unit];
            argument = argument << 8 | u32::from(text.code[2 * unit + 1]);
            if dialect.kind(operation) == Kind::ExtendedArgument {
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
                place: places[unit],
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
        let can_be_protected = blocks.as_ref().is_none_or(|blocks| blocks.has_room);
        let protections = match blocks {
            None => exception_table::read(text.exception_table)?
                .into_iter()
                .map(|entry| {
                    Some(Protection {
                        start: number_of(entry.start)?,
                        end: number_of(entry.end)?,
                        handler: number_of(entry.handler)?,
                        ..entry
                    })
                })
                .collect::<Option<Vec<Protection>>>()?,
            Some(blocks) => blocks.protections,
        };
        let inside = |instruction: &Instruction| instruction.target < Some(list.len());
        list.iter()
            .all(inside)
            .then_some(())
            .map(|()| Instructions {
                list,
                protections,
                can_be_protected,
            })
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn line(&self, number: usize) -> Option<u32> {
        self.list[number].place.line
    }
}

fn target(dialect: &Dialect, instruction: &Instruction) -> Option<usize> {
    let distance = instruction.argument as usize / dialect.bytes_per_jump_unit();
    let direction = match dialect.kind(instruction.operation) {
        Kind::Jump(direction) | Kind::Branch(direction) => direction,
        Kind::ForIter | Kind::Send | Kind::Setup => Direction::Forward,
        _ => return None,
    };
    Some(match direction {
        Direction::Forward => instruction.end + distance,
        // Out of the code rather than into a panic, for code that nobody understands.
        Direction::Backward => instruction.end.checked_sub(distance).unwrap_or(usize::MAX),
        Direction::Absolute => distance,
    })
}
