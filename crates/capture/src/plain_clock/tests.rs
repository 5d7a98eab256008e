use super::*;
use crate::recording::{Execution, Outcome};
use crate::toys::Made;
use crate::value::Reference;

fn asked(function: &str, answer: NodeId) -> External {
    External::Called {
        source: Source::Clock,
        function: function.to_owned(),
        arguments: Vec::new(),
        keywords: Vec::new(),
        answer: Answer::Returned(answer),
    }
}

fn recording(made: Made) -> Recording {
    let execution = Execution {
        command: Vec::new(),
        python: String::new(),
        folder: String::new(),
        path: Vec::new(),
        is_complete: true,
        troubles: Vec::new(),
    };
    Recording {
        executions: vec![execution],
        units: vec![made.unit],
        calls: vec![made.call],
    }
}

#[test]
fn numbers_and_what_passed_between_them_are_plain() {
    let mut made = Made::of("measured");
    let (first, second) = (1_794_881_313.184_811, 1_794_881_313.684_911);
    let one = made.plain(Value::Float(Float(first)));
    let other = made.plain(Value::Float(Float(second)));
    let result = made.plain(Value::Float(Float(second - first)));
    let made = made
        .returns(result)
        .event(asked("time.time", one))
        .event(asked("time.time", other));
    let plain = by_plain_clock(recording(made));
    let values = &plain.calls[0].values;
    assert_eq!(*values.value(one), Value::Float(Float(981_173_106.789)));
    assert_eq!(*values.value(other), Value::Float(Float(981_173_107.289)));
    let passed = 981_173_107.289 - 981_173_106.789;
    assert_eq!(*values.value(result), Value::Float(Float(passed)));
}

#[test]
fn dates_are_plain_wherever_they_turn_up() {
    let mut made = Made::of("invoice");
    let parts = [2026, 11, 17, 2, 8, 33, 920_373].map(|part| made.number(part));
    let now = made.plain(Value::Made {
        callee: Reference::new("datetime", "datetime"),
        arguments: parts.to_vec(),
        keywords: Vec::new(),
    });
    let result = made.text("7/2026-11-17 at 2026-11-17T02:08:33.920373+00:00");
    let made = made
        .returns(result)
        .event(asked("datetime.datetime.now", now));
    let plain = by_plain_clock(recording(made));
    let call = &plain.calls[0];
    let Outcome::Returned(result) = call.outcome else {
        panic!("it returned");
    };
    let expected = "7/2001-02-03 at 2001-02-03T04:05:06.789000+00:00";
    assert_eq!(*call.values.value(result), Value::Text(expected.to_owned()));
    let Value::Made { arguments, .. } = call.values.value(now) else {
        panic!("a point in time");
    };
    let year = call.values.value(arguments[0]);
    assert_eq!(*year, Value::Integer(2001));
}

#[test]
fn what_is_whole_seconds_away_from_an_answer_comes_from_it() {
    let mut made = Made::of("due");
    let mut date = |parts: [i64; 7]| {
        let arguments = parts.map(|part| made.number(part)).to_vec();
        made.plain(Value::Made {
            callee: Reference::new("datetime", "datetime"),
            arguments,
            keywords: Vec::new(),
        })
    };
    let now = date([2026, 11, 17, 2, 8, 33, 920_373]);
    let later = date([2026, 11, 18, 2, 18, 33, 920_373]);
    let other = date([2026, 11, 18, 2, 18, 33, 920_374]);
    let today = date([2026, 11, 17, 10, 30, 0, 0]);
    let tomorrow = date([2026, 11, 18, 10, 30, 0, 0]);
    let made = made
        .returns(later)
        .event(asked("datetime.datetime.now", now));
    let plain = by_plain_clock(recording(made));
    let values = &plain.calls[0].values;
    let said = |node| moment(values, values.value(node)).map(Moment::parts);
    assert_eq!(said(later), Some([2001, 2, 4, 4, 15, 6, 789_000]));
    assert_eq!(said(other), Some([2026, 11, 18, 2, 18, 33, 920_374]));
    assert_eq!(said(today), Some([2001, 2, 3, 10, 30, 0, 0]));
    assert_eq!(said(tomorrow), Some([2026, 11, 18, 10, 30, 0, 0]));
}

#[test]
fn nothing_changes_without_a_clock() {
    let mut made = Made::of("label");
    let result = made.text("2026-11-17");
    let before = recording(made.returns(result));
    let calls = before.calls.clone();
    assert_eq!(by_plain_clock(before).calls, calls);
}
