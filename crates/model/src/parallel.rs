//! Exploration with the help of other processes, each with its own copy of the models.
//!
//! States to expand wait in chunks, in the order of expansion. Some chunks are handed to helpers
//! before their turn, the others are expanded in this process, and all results are taken in order.
//! So the graph does not depend on which process was faster or did which part. It equals the graph
//! of an exploration without helpers, down to the numbers of its states.
//!
//! Decoding an answer takes time too: a state has to be transferred and looked up. That does not
//! pay for a model whose actions take a microsecond, but it does for one whose actions do real
//! work. So both costs are measured, and helpers get as many chunks as pays.
//!
//! Each helper numbers states and values in its own way. A state is transferred as the bytes that a
//! [`Model`](testwright_core::product::Model) exports. A value is transferred once, when a helper first uses it.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use testwright_core::Error;
use testwright_core::product::{
    Interner, JointStep, ModelError, ModelState, NameId, Phase, Product, StepLabel, ValueId,
};

use crate::Expander;

/// Transfer of values between processes.
pub trait ValueCodec {
    /// Encodes a value for another process. Returns `None` if it cannot be transferred.
    fn export(&mut self, value: ValueId) -> Option<Vec<u8>>;

    /// Decodes a value that another process encoded.
    fn import(&mut self, interner: &mut Interner, value: &[u8]) -> Option<ValueId>;
}

/// Streams to and from a helper: for questions and for its answers.
pub type Connection = (Box<dyn Write>, Box<dyn Read + Send>);

/// Number of states that are handed out together.
const CHUNK: usize = 32;

/// One in so many transferred states is also expanded in this process, to check that the copies of
/// the models behave alike.
const CHECK_INTERVAL: usize = 997;

/// First byte of an answer: the steps that are possible.
const STEPS: u8 = 0;
/// First byte of an answer: the code of a model raised an exception.
const RAISED: u8 = 1;
/// First byte of an answer: a model cannot be used.
const UNUSABLE: u8 = 2;
/// First byte of an answer: the helper was interrupted.
const INTERRUPTED: u8 = 3;
/// First byte of an answer: a state or value cannot be transferred.
const CANNOT_PASS: u8 = 4;

/// Error for states that cannot be transferred. The caller may explore without helpers instead.
pub const CANNOT_PASS_STATES: &str =
    "the states hold objects that cannot be passed to another process";

/// Error for a helper whose copy of the models behaves differently.
pub const COPIES_DIFFER: &str = "the models behave differently in another process";

/// Number of chunks that a helper has in advance, so that it never waits for the next.
const CHUNKS_IN_ADVANCE: usize = 3;

/// Maximum number of chunks to expand in this process for each one that every helper gets.
const MAX_LOCAL_CHUNKS: u64 = 8;

/// Number of chunks to expand in this process before helpers are tried again, if they do not pay.
const RETRY_INTERVAL: u64 = 64;

/// Clock that returns the time since a fixed moment.
pub type Clock = Box<dyn FnMut() -> Duration>;

/// Expander that shares its work with helper processes.
pub struct HelperPool<'t> {
    /// Helpers, by number.
    helpers: Vec<Helper>,
    codec: &'t mut dyn ValueCodec,
    clock: Clock,
    /// Chunks that are not fully expanded yet, in order.
    chunks: VecDeque<Chunk>,
    /// Number of chunks that were finished before the first of `chunks`.
    finished: u64,
    /// Number of the first chunk that may be handed out. Earlier ones are kept for this process or
    /// were handed out.
    next_unassigned: u64,
    /// Number of chunks handed out since the last one was kept for this process.
    chunks_since_local: usize,
    /// Number of chunks to keep for this process after every helper has got one.
    local_chunks: u64,
    /// Decoded answers to the first chunk.
    answers: VecDeque<Result<Vec<JointStep>, ModelError>>,
    /// Number of answers used so far.
    used_answers: usize,
    /// Cost of a chunk in this process and of a chunk that was handed out, without waiting.
    costs: [AverageCost; 2],
    /// Error while handing out chunks, for the next call that can return it.
    error: Option<ModelError>,
}

/// States that are expanded together.
#[derive(Default)]
struct Chunk {
    /// States in the order of expansion.
    states: Vec<Vec<ModelState>>,
    /// Number of its states that were expanded.
    expanded: usize,
    /// Number of the helper that it was handed to.
    helper: Option<usize>,
    /// Time when its turn came, moved forward by the time spent waiting for its answers.
    started_at: Duration,
}

/// Moving average of the time that something takes.
#[derive(Clone, Copy, Default)]
struct AverageCost(Option<f64>);

impl AverageCost {
    /// Adds a measurement.
    fn add(&mut self, taken: Duration) {
        let taken = taken.as_secs_f64();
        self.0 = Some(self.0.map_or(taken, |before| before * 0.9 + taken * 0.1));
    }
}

/// A process that expands states.
struct Helper {
    /// Stream for questions.
    questions: Box<dyn Write>,
    /// Answers as they arrive.
    answers: Receiver<Vec<u8>>,
    /// Number of chunks whose answers have not been read.
    waiting: usize,
    /// Values by the helper's numbers.
    values: Vec<ValueId>,
}

/// Returns the error for a helper that has ended.
fn helper_lost() -> Error {
    Error::new("a process that helps to explore has ended")
}

impl<'t> HelperPool<'t> {
    /// Creates a pool with a helper at the other end of each connection. There should be at least
    /// one.
    pub fn new(
        connections: Vec<Connection>,
        codec: &'t mut dyn ValueCodec,
        clock: Clock,
    ) -> HelperPool<'t> {
        let helper = |(questions, mut answers): Connection| {
            let (send, receive) = channel();
            // A thread reads all answers as they come. Otherwise a helper could block on writing an
            // answer while this process blocks on writing a question to it.
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
        HelperPool {
            helpers: connections.into_iter().map(helper).collect(),
            codec,
            clock,
            chunks: VecDeque::new(),
            finished: 0,
            // The first chunk is expanded in this process.
            next_unassigned: 1,
            chunks_since_local: 0,
            local_chunks: 1,
            answers: VecDeque::new(),
            used_answers: 0,
            costs: [AverageCost::default(); 2],
            error: None,
        }
    }

    /// Hands out chunks while a helper has few in advance.
    fn send_chunks(&mut self, product: &Product<'_>) -> Result<(), ModelError> {
        loop {
            // The chunk in progress and the next one are not worth handing out.
            self.next_unassigned = self.next_unassigned.max(self.finished + 1);
            let idle = (0..self.helpers.len()).min_by_key(|one| self.helpers[*one].waiting);
            let Some(number) = idle.filter(|one| self.helpers[*one].waiting < CHUNKS_IN_ADVANCE)
            else {
                return Ok(());
            };
            let Some(chunk) = self
                .chunks
                .get_mut((self.next_unassigned - self.finished) as usize)
            else {
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
                .map_err(|_| helper_lost())?;
            self.chunks_since_local += 1;
            self.next_unassigned += 1;
            if self.chunks_since_local >= self.helpers.len() {
                self.chunks_since_local = 0;
                self.next_unassigned += if self.is_worthwhile() {
                    self.local_chunks
                } else {
                    RETRY_INTERVAL
                };
            }
        }
    }

    /// Returns true if handing out a chunk costs less than expanding it in this process.
    fn is_worthwhile(&self) -> bool {
        match self.costs {
            [AverageCost(Some(local)), AverageCost(Some(handed_out))] => handed_out < local * 0.9,
            _ => true,
        }
    }

    /// Receives and decodes a helper's answers to the first chunk.
    fn receive_answers(
        &mut self,
        product: &mut Product<'_>,
        number: usize,
    ) -> Result<(), ModelError> {
        let helper = &mut self.helpers[number];
        let frame = match helper.answers.try_recv() {
            Ok(frame) => {
                self.local_chunks = self.local_chunks.saturating_sub(1).max(1);
                frame
            }
            Err(TryRecvError::Disconnected) => return Err(helper_lost().into()),
            Err(TryRecvError::Empty) => {
                // The time spent waiting could have gone into chunks of its own.
                self.local_chunks = (self.local_chunks + 1).min(MAX_LOCAL_CHUNKS);
                let began = (self.clock)();
                let frame = helper.answers.recv().map_err(|_| helper_lost())?;
                let waited = (self.clock)().saturating_sub(began);
                if let Some(chunk) = self.chunks.front_mut() {
                    chunk.started_at += waited;
                }
                frame
            }
        };
        let helper = &mut self.helpers[number];
        helper.waiting -= 1;
        let mut rest = frame.as_slice();
        while let Some(answer) = take_bytes(&mut rest) {
            let answer = helper.decode_answer(product, self.codec, answer);
            self.answers
                .push_back(answer.unwrap_or_else(|| Err(helper_lost().into())));
        }
        Ok(())
    }

    /// Returns a helper's answer for the next state. Now and then checks it against this process's
    /// own.
    fn next_answer(
        &mut self,
        product: &mut Product<'_>,
        state: &[ModelState],
    ) -> Result<Vec<JointStep>, ModelError> {
        let moves = self.answers.pop_front().ok_or_else(helper_lost)??;
        self.used_answers += 1;
        if self.used_answers % CHECK_INTERVAL == 1 {
            let local = product.possible_steps(state, Phase::Normal)?;
            if local != moves {
                return Err(Error::new(COPIES_DIFFER).into());
            }
        }
        Ok(moves)
    }
}

impl Expander for HelperPool<'_> {
    fn announce(&mut self, product: &Product<'_>, state: &[ModelState]) {
        match self.chunks.back_mut() {
            Some(last) if last.states.len() < CHUNK => last.states.push(state.to_vec()),
            _ => self.chunks.push_back(Chunk {
                states: vec![state.to_vec()],
                ..Chunk::default()
            }),
        }
        let is_full = |last: &Chunk| last.states.len() == CHUNK;
        if self.chunks.back().is_some_and(is_full)
            && let Err(error) = self.send_chunks(product)
        {
            self.error.get_or_insert(error);
        }
    }

    fn possible_steps(
        &mut self,
        product: &mut Product<'_>,
        state: &[ModelState],
    ) -> Result<Vec<JointStep>, ModelError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let chunk = self.chunks.front_mut().ok_or_else(helper_lost)?;
        let helper = chunk.helper;
        if chunk.expanded == 0 {
            chunk.started_at = (self.clock)();
            if let Some(number) = helper {
                self.receive_answers(product, number)?;
            }
        }
        let moves = match helper {
            Some(_) => self.next_answer(product, state)?,
            None => product.possible_steps(state, Phase::Normal)?,
        };
        let chunk = self.chunks.front_mut().ok_or_else(helper_lost)?;
        chunk.expanded += 1;
        if chunk.expanded == CHUNK {
            let taken = (self.clock)().saturating_sub(chunk.started_at);
            self.costs[usize::from(helper.is_some())].add(taken);
            self.chunks.pop_front();
            self.finished += 1;
            self.send_chunks(product)?;
        }
        Ok(moves)
    }
}

impl Helper {
    /// Decodes an answer. Returns `None` if it is malformed.
    fn decode_answer(
        &mut self,
        product: &mut Product<'_>,
        codec: &mut dyn ValueCodec,
        frame: &[u8],
    ) -> Option<Result<Vec<JointStep>, ModelError>> {
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
                let (exception, traceback) = (text()?, text()?);
                return Some(Err(ModelError::Raised {
                    exception,
                    traceback,
                }));
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
            INTERRUPTED => return Some(Err(ModelError::Interrupted)),
            CANNOT_PASS => return Some(Err(Error::new(CANNOT_PASS_STATES).into())),
            _ => {}
        }
        for _ in 0..take_number(rest)? {
            let value = take_bytes(rest)?;
            self.values
                .push(codec.import(product.interner_mut(), value)?);
        }
        let mut notices = Vec::new();
        for _ in 0..take_number(rest)? {
            notices.push(take_bytes(rest)?);
        }
        product.import_notices(&notices);
        let mut joints = Vec::new();
        for _ in 0..take_number(rest)? {
            let [name, arguments, result] =
                [take_number(rest)?, take_number(rest)?, take_number(rest)?];
            let label = StepLabel {
                name: NameId(u32::try_from(name).ok()?),
                arguments: *self.values.get(arguments)?,
                result: *self.values.get(result)?,
            };
            let mut parts = Vec::new();
            for _ in 0..take_number(rest)? {
                parts.push(take_bytes(rest)?);
            }
            let to = product.import(&parts)?;
            joints.push(JointStep { label, to });
        }
        Some(Ok(joints))
    }
}

/// Serves as a helper: answers questions about states until the stream ends.
pub fn serve(
    product: &mut Product<'_>,
    codec: &mut dyn ValueCodec,
    questions: &mut dyn Read,
    answers: &mut dyn Write,
) -> io::Result<()> {
    // By this process's numbers, the number under which each value was transferred.
    let mut explained: Vec<Option<usize>> = Vec::new();
    let mut next = 0;
    while let Ok(frame) = read_frame(questions) {
        let mut rest = frame.as_slice();
        let rest = &mut rest;
        let count = take_number(rest).unwrap_or(0);
        let mut all = Vec::new();
        for _ in 0..count {
            let mut parts = Vec::new();
            for _ in 0..take_number(rest).unwrap_or(0) {
                parts.push(take_bytes(rest).unwrap_or_default());
            }
            let answer = match product.import(&parts) {
                Some(state) => match product.possible_steps(&state, Phase::Normal) {
                    Ok(moves) => encode_steps(product, codec, &moves, &mut explained, &mut next)
                        .unwrap_or_else(|| vec![CANNOT_PASS]),
                    Err(error) => encode_error(&error),
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

/// Encodes the possible steps of a state. Returns `None` if something in them cannot be
/// transferred.
fn encode_steps(
    product: &mut Product<'_>,
    codec: &mut dyn ValueCodec,
    moves: &[JointStep],
    explained: &mut Vec<Option<usize>>,
    next: &mut usize,
) -> Option<Vec<u8>> {
    let mut new = Vec::new();
    let mut explain = |value: ValueId| -> Option<usize> {
        let index = value.0 as usize;
        if index >= explained.len() {
            explained.resize(index + 1, None);
        }
        if explained[index].is_none() {
            new.push(codec.export(value)?);
            explained[index] = Some(*next);
            *next += 1;
        }
        explained[index]
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
    let mut frame = vec![STEPS];
    put_number(&mut frame, new.len());
    new.iter().for_each(|value| put_bytes(&mut frame, value));
    let notices = product.export_notices();
    put_number(&mut frame, notices.len());
    notices.iter().for_each(|part| put_bytes(&mut frame, part));
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

/// Encodes an error of the models.
fn encode_error(error: &ModelError) -> Vec<u8> {
    let (kind, texts) = match error {
        ModelError::Raised {
            exception,
            traceback,
        } => (RAISED, [exception.clone(), traceback.clone()]),
        ModelError::Unusable(error) => {
            let help = error.help.clone().unwrap_or_default();
            (UNUSABLE, [error.message.clone(), help])
        }
        ModelError::Source(text) => (UNUSABLE, [text.to_string(), text.help.clone()]),
        ModelError::NoReset { .. } | ModelError::InStepper { .. } => {
            (UNUSABLE, [error.to_string(), String::new()])
        }
        ModelError::Interrupted => (INTERRUPTED, Default::default()),
    };
    let mut frame = vec![kind];
    texts
        .iter()
        .for_each(|text| put_bytes(&mut frame, text.as_bytes()));
    frame
}

/// Appends a number as four bytes.
fn put_number(frame: &mut Vec<u8>, number: usize) {
    frame.extend_from_slice(&(number as u32).to_le_bytes());
}

/// Appends a length and so many bytes.
fn put_bytes(frame: &mut Vec<u8>, bytes: &[u8]) {
    put_number(frame, bytes.len());
    frame.extend_from_slice(bytes);
}

/// Removes a number from the front of a frame.
fn take_number(frame: &mut &[u8]) -> Option<usize> {
    let (number, rest) = frame.split_first_chunk::<4>()?;
    *frame = rest;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}

/// Removes bytes with their length from the front of a frame.
fn take_bytes<'f>(frame: &mut &'f [u8]) -> Option<&'f [u8]> {
    let length = take_number(frame)?;
    let (bytes, rest) = frame.split_at_checked(length)?;
    *frame = rest;
    Some(bytes)
}

/// Writes a frame after its length.
fn write_frame(to: &mut dyn Write, frame: &[u8]) -> io::Result<()> {
    to.write_all(&(frame.len() as u32).to_le_bytes())?;
    to.write_all(frame)
}

/// Reads a frame that follows its length.
fn read_frame(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    from.read_exact(&mut frame)?;
    Ok(frame)
}
