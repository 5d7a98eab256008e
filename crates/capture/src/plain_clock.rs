//! Recordings as if another clock had been there: the same one for all.
//!
//! What a clock said when a program was recorded is of no interest to those who read its tests, and differs in each
//! recording. So every answer of a clock is replaced by one that begins on 3 February 2001 at 04:05:06.789 and has no
//! more than thousandths of seconds, and so is everything that is recognised to come from such an answer: the same number or
//! date elsewhere, whole seconds before and after it, another time of its day, what passed between two answers, and the
//! usual ways to write a date in texts. Where that is too little, the test fails when it is tried, and is written with
//! less in it.

mod calendar;

use std::collections::BTreeMap;

use calendar::Moment;

use crate::graph::{Graph, Node};
use crate::recording::{Answer, Call, External, FileState, Recording, Source};
use crate::value::{Float, NodeId, Value};

/// When the other clock begins. Not with a whole second: that is written in other ways than the rest.
const BEGINNING: Moment = Moment {
    microseconds: 981_173_106_789_000,
};
/// What counters of seconds begin with: they say nothing by themselves.
const COUNTER: f64 = 100.0;
/// No more differences than this are looked for in one call.
const MOST_ANSWERS: usize = 20;

/// What was said, and what is said instead.
#[derive(Default)]
struct Told {
    /// By the bits of a number.
    floats: BTreeMap<u64, f64>,
    integers: BTreeMap<i64, i64>,
    /// Points in time, as calendars tell them.
    moments: BTreeMap<Moment, Moment>,
    /// Those that clocks told, by their microseconds within a second. Who adds minutes or days to an answer leaves these as
    /// they are, and nothing else has them, except by chance.
    by_fraction: BTreeMap<i64, Vec<Moment>>,
    /// The same for texts, the longest first.
    texts: Vec<(String, String)>,
}

/// The same recording by a plain clock.
#[must_use]
pub fn by_plain_clock(mut recording: Recording) -> Recording {
    let executions = recording.executions.len();
    for execution in 0..executions {
        let number = u32::try_from(execution).unwrap_or(u32::MAX);
        let mut told = Told::default();
        let mut beginnings = BTreeMap::new();
        let mut calls: Vec<&mut Call> = (recording.calls.iter_mut())
            .filter(|call| call.execution == number)
            .collect();
        for call in &calls {
            for (function, answer) in answers(call) {
                told.learn(function, &call.values, answer, &mut beginnings);
            }
        }
        if told.floats.is_empty() && told.moments.is_empty() && told.integers.is_empty() {
            continue;
        }
        told.learn_texts();
        for call in &mut calls {
            told.rewrite(call);
        }
    }
    recording
}

/// What clocks answered in a call.
fn answers(call: &Call) -> impl Iterator<Item = (&str, NodeId)> {
    call.events
        .iter()
        .filter_map(|event| match &event.external {
            External::Called {
                source: Source::Clock,
                function,
                answer: Answer::Returned(node),
                ..
            } if function != "time.sleep" => Some((function.as_str(), *node)),
            _ => None,
        })
}

/// A number without what is smaller than a thousandth.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}

impl Told {
    /// Takes note of an answer. `beginnings` are the first answers of each clock.
    fn learn<'c>(
        &mut self,
        function: &'c str,
        graph: &Graph,
        answer: NodeId,
        beginnings: &mut BTreeMap<&'c str, f64>,
    ) {
        let is_wall = function.starts_with("time.time") || function.starts_with("datetime");
        let clock = if is_wall { "wall" } else { function };
        let start = if is_wall {
            BEGINNING.seconds()
        } else {
            COUNTER
        };
        match graph.value(answer) {
            Value::Float(said) => {
                let first = *beginnings.entry(clock).or_insert(said.0);
                let instead = rounded(start + said.0 - first);
                self.floats.insert(said.0.to_bits(), instead);
                if is_wall {
                    self.learn_moment(said.0, instead);
                }
            }
            Value::Integer(said) if function.ends_with("_ns") => {
                #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
                let seconds = *said as f64 / 1e9;
                let first = *beginnings.entry(clock).or_insert(seconds);
                let instead = rounded(start + seconds - first);
                #[expect(clippy::cast_possible_truncation, reason = "far below the limit")]
                let instead = (instead * 1e3).round() as i64 * 1_000_000;
                self.integers.insert(*said, instead);
            }
            value => {
                let Some(said) = moment(graph, value) else {
                    return;
                };
                let is_date = !is_datetime(value);
                let seconds = said.seconds();
                let first = if is_date {
                    *beginnings.entry("date").or_insert(seconds)
                } else {
                    // The local time may be hours away from that of `time.time`.
                    *beginnings.entry(function).or_insert(seconds)
                };
                let start = if is_date { BEGINNING.day() } else { BEGINNING };
                let instead = start.later(rounded(seconds - first));
                self.moments.insert(said, instead);
                self.moments.insert(said.day(), instead.day());
                self.by_fraction
                    .entry(said.fraction())
                    .or_default()
                    .push(said);
            }
        }
    }

    /// A number of seconds as calendars tell it, if anybody asks them.
    fn learn_moment(&mut self, said: f64, instead: f64) {
        let (said, instead) = (Moment::of_seconds(said), Moment::of_seconds(instead));
        self.moments.entry(said).or_insert(instead);
        self.moments.entry(said.day()).or_insert(instead.day());
        self.by_fraction
            .entry(said.fraction())
            .or_default()
            .push(said);
        #[expect(clippy::cast_possible_truncation, reason = "far below the limit")]
        self.integers
            .entry(said.seconds() as i64)
            .or_insert(instead.seconds() as i64);
    }

    fn learn_texts(&mut self) {
        let mut texts = BTreeMap::new();
        for (said, instead) in &self.moments {
            for (before, after) in said.texts().into_iter().zip(instead.texts()) {
                texts.entry(before).or_insert(after);
            }
        }
        for (bits, instead) in &self.floats {
            let said = f64::from_bits(*bits);
            if said > 1e6 {
                texts.insert(said.to_string(), format!("{instead:?}"));
            }
        }
        self.texts = texts.into_iter().collect();
        self.texts
            .sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    }

    fn rewrite(&self, call: &mut Call) {
        let passed = self.passed(call);
        let nodes = u32::try_from(call.values.len()).unwrap_or(u32::MAX);
        for number in 0..nodes {
            let node = NodeId(number);
            let object = call.values.object(node);
            let value = call.values.value(node).clone();
            if let Some(value) = self.instead(&mut call.values, value, &passed) {
                call.values.set(node, Node { value, object });
            }
        }
        for event in &mut call.events {
            match &mut event.external {
                External::Output { text, .. } => {
                    if let Some(instead) = self.text(text) {
                        *text = instead;
                    }
                }
                External::Logged {
                    message: Some(message),
                    ..
                } => {
                    if let Some(instead) = self.text(message) {
                        *message = instead;
                    }
                }
                External::File {
                    path,
                    before,
                    after,
                } => {
                    if let Some(instead) = self.text(path) {
                        *path = instead;
                    }
                    self.file(before);
                    self.file(after);
                }
                _ => {}
            }
        }
    }

    /// What passed between the answers of one call, and what would have.
    fn passed(&self, call: &Call) -> BTreeMap<u64, f64> {
        let said: Vec<f64> = answers(call)
            .filter_map(|(_, node)| match call.values.value(node) {
                Value::Float(number) => Some(number.0),
                _ => None,
            })
            .take(MOST_ANSWERS)
            .collect();
        let mut passed = BTreeMap::new();
        for (place, first) in said.iter().enumerate() {
            for second in said.iter().skip(place + 1) {
                let instead = |number: &f64| self.floats.get(&number.to_bits());
                if let (Some(one), Some(other)) = (instead(first), instead(second)) {
                    passed.insert((second - first).to_bits(), other - one);
                }
            }
        }
        passed
    }

    fn instead(
        &self,
        graph: &mut Graph,
        value: Value,
        passed: &BTreeMap<u64, f64>,
    ) -> Option<Value> {
        match value {
            Value::Float(number) => {
                let bits = number.0.to_bits();
                let known = self.floats.get(&bits).or_else(|| passed.get(&bits));
                known.map(|instead| Value::Float(Float(*instead)))
            }
            // Small numbers are everywhere.
            Value::Integer(number) if number > 1_000_000 => {
                self.integers.get(&number).copied().map(Value::Integer)
            }
            Value::Text(text) => self.text(&text).map(Value::Text),
            Value::Bytes(bytes) => {
                let text = String::from_utf8(bytes).ok()?;
                self.text(&text).map(|text| Value::Bytes(text.into_bytes()))
            }
            Value::Made {
                ref callee,
                ref arguments,
                ref keywords,
            } => {
                let said = moment(graph, &value)?;
                let instead = self.moment(said)?;
                let parts = instead.parts();
                let arguments = (arguments.iter().zip(parts))
                    .map(|(_, part)| graph.add(Node::plain(Value::Integer(part))))
                    .collect();
                Some(Value::Made {
                    callee: callee.clone(),
                    arguments,
                    keywords: keywords.clone(),
                })
            }
            _ => None,
        }
    }

    /// A point in time by the other clock: one that was told, or one that is whole seconds away from it.
    fn moment(&self, said: Moment) -> Option<Moment> {
        if let Some(instead) = self.moments.get(&said) {
            return Some(*instead);
        }
        let fraction = said.fraction();
        // A whole second says nothing about where it comes from, except on a day that a clock told: `10:30` today.
        if fraction == 0 {
            let passed = said.microseconds - said.day().microseconds;
            let day = self.moments.get(&said.day())?;
            return Some(day.day().later_by(passed));
        }
        let told = self.by_fraction.get(&fraction)?;
        let distance = |told: &Moment| said.microseconds.abs_diff(told.microseconds);
        let nearest = told.iter().min_by_key(|told| distance(told))?;
        let passed = said.microseconds - nearest.microseconds;
        Some(self.moments.get(nearest)?.later_by(passed))
    }

    /// A text with other dates in it; nothing if there are none.
    fn text(&self, text: &str) -> Option<String> {
        let mut result = text.to_owned();
        for (said, instead) in &self.texts {
            if result.contains(said.as_str()) {
                result = result.replace(said.as_str(), instead);
            }
        }
        (result != text).then_some(result)
    }

    fn file(&self, state: &mut FileState) {
        if let FileState::File(content) = state
            && let Ok(text) = std::str::from_utf8(content)
            && let Some(instead) = self.text(text)
        {
            *content = instead.into_bytes();
        }
    }
}

fn is_datetime(value: &Value) -> bool {
    matches!(value, Value::Made { callee, .. } if callee.path == "datetime")
}

/// The point in time that a `datetime` or `date` is.
fn moment(graph: &Graph, value: &Value) -> Option<Moment> {
    let Value::Made {
        callee, arguments, ..
    } = value
    else {
        return None;
    };
    if callee.module != "datetime" || !matches!(callee.path.as_str(), "datetime" | "date") {
        return None;
    }
    let parts: Option<Vec<i64>> = arguments
        .iter()
        .map(|node| match graph.value(*node) {
            Value::Integer(part) => Some(*part),
            _ => None,
        })
        .collect();
    Moment::of_parts(&parts?)
}

#[cfg(test)]
mod tests;
