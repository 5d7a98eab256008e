//! Which arcs follow from which steps of the interpreter.
//!
//! An arc is what a tracing tool notes down: the last line it was told of, and the next one. When the interpreter
//! tells a tool of a line is decided by two instructions only, the one before and the one now ([`Tracing`]). So a
//! graph of instructions tells, before anything has run, which arc each step from one instruction to the next
//! would make. What remains to be found out at run time is which of these steps happen, and each needs to be seen
//! once. [`findings`] names the places to look at: as few as possible, because looking costs.
//!
//! Exceptions may come from anywhere and go to a handler. Where they came from is known only when it happens;
//! [`Flow::after_exception`] tells what follows.

use super::dialect::{Dialect, Direction, Kind};
use super::instructions::Instructions;
use super::tracing::{Resumed, Tracing};

/// From one line to the next, as coverage.py counts: the entry to and the exit from a code object are the
/// negative of its first line.
pub type Arc = (i32, i32);

/// How one instruction follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It stands there.
    Fall,
    /// Always jumped to.
    Jump,
    /// Jumped to on a condition, and could be sent elsewhere.
    Branch,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    to: usize,
    way: Way,
}

/// Where to look for an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Look {
    /// The interpreter tells of a new line at this instruction.
    Line(usize),
    /// This instruction runs after the one that stands before it.
    Fall(usize),
    /// This instruction jumps, on a condition.
    Branch(usize),
    /// This instruction runs, and always jumps.
    Jump(usize),
    /// This instruction runs, and returns.
    Return(usize),
}

/// The lines that a tool may have been told of last when an instruction runs.
type Lines = Vec<i32>;

/// The flow of control in one code object.
pub(crate) struct Flow {
    pub(crate) tracing: Tracing,
    edges: Vec<Edge>,
    /// By instruction.
    last_lines: Vec<Lines>,
    /// By instruction: the only one that can come next, if there is only one and it cannot fail.
    next: Vec<Option<usize>>,
    /// By instruction: whether it throws an exception again as if from where it was thrown first.
    restores_place: Vec<bool>,
    pub(crate) exit: i32,
}

/// What an exception has to do with lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thrown {
    /// The line that a tool was told of last.
    pub(crate) last_line: i32,
    /// The instruction that the interpreter takes for the previous one.
    pub(crate) previous: usize,
}

impl Flow {
    pub(crate) fn new(dialect: &Dialect, code: &Instructions, first_line: u32) -> Flow {
        let exit = -i32::try_from(first_line).unwrap_or(i32::MAX);
        let edges = edges(dialect, code);
        let mut following: Vec<Vec<usize>> = vec![Vec::new(); code.len()];
        for edge in &edges {
            following[edge.from].push(edge.to);
        }
        let only = |following: &Vec<usize>| match following[..] {
            [one] => Some(one),
            _ => None,
        };
        let mut flow = Flow {
            tracing: Tracing::new(dialect, code),
            edges,
            last_lines: vec![Lines::new(); code.len()],
            next: following.iter().map(only).collect(),
            restores_place: code
                .list
                .iter()
                .map(|one| dialect.kind(one.operation) == Kind::Reraise && one.argument != 0)
                .collect(),
            exit,
        };
        flow.spread(code, &following);
        flow
    }

    /// Finds the possible last lines of every instruction.
    fn spread(&mut self, code: &Instructions, following: &[Vec<usize>]) {
        let mut handlers: Vec<Option<usize>> = vec![None; code.len()];
        for protection in &code.protections {
            for handler in &mut handlers[protection.start..protection.end] {
                *handler = Some(protection.handler);
            }
        }
        let entry = self.tracing.entry();
        if entry >= code.len() {
            return;
        }
        let told = self.tracing.tells_at_entry().map(|line| line as i32);
        self.last_lines[entry].push(told.unwrap_or(self.exit));
        let mut waiting = vec![entry];
        while let Some(number) = waiting.pop() {
            let mut lines = self.last_lines[number].clone();
            // Whoever returns to a generator looks up the line it stopped in.
            match self.tracing.looks_up_line(number) {
                Resumed::Always(line) => lines = vec![line as i32],
                Resumed::Perhaps(line) if !lines.contains(&(line as i32)) => {
                    lines.push(line as i32);
                }
                Resumed::Perhaps(_) | Resumed::Never => {}
            }
            let goes_on = following[number]
                .iter()
                .map(|next| (*next, self.tracing.tells(number, *next), lines.clone()));
            let fails = handlers[number].into_iter().map(|handler| {
                let told = self.tracing.tells_handler(number, handler);
                (handler, told, self.lines_thrown_from(number, &lines))
            });
            let steps: Vec<(usize, Option<u32>, Lines)> = goes_on.chain(fails).collect();
            for (next, told, lines) in steps {
                let told = told.map(|line| vec![line as i32]);
                let mut changed = false;
                for &line in told.as_ref().unwrap_or(&lines) {
                    let known = &mut self.last_lines[next];
                    if let Err(place) = known.binary_search(&line) {
                        known.insert(place, line);
                        changed = true;
                    }
                }
                if changed {
                    waiting.push(next);
                }
            }
        }
    }

    /// The line that a tool was told of last when this instruction runs, if that does not depend on the past.
    pub(crate) fn last_line(&self, number: usize) -> Option<i32> {
        match self.last_lines[number][..] {
            // An exception may be thrown into a generator that has not begun.
            [] if number <= self.tracing.entry() => Some(self.exit),
            [line] => Some(line),
            _ => None,
        }
    }

    /// The lines that a tool may have been told of last when an exception comes from this instruction.
    fn lines_thrown_from(&self, number: usize, lines: &Lines) -> Lines {
        if self.tracing.forgets_line_at(number) {
            vec![self.exit]
        } else {
            lines.clone()
        }
    }

    /// The line that a tool was told of last when an exception comes from this instruction, if that does not depend
    /// on the past.
    pub(crate) fn line_thrown_from(&self, number: usize) -> Option<i32> {
        if self.tracing.forgets_line_at(number) {
            Some(self.exit)
        } else {
            self.last_line(number)
        }
    }

    /// Follows an exception into its handler: the arc it makes, or where it will be when it is thrown again without
    /// a tool having been told of anything.
    pub(crate) fn after_exception(&self, thrown: Thrown, handler: usize) -> Option<Arc> {
        let (mut previous, mut number) = (thrown.previous, handler);
        // Handlers without lines are a few instructions long; the limit is for code that nobody understands.
        for _ in 0..50 {
            if let Some(line) = self.tracing.tells(previous, number) {
                return Some((thrown.last_line, line as i32));
            }
            if self.last_line(number).is_some() {
                // From here on, all is known without knowing the exception.
                return None;
            }
            (previous, number) = (number, self.next[number]?);
        }
        None
    }

    /// The arc that an exception makes by coming to its handler, if it makes one at once.
    pub(crate) fn at_handler(&self, thrown: Thrown, handler: usize) -> Option<Arc> {
        let line = self.tracing.tells_handler(thrown.previous, handler)?;
        Some((thrown.last_line, line as i32))
    }

    pub(crate) fn restores_place(&self, number: usize) -> bool {
        self.restores_place[number]
    }

    fn is_reached(&self, number: usize) -> bool {
        !self.last_lines[number].is_empty()
    }
}

/// What it means that a place was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// An arc was made.
    Arc(Arc),
    /// This was the last line, which later instructions cannot know; see each time.
    Remember(i32),
    /// An arc was made from the line that was remembered to this one; see each time.
    FromRemembered(i32),
}

/// Finds the places to look at, and what each sight tells.
///
/// `told_of_lines`: the tool hears of a line only when the interpreter would tell a tracing tool of it. Otherwise a
/// [`Look::Line`] is noticed however the instruction was reached.
pub(crate) fn findings(
    flow: &Flow,
    dialect: &Dialect,
    code: &Instructions,
    told_of_lines: bool,
) -> Vec<(Look, Sight)> {
    let mut search = Search {
        flow,
        kinds: code
            .list
            .iter()
            .map(|one| dialect.kind(one.operation))
            .collect(),
        told_of_lines,
        settled: vec![false; code.len()],
        meetings: vec![None; code.len()],
        found: Vec::new(),
    };
    if told_of_lines {
        search.settle_handlers(code);
    }
    search.settle_meetings();
    let mut arriving: Vec<Vec<Edge>> = vec![Vec::new(); code.len()];
    for edge in flow.edges.iter().filter(|edge| flow.is_reached(edge.from)) {
        arriving[edge.to].push(*edge);
    }
    let mut is_handler = vec![false; code.len()];
    for protection in &code.protections {
        is_handler[protection.handler] = true;
    }
    for number in 0..code.len() {
        search.look_at(number, &arriving[number], is_handler[number]);
    }
    search.found
}

struct Search<'a> {
    flow: &'a Flow,
    kinds: Vec<Kind>,
    told_of_lines: bool,
    /// By instruction: the last line is not known before running, but what it means is seen earlier.
    settled: Vec<bool>,
    /// By instruction: the line that follows, if ways from different lines meet here and that is seen earlier.
    meetings: Vec<Option<i32>>,
    found: Vec<(Look, Sight)>,
}

impl Search<'_> {
    /// What happens at the head of a handler is seen when the exception comes: [`Flow::after_exception`].
    ///
    /// With probes that is not necessary; they remember the last line when the exception comes.
    fn settle_handlers(&mut self, code: &Instructions) {
        for protection in &code.protections {
            let mut place = Some(protection.handler);
            while let Some(number) = place.filter(|number| !self.settled[*number]) {
                if self.flow.last_line(number).is_some() {
                    break;
                }
                self.settled[number] = true;
                let next = self.flow.next[number];
                place = next.filter(|next| self.flow.tracing.tells(number, *next).is_none());
            }
        }
    }

    /// Ways that come from different lines may meet in an instruction without a line. The arcs are seen before that.
    fn settle_meetings(&mut self) {
        for edge in &self.flow.edges {
            let tells = self.flow.tracing.tells(edge.from, edge.to).is_some();
            if tells || self.flow.last_lines[edge.to].len() < 2 {
                continue;
            }
            let Some(last) = self.flow.last_line(edge.from) else {
                continue;
            };
            let sight = match self.what_follows(edge.to) {
                Some(next) => Sight::Arc((last, next)),
                None => Sight::Remember(last),
            };
            self.found.push((edge.look(), sight));
        }
        if !self.told_of_lines {
            self.join_meetings();
        }
    }

    /// Ways may join those that met, and that were seen before that, with a line that is known only then.
    fn join_meetings(&mut self) {
        for edge in &self.flow.edges {
            let is_unknown =
                self.flow.is_reached(edge.from) && self.flow.last_line(edge.from).is_none();
            let tells = self.flow.tracing.tells(edge.from, edge.to).is_some();
            if !is_unknown || tells || self.meetings[edge.from].is_some() {
                continue;
            }
            if let Some(next) = self.meetings[edge.to] {
                let sight = Sight::FromRemembered(next);
                self.found.push((edge.look(), sight));
            }
        }
    }

    /// The line that a tool is told of next, or the exit, if nothing else can happen.
    fn what_follows(&mut self, start: usize) -> Option<i32> {
        let mut passed = vec![start];
        let mut number = start;
        let next = loop {
            if self.kinds[number] == Kind::Return {
                break self.flow.exit;
            }
            let next = self.flow.next[number]?;
            if let Some(line) = self.flow.tracing.tells(number, next) {
                break line as i32;
            }
            if passed.contains(&next) {
                return None;
            }
            passed.push(next);
            number = next;
        };
        for number in passed {
            self.settled[number] = true;
            self.meetings[number] = Some(next);
        }
        Some(next)
    }

    fn look_at(&mut self, number: usize, arriving: &[Edge], is_handler: bool) {
        let flow = self.flow;
        if self.kinds[number] == Kind::Return && flow.is_reached(number) {
            match flow.last_line(number) {
                Some(line) => {
                    let arc = (line, flow.exit);
                    self.found.push((Look::Return(number), Sight::Arc(arc)));
                }
                None if self.settled[number] => {}
                None => {
                    let sight = Sight::FromRemembered(flow.exit);
                    self.found.push((Look::Return(number), sight));
                }
            }
        }
        let mut told = Vec::new();
        let mut silent = is_handler;
        if let Some(line) = flow.tracing.tells_at_entry()
            && number == flow.tracing.entry()
        {
            let edge = Edge {
                from: number,
                to: number,
                way: Way::Fall,
            };
            told.push((edge, Sight::Arc((flow.exit, line as i32))));
        }
        for edge in arriving {
            let Some(line) = flow.tracing.tells(edge.from, number) else {
                silent = true;
                continue;
            };
            let sight = match flow.last_line(edge.from) {
                Some(last) => Sight::Arc((last, line as i32)),
                None if self.settled[edge.from] => {
                    silent = true;
                    continue;
                }
                None => Sight::FromRemembered(line as i32),
            };
            if flow.tracing.is_told_by_jump(edge.from, number) {
                silent = true;
                self.found.push((Look::Jump(edge.from), sight));
            } else {
                told.push((*edge, sight));
            }
        }
        if self.told_of_lines
            && told.is_empty()
            && let Some(line) = flow.tracing.repeats(number)
        {
            let arc = (line as i32, line as i32);
            self.found.push((Look::Line(number), Sight::Arc(arc)));
        }
        // Whether the interpreter tells of a line at the end of a loop depends on how it runs generators.
        let is_sure = self.kinds[number] != Kind::EndOfLoop && (self.told_of_lines || !silent);
        if let Some(&(_, sight @ Sight::Arc(_))) = told.first()
            && is_sure
            && told.iter().all(|(_, other)| *other == sight)
            && !(self.told_of_lines && self.comes_settled(number, arriving))
        {
            self.found.push((Look::Line(number), sight));
            return;
        }
        let looks = told.into_iter().map(|(edge, sight)| (edge.look(), sight));
        self.found.extend(looks);
    }

    /// Whether the interpreter may tell of a line here because of something that was seen earlier.
    fn comes_settled(&self, number: usize, arriving: &[Edge]) -> bool {
        arriving.iter().any(|edge| {
            self.settled[edge.from] && self.flow.tracing.tells(edge.from, number).is_some()
        })
    }
}

impl Edge {
    fn look(&self) -> Look {
        match self.way {
            Way::Fall => Look::Fall(self.to),
            Way::Jump => Look::Jump(self.from),
            Way::Branch => Look::Branch(self.from),
        }
    }
}

fn edges(dialect: &Dialect, code: &Instructions) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut add = |from: usize, to: usize, way: Way| {
        if to < code.len() {
            edges.push(Edge { from, to, way });
        }
    };
    for (number, instruction) in code.list.iter().enumerate() {
        let target = instruction.target.unwrap_or(usize::MAX);
        match dialect.kind(instruction.operation) {
            Kind::Jump(_) => add(number, target, Way::Jump),
            Kind::Branch(_) => {
                add(number, number + 1, Way::Fall);
                add(number, target, Way::Branch);
            }
            Kind::ForIter => {
                add(number, number + 1, Way::Fall);
                // It skips what ends the loop, and so seems to have come from there.
                add(number, target + loop_end(dialect), Way::Fall);
            }
            Kind::Send => {
                add(number, number + 1, Way::Fall);
                add(number, target, Way::Branch);
            }
            Kind::Return | Kind::Raise | Kind::Reraise => {}
            _ => add(number, number + 1, Way::Fall),
        }
    }
    edges
}

/// How many instructions end a `for` loop: `END_FOR`, since 3.13 also `POP_TOP`.
pub(crate) fn loop_end(dialect: &Dialect) -> usize {
    if dialect.minor >= 13 { 2 } else { 1 }
}

/// Whether a jump goes back.
pub(crate) fn is_backward(kind: Kind) -> bool {
    matches!(kind, Kind::Jump(Direction::Backward))
}
