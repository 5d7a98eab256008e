//! What the numbers in a code object mean, which every version of CPython decides anew.
//!
//! The interpreter's own `opcode` module is asked for names and sizes, so that only the meaning of a name is
//! written down here.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What an instruction does to the flow of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Goes on with the next one.
    Plain,
    /// Always goes elsewhere.
    Jump(Direction),
    /// Goes elsewhere or on.
    Branch(Direction),
    /// The head of a `for` loop: goes on with an item, or past the end of the loop.
    ForIter,
    /// The heart of `await` and `yield from`: goes on with a value, or to the end of the waiting.
    Send,
    /// Names the place where exceptions go from here on (before 3.11, when there were no tables).
    Setup,
    /// Leaves for good with a value.
    Return,
    /// Leaves with an exception.
    Raise,
    /// Leaves with the exception that is being handled; some go back to the place where it was raised first.
    Reraise,
    /// Where a call, or a return to a generator, begins.
    Resume,
    /// Larger arguments for the next one.
    ExtendedArgument,
    /// Waits for whoever called to come back (before 3.11, when nothing marked the place to go on).
    Yield,
    /// The same, as often as another generator does.
    YieldFrom,
    /// Ends what [`Kind::Setup`] began, or the handling of an exception (before 3.11).
    EndOfBlock,
    /// Never starts a line, whatever the line table says.
    EndOfLoop,
}

/// How the argument of a jump is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Backward,
    Absolute,
}

/// One version's instructions.
pub(crate) struct Dialect {
    /// Such as 12 for Python 3.12.
    pub(crate) minor: u8,
    kinds: [Kind; 256],
    caches: [u8; 256],
    /// The jumps that tell monitoring tools when they are taken.
    tells_of_jumps: [bool; 256],
    /// What stands in the code instead of these while a monitoring tool waits for them; zero if it has no such form.
    instrumented: [u8; 256],
    /// Those that may run Python code in a frame of its own, as a call does.
    runs_frames: [bool; 256],
    pub(crate) joints: Vec<Joint>,
    pub(crate) numbers: Numbers,
}

/// An instruction that does what two of them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Joint {
    pub(crate) first: u8,
    pub(crate) second: u8,
    pub(crate) both: u8,
}

/// The instructions that we write ourselves. Zero where a version does not have one.
#[derive(Default)]
pub(crate) struct Numbers {
    pub(crate) extended_argument: u8,
    pub(crate) jump_forward: u8,
    pub(crate) no_operation: u8,
    pub(crate) load_constant: u8,
    pub(crate) pop_top: u8,
    pub(crate) unary_positive: u8,
    pub(crate) unary_negative: u8,
    /// With an operator as its argument, since 3.11.
    pub(crate) binary_operation: u8,
    pub(crate) copy: u8,
    pub(crate) swap: u8,
    pub(crate) reraise: u8,
    /// In front of a call, which nothing may come between (3.11).
    pub(crate) keyword_names: u8,
    pub(crate) precall: u8,
    pub(crate) return_generator: u8,
    /// Takes away what generators begin with (3.10).
    pub(crate) start_generator: u8,
    pub(crate) setup_finally: u8,
    /// In the place of an instruction at which a monitoring tool may have to be told of a line.
    pub(crate) instrumented_line: u8,
}

impl Dialect {
    /// The dialect of the running interpreter.
    pub(crate) fn of(python: Python<'_>) -> PyResult<Dialect> {
        let opcode = python.import("opcode")?;
        let names = opcode.getattr("opmap")?.cast_into::<PyDict>()?;
        let mut dialect = Dialect {
            minor: python.version_info().minor,
            kinds: [Kind::Plain; 256],
            caches: [0; 256],
            tells_of_jumps: [false; 256],
            instrumented: [0; 256],
            runs_frames: [false; 256],
            joints: Vec::new(),
            numbers: Numbers::default(),
        };
        let caches = opcode.getattr("_inline_cache_entries").ok();
        for (name, number) in &names {
            let name: String = name.extract()?;
            let Ok(number) = number.extract::<u8>() else {
                // Steps of the compiler that never reach a code object.
                continue;
            };
            let kind = kind_of(&name, dialect.minor);
            dialect.kinds[usize::from(number)] = kind;
            dialect.tells_of_jumps[usize::from(number)] =
                matches!(name.as_str(), "JUMP_FORWARD" | "JUMP_BACKWARD");
            dialect.runs_frames[usize::from(number)] = matches!(
                name.as_str(),
                "CALL" | "LOAD_ATTR" | "BINARY_SUBSCR" | "FOR_ITER" | "SEND"
            );
            let instrumented = names.get_item(format!("INSTRUMENTED_{name}"))?;
            if let Some(instrumented) = instrumented {
                dialect.instrumented[usize::from(number)] = instrumented.extract()?;
            }
            dialect.numbers.note(&name, number);
            if let Some(caches) = &caches {
                // A list by number before 3.13, a dictionary by name from then on, without those that have none.
                let size = caches.get_item(usize::from(number));
                let size = size.or_else(|_| caches.get_item(&name));
                if let Ok(size) = size {
                    dialect.caches[usize::from(number)] = size.extract()?;
                }
            }
        }
        if dialect.minor == 12 {
            dialect.joints = joints(&opcode, &names)?;
        }
        Ok(dialect)
    }

    pub(crate) fn kind(&self, operation: u8) -> Kind {
        self.kinds[usize::from(operation)]
    }

    /// How many code units after an instruction belong to it.
    pub(crate) fn caches(&self, operation: u8) -> usize {
        usize::from(self.caches[usize::from(operation)])
    }

    pub(crate) fn tells_of_jumps(&self, operation: u8) -> bool {
        self.tells_of_jumps[usize::from(operation)]
    }

    pub(crate) fn runs_frames(&self, operation: u8) -> bool {
        self.runs_frames[usize::from(operation)]
    }

    /// What stands in the code while a monitoring tool waits for an instruction to jump or return.
    #[cfg(Py_3_11)]
    pub(crate) fn while_waited_for(&self, operation: u8) -> u8 {
        let is_waited_for = self.tells_of_jumps(operation) || self.kind(operation) == Kind::Return;
        match self.instrumented[usize::from(operation)] {
            instrumented if is_waited_for && instrumented != 0 => instrumented,
            _ => operation,
        }
    }

    /// Jumps were counted in bytes before 3.10.
    pub(crate) fn bytes_per_jump_unit(&self) -> usize {
        if self.minor < 10 { 2 } else { 1 }
    }
}

impl Numbers {
    fn note(&mut self, name: &str, number: u8) {
        let place = match name {
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
        *place = number;
    }
}

/// The instructions of 3.12 that do what two do. They have the numbers that no other instruction has, in the order
/// of a list that has all those which only the interpreter itself writes.
fn joints(opcode: &Bound<'_, PyModule>, names: &Bound<'_, PyDict>) -> PyResult<Vec<Joint>> {
    let all: Vec<String> = opcode.getattr("opname")?.extract()?;
    let own: Vec<String> = opcode.getattr("_specialized_instructions")?.extract()?;
    let free = (0..=u8::MAX)
        .zip(&all)
        .filter(|(_, name)| name.starts_with('<'))
        .map(|(number, _)| number);
    let mut joints = Vec::new();
    for (both, name) in free.zip(&own) {
        let Some((first, second)) = name.split_once("__") else {
            continue;
        };
        if let (Some(first), Some(second)) = (names.get_item(first)?, names.get_item(second)?) {
            joints.push(Joint {
                first: first.extract()?,
                second: second.extract()?,
                both,
            });
        }
    }
    Ok(joints)
}

fn kind_of(name: &str, minor: u8) -> Kind {
    match name {
        "EXTENDED_ARG" => Kind::ExtendedArgument,
        "RESUME" => Kind::Resume,
        "RETURN_VALUE" | "RETURN_CONST" => Kind::Return,
        "RAISE_VARARGS" => Kind::Raise,
        "RERAISE" => Kind::Reraise,
        "FOR_ITER" if minor >= 12 => Kind::ForIter,
        "FOR_ITER" => Kind::Branch(Direction::Forward),
        "SEND" => Kind::Send,
        "END_FOR" | "END_SEND" | "END_ASYNC_FOR" if minor >= 12 => Kind::EndOfLoop,
        "YIELD_VALUE" if minor < 11 => Kind::Yield,
        "YIELD_FROM" => Kind::YieldFrom,
        "POP_BLOCK" | "POP_EXCEPT" | "END_ASYNC_FOR" if minor < 11 => Kind::EndOfBlock,
        "SETUP_FINALLY" | "SETUP_WITH" | "SETUP_ASYNC_WITH" => Kind::Setup,
        "JUMP_FORWARD" => Kind::Jump(Direction::Forward),
        "JUMP_BACKWARD" | "JUMP_BACKWARD_NO_INTERRUPT" => Kind::Jump(Direction::Backward),
        "JUMP_ABSOLUTE" => Kind::Jump(Direction::Absolute),
        _ if name.starts_with("POP_JUMP_BACKWARD_IF") => Kind::Branch(Direction::Backward),
        _ if name.starts_with("POP_JUMP_FORWARD_IF") => Kind::Branch(Direction::Forward),
        _ if name.starts_with("POP_JUMP_IF") || name.starts_with("JUMP_IF") => {
            Kind::Branch(match minor {
                11.. => Direction::Forward,
                _ => Direction::Absolute,
            })
        }
        _ => Kind::Plain,
    }
}
