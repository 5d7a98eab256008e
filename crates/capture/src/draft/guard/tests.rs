//! Guards inferred from calls.

use super::*;
use crate::toys::CallBuilder;

fn call(name: &str, is_open: bool, items: &[i64]) -> Call {
    let mut made = CallBuilder::new(name);
    let open = made.plain(Value::Boolean(is_open));
    let hidden = made.plain(Value::Boolean(is_open));
    let items = made.list(2, items);
    let own = made.object(
        1,
        "Door",
        &[("_hidden", hidden), ("is_open", open), ("items", items)],
    );
    made.on("Door", own, own).call
}

fn describe(calls: &[Call], others: &[Call]) -> Option<String> {
    let calls: Vec<&Call> = calls.iter().collect();
    let others: Vec<&Call> = others.iter().collect();
    let guard = infer_guard(&calls, &others)?;
    Some(format!(
        "{}x{}",
        guard.before_receiver, guard.after_receiver
    ))
}

#[test]
fn a_condition_that_always_held_is_a_guard() {
    let walked = [
        call("walk", true, &[]),
        call("walk", true, &[1]),
        call("walk", true, &[2]),
    ];
    let shut = [call("open", false, &[])];
    assert_eq!(describe(&walked, &shut).as_deref(), Some("x.is_open"));
    let taken = [
        call("take", true, &[1]),
        call("take", false, &[1, 2]),
        call("take", true, &[2]),
    ];
    assert_eq!(describe(&taken, &shut).as_deref(), Some("x.items"));
    let opened = [
        call("open", false, &[]),
        call("open", false, &[1]),
        call("open", false, &[2]),
    ];
    assert_eq!(describe(&opened, &walked).as_deref(), Some("not x.is_open"));
}

#[test]
fn a_condition_that_never_varied_is_no_guard() {
    let walked = [
        call("walk", true, &[]),
        call("walk", true, &[1]),
        call("walk", true, &[2]),
    ];
    assert_eq!(describe(&walked, &[]), None);
    assert_eq!(describe(&walked[..2], &[call("open", false, &[])]), None);
}
