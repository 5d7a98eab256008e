//! Where to put probes, and what each of them watches.
//!
//! Before 3.12 the interpreter tells only tracing tools what it does, and that makes it slow. So every place to look
//! at gets a probe: a few instructions that call us. Those that have to be seen once are skipped after that.

use std::collections::BTreeMap;

use super::assemble::{MarkCode, MarkPlace};
use super::dialect::{Dialect, Kind};
use super::exception_table::WITH_PLACE;
use super::flow::{Flow, Look};
use super::instructions::Instructions;
use super::unit::Seen;

/// What a probe watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// The control comes along.
    Passing(Vec<Seen>),
    /// An exception comes to a handler, which begins with this instruction.
    Handler(usize),
    /// An exception leaves.
    Uncaught,
    /// This instruction is about to throw an exception again, perhaps as if from where it was thrown first.
    Again(usize),
}

impl Watch {
    /// Whether there is nothing more to see after the first time.
    pub(crate) fn is_once(&self) -> bool {
        let is_target = |seen: &Seen| matches!(seen, Seen::Target(_));
        matches!(self, Watch::Passing(seen) if seen.iter().all(is_target))
    }
}

/// Finds places for probes that see all that is to be seen.
pub(crate) fn watches(
    dialect: &Dialect,
    code: &Instructions,
    flow: &Flow,
    found: Vec<(Look, Seen)>,
) -> Vec<(MarkPlace, Watch)> {
    let mut is_target = vec![false; code.len()];
    let targets = code.list.iter().filter_map(|one| one.target);
    let handlers = code.protections.iter().map(|one| one.handler);
    for target in targets.chain(handlers) {
        is_target[target] = true;
    }
    let choice = Choice {
        dialect,
        code,
        is_target,
    };
    let mut passing: BTreeMap<MarkPlace, Vec<Seen>> = BTreeMap::new();
    for (look, seen) in found {
        if let Some(place) = choice.place(look) {
            let all = passing.entry(place).or_default();
            if !all.contains(&seen) {
                all.push(seen);
            }
        }
    }
    let mut watches: Vec<(MarkPlace, Watch)> = passing
        .into_iter()
        .map(|(place, seen)| (place, Watch::Passing(seen)))
        .collect();
    watch_exceptions(dialect, code, flow, &mut watches);
    watches
}

fn watch_exceptions(
    dialect: &Dialect,
    code: &Instructions,
    flow: &Flow,
    watches: &mut Vec<(MarkPlace, Watch)>,
) {
    // If a handler does not begin a line, and comes after the same line in any case, nothing depends on the exception.
    let matters =
        |handler: usize| code.line(handler).is_some() || flow.last_line(handler).is_none();
    let mut handlers: Vec<Option<usize>> = vec![None; code.len()];
    for protection in &code.protections {
        handlers[protection.start..protection.end].fill(Some(protection.handler));
        let watch = (
            MarkPlace::Handler(protection.handler),
            Watch::Handler(protection.handler),
        );
        if matters(protection.handler) && !watches.contains(&watch) {
            watches.push(watch);
        }
    }
    for (number, handler) in handlers.into_iter().enumerate() {
        // Since 3.11 the interpreter itself knows where the others throw from.
        let is_unclear = match dialect.minor {
            11.. => flow.restores_place(number),
            // Until then they leave no trace of their own in tracebacks, and neither does a `raise` without anything.
            _ => match dialect.kind(code.list[number].operation) {
                Kind::Reraise => true,
                Kind::Raise => code.list[number].argument == 0,
                _ => false,
            },
        };
        if is_unclear && handler.map_or(code.can_be_protected, matters) {
            watches.push((MarkPlace::Before(number), Watch::Again(number)));
        }
    }
    if code.can_be_protected {
        watches.push((MarkPlace::Uncaught, Watch::Uncaught));
    }
}

struct Choice<'a> {
    dialect: &'a Dialect,
    code: &'a Instructions,
    /// By instruction: whether it is reached from anywhere but the one before.
    is_target: Vec<bool>,
}

impl Choice<'_> {
    /// The best place to look, or `None` if it must not be disturbed.
    fn place(&self, look: Look) -> Option<MarkPlace> {
        let mut number = match look {
            Look::Branch(number) => return Some(MarkPlace::Branch(number)),
            Look::Fall(number) if self.is_target[number] => {
                let place = MarkPlace::Fall(number);
                return (!self.is_fixed(number)).then_some(place);
            }
            Look::Line(number) | Look::Fall(number) | Look::Jump(number) | Look::Return(number) => {
                number
            }
        };
        while number > 0 && !self.is_target[number] && self.leads_on(number - 1) {
            number -= 1;
        }
        (!self.is_fixed(number)).then_some(MarkPlace::Before(number))
    }

    /// Whether what follows an instruction is certain: it cannot fail, or must not be separated from what follows.
    /// The fewer places, the fewer probes.
    fn leads_on(&self, number: usize) -> bool {
        let numbers = &self.dialect.numbers;
        let operation = self.code.list[number].operation;
        operation == numbers.load_constant
            || operation == numbers.no_operation
            || operation == numbers.precall
            || operation == numbers.keyword_names
    }

    /// Whether the interpreter relies on what stands before an instruction: generators stop and go on there.
    fn is_fixed(&self, number: usize) -> bool {
        let kind = |number: usize| self.dialect.kind(self.code.list[number].operation);
        kind(number) == Kind::Resume || number > 0 && kind(number - 1) == Kind::Send
    }
}

/// The number of `@` among the operators, since 3.11.
const MATRIX_MULTIPLY: u32 = 4;

/// The instructions of a probe, which is a constant of this number.
///
/// Operators are the cheapest way to call something, and the only one that leaves no room for signals, other
/// threads, and tools that listen to calls.
pub(crate) fn probe(
    dialect: &Dialect,
    code: &Instructions,
    watch: &Watch,
    constant: u32,
) -> MarkCode {
    let numbers = &dialect.numbers;
    let with_place = match dialect.minor {
        11.. => vec![
            (numbers.load_constant, constant),
            // Below the probe is the exception, and below that its place.
            (numbers.copy, 3),
            (numbers.binary_operation, MATRIX_MULTIPLY),
            (numbers.pop_top, 0),
        ],
        _ => vec![
            (numbers.load_constant, constant),
            (numbers.unary_negative, 0),
            (numbers.pop_top, 0),
        ],
    };
    MarkCode::Sequence(match watch {
        Watch::Passing(_) | Watch::Again(_) => vec![
            // Becomes a jump over the rest.
            (numbers.no_operation, 0),
            (numbers.load_constant, constant),
            (numbers.unary_positive, 0),
            (numbers.pop_top, 0),
        ],
        Watch::Handler(handler) => {
            let expects_place = code.protections.iter().any(|one| {
                one.handler == *handler && one.depth_and_place & WITH_PLACE == WITH_PLACE
            });
            let mut sequence = with_place;
            if !expects_place && dialect.minor >= 11 {
                sequence.extend([(numbers.swap, 2), (numbers.pop_top, 0)]);
            }
            sequence
        }
        Watch::Uncaught => {
            let mut sequence = with_place;
            sequence.push((numbers.reraise, u32::from(dialect.minor >= 10)));
            sequence
        }
    })
}
