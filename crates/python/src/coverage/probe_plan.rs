//! Planning of probes: their positions and kinds.
//!
//! Before 3.12 the interpreter reports its steps only to tracing tools, which makes it slow. So
//! every observation point gets a probe: a few instructions that call us. Probes that need to fire
//! only once are skipped afterwards.

use std::collections::BTreeMap;

use super::assemble::{MarkCode, MarkPosition};
use super::dialect::{Dialect, InstructionKind};
use super::exception_table::PUSH_LASTI;
use super::flow::{CodeFlow, ObservationPoint};
use super::instructions::Instructions;
use super::observed_code::TargetEffect;

/// The kind of event that a probe detects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProbeKind {
    /// Control reaches the position of the probe, with these effects.
    Reached(Vec<TargetEffect>),
    /// An exception arrives at a handler, given by its first instruction.
    Handler(usize),
    /// An exception leaves the code object.
    Uncaught,
    /// This instruction is about to reraise an exception, possibly restoring its origin.
    Reraise(usize),
}

impl ProbeKind {
    /// Returns true if there is nothing more to record after the first time.
    pub(crate) fn fires_once(&self) -> bool {
        let is_target = |effect: &TargetEffect| matches!(effect, TargetEffect::Target(_));
        matches!(self, ProbeKind::Reached(effect) if effect.iter().all(is_target))
    }
}

/// Plans probes for all observation points and exceptions.
pub(crate) fn plan_probes(
    dialect: &Dialect,
    code: &Instructions,
    flow: &CodeFlow,
    points: Vec<(ObservationPoint, TargetEffect)>,
) -> Vec<(MarkPosition, ProbeKind)> {
    let mut is_target = vec![false; code.len()];
    let targets = code.list.iter().filter_map(|one| one.target);
    let handlers = code.exception_entries.iter().map(|one| one.handler);
    for target in targets.chain(handlers) {
        is_target[target] = true;
    }
    let placement = ProbePlacement {
        dialect,
        code,
        is_target,
    };
    let mut reached: BTreeMap<MarkPosition, Vec<TargetEffect>> = BTreeMap::new();
    for (point, effect) in points {
        if let Some(position) = placement.position(point) {
            let all = reached.entry(position).or_default();
            if !all.contains(&effect) {
                all.push(effect);
            }
        }
    }
    let mut probes: Vec<(MarkPosition, ProbeKind)> = reached
        .into_iter()
        .map(|(position, effect)| (position, ProbeKind::Reached(effect)))
        .collect();
    add_exception_probes(dialect, code, flow, &mut probes);
    probes
}

/// Adds probes for handlers, reraises and unhandled exceptions.
fn add_exception_probes(
    dialect: &Dialect,
    code: &Instructions,
    flow: &CodeFlow,
    probes: &mut Vec<(MarkPosition, ProbeKind)>,
) {
    // If a handler starts no line, and the line before it is always the same, nothing depends on
    // the exception.
    let matters =
        |handler: usize| code.line(handler).is_some() || flow.last_line(handler).is_none();
    let mut handlers: Vec<Option<usize>> = vec![None; code.len()];
    for entry in &code.exception_entries {
        handlers[entry.start..entry.end].fill(Some(entry.handler));
        let kind = (
            MarkPosition::Handler(entry.handler),
            ProbeKind::Handler(entry.handler),
        );
        if matters(entry.handler) && !probes.contains(&kind) {
            probes.push(kind);
        }
    }
    for (number, handler) in handlers.into_iter().enumerate() {
        // Since 3.11 the interpreter itself knows the origin of the others.
        let is_unclear = match dialect.minor {
            11.. => flow.restores_origin(number),
            // Until then a reraise leaves no trace of its own in tracebacks, and neither does a
            // bare `raise`.
            _ => match dialect.kind(code.list[number].operation) {
                InstructionKind::Reraise => true,
                InstructionKind::Raise => code.list[number].argument == 0,
                _ => false,
            },
        };
        if is_unclear && handler.map_or(code.can_catch_all, matters) {
            probes.push((MarkPosition::Before(number), ProbeKind::Reraise(number)));
        }
    }
    if code.can_catch_all {
        probes.push((MarkPosition::Uncaught, ProbeKind::Uncaught));
    }
}

/// Chooses positions for probes.
struct ProbePlacement<'a> {
    dialect: &'a Dialect,
    code: &'a Instructions,
    /// True for instructions that are reached from elsewhere than the one before.
    is_target: Vec<bool>,
}

impl ProbePlacement<'_> {
    /// Returns the best position for a probe, or `None` if the code there must not be changed.
    fn position(&self, point: ObservationPoint) -> Option<MarkPosition> {
        let mut number = match point {
            ObservationPoint::Branch(number) => return Some(MarkPosition::Branch(number)),
            ObservationPoint::Fall(number) if self.is_target[number] => {
                let position = MarkPosition::Fall(number);
                return (!self.must_stay_unchanged(number)).then_some(position);
            }
            ObservationPoint::Line(number)
            | ObservationPoint::Fall(number)
            | ObservationPoint::Jump(number)
            | ObservationPoint::Return(number) => number,
        };
        while number > 0 && !self.is_target[number] && self.always_continues(number - 1) {
            number -= 1;
        }
        (!self.must_stay_unchanged(number)).then_some(MarkPosition::Before(number))
    }

    /// Returns true if control always passes from an instruction to the next: it cannot fail, or
    /// must not be separated from the next. Moving probes back over such instructions merges them.
    fn always_continues(&self, number: usize) -> bool {
        let opcodes = &self.dialect.opcodes;
        let operation = self.code.list[number].operation;
        operation == opcodes.load_constant
            || operation == opcodes.no_operation
            || operation == opcodes.precall
            || operation == opcodes.keyword_names
    }

    /// Returns true if the interpreter relies on the code before an instruction: generators suspend
    /// and resume there.
    fn must_stay_unchanged(&self, number: usize) -> bool {
        let kind = |number: usize| self.dialect.kind(self.code.list[number].operation);
        kind(number) == InstructionKind::Resume
            || number > 0 && kind(number - 1) == InstructionKind::Send
    }
}

/// The number of `@` among the binary operators, since 3.11.
const MATRIX_MULTIPLY: u32 = 4;

/// Returns the instructions of a probe, given the index of its constant.
///
/// Operators are the cheapest kind of call, and the only one during which the interpreter checks
/// for no signals, thread switches or tools that listen to calls.
pub(crate) fn probe_code(
    dialect: &Dialect,
    code: &Instructions,
    kind: &ProbeKind,
    constant: u32,
) -> MarkCode {
    let opcodes = &dialect.opcodes;
    let with_lasti = match dialect.minor {
        11.. => vec![
            (opcodes.load_constant, constant),
            // On the stack are the probe, the exception below it, and the offset of its origin
            // below that.
            (opcodes.copy, 3),
            (opcodes.binary_operation, MATRIX_MULTIPLY),
            (opcodes.pop_top, 0),
        ],
        _ => vec![
            (opcodes.load_constant, constant),
            (opcodes.unary_negative, 0),
            (opcodes.pop_top, 0),
        ],
    };
    MarkCode::Sequence(match kind {
        ProbeKind::Reached(_) | ProbeKind::Reraise(_) => vec![
            // Overwritten by a jump over the rest when the probe is silenced.
            (opcodes.no_operation, 0),
            (opcodes.load_constant, constant),
            (opcodes.unary_positive, 0),
            (opcodes.pop_top, 0),
        ],
        ProbeKind::Handler(handler) => {
            let expects_lasti = code.exception_entries.iter().any(|one| {
                one.handler == *handler && one.depth_and_lasti & PUSH_LASTI == PUSH_LASTI
            });
            let mut sequence = with_lasti;
            if !expects_lasti && dialect.minor >= 11 {
                sequence.extend([(opcodes.swap, 2), (opcodes.pop_top, 0)]);
            }
            sequence
        }
        ProbeKind::Uncaught => {
            let mut sequence = with_lasti;
            sequence.push((opcodes.reraise, u32::from(dialect.minor >= 10)));
            sequence
        }
    })
}
