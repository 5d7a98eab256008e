use proptest::prelude::*;

use super::*;
use crate::graph::{ValueGraph, ValueNode};
use crate::recording::{
    BindingKind, BoundArgument, CallOutcome, ExternalEvent, ExternalReply, ExternalSource,
    FileState, Interaction, ProgramVariable, Receiver, UnitKind, UnitParameter, VariableState,
};
use crate::value::{ExactFloat, ImportPath, InstanceValue, NodeId, ObjectId, ObjectKind, Value};

fn unit() -> CodeUnit {
    CodeUnit {
        module: "app".to_owned(),
        qualified_name: "Stack.push".to_owned(),
        file: "app.py".to_owned(),
        line: 3,
        kind: UnitKind::Function,
        parameters: vec![UnitParameter {
            name: "self".to_owned(),
            kind: BindingKind::Normal,
        }],
        calls: 0,
    }
}

/// A call with a bit of everything: shared and cyclic values, long texts, an event with values of
/// its own.
fn call(id: u64) -> Call {
    let mut values = ValueGraph::default();
    let text = values.add(ValueNode::plain(Value::Text("ä\n\"".repeat(30))));
    let number = values.add(ValueNode::plain(Value::Float(ExactFloat(f64::NAN))));
    let bytes = values.add(ValueNode::plain(Value::Bytes(vec![0, 255, id as u8])));
    let ring = values.add(ValueNode::plain(Value::None));
    let list = Value::List(vec![ring, text, number, bytes, ring]);
    let object = Some(ObjectId(id));
    values.set(
        ring,
        ValueNode {
            value: list,
            object,
        },
    );
    let object = values.add(ValueNode {
        value: Value::Object(InstanceValue {
            class: ImportPath::new("app", "Stack"),
            is_importable: true,
            kind: ObjectKind::Plain,
            content: None,
            attributes: vec![("items".to_owned(), ring), ("again".to_owned(), ring)],
        }),
        object: Some(ObjectId(id + 1000)),
    });
    Call {
        id: CallId(id),
        end: Some(id + 1),
        execution: 0,
        thread: 1,
        task: None,
        unit: UnitId(0),
        caller: None,
        is_from_own_method: false,
        receiver: Receiver::Instance(ImportPath::new("app", "Stack")),
        arguments: vec![BoundArgument {
            name: "self".to_owned(),
            before: object,
            after: Some(object),
            is_default: false,
        }],
        variables: vec![VariableState {
            variable: ProgramVariable::Global {
                module: "app".to_owned(),
                name: "count".to_owned(),
            },
            before: None,
            after: Some(number),
            is_as_imported: false,
        }],
        outcome: CallOutcome::Returned(ring),
        steps: Vec::new(),
        events: vec![
            ExternalEvent {
                at: id,
                is_nested: true,
                external: Interaction::Called {
                    source: ExternalSource::Clock,
                    function: "time.time".to_owned(),
                    arguments: vec![text],
                    keywords: Vec::new(),
                    answer: ExternalReply::Returned(number),
                },
            },
            ExternalEvent {
                at: id,
                is_nested: false,
                external: Interaction::File {
                    path: "log.txt".to_owned(),
                    before: FileState::Absent,
                    after: FileState::File(vec![1, 2, 3]),
                },
            },
        ],
        lines: vec![3, 4],
        microseconds: 7,
        uncaptured: Vec::new(),
        values,
    }
}

fn is_alike(one: &Call, other: &Call) -> bool {
    let without = |call: &Call| {
        let mut call = call.clone();
        call.values = ValueGraph::default();
        let (stored, _) = graphs::encode_call(call);
        stored.id
    };
    let roots = |call: &Call| -> Vec<NodeId> {
        let CallOutcome::Returned(result) = call.outcome else {
            return Vec::new();
        };
        [call.roots_before(), call.roots_after(), vec![result]].concat()
    };
    let (left, right) = (roots(one), roots(other));
    let same = |(left, right): (&NodeId, &NodeId)| {
        one.values.is_isomorphic(*left, &other.values, *right)
            && one.values.object(*left) == other.values.object(*right)
    };
    without(one) == without(other)
        && left.len() == right.len()
        && left.iter().zip(&right).all(same)
        && one.lines == other.lines
        && one.events.len() == other.events.len()
}

fn written(folder: &Path, calls: u64) -> PathBuf {
    let mut writer = RecordingWriter::create(folder, "run", &ProgramRun::default()).unwrap();
    writer.add_unit(&unit()).unwrap();
    for id in 1..=calls {
        writer.enter_call(CallId(id * 10), UnitId(0), None).unwrap();
        writer.add_call(call(id * 10)).unwrap();
    }
    writer.write_counts(&[calls]).unwrap();
    writer.finish().unwrap();
    writer.path().to_path_buf()
}

#[test]
fn recordings_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), 3);
    let loaded = load(folder.path()).unwrap();
    assert_eq!(loaded.damaged, 0);
    let recording = loaded.recording;
    assert!(recording.executions[0].is_complete);
    assert_eq!(recording.units, [CodeUnit { calls: 3, ..unit() }]);
    assert_eq!(recording.calls.len(), 3);
    for (found, id) in recording.calls.iter().zip([10, 20, 30]) {
        assert!(is_alike(found, &call(id)), "{found:#?}");
    }
}

#[test]
fn a_log_that_was_cut_anywhere_is_read_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let content = fs::read(written(folder.path(), 2)).unwrap();
    let cut = folder.path().join("cut.recording");
    let mut most = 0;
    for length in 0..=content.len() {
        fs::write(&cut, &content[..length]).unwrap();
        let loaded = load_file(&cut).unwrap();
        let whole_lines = content[..length]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        let finished = (loaded.recording.calls.iter())
            .filter(|call| call.end.is_some())
            .count();
        assert!(
            finished >= most && loaded.damaged <= 1,
            "after {length} bytes"
        );
        assert_eq!(loaded.ignored.len(), usize::from(whole_lines == 0));
        assert_eq!(
            loaded
                .recording
                .executions
                .iter()
                .any(|one| one.is_complete),
            length == content.len()
        );
        most = finished;
    }
    assert_eq!(most, 2);
}

#[test]
fn a_call_that_did_not_end_is_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = RecordingWriter::create(folder.path(), "run", &ProgramRun::default()).unwrap();
    let unit = writer.add_unit(&unit()).unwrap();
    writer.enter_call(CallId(1), unit, None).unwrap();
    writer.enter_call(CallId(2), unit, Some(CallId(1))).unwrap();
    writer.drop_call(CallId(2)).unwrap();
    let calls = load(folder.path()).unwrap().recording.calls;
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].end, &calls[0].outcome),
        (None, &CallOutcome::Unfinished)
    );
}

#[test]
fn equal_values_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = RecordingWriter::create(folder.path(), "run", &ProgramRun::default()).unwrap();
    writer.add_unit(&unit()).unwrap();
    let mut same = call(5);
    for id in [5, 6, 7] {
        same.id = CallId(id);
        writer.add_call(same.clone()).unwrap();
    }
    let content = fs::read_to_string(writer.path()).unwrap();
    let values = content
        .lines()
        .filter(|line| line.contains("{\"Value\""))
        .count();
    let distinct: BTreeSet<&str> = content
        .lines()
        .filter(|line| line.contains("{\"Value\""))
        .collect();
    assert_eq!(values, distinct.len());
    assert!(values > 0);
}

#[test]
fn processes_do_not_share_a_file_and_units_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), 1);
    written(folder.path(), 2);
    let recording = load(folder.path()).unwrap().recording;
    assert_eq!(recording.executions.len(), 2);
    assert_eq!(recording.units.len(), 1);
    assert_eq!(recording.units[0].calls, 3);
    assert_eq!(
        recording.calls.iter().map(|call| call.execution).max(),
        Some(1)
    );
}

#[test]
fn a_full_log_takes_no_more_calls() {
    let folder = tempfile::tempdir().unwrap();
    let writer = RecordingWriter::create(folder.path(), "run", &ProgramRun::default()).unwrap();
    let mut writer = writer.with_limit(10);
    writer.add_call(call(1)).unwrap();
    writer.write_counts(&[]).unwrap();
    assert!(load(folder.path()).unwrap().recording.calls.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn damage_is_noticed_and_never_a_panic(place in 0usize..100_000, byte: u8) {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 2);
        let mut content = fs::read(&path).unwrap();
        let place = place % content.len();
        let was = std::mem::replace(&mut content[place], byte);
        fs::write(&path, content).unwrap();
        let loaded = load_file(&path).unwrap();
        prop_assert!(was == byte || loaded.damaged > 0 || !loaded.ignored.is_empty());
        for call in &loaded.recording.calls {
            prop_assert!(call.end.is_none() || is_alike(call, &super::tests::call(call.id.0)));
        }
    }
}
