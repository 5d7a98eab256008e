//! Exploring with the help of other processes, each of which has a copy of the models.
//!
//! States that will be asked about wait in chunks, in the order in which they will be. Some chunks are handed to helpers
//! before their turn comes, the others are asked about here, and all answers are taken in order. So what is found does
//! not depend on who was faster, or on who did what: it is what one would have found alone, to the last number.
//!
//! Understanding an answer takes time as well: a state has to be passed, and looked up here. For a model whose actions
//! take a microsecond that is no gain, for one whose actions do real work it is. So both are measured, and helpers get
//! as much as pays.
//!
//! Helpers number states and values in their own way. A state is passed as what a [`Model`](super::Model) exports, a
//! value is explained when a helper speaks of it for the first time.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

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

/// How many chunks a helper has before it, so that it never waits for the next.
const AHEAD: usize = 3;

/// At most so many chunks are asked about here for one that each helper gets.
const MOST_HERE: u64 = 8;

/// If helping does not pay, so many chunks are asked about here before it is tried again.
const PAUSE: u64 = 64;

/// Tells the time since some moment.
pub type Clock = Box<dyn FnMut() -> Duration>;

/// Helpers, and what they were asked.
pub struct Team<'t> {
    helpers: Vec<Helper>,
    passing: &'t mut dyn Passing,
    clock: Clock,
    /// What will be asked about, in order.
    chunks: VecDeque<Chunk>,
    /// How many chunks came before the first of these.
    gone: u64,
    /// From which on chunks may be handed out: those before are for here, or were handed out.
    free: u64,
    /// How many were handed out without one for here.
    in_a_row: usize,
    /// How many are for here after each helper has got one.
    here: u64,
    answers: VecDeque<Result<Vec<Joint>, Trouble>>,
    asked: usize,
    /// What a chunk takes, here and handed out, without waiting.
    costs: [Cost; 2],
    trouble: Option<Trouble>,
}

/// States that are asked about together.
#[derive(Default)]
struct Chunk {
    states: Vec<Vec<Place>>,
    /// How many were asked for.
    place: usize,
    /// Who was asked about them.
    helper: Option<usize>,
    /// When its turn came, not counting the time that was spent waiting for its answers.
    since: Duration,
}

/// What something takes, as it was lately.
#[derive(Clone, Copy, Default)]
struct Cost(Option<f64>);

impl Cost {
    fn note(&mut self, taken: Duration) {
        let taken = taken.as_secs_f64();
        self.0 = Some(self.0.map_or(taken, |before| before * 0.9 + taken * 0.1));
    }
}

struct Helper {
    questions: Box<dyn Write>,
    answers: Receiver<Vec<u8>>,
    /// How many chunks it was asked about and nobody has read the answers of.
    waiting: usize,
    /// By the helper's numbers.
    values: Vec<ValueId>,
}

fn lost() -> Error {
    Error::new("a process that helps to explore has ended")
}

impl<'t> Team<'t> {
    /// Helpers at the other ends of these connections, of which there should be one.
    pub fn new(
        connections: Vec<Connection>,
        passing: &'t mut dyn Passing,
        clock: Clock,
    ) -> Team<'t> {
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
                waiting: 0,
                values: Vec::new(),
            }
        };
        Team {
            helpers: connections.into_iter().map(helper).collect(),
            passing,
            clock,
            chunks: VecDeque::new(),
            gone: 0,
            // The first is asked about here.
            free: 1,
            in_a_row: 0,
            here: 1,
            answers: VecDeque::new(),
            asked: 0,
            costs: [Cost::default(); 2],
            trouble: None,
        }
    }

    /// Hands out chunks as long as there is a helper that has little before it.
    fn hand_out(&mut self, product: &Product<'_>) -> Result<(), Trouble> {
        loop {
            // What is asked about now, or next, is not worth handing out.
            self.free = self.free.max(self.gone + 1);
            let idle = (0..self.helpers.len()).min_by_key(|one| self.helpers[*one].waiting);
            let Some(number) = idle.filter(|one| self.helpers[*one].waiting < AHEAD) else {
                return Ok(());
            };
            let Some(chunk) = self.chunks.get_mut((self.free - self.gone) as usize) else {
                return Ok(());
            };
            if chunk.states.len() < CHUNK {
                return Ok(());
            }
            let mut frame = Vec::new();
            put_number(&mut frame, chunk.states.len());
            for state in &chunk.states {
                let parts = product
                    .export(state)
                    .ok_or_else(|| Error::new(CANNOT_PASS_STATES))?;
                put_number(&mut frame, parts.len());
                parts.iter().for_each(|part| put_bytes(&mut frame, part));
            }
            chunk.helper = Some(number);
            let helper = &mut self.helpers[number];
            helper.waiting += 1;
            let questions = &mut helper.questions;
            write_frame(questions, &frame)
                .and_then(|()| questions.flush())
                .map_err(|_| lost())?;
            self.in_a_row += 1;
            self.free += 1;
            if self.in_a_row >= self.helpers.len() {
                self.in_a_row = 0;
                self.free += if self.pays() { self.here } else { PAUSE };
            }
        }
    }

    /// Whether what a helper takes over is more than what it takes to understand its answer.
    fn pays(&self) -> bool {
        match self.costs {
            [Cost(Some(here)), Cost(Some(handed_out))] => handed_out < here * 0.9,
            _ => true,
        }
    }

    /// Reads the answers to the chunk that is next.
    fn read(&mut self, product: &mut Product<'_>, number: usize) -> Result<(), Trouble> {
        let helper = &mut self.helpers[number];
        let came = match helper.answers.try_recv() {
            Ok(frame) => {
                self.here = self.here.saturating_sub(1).max(1);
                frame
            }
            Err(TryRecvError::Disconnected) => return Err(lost().into()),
            Err(TryRecvError::Empty) => {
                // Who waits could have done more.
                self.here = (self.here + 1).min(MOST_HERE);
                let began = (self.clock)();
                let frame = helper.answers.recv().map_err(|_| lost())?;
                let waited = (self.clock)().saturating_sub(began);
                if let Some(chunk) = self.chunks.front_mut() {
                    chunk.since += waited;
                }
                frame
            }
        };
        let helper = &mut self.helpers[number];
        helper.waiting -= 1;
        let mut rest = came.as_slice();
        while let Some(answer) = take_bytes(&mut rest) {
            let answer = helper.understand(product, self.passing, answer);
            self.answers
                .push_back(answer.unwrap_or_else(|| Err(lost().into())));
        }
        Ok(())
    }

    /// What a helper says about the next state, which is now and then asked about here as well.
    fn answered(
        &mut self,
        product: &mut Product<'_>,
        state: &[Place],
    ) -> Result<Vec<Joint>, Trouble> {
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

impl Expander for Team<'_> {
    fn announce(&mut self, product: &Product<'_>, state: &[Place]) {
        match self.chunks.back_mut() {
            Some(last) if last.states.len() < CHUNK => last.states.push(state.to_vec()),
            _ => self.chunks.push_back(Chunk {
                states: vec![state.to_vec()],
                ..Chunk::default()
            }),
        }
        let is_full = |last: &Chunk| last.states.len() == CHUNK;
        if self.chunks.back().is_some_and(is_full)
            && let Err(trouble) = self.hand_out(product)
        {
            self.trouble.get_or_insert(trouble);
        }
    }

    fn moves(&mut self, product: &mut Product<'_>, state: &[Place]) -> Result<Vec<Joint>, Trouble> {
        if let Some(trouble) = self.trouble.take() {
            return Err(trouble);
        }
        let chunk = self.chunks.front_mut().ok_or_else(lost)?;
        let helper = chunk.helper;
        if chunk.place == 0 {
            chunk.since = (self.clock)();
            if let Some(number) = helper {
                self.read(product, number)?;
            }
        }
        let moves = match helper {
            Some(_) => self.answered(product, state)?,
            None => product.moves(state, Phase::Usual)?,
        };
        let chunk = self.chunks.front_mut().ok_or_else(lost)?;
        chunk.place += 1;
        if chunk.place == CHUNK {
            let taken = (self.clock)().saturating_sub(chunk.since);
            self.costs[usize::from(helper.is_some())].note(taken);
            self.chunks.pop_front();
            self.gone += 1;
            self.hand_out(product)?;
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
                let error = if help.is_empty() {
                    Error::new(message)
                } else {
                    Error::new(message).with_help(help)
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
        let mut all = Vec::new();
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
            put_bytes(&mut all, &answer);
        }
        write_frame(answers, &all)?;
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
