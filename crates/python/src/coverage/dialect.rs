//! The instruction set of a version of CPython.
//!
//! Names and cache sizes come from the interpreter's own `opcode` module, so only the meaning of
//! names is written down here.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The effect of an instruction on control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionKind {
    /// Continues with the next instruction.
    Plain,
    /// Always jumps.
    Jump(Direction),
    /// Jumps on a condition.
    Branch(Direction),
    /// The head of a `for` loop: continues with an item, or jumps past the end of the loop.
    ForIter,
    /// The core of `await` and `yield from`: continues with a value, or jumps to the end of the
    /// wait.
    Send,
    /// Opens a block with a handler (before 3.11, when there were no exception tables).
    Setup,
    /// Returns a value.
    Return,
    /// Raises an exception.
    Raise,
    /// Reraises the exception being handled; some restore the origin of the exception.
    Reraise,
    /// Starts a call, or resumes a generator.
    Resume,
    /// Extends the argument of the next instruction.
    ExtendedArgument,
    /// Suspends until resumed (before 3.11, when no instruction marked the point to resume).
    Yield,
    /// Suspends whenever an inner generator does (before 3.11).
    YieldFrom,
    /// Closes the block of a [`InstructionKind::Setup`], or ends the handling of an exception
    /// (before 3.11).
    PopBlock,
    /// Never starts a line, whatever the line table says.
    EndOfLoop,
}

/// The meaning of the argument of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A distance forwards.
    Forward,
    /// A distance backwards.
    Backward,
    /// A position.
    Absolute,
}

/// The instruction set of one version. All tables are indexed by opcode.
pub(crate) struct Dialect {
    /// The minor version, such as 12 for Python 3.12.
    pub(crate) minor: u8,
    kinds: [InstructionKind; 256],
    /// The number of inline cache units.
    caches: [u8; 256],
    /// True for jumps that raise monitoring events when taken.
    reports_jumps: [bool; 256],
    /// The instrumented form of each instruction, which replaces it while a tool awaits its event;
    /// zero if there is none.
    instrumented: [u8; 256],
    /// True for instructions that may run Python code in a frame of its own, such as a call.
    runs_frames: [bool; 256],
    /// Superinstructions; only 3.12 has some that matter.
    pub(crate) superinstructions: Vec<Superinstruction>,
    /// The opcodes that we write ourselves.
    pub(crate) opcodes: Opcodes,
}

/// An instruction that does the work of two successive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superinstruction {
    /// The first of the two.
    pub(crate) first: u8,
    /// The second of the two.
    pub(crate) second: u8,
    /// The superinstruction, which stands in the place of the first.
    pub(crate) both: u8,
}

/// The opcodes that we write ourselves. Zero if a version does not have one.
#[derive(Default)]
pub(crate) struct Opcodes {
    pub(crate) extended_argument: u8,
    pub(crate) jump_forward: u8,
    pub(crate) no_operation: u8,
    pub(crate) load_constant: u8,
    pub(crate) pop_top: u8,
    pub(crate) unary_positive: u8,
    pub(crate) unary_negative: u8,
    /// Takes an operator as its argument, since 3.11.
    pub(crate) binary_operation: u8,
    pub(crate) copy: u8,
    pub(crate) swap: u8,
    pub(crate) reraise: u8,
    /// Precedes a call, and must not be separated from it (3.11).
    pub(crate) keyword_names: u8,
    pub(crate) precall: u8,
    pub(crate) return_generator: u8,
    /// Removes the value that generators start with (3.10).
    pub(crate) start_generator: u8,
    pub(crate) setup_finally: u8,
    /// Replaces an instruction at which a line event may be due.
    pub(crate) instrumented_line: u8,
}

impl Dialect {
    /// Reads the instruction set of the running interpreter.
    pub(crate) fn read(python: Python<'_>) -> PyResult<Dialect> {
        let opcode = python.import("opcode")?;
        let names = opcode.getattr("opmap")?.cast_into::<PyDict>()?;
        let mut dialect = Dialect {
            minor: python.version_info().minor,
            kinds: [InstructionKind::Plain; 256],
            caches: [0; 256],
            reports_jumps: [false; 256],
            instrumented: [0; 256],
            runs_frames: [false; 256],
            superinstructions: Vec::new(),
            opcodes: Opcodes::default(),
        };
        let caches = opcode.getattr("_inline_cache_entries").ok();
        for (name, number) in &names {
            let name: String = name.extract()?;
            let Ok(number) = number.extract::<u8>() else {
                // Pseudo-instructions of the compiler, which never occur in a code object.
                continue;
            };
            let kind = instruction_kind(&name, dialect.minor);
            dialect.kinds[usize::from(number)] = kind;
            dialect.reports_jumps[usize::from(number)] =
                matches!(name.as_str(), "JUMP_FORWARD" | "JUMP_BACKWARD");
            dialect.runs_frames[usize::from(number)] = matches!(
                name.as_str(),
                "CALL" | "LOAD_ATTR" | "BINARY_SUBSCR" | "FOR_ITER" | "SEND"
            );
            let instrumented = names.get_item(format!("INSTRUMENTED_{name}"))?;
            if let Some(instrumented) = instrumented {
                dialect.instrumented[usize::from(number)] = instrumented.extract()?;
            }
            dialect.opcodes.set(&name, number);
            if let Some(caches) = &caches {
                // A list by number before 3.13; since then a dictionary by name, without those that
                // have none.
                let size = caches.get_item(usize::from(number));
                let size = size.or_else(|_| caches.get_item(&name));
                if let Ok(size) = size {
                    dialect.caches[usize::from(number)] = size.extract()?;
                }
            }
        }
        if dialect.minor == 12 {
            dialect.superinstructions = superinstructions(&opcode, &names)?;
        }
        Ok(dialect)
    }

    /// Returns the effect of an instruction on control flow.
    pub(crate) fn kind(&self, operation: u8) -> InstructionKind {
        self.kinds[usize::from(operation)]
    }

    /// Returns the number of cache units after an instruction.
    pub(crate) fn caches(&self, operation: u8) -> usize {
        usize::from(self.caches[usize::from(operation)])
    }

    /// Returns true if a jump raises a monitoring event when taken.
    pub(crate) fn reports_jumps(&self, operation: u8) -> bool {
        self.reports_jumps[usize::from(operation)]
    }

    /// Returns true if an instruction may run Python code in a frame of its own.
    pub(crate) fn runs_frames(&self, operation: u8) -> bool {
        self.runs_frames[usize::from(operation)]
    }

    /// Returns the form of an instruction while a tool awaits its jump or return event.
    #[cfg(Py_3_11)]
    pub(crate) fn instrumented_form(&self, operation: u8) -> u8 {
        let is_waited_for =
            self.reports_jumps(operation) || self.kind(operation) == InstructionKind::Return;
        match self.instrumented[usize::from(operation)] {
            instrumented if is_waited_for && instrumented != 0 => instrumented,
            _ => operation,
        }
    }

    /// Returns the unit of jump distances: jumps were counted in bytes before 3.10.
    pub(crate) fn bytes_per_jump_unit(&self) -> usize {
        if self.minor < 10 { 2 } else { 1 }
    }
}

impl Opcodes {
    /// Sets the opcode of a name, if we write it.
    fn set(&mut self, name: &str, number: u8) {
        let field = match name {
            "EXTENDED_ARG" => &mut self.extended_argument,
            "JUMP_FORWARD" => &mut self.jump_forward,
            "NOP" => &mut self.no_operation,
            "LOAD_CONST" => &mut self.load_constant,
            "POP_TOP" => &mut self.pop_top,
            "UNARY_POSITIVE" => &mut self.unary_positive,
            "UNARY_NEGATIVE" => &mut self.unary_negative,
            "BINARY_OP" => &mut self.binary_operation,
            "COPY" => &mut self.copy,
            "SWAP" => &mut self.swap,
            "RERAISE" => &mut self.reraise,
            "KW_NAMES" => &mut self.keyword_names,
            "PRECALL" => &mut self.precall,
            "RETURN_GENERATOR" => &mut self.return_generator,
            "GEN_START" => &mut self.start_generator,
            "SETUP_FINALLY" => &mut self.setup_finally,
            "INSTRUMENTED_LINE" => &mut self.instrumented_line,
            _ => return,
        };
        *field = number;
    }
}

/// Finds the superinstructions of 3.12. They use the opcodes that `opname` leaves unnamed, in the
/// order of the list of specialized instructions.
fn superinstructions(
    opcode: &Bound<'_, PyModule>,
    names: &Bound<'_, PyDict>,
) -> PyResult<Vec<Superinstruction>> {
    let all: Vec<String> = opcode.getattr("opname")?.extract()?;
    let specialized: Vec<String> = opcode.getattr("_specialized_instructions")?.extract()?;
    let free = (0..=u8::MAX)
        .zip(&all)
        .filter(|(_, name)| name.starts_with('<'))
        .map(|(number, _)| number);
    let mut superinstructions = Vec::new();
    for (both, name) in free.zip(&specialized) {
        let Some((first, second)) = name.split_once("__") else {
            continue;
        };
        if let (Some(first), Some(second)) = (names.get_item(first)?, names.get_item(second)?) {
            superinstructions.push(Superinstruction {
                first: first.extract()?,
                second: second.extract()?,
                both,
            });
        }
    }
    Ok(superinstructions)
}

/// Returns the effect of the instruction with this name.
fn instruction_kind(name: &str, minor: u8) -> InstructionKind {
    match name {
        "EXTENDED_ARG" => InstructionKind::ExtendedArgument,
        "RESUME" => InstructionKind::Resume,
        "RETURN_VALUE" | "RETURN_CONST" => InstructionKind::Return,
        "RAISE_VARARGS" => InstructionKind::Raise,
        "RERAISE" => InstructionKind::Reraise,
        "FOR_ITER" if minor >= 12 => InstructionKind::ForIter,
        "FOR_ITER" => InstructionKind::Branch(Direction::Forward),
        "SEND" => InstructionKind::Send,
        "END_FOR" | "END_SEND" | "END_ASYNC_FOR" if minor >= 12 => InstructionKind::EndOfLoop,
        "YIELD_VALUE" if minor < 11 => InstructionKind::Yield,
        "YIELD_FROM" => InstructionKind::YieldFrom,
        "POP_BLOCK" | "POP_EXCEPT" | "END_ASYNC_FOR" if minor < 11 => InstructionKind::PopBlock,
        "SETUP_FINALLY" | "SETUP_WITH" | "SETUP_ASYNC_WITH" => InstructionKind::Setup,
        "JUMP_FORWARD" => InstructionKind::Jump(Direction::Forward),
        "JUMP_BACKWARD" | "JUMP_BACKWARD_NO_INTERRUPT" => {
            InstructionKind::Jump(Direction::Backward)
        }
        "JUMP_ABSOLUTE" => InstructionKind::Jump(Direction::Absolute),
        _ if name.starts_with("POP_JUMP_BACKWARD_IF") => {
            InstructionKind::Branch(Direction::Backward)
        }
        _ if name.starts_with("POP_JUMP_FORWARD_IF") => InstructionKind::Branch(Direction::Forward),
        _ if name.starts_with("POP_JUMP_IF") || name.starts_with("JUMP_IF") => {
            InstructionKind::Branch(match minor {
                11.. => Direction::Forward,
                _ => Direction::Absolute,
            })
        }
        _ => InstructionKind::Plain,
    }
}
