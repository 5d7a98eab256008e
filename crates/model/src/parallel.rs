//! Exploring with the help of other processes, each of which has a copy of the models.
//!
//! The one who explores hands out states in the order in which it will want to know about them, in chunks that go to
//! each helper in turn, and reads the answers in the same order. So what it finds does not depend on who was faster: it
//! is what it would have found alone, to the last number.
//!
//! Helpers number states and values in their own way. A state is passed as what a [`Model`](super::Model) exports, a
//! value is explained when a helper speaks of it for the first time.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use testwright_core::Error;
use testwright_core::product::{
    Joint, Label, NameId, Phase, Place, Product, Trouble, ValueId, Words,
};

use crate::Expander;

/// Passes values between processes.
pub trait Passing {
    /// A value in a form that another process understands; none if there is no such form.
    fn export(&mut self, value: ValueId) -> Option<Vec<u8>>;

    /// The value that another process speaks of.
    fn import(&mut self, words: &mut Words, value: &[u8]) -> Option<ValueId>;
}

/// Where to ask a helper, and where its answers come from.
pub type Connection = (Box<dyn Write>, Box<dyn Read + Send>);

/// How many states are handed out together.
const CHUNK: usize = 32;

/// Of so many states one is asked about here as well, to see whether the copies behave alike.
const TRIAL: usize = 997;

/// What a helper's answer begins with.
const MOVES: u8 = 0;
const RAISED: u8 = 1;
const UNUSABLE: u8 = 2;
const INTERRUPTED: u8 = 3;
const CANNOT_PASS: u8 = 4;

/// What is said if states cannot be passed. Whoever asked may explore alone.
pub const CANNOT_PASS_STATES: &str =
    "the states hold objects that cannot be passed to another process";

/// What is said if a helper finds something else.
pub const DIFFERENT: &str = "the models behave differently in another process";

/// Helpers, and what they were asked.
pub struct Team<'t> {
    helpers: Vec<Helper>,
    passing: &'t mut dyn Passing,
    /// States that were announced and not handed out.
    chunk: Vec<Vec<Vec<u8>>>,
    /// The next helper to hand a chunk to.
    next: usize,
    /// Whose answers are to come, in order: the helper, and how many states.
    expected: VecDeque<(usize, usize)>,
    answers: VecDeque<Result<Vec<Joint>, Trouble>>,
    asked: usize,
    trouble: Option<Trouble>,
}

struct Helper {
    questions: Box<dyn Write>,
    answers: Receiver<Vec<u8>>,
    /// By the helper's numbers.
    values: Vec<ValueId>,
}

impl<'t> Team<'t> {
    /// Helpers at the other ends of these connections, of which there should be one.
    pub fn new(connections: Vec<Connection>, passing: &'t mut dyn Passing) -> Team<'t> {
        let helper = |(questions, mut answers): Connection| {
            let (send, receive) = channel();
            // A helper must never wait for somebody to read what it says: that one may be waiting to be read by it.
            thread::spawn(move || {
                while let Ok(frame) = read_frame(&mut answers) {
                    if send.send(frame).is_err() {
                        break;
                    }
                }
            });
            Helper {
                questions,
                answers: receive,
                values: Vec::new(),
            }
        };
        Team {
            helpers: connections.into_iter().map(helper).collect(),
            passing,
            chunk: Vec::new(),
            next: 0,
            expected: VecDeque::new(),
            answers: VecDeque::new(),
            asked: 0,
            trouble: None,
        }
    }

    fn hand_out(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let mut frame = Vec::new();
        put_number(&mut frame, self.chunk.len());
        for state in &self.chunk {
            put_number(&mut frame, state.len());
            state.iter().for_each(|part| put_bytes(&mut frame, part));
        }
        let number = self.next;
        self.expected.push_back((number, self.chunk.len()));
        self.chunk.clear();
        self.next = (number + 1) % self.helpers.len();
        let questions = &mut self.helpers[number].questions;
        write_frame(questions, &frame)?;
        questions.flush()
    }

    /// Reads the answers to the chunk that is next.
    fn read(&mut self, product: &mut Product<'_>) -> Result<(), Trouble> {
        let lost = || Error::new("a process that helps to explore has ended");
        self.hand_out().map_err(|_| lost())?;
        let (number, many) = self.expected.pop_front().ok_or_else(lost)?;
        for _ in 0..many {
            let helper = &mut self.helpers[number];
            let frame = helper.answers.recv().map_err(|_| lost())?;
            let answer = helper.understand(product, self.passing, &frame);
            self.answers
                .push_back(answer.unwrap_or_else(|| Err(lost().into())));
        }
        Ok(())
    }
}

impl Expander for Team<'_> {
    fn announce(&mut self, product: &Product<'_>, state: &[Place]) {
        match product.export(state) {
            Some(state) => self.chunk.push(state),
            None => {
                let cannot = Error::new(CANNOT_PASS_STATES);
                self.trouble.get_or_insert(cannot.into());
            }
        }
        if self.chunk.len() >= CHUNK && self.hand_out().is_err() {
            let lost = Error::new("a process that helps to explore has ended");
            self.trouble.get_or_insert(lost.into());
        }
    }

    fn moves(&mut self, product: &mut Product<'_>, state: &[Place]) -> Result<Vec<Joint>, Trouble> {
        if let Some(trouble) = self.trouble.take() {
            return Err(trouble);
        }
        if self.answers.is_empty() {
            self.read(product)?;
        }
        let lost = || Error::new("a process that helps to explore has ended");
        let moves = self.answers.pop_front().ok_or_else(lost)??;
        self.asked += 1;
        if self.asked % TRIAL == 1 {
            let here = product.moves(state, Phase::Usual)?;
            if here != moves {
                return Err(Error::new(DIFFERENT).into());
            }
        }
        Ok(moves)
    }
}

impl Helper {
    /// What an answer says.
    fn understand(
        &mut self,
        product: &mut Product<'_>,
        passing: &mut dyn Passing,
        frame: &[u8],
    ) -> Option<Result<Vec<Joint>, Trouble>> {
        let (kind, mut rest) = frame.split_first()?;
        let rest = &mut rest;
        let mut text = || {
            String::from_utf8_lossy(take_bytes(rest)?)
                .into_owned()
                .into()
        };
        let text: &mut dyn FnMut() -> Option<String> = &mut text;
        match *kind {
            RAISED => {
                let (what, traceback) = (text()?, text()?);
                return Some(Err(Trouble::Raised { what, traceback }));
            }
            UNUSABLE => {
                let (message, help) = (text()?, text()?);
                let error = match help.is_empty() {
                    true => Error::new(message),
                    false => Error::new(message).with_help(help),
                };
                return Some(Err(error.into()));
            }
            INTERRUPTED => return Some(Err(Trouble::Interrupted)),
            CANNOT_PASS => return Some(Err(Error::new(CANNOT_PASS_STATES).into())),
            _ => {}
        }
        for _ in 0..take_number(rest)? {
            let value = take_bytes(rest)?;
            self.values
                .push(passing.import(product.words_mut(), value)?);
        }
        let mut joints = Vec::new();
        for _ in 0..take_number(rest)? {
            let [name, arguments, result] =
                [take_number(rest)?, take_number(rest)?, take_number(rest)?];
            let label = Label {
                name: NameId(u32::try_from(name).ok()?),
                arguments: *self.values.get(arguments)?,
                result: *self.values.get(result)?,
            };
            let mut parts = Vec::new();
            for _ in 0..take_number(rest)? {
                parts.push(take_bytes(rest)?);
            }
            let to = product.import(&parts)?;
            joints.push(Joint { label, to });
        }
        Some(Ok(joints))
    }
}

/// Helps: answers questions about states until there are no more.
pub fn help(
    product: &mut Product<'_>,
    passing: &mut dyn Passing,
    questions: &mut dyn Read,
    answers: &mut dyn Write,
) -> io::Result<()> {
    // By our own numbers: the number under which a value was explained.
    let mut explained: Vec<Option<usize>> = Vec::new();
    let mut next = 0;
    while let Ok(frame) = read_frame(questions) {
        let mut rest = frame.as_slice();
        let rest = &mut rest;
        let many = take_number(rest).unwrap_or(0);
        for _ in 0..many {
            let mut parts = Vec::new();
            for _ in 0..take_number(rest).unwrap_or(0) {
                parts.push(take_bytes(rest).unwrap_or_default());
            }
            let answer = match product.import(&parts) {
                Some(state) => match product.moves(&state, Phase::Usual) {
                    Ok(moves) => say(product, passing, &moves, &mut explained, &mut next)
                        .unwrap_or_else(|| vec![CANNOT_PASS]),
                    Err(trouble) => say_trouble(&trouble),
                },
                None => vec![CANNOT_PASS],
            };
            write_frame(answers, &answer)?;
        }
        answers.flush()?;
    }
    Ok(())
}

/// An answer; none if something in it cannot be passed.
fn say(
    product: &Product<'_>,
    passing: &mut dyn Passing,
    moves: &[Joint],
    explained: &mut Vec<Option<usize>>,
    next: &mut usize,
) -> Option<Vec<u8>> {
    let mut new = Vec::new();
    let mut explain = |value: ValueId| -> Option<usize> {
        let place = value.0 as usize;
        if place >= explained.len() {
            explained.resize(place + 1, None);
        }
        if explained[place].is_none() {
            new.push(passing.export(value)?);
            explained[place] = Some(*next);
            *next += 1;
        }
        explained[place]
    };
    let mut steps = Vec::new();
    for one in moves {
        let label = one.label;
        let numbers = [
            label.name.0 as usize,
            explain(label.arguments)?,
            explain(label.result)?,
        ];
        steps.push((numbers, product.export(&one.to)?));
    }
    let mut frame = vec![MOVES];
    put_number(&mut frame, new.len());
    new.iter().for_each(|value| put_bytes(&mut frame, value));
    put_number(&mut frame, steps.len());
    for (numbers, state) in steps {
        numbers
            .iter()
            .for_each(|number| put_number(&mut frame, *number));
        put_number(&mut frame, state.len());
        state.iter().for_each(|part| put_bytes(&mut frame, part));
    }
    Some(frame)
}

fn say_trouble(trouble: &Trouble) -> Vec<u8> {
    let (kind, texts) = match trouble {
        Trouble::Raised { what, traceback } => (RAISED, [what.clone(), traceback.clone()]),
        Trouble::Unusable(error) => {
            let help = error.help.clone().unwrap_or_default();
            (UNUSABLE, [error.message.clone(), help])
        }
        Trouble::Misread(text) => (UNUSABLE, [text.to_string(), text.help.clone()]),
        Trouble::NoReset { .. } | Trouble::InStepper { .. } => {
            (UNUSABLE, [trouble.to_string(), String::new()])
        }
        Trouble::Interrupted => (INTERRUPTED, Default::default()),
    };
    let mut frame = vec![kind];
    texts
        .iter()
        .for_each(|text| put_bytes(&mut frame, text.as_bytes()));
    frame
}

fn put_number(frame: &mut Vec<u8>, number: usize) {
    frame.extend_from_slice(&(number as u32).to_le_bytes());
}

fn put_bytes(frame: &mut Vec<u8>, bytes: &[u8]) {
    put_number(frame, bytes.len());
    frame.extend_from_slice(bytes);
}

fn take_number(frame: &mut &[u8]) -> Option<usize> {
    let (number, rest) = frame.split_first_chunk::<4>()?;
    *frame = rest;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}

fn take_bytes<'f>(frame: &mut &'f [u8]) -> Option<&'f [u8]> {
    let length = take_number(frame)?;
    let (bytes, rest) = frame.split_at_checked(length)?;
    *frame = rest;
    Some(bytes)
}

fn write_frame(to: &mut dyn Write, frame: &[u8]) -> io::Result<()> {
    to.write_all(&(frame.len() as u32).to_le_bytes())?;
    to.write_all(frame)
}

fn read_frame(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    from.read_exact(&mut frame)?;
    Ok(frame)
}
