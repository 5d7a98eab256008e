use super::*;
use crate::recording::{CallOutcome, ProgramRun};
use crate::toys::CallBuilder;
use crate::value::ImportPath;

fn asked(function: &str, answer: NodeId) -> Interaction {
    Interaction::Called {
        source: ExternalSource::Clock,
        function: function.to_owned(),
        arguments: Vec::new(),
        keywords: Vec::new(),
        answer: ExternalReply::Returned(answer),
    }
}

fn recording(made: CallBuilder) -> Recording {
    let execution = ProgramRun {
        command: Vec::new(),
        python: String::new(),
        folder: String::new(),
        path: Vec::new(),
        is_complete: true,
        problems: Vec::new(),
    };
    Recording {
        executions: vec![execution],
        units: vec![made.unit],
        calls: vec![made.call],
    }
}

#[test]
fn replies_and_their_differences_are_replaced() {
    let mut made = CallBuilder::new("measured");
    let (first, second) = (1_794_881_313.184_811, 1_794_881_313.684_911);
    let one = made.plain(Value::Float(ExactFloat(first)));
    let other = made.plain(Value::Float(ExactFloat(second)));
    let result = made.plain(Value::Float(ExactFloat(second - first)));
    let made = made
        .returns(result)
        .event(asked("time.time", one))
        .event(asked("time.time", other));
    let plain = with_canonical_clock(recording(made));
    let values = &plain.calls[0].values;
    assert_eq!(
        *values.value(one),
        Value::Float(ExactFloat(981_173_106.789))
    );
    assert_eq!(
        *values.value(other),
        Value::Float(ExactFloat(981_173_107.289))
    );
    let passed = 981_173_107.289 - 981_173_106.789;
    assert_eq!(*values.value(result), Value::Float(ExactFloat(passed)));
}

#[test]
fn dates_are_replaced_everywhere() {
    let mut made = CallBuilder::new("invoice");
    let parts = [2026, 11, 17, 2, 8, 33, 920_373].map(|part| made.number(part));
    let now = made.plain(Value::Constructed {
        callee: ImportPath::new("datetime", "datetime"),
        arguments: parts.to_vec(),
        keywords: Vec::new(),
    });
    let result = made.text("7/2026-11-17 at 2026-11-17T02:08:33.920373+00:00");
    let made = made
        .returns(result)
        .event(asked("datetime.datetime.now", now));
    let plain = with_canonical_clock(recording(made));
    let call = &plain.calls[0];
    let CallOutcome::Returned(result) = call.outcome else {
        panic!("it returned");
    };
    let expected = "7/2001-02-03 at 2001-02-03T04:05:06.789000+00:00";
    assert_eq!(*call.values.value(result), Value::Text(expected.to_owned()));
    let Value::Constructed { arguments, .. } = call.values.value(now) else {
        panic!("a point in time");
    };
    let year = call.values.value(arguments[0]);
    assert_eq!(*year, Value::Integer(2001));
}

#[test]
fn times_whole_seconds_away_from_a_reply_are_replaced() {
    let mut made = CallBuilder::new("due");
    let mut date = |parts: [i64; 7]| {
        let arguments = parts.map(|part| made.number(part)).to_vec();
        made.plain(Value::Constructed {
            callee: ImportPath::new("datetime", "datetime"),
            arguments,
            keywords: Vec::new(),
        })
    };
    let now = date([2026, 11, 17, 2, 8, 33, 920_373]);
    let add_seconds = date([2026, 11, 18, 2, 18, 33, 920_373]);
    let other = date([2026, 11, 18, 2, 18, 33, 920_374]);
    let today = date([2026, 11, 17, 10, 30, 0, 0]);
    let tomorrow = date([2026, 11, 18, 10, 30, 0, 0]);
    let made = made
        .returns(add_seconds)
        .event(asked("datetime.datetime.now", now));
    let plain = with_canonical_clock(recording(made));
    let values = &plain.calls[0].values;
    let said = |node| time_point(values, values.value(node)).map(TimePoint::parts);
    assert_eq!(said(add_seconds), Some([2001, 2, 4, 4, 15, 6, 789_000]));
    assert_eq!(said(other), Some([2026, 11, 18, 2, 18, 33, 920_374]));
    assert_eq!(said(today), Some([2001, 2, 3, 10, 30, 0, 0]));
    assert_eq!(said(tomorrow), Some([2026, 11, 18, 10, 30, 0, 0]));
}

#[test]
fn nothing_changes_without_a_clock() {
    let mut made = CallBuilder::new("label");
    let result = made.text("2026-11-17");
    let before = recording(made.returns(result));
    let calls = before.calls.clone();
    assert_eq!(with_canonical_clock(before).calls, calls);
}
