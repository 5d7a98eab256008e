//! The arcs that follow from the steps of the interpreter.
//!
//! An arc is what a tracing tool records: the line reported last, and the next one. Whether the
//! interpreter reports a line depends only on two instructions, the previous and the current one
//! ([`TracingRules`]). So the control flow graph determines statically which arc each step makes.
//! At run time it only remains to find out which steps happen, each once. [`find_points`] chooses
//! the points to observe: as few as possible, because observation costs time.
//!
//! Exceptions may be raised anywhere and go to a handler. Their origin is known only at run time;
//! [`CodeFlow::after_exception`] determines the arcs.

use super::dialect::{Dialect, Direction, InstructionKind};
use super::instructions::Instructions;
use super::tracing::{LineLookup, TracingRules};

/// A step from one line to the next, as coverage.py counts: entry to and exit from a code object
/// are the negative of its first line.
pub type Arc = (i32, i32);

/// The way in which one instruction follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdgeKind {
    /// By being the next one.
    Fall,
    /// By an unconditional jump.
    Jump,
    /// By a conditional jump, which can be redirected.
    Branch,
}

/// A possible step from one instruction to another.
#[derive(Clone, Copy, Debug)]
struct FlowEdge {
    from: usize,
    to: usize,
    kind: EdgeKind,
}

/// A point at which an arc can be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObservationPoint {
    /// A line event at this instruction.
    Line(usize),
    /// The step to this instruction from the one before it.
    Fall(usize),
    /// The jump of this conditional instruction.
    Branch(usize),
    /// The execution of this instruction, which always jumps.
    Jump(usize),
    /// The execution of this instruction, which returns.
    Return(usize),
}

/// The lines that may have been reported last when an instruction runs, sorted.
type LastLines = Vec<i32>;

/// The control flow of one code object.
pub(crate) struct CodeFlow {
    pub(crate) tracing: TracingRules,
    edges: Vec<FlowEdge>,
    /// The possible last lines of each instruction.
    last_lines: Vec<LastLines>,
    /// The only possible next instruction, by instruction, if there is one and the instruction
    /// cannot branch.
    next: Vec<Option<usize>>,
    /// True for instructions that reraise an exception and restore its origin.
    restores_origin: Vec<bool>,
    /// The line number that stands for entry and exit in arcs.
    pub(crate) exit_line: i32,
}

/// The origin of an exception, as far as lines are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExceptionOrigin {
    /// The line reported last.
    pub(crate) last_line: i32,
    /// The instruction that the interpreter treats as the previous one.
    pub(crate) previous: usize,
}

impl CodeFlow {
    /// Analyzes a code object.
    pub(crate) fn new(dialect: &Dialect, code: &Instructions, first_line: u32) -> CodeFlow {
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
        let mut flow = CodeFlow {
            tracing: TracingRules::new(dialect, code),
            edges,
            last_lines: vec![LastLines::new(); code.len()],
            next: following.iter().map(only).collect(),
            restores_origin: code
                .list
                .iter()
                .map(|one| {
                    dialect.kind(one.operation) == InstructionKind::Reraise && one.argument != 0
                })
                .collect(),
            exit_line: exit,
        };
        flow.propagate_lines(code, &following);
        flow
    }

    /// Finds the possible last lines of every instruction, by propagation along all edges.
    fn propagate_lines(&mut self, code: &Instructions, following: &[Vec<usize>]) {
        let mut handlers: Vec<Option<usize>> = vec![None; code.len()];
        for entry in &code.exception_entries {
            for handler in &mut handlers[entry.start..entry.end] {
                *handler = Some(entry.handler);
            }
        }
        let entry = self.tracing.entry();
        if entry >= code.len() {
            return;
        }
        let reported = self.tracing.reported_at_entry().map(|line| line as i32);
        self.last_lines[entry].push(reported.unwrap_or(self.exit_line));
        let mut pending = vec![entry];
        while let Some(number) = pending.pop() {
            let mut lines = self.last_lines[number].clone();
            // A tool looks up the line of a generator that resumes.
            match self.tracing.line_lookup(number) {
                LineLookup::Always(line) => lines = vec![line as i32],
                LineLookup::Perhaps(line) if !lines.contains(&(line as i32)) => {
                    lines.push(line as i32);
                }
                LineLookup::Perhaps(_) | LineLookup::Never => {}
            }
            let continuing = following[number].iter().map(|next| {
                (
                    *next,
                    self.tracing.reported_line(number, *next),
                    lines.clone(),
                )
            });
            let failing = handlers[number].into_iter().map(|handler| {
                let reported = self.tracing.reported_at_handler(number, handler);
                (handler, reported, self.lines_thrown_from(number, &lines))
            });
            let steps: Vec<(usize, Option<u32>, LastLines)> = continuing.chain(failing).collect();
            for (next, reported, lines) in steps {
                let reported = reported.map(|line| vec![line as i32]);
                let mut changed = false;
                for &line in reported.as_ref().unwrap_or(&lines) {
                    let known = &mut self.last_lines[next];
                    if let Err(position) = known.binary_search(&line) {
                        known.insert(position, line);
                        changed = true;
                    }
                }
                if changed {
                    pending.push(next);
                }
            }
        }
    }

    /// Returns the line reported last when this instruction runs, if it is the same on all paths.
    pub(crate) fn last_line(&self, number: usize) -> Option<i32> {
        match self.last_lines[number][..] {
            // An exception may be thrown into a generator that has not started.
            [] if number <= self.tracing.entry() => Some(self.exit_line),
            [line] => Some(line),
            _ => None,
        }
    }

    /// Returns the lines that may have been reported last when this instruction raises an
    /// exception.
    fn lines_thrown_from(&self, number: usize, lines: &LastLines) -> LastLines {
        if self.tracing.forgets_line_at(number) {
            vec![self.exit_line]
        } else {
            lines.clone()
        }
    }

    /// Returns the line reported last when this instruction raises an exception, if it is the same
    /// on all paths.
    pub(crate) fn line_thrown_from(&self, number: usize) -> Option<i32> {
        if self.tracing.forgets_line_at(number) {
            Some(self.exit_line)
        } else {
            self.last_line(number)
        }
    }

    /// Follows an exception into its handler, up to the first line reported. Returns the arc that
    /// it makes, or `None` if the arc follows without the exception.
    pub(crate) fn after_exception(&self, origin: ExceptionOrigin, handler: usize) -> Option<Arc> {
        let (mut previous, mut number) = (origin.previous, handler);
        // Handlers without lines are a few instructions long; the limit guards against unknown
        // code.
        for _ in 0..50 {
            if let Some(line) = self.tracing.reported_line(previous, number) {
                return Some((origin.last_line, line as i32));
            }
            if self.last_line(number).is_some() {
                // From here on the arcs do not depend on the exception.
                return None;
            }
            (previous, number) = (number, self.next[number]?);
        }
        None
    }

    /// Returns the arc that an exception makes on arrival at its handler, if it makes one at once.
    pub(crate) fn at_handler(&self, origin: ExceptionOrigin, handler: usize) -> Option<Arc> {
        let line = self.tracing.reported_at_handler(origin.previous, handler)?;
        Some((origin.last_line, line as i32))
    }

    /// Returns true if an instruction reraises an exception and restores its origin.
    pub(crate) fn restores_origin(&self, number: usize) -> bool {
        self.restores_origin[number]
    }

    /// Returns true if an instruction is reachable.
    fn is_reached(&self, number: usize) -> bool {
        !self.last_lines[number].is_empty()
    }
}

/// The effect of reaching an observation point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArcEffect {
    /// An arc is made.
    Arc(Arc),
    /// The last line becomes this one, which later instructions cannot know. Observed each time.
    Remember(i32),
    /// An arc is made from the remembered last line to this one. Observed each time.
    FromRemembered(i32),
}

/// Finds the points to observe, and the effect of each.
///
/// `gets_line_events`: true if line events follow the rules of the interpreter, as with monitoring.
/// With probes, an [`ObservationPoint::Line`] is reached on every path to the instruction.
pub(crate) fn find_points(
    flow: &CodeFlow,
    dialect: &Dialect,
    code: &Instructions,
    gets_line_events: bool,
) -> Vec<(ObservationPoint, ArcEffect)> {
    let mut search = PointSearch {
        flow,
        kinds: code
            .list
            .iter()
            .map(|one| dialect.kind(one.operation))
            .collect(),
        gets_line_events,
        resolved_earlier: vec![false; code.len()],
        join_lines: vec![None; code.len()],
        found: Vec::new(),
    };
    if gets_line_events {
        search.resolve_handlers(code);
    }
    search.resolve_joins();
    let mut arriving: Vec<Vec<FlowEdge>> = vec![Vec::new(); code.len()];
    for edge in flow.edges.iter().filter(|edge| flow.is_reached(edge.from)) {
        arriving[edge.to].push(*edge);
    }
    let mut is_handler = vec![false; code.len()];
    for entry in &code.exception_entries {
        is_handler[entry.handler] = true;
    }
    for number in 0..code.len() {
        search.add_points(number, &arriving[number], is_handler[number]);
    }
    search.found
}

/// The state of the search for observation points.
struct PointSearch<'a> {
    flow: &'a CodeFlow,
    kinds: Vec<InstructionKind>,
    gets_line_events: bool,
    /// True for instructions whose last line depends on the path, but whose arcs are observed
    /// earlier.
    resolved_earlier: Vec<bool>,
    /// The next line of instructions where paths from different lines join, if the arcs are
    /// observed earlier.
    join_lines: Vec<Option<i32>>,
    found: Vec<(ObservationPoint, ArcEffect)>,
}

impl PointSearch<'_> {
    /// Excludes the starts of handlers, whose arcs are recorded when the exception arrives:
    /// [`CodeFlow::after_exception`].
    ///
    /// Probes do without this: they remember the last line when the exception arrives.
    fn resolve_handlers(&mut self, code: &Instructions) {
        for entry in &code.exception_entries {
            let mut position = Some(entry.handler);
            while let Some(number) = position.filter(|number| !self.resolved_earlier[*number]) {
                if self.flow.last_line(number).is_some() {
                    break;
                }
                self.resolved_earlier[number] = true;
                let next = self.flow.next[number];
                position =
                    next.filter(|next| self.flow.tracing.reported_line(number, *next).is_none());
            }
        }
    }

    /// Observes arcs before paths from different lines join at an instruction without a line.
    fn resolve_joins(&mut self) {
        for edge in &self.flow.edges {
            let reports_line = self
                .flow
                .tracing
                .reported_line(edge.from, edge.to)
                .is_some();
            if reports_line || self.flow.last_lines[edge.to].len() < 2 {
                continue;
            }
            let Some(last) = self.flow.last_line(edge.from) else {
                continue;
            };
            let effect = match self.next_line(edge.to) {
                Some(next) => ArcEffect::Arc((last, next)),
                None => ArcEffect::Remember(last),
            };
            self.found.push((edge.point(), effect));
        }
        if !self.gets_line_events {
            self.resolve_late_joins();
        }
    }

    /// Observes paths that enter a join with a last line that is known only at run time.
    fn resolve_late_joins(&mut self) {
        for edge in &self.flow.edges {
            let is_unknown =
                self.flow.is_reached(edge.from) && self.flow.last_line(edge.from).is_none();
            let reports_line = self
                .flow
                .tracing
                .reported_line(edge.from, edge.to)
                .is_some();
            if !is_unknown || reports_line || self.join_lines[edge.from].is_some() {
                continue;
            }
            if let Some(next) = self.join_lines[edge.to] {
                let effect = ArcEffect::FromRemembered(next);
                self.found.push((edge.point(), effect));
            }
        }
    }

    /// Returns the line reported next, or the exit, if there is only one possibility.
    fn next_line(&mut self, start: usize) -> Option<i32> {
        let mut passed = vec![start];
        let mut number = start;
        let next = loop {
            if self.kinds[number] == InstructionKind::Return {
                break self.flow.exit_line;
            }
            let next = self.flow.next[number]?;
            if let Some(line) = self.flow.tracing.reported_line(number, next) {
                break line as i32;
            }
            if passed.contains(&next) {
                return None;
            }
            passed.push(next);
            number = next;
        };
        for number in passed {
            self.resolved_earlier[number] = true;
            self.join_lines[number] = Some(next);
        }
        Some(next)
    }

    /// Adds the observation points of an instruction.
    fn add_points(&mut self, number: usize, arriving: &[FlowEdge], is_handler: bool) {
        let flow = self.flow;
        if self.kinds[number] == InstructionKind::Return && flow.is_reached(number) {
            match flow.last_line(number) {
                Some(line) => {
                    let arc = (line, flow.exit_line);
                    self.found
                        .push((ObservationPoint::Return(number), ArcEffect::Arc(arc)));
                }
                None if self.resolved_earlier[number] => {}
                None => {
                    let effect = ArcEffect::FromRemembered(flow.exit_line);
                    self.found.push((ObservationPoint::Return(number), effect));
                }
            }
        }
        let mut reported = Vec::new();
        let mut is_silent = is_handler;
        if let Some(line) = flow.tracing.reported_at_entry()
            && number == flow.tracing.entry()
        {
            let edge = FlowEdge {
                from: number,
                to: number,
                kind: EdgeKind::Fall,
            };
            reported.push((edge, ArcEffect::Arc((flow.exit_line, line as i32))));
        }
        for edge in arriving {
            let Some(line) = flow.tracing.reported_line(edge.from, number) else {
                is_silent = true;
                continue;
            };
            let effect = match flow.last_line(edge.from) {
                Some(last) => ArcEffect::Arc((last, line as i32)),
                None if self.resolved_earlier[edge.from] => {
                    is_silent = true;
                    continue;
                }
                None => ArcEffect::FromRemembered(line as i32),
            };
            if flow.tracing.is_reported_by_jump(edge.from, number) {
                is_silent = true;
                self.found.push((ObservationPoint::Jump(edge.from), effect));
            } else {
                reported.push((*edge, effect));
            }
        }
        if self.gets_line_events
            && reported.is_empty()
            && let Some(line) = flow.tracing.repeated_line(number)
        {
            let arc = (line as i32, line as i32);
            self.found
                .push((ObservationPoint::Line(number), ArcEffect::Arc(arc)));
        }
        // Line events at the end of a loop depend on the way the interpreter runs generators.
        let is_sure = self.kinds[number] != InstructionKind::EndOfLoop
            && (self.gets_line_events || !is_silent);
        if let Some(&(_, effect @ ArcEffect::Arc(_))) = reported.first()
            && is_sure
            && reported.iter().all(|(_, other)| *other == effect)
            && !(self.gets_line_events && self.follows_resolved(number, arriving))
        {
            self.found.push((ObservationPoint::Line(number), effect));
            return;
        }
        let points = reported
            .into_iter()
            .map(|(edge, effect)| (edge.point(), effect));
        self.found.extend(points);
    }

    /// Returns true if a line event here may belong to an arc that was observed earlier.
    fn follows_resolved(&self, number: usize, arriving: &[FlowEdge]) -> bool {
        arriving.iter().any(|edge| {
            self.resolved_earlier[edge.from]
                && self.flow.tracing.reported_line(edge.from, number).is_some()
        })
    }
}

impl FlowEdge {
    /// Returns the point at which the step can be observed.
    fn point(&self) -> ObservationPoint {
        match self.kind {
            EdgeKind::Fall => ObservationPoint::Fall(self.to),
            EdgeKind::Jump => ObservationPoint::Jump(self.from),
            EdgeKind::Branch => ObservationPoint::Branch(self.from),
        }
    }
}

/// Returns all steps between instructions, without exceptions.
fn edges(dialect: &Dialect, code: &Instructions) -> Vec<FlowEdge> {
    let mut edges = Vec::new();
    let mut add = |from: usize, to: usize, kind: EdgeKind| {
        if to < code.len() {
            edges.push(FlowEdge { from, to, kind });
        }
    };
    for (number, instruction) in code.list.iter().enumerate() {
        let target = instruction.target.unwrap_or(usize::MAX);
        match dialect.kind(instruction.operation) {
            InstructionKind::Jump(_) => add(number, target, EdgeKind::Jump),
            InstructionKind::Branch(_) => {
                add(number, number + 1, EdgeKind::Fall);
                add(number, target, EdgeKind::Branch);
            }
            InstructionKind::ForIter => {
                add(number, number + 1, EdgeKind::Fall);
                // The interpreter skips the end of the loop, and the step counts as coming from
                // there.
                add(number, target + loop_end(dialect), EdgeKind::Fall);
            }
            InstructionKind::Send => {
                add(number, number + 1, EdgeKind::Fall);
                add(number, target, EdgeKind::Branch);
            }
            InstructionKind::Return | InstructionKind::Raise | InstructionKind::Reraise => {}
            _ => add(number, number + 1, EdgeKind::Fall),
        }
    }
    edges
}

/// Returns the number of instructions that end a `for` loop: `END_FOR`, and since 3.13 `POP_TOP`.
pub(crate) fn loop_end(dialect: &Dialect) -> usize {
    if dialect.minor >= 13 { 2 } else { 1 }
}

/// Returns true for jumps that go back.
pub(crate) fn is_backward(kind: InstructionKind) -> bool {
    matches!(kind, InstructionKind::Jump(Direction::Backward))
}
