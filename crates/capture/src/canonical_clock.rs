//! Replaces recorded times by those of a canonical clock, which is the same for all recordings.
//!
//! The times in a recording mean nothing to readers of its tests, and differ in each recording. So
//! every reply of a clock is replaced by one that begins on 3 February 2001 at 04:05:06.789 and has
//! a resolution of milliseconds. Values that come from such a reply are replaced as well: the same
//! number or date elsewhere, times a whole number of seconds away, another time on the same day,
//! differences between two replies, and the usual formats of dates in texts. Where this is not
//! enough, the test fails in validation, and is written in a weaker form.

mod calendar;

use std::collections::BTreeMap;

use calendar::TimePoint;

use crate::graph::{ValueGraph, ValueNode};
use crate::recording::{Call, ExternalReply, ExternalSource, FileState, Interaction, Recording};
use crate::value::{ExactFloat, NodeId, Value};

/// The start of the canonical clock. It is no whole second, because those are formatted
/// differently.
const CANONICAL_START: TimePoint = TimePoint {
    microseconds: 981_173_106_789_000,
};
/// The start of counters such as `time.monotonic`, which have no meaning by themselves.
const COUNTER: f64 = 100.0;
/// The maximum number of replies in one call whose differences are replaced.
const MAX_REPLIES: usize = 20;

/// The recorded times of one execution, with their replacements.
#[derive(Default)]
struct ClockMapping {
    /// Floats, by their bits.
    floats: BTreeMap<u64, f64>,
    /// Integers: nanoseconds, and whole seconds.
    integers: BTreeMap<i64, i64>,
    /// Points in time.
    time_points: BTreeMap<TimePoint, TimePoint>,
    /// The times that clocks replied, by their microseconds within a second. Adding minutes or days
    /// to a reply keeps these, and other times have them only by chance.
    by_fraction: BTreeMap<i64, Vec<TimePoint>>,
    /// Formatted times, the longest first.
    texts: Vec<(String, String)>,
}

/// Replaces all recorded times of a recording.
#[must_use]
pub fn with_canonical_clock(mut recording: Recording) -> Recording {
    let executions = recording.executions.len();
    for execution in 0..executions {
        let number = u32::try_from(execution).unwrap_or(u32::MAX);
        let mut mapping = ClockMapping::default();
        let mut beginnings = BTreeMap::new();
        let mut calls: Vec<&mut Call> = (recording.calls.iter_mut())
            .filter(|call| call.execution == number)
            .collect();
        for call in &calls {
            for (function, answer) in clock_replies(call) {
                mapping.learn_reply(function, &call.values, answer, &mut beginnings);
            }
        }
        if mapping.floats.is_empty()
            && mapping.time_points.is_empty()
            && mapping.integers.is_empty()
        {
            continue;
        }
        mapping.learn_texts();
        for call in &mut calls {
            mapping.replace_in_call(call);
        }
    }
    recording
}

/// Returns the replies of clocks in a call, with the functions.
fn clock_replies(call: &Call) -> impl Iterator<Item = (&str, NodeId)> {
    call.events
        .iter()
        .filter_map(|event| match &event.external {
            Interaction::Called {
                source: ExternalSource::Clock,
                function,
                answer: ExternalReply::Returned(node),
                ..
            } if function != "time.sleep" => Some((function.as_str(), *node)),
            _ => None,
        })
}

/// Rounds to milliseconds.
fn round_to_milliseconds(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}

impl ClockMapping {
    /// Learns the replacement of a reply. `beginnings` are the first replies of each clock.
    fn learn_reply<'c>(
        &mut self,
        function: &'c str,
        graph: &ValueGraph,
        answer: NodeId,
        beginnings: &mut BTreeMap<&'c str, f64>,
    ) {
        let is_wall = function.starts_with("time.time") || function.starts_with("datetime");
        let clock = if is_wall { "wall" } else { function };
        let start = if is_wall {
            CANONICAL_START.seconds()
        } else {
            COUNTER
        };
        match graph.value(answer) {
            Value::Float(recorded) => {
                let first = *beginnings.entry(clock).or_insert(recorded.0);
                let replacement = round_to_milliseconds(start + recorded.0 - first);
                self.floats.insert(recorded.0.to_bits(), replacement);
                if is_wall {
                    self.learn_time_point(recorded.0, replacement);
                }
            }
            Value::Integer(recorded) if function.ends_with("_ns") => {
                #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
                let seconds = *recorded as f64 / 1e9;
                let first = *beginnings.entry(clock).or_insert(seconds);
                let replacement = round_to_milliseconds(start + seconds - first);
                #[expect(clippy::cast_possible_truncation, reason = "far below the limit")]
                let replacement = (replacement * 1e3).round() as i64 * 1_000_000;
                self.integers.insert(*recorded, replacement);
            }
            value => {
                let Some(recorded) = time_point(graph, value) else {
                    return;
                };
                let is_date = !is_datetime(value);
                let seconds = recorded.seconds();
                let first = if is_date {
                    *beginnings.entry("date").or_insert(seconds)
                } else {
                    // Local time may be hours away from that of `time.time`.
                    *beginnings.entry(function).or_insert(seconds)
                };
                let start = if is_date {
                    CANONICAL_START.start_of_day()
                } else {
                    CANONICAL_START
                };
                let replacement = start.add_seconds(round_to_milliseconds(seconds - first));
                self.time_points.insert(recorded, replacement);
                self.time_points
                    .insert(recorded.start_of_day(), replacement.start_of_day());
                self.by_fraction
                    .entry(recorded.fraction())
                    .or_default()
                    .push(recorded);
            }
        }
    }

    /// Learns the replacement of a number of seconds, as a point in time.
    fn learn_time_point(&mut self, recorded: f64, replacement: f64) {
        let (recorded, replacement) = (
            TimePoint::from_seconds(recorded),
            TimePoint::from_seconds(replacement),
        );
        self.time_points.entry(recorded).or_insert(replacement);
        self.time_points
            .entry(recorded.start_of_day())
            .or_insert(replacement.start_of_day());
        self.by_fraction
            .entry(recorded.fraction())
            .or_default()
            .push(recorded);
        #[expect(clippy::cast_possible_truncation, reason = "far below the limit")]
        self.integers
            .entry(recorded.seconds() as i64)
            .or_insert(replacement.seconds() as i64);
    }

    /// Learns the replacements of formatted times.
    fn learn_texts(&mut self) {
        let mut texts = BTreeMap::new();
        for (recorded, replacement) in &self.time_points {
            for (before, after) in recorded
                .usual_formats()
                .into_iter()
                .zip(replacement.usual_formats())
            {
                texts.entry(before).or_insert(after);
            }
        }
        for (bits, replacement) in &self.floats {
            let recorded = f64::from_bits(*bits);
            if recorded > 1e6 {
                texts.insert(recorded.to_string(), format!("{replacement:?}"));
            }
        }
        self.texts = texts.into_iter().collect();
        self.texts
            .sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    }

    /// Replaces all times in a call: values, output, log messages and files.
    fn replace_in_call(&self, call: &mut Call) {
        let elapsed = self.elapsed_replacements(call);
        let nodes = u32::try_from(call.values.len()).unwrap_or(u32::MAX);
        for number in 0..nodes {
            let node = NodeId(number);
            let object = call.values.object(node);
            let value = call.values.value(node).clone();
            if let Some(value) = self.replace_value(&mut call.values, value, &elapsed) {
                call.values.set(node, ValueNode { value, object });
            }
        }
        for event in &mut call.events {
            match &mut event.external {
                Interaction::Output { text, .. } => {
                    if let Some(replacement) = self.replace_in_text(text) {
                        *text = replacement;
                    }
                }
                Interaction::Logged {
                    message: Some(message),
                    ..
                } => {
                    if let Some(replacement) = self.replace_in_text(message) {
                        *message = replacement;
                    }
                }
                Interaction::File {
                    path,
                    before,
                    after,
                } => {
                    if let Some(replacement) = self.replace_in_text(path) {
                        *path = replacement;
                    }
                    self.replace_in_file(before);
                    self.replace_in_file(after);
                }
                _ => {}
            }
        }
    }

    /// Returns the differences between the replies of one call, with their replacements.
    fn elapsed_replacements(&self, call: &Call) -> BTreeMap<u64, f64> {
        let recorded: Vec<f64> = clock_replies(call)
            .filter_map(|(_, node)| match call.values.value(node) {
                Value::Float(number) => Some(number.0),
                _ => None,
            })
            .take(MAX_REPLIES)
            .collect();
        let mut elapsed = BTreeMap::new();
        for (index, first) in recorded.iter().enumerate() {
            for second in recorded.iter().skip(index + 1) {
                let replacement = |number: &f64| self.floats.get(&number.to_bits());
                if let (Some(one), Some(other)) = (replacement(first), replacement(second)) {
                    elapsed.insert((second - first).to_bits(), other - one);
                }
            }
        }
        elapsed
    }

    /// Returns the replacement of a value, if it comes from a clock.
    fn replace_value(
        &self,
        graph: &mut ValueGraph,
        value: Value,
        elapsed: &BTreeMap<u64, f64>,
    ) -> Option<Value> {
        match value {
            Value::Float(number) => {
                let bits = number.0.to_bits();
                let known = self.floats.get(&bits).or_else(|| elapsed.get(&bits));
                known.map(|replacement| Value::Float(ExactFloat(*replacement)))
            }
            // Small numbers are too common to be recognized.
            Value::Integer(number) if number > 1_000_000 => {
                self.integers.get(&number).copied().map(Value::Integer)
            }
            Value::Text(text) => self.replace_in_text(&text).map(Value::Text),
            Value::Bytes(bytes) => {
                let text = String::from_utf8(bytes).ok()?;
                self.replace_in_text(&text)
                    .map(|text| Value::Bytes(text.into_bytes()))
            }
            Value::Constructed {
                ref callee,
                ref arguments,
                ref keywords,
            } => {
                let recorded = time_point(graph, &value)?;
                let replacement = self.replace_time_point(recorded)?;
                let parts = replacement.parts();
                let arguments = (arguments.iter().zip(parts))
                    .map(|(_, part)| graph.add(ValueNode::plain(Value::Integer(part))))
                    .collect();
                Some(Value::Constructed {
                    callee: callee.clone(),
                    arguments,
                    keywords: keywords.clone(),
                })
            }
            _ => None,
        }
    }

    /// Returns the replacement of a point in time: a reply, or a time that is whole seconds away
    /// from one.
    fn replace_time_point(&self, recorded: TimePoint) -> Option<TimePoint> {
        if let Some(replacement) = self.time_points.get(&recorded) {
            return Some(*replacement);
        }
        let fraction = recorded.fraction();
        // A whole second has no recognizable origin, except on a day that a clock replied: `10:30`
        // today.
        if fraction == 0 {
            let elapsed = recorded.microseconds - recorded.start_of_day().microseconds;
            let day = self.time_points.get(&recorded.start_of_day())?;
            return Some(day.start_of_day().add_microseconds(elapsed));
        }
        let candidates = self.by_fraction.get(&fraction)?;
        let distance = |reply: &TimePoint| recorded.microseconds.abs_diff(reply.microseconds);
        let nearest = candidates.iter().min_by_key(|reply| distance(reply))?;
        let elapsed = recorded.microseconds - nearest.microseconds;
        Some(self.time_points.get(nearest)?.add_microseconds(elapsed))
    }

    /// Replaces the times in a text; `None` if there are none.
    fn replace_in_text(&self, text: &str) -> Option<String> {
        let mut result = text.to_owned();
        for (recorded, replacement) in &self.texts {
            if result.contains(recorded.as_str()) {
                result = result.replace(recorded.as_str(), replacement);
            }
        }
        (result != text).then_some(result)
    }

    /// Replaces the times in a file.
    fn replace_in_file(&self, state: &mut FileState) {
        if let FileState::File(content) = state
            && let Ok(text) = std::str::from_utf8(content)
            && let Some(replacement) = self.replace_in_text(text)
        {
            *content = replacement.into_bytes();
        }
    }
}

/// Returns true if a value is a `datetime`, not a `date`.
fn is_datetime(value: &Value) -> bool {
    matches!(value, Value::Constructed { callee, .. } if callee.path == "datetime")
}

/// Returns the point in time of a `datetime` or `date`.
fn time_point(graph: &ValueGraph, value: &Value) -> Option<TimePoint> {
    let Value::Constructed {
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
    TimePoint::from_parts(&parts?)
}

#[cfg(test)]
mod tests;
