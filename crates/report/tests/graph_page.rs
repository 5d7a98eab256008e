//! The page of a state graph in a real browser, if one is installed (Debian's package `chromium`).
//!
//! Nothing drives the browser from outside: a second page has ours in a frame, types and clicks in
//! it, and records what it shows then.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use testwright_report::graph::{
    GraphState, GraphTrace, GraphTransition, StateGraph, StateMarks, page,
};

/// Returns the data that the page's script gets.
fn data_of(graph: &StateGraph) -> Value {
    let page = page::write(graph, &page::PageOptions::default());
    let start = (page.find("<script type=\"application/json\" id=\"data\">")).unwrap();
    let text = &page[start..];
    let text = &text[text.find('>').unwrap() + 1..text.find("</script>").unwrap()];
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_script_gets_everything() {
    let data = data_of(&graph());
    assert_eq!(data["states"][1]["details"], "{'colour': 'green'}");
    assert_eq!(data["states"][0]["start"], true);
    assert_eq!(data["transitions"][2]["to"], 0);
    assert_eq!(data["traces"][0]["transitions"], json!([0, 1, 3]));
    assert_eq!(data["edges"], json!([[0], [1], [2], [3, 4]]));
}

#[test]
fn transitions_to_unknown_states_are_left_out() {
    let mut graph = graph();
    graph.transitions.push(GraphTransition {
        from: 7,
        ..GraphTransition::default()
    });
    graph.traces.push(GraphTrace {
        name: "bad".to_owned(),
        transitions: vec![5],
    });
    let data = data_of(&graph);
    assert_eq!(data["transitions"][5], Value::Null);
    assert_eq!(data["traces"].as_array().unwrap().len(), 1);
}

#[test]
fn hostile_texts_arrive_as_they_are() {
    let mut graph = graph();
    let hostile = "</script><!--\"\\]]> &lt; ü😀 {data}";
    for state in &mut graph.states {
        state.name = hostile.to_owned();
        state.details = format!("{hostile}\n\u{2028}\u{0}");
    }
    let data = data_of(&graph);
    assert_eq!(data["states"][0]["name"], hostile);
    assert_eq!(
        data["states"][0]["details"],
        format!("{hostile}\n\u{fffd}␀")
    );
}

/// Builds a circle of three states with an exit.
fn graph() -> StateGraph {
    let state = |name: &str, details: &str| GraphState {
        name: name.to_owned(),
        details: details.to_owned(),
        marks: StateMarks::default(),
    };
    let transition = |from, to, name: &str| GraphTransition {
        from,
        to,
        name: name.to_owned(),
        text: format!("{name}({from})"),
    };
    let mut graph = StateGraph {
        title: "</script><script>document.title = 'broken'</script>".to_owned(),
        states: vec![
            state("0", "{'colour': 'red'}"),
            state("1", "{'colour': 'green'}"),
            state("2", "{'colour': '<b>yellow</b>'}"),
            state("3", "{'colour': 'off'}"),
        ],
        transitions: vec![
            transition(0, 1, "Change"),
            transition(1, 2, "Change"),
            transition(2, 0, "Change"),
            transition(2, 3, "Switch"),
            transition(2, 3, "Fail"),
        ],
        traces: vec![GraphTrace {
            name: "off".to_owned(),
            transitions: vec![0, 1, 3],
        }],
    };
    graph.states[0].marks.start = true;
    graph
}

/// Script that drives the page, and records its state after each step.
const SCRIPT: &str = r##"
addEventListener("load", () => {
  const notes = {};
  try {
    const page = frames[0].document;
    const $ = (selector) => page.querySelector(selector);
    const texts = (selector) => [...page.querySelectorAll(selector)].map((element) => element.textContent);
    const click = (element) => element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    const type = (text) => {
      $("#query").value = text;
      $("#query").dispatchEvent(new Event("input", { bubbles: true }));
    };
    const marked = (name) => [...page.querySelectorAll(`#canvas .${name}`)].map((element) =>
      element.dataset.state !== undefined ? `state ${element.dataset.state}` : `edge ${element.dataset.edge}`);
    const look = () => ({
      state: $("#state h2").textContent, details: $("#state pre").textContent, on: marked("on"), later: marked("later"),
      steps: texts("#steps li"), place: $("#place").textContent,
    });
    const inView = (selector) => {
      const box = $(selector).getBoundingClientRect(), frame = $("#canvas").getBoundingClientRect();
      return Math.abs(box.x + box.width / 2 - frame.x - frame.width / 2) < 2 && Math.abs(box.y + box.height / 2 - frame.y - frame.height / 2) < 2;
    };
    notes.title = page.title;
    notes.first = look();
    type("YELLOW");
    notes.search = { count: $("#count").textContent, hits: marked("hit"), state: $("#state h2").textContent, centred: inView("[data-state='2'] .rim") };
    type("change");
    $("#query").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    notes.second = { count: $("#count").textContent, hits: marked("hit"), now: marked("now") };
    click($("#previous"));
    notes.previous = $("#count").textContent;
    type("no such thing");
    notes.nothing = { count: $("#count").textContent, hits: marked("hit"), disabled: $("#next").disabled };
    type("3");
    notes.number = { count: $("#count").textContent, now: marked("now") };
    type("");

    click($("[data-state='0'] .rim"));
    click($("#outgoing button"));
    click($("#outgoing button"));
    notes.followed = look();
    notes.choices = texts("#outgoing li");
    click($("#back"));
    notes.back = look();
    click($("#forward"));
    notes.forward = $("#place").textContent;
    click($("[data-edge='3'] .line"));
    notes.edge = { state: $("#state h2").textContent, strong: texts("#outgoing .strong") };
    click($("#clear"));
    notes.cleared = { on: marked("on"), hidden: $("#walk").hidden };

    $("#traces").value = "0";
    $("#traces").dispatchEvent(new Event("change", { bubbles: true }));
    notes.given = look();
    click($("#forward"));
    notes.stepped = look();

    const width = () => $("#canvas svg").viewBox.baseVal.width;
    $("#fit").click();
    const before = width();
    $("#canvas").dispatchEvent(new WheelEvent("wheel", { deltaY: -200, clientX: 100, clientY: 100, bubbles: true, cancelable: true }));
    notes.larger = width() < before;
    page.body.dispatchEvent(new KeyboardEvent("keydown", { key: "-", bubbles: true }));
    page.body.dispatchEvent(new KeyboardEvent("keydown", { key: "0", bubbles: true }));
    notes.fits = width() === before;
  } catch (error) {
    notes.error = String(error.stack ?? error);
  }
  document.getElementById("notes").textContent = JSON.stringify(notes).replaceAll("&", "\\u0026").replaceAll("<", "\\u003c");
});
"##;

/// Returns the recorded states, or `None` if there is no browser.
fn drive(graph: &StateGraph) -> Option<Value> {
    // The last is Debian's program without its start script, which needs files that may be missing.
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "/usr/lib/chromium/chromium",
    ];
    let works = |name: &&str| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    let browser = names.into_iter().find(works)?;
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("page.html"),
        page::write(graph, &page::PageOptions::default()),
    )
    .unwrap();
    let frame =
        "<iframe src=\"page.html\" width=\"1000\" height=\"700\"></iframe><pre id=\"notes\"></pre>";
    let driver = format!("<!DOCTYPE html><meta charset=\"utf-8\"><script>{SCRIPT}</script>{frame}");
    fs::write(folder.path().join("driver.html"), driver).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        // Otherwise pages from a disk may not access each other.
        .args([
            "--allow-file-access-from-files",
            "--virtual-time-budget=10000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!(
            "file://{}",
            folder.path().join("driver.html").display()
        ))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let start = dom
        .find("<pre id=\"notes\">")
        .expect("the driver is loaded")
        + 16;
    let notes = &dom[start..start + dom[start..].find("</pre>").unwrap()];
    Some(serde_json::from_str(&notes.replace("&gt;", ">")).expect("notes were taken"))
}

#[test]
#[expect(clippy::print_stderr, reason = "says why nothing was tested")]
fn one_can_search_and_follow_a_trace() {
    let Some(notes) = drive(&graph()) else {
        eprintln!("skipped: no Chromium is installed");
        return;
    };
    assert_eq!(notes["error"], Value::Null, "{notes:#}");
    assert_eq!(notes["title"], graph().title);
    assert_eq!(notes["first"]["state"], "State 0");
    assert_eq!(notes["first"]["details"], "{'colour': 'red'}");

    let expected =
        json!({"count": "1 of 1", "hits": ["state 2"], "state": "State 2", "centred": true});
    assert_eq!(notes["search"], expected);
    let expected =
        json!({"count": "2 of 3", "hits": ["edge 0", "edge 1", "edge 2"], "now": ["edge 1"]});
    assert_eq!(notes["second"], expected);
    assert_eq!(notes["previous"], "1 of 3");
    let expected = json!({"count": "nothing found", "hits": [], "disabled": true});
    assert_eq!(notes["nothing"], expected);
    assert_eq!(
        notes["number"],
        json!({"count": "1 of 1", "now": ["state 3"]})
    );

    let followed = json!({
        "state": "State 2", "details": "{'colour': '<b>yellow</b>'}",
        "on": ["edge 0", "edge 1", "state 0", "state 1", "state 2"], "later": [],
        "steps": ["Change(0)→ 1", "Change(1)→ 2"], "place": "2 of 2 steps, in state 2",
    });
    assert_eq!(notes["followed"], followed);
    assert_eq!(
        notes["choices"],
        json!(["Change(2)→ 0", "Switch(2)→ 3", "Fail(2)→ 3"])
    );
    assert_eq!(notes["back"]["on"], json!(["edge 0", "state 0", "state 1"]));
    assert_eq!(notes["back"]["later"], json!(["edge 1"]));
    assert_eq!(notes["back"]["state"], "State 1");
    assert_eq!(notes["forward"], "2 of 2 steps, in state 2");
    let expected = json!({"state": "State 2", "strong": ["Switch(2)→ 3", "Fail(2)→ 3"]});
    assert_eq!(notes["edge"], expected);
    assert_eq!(notes["cleared"], json!({"on": [], "hidden": true}));

    assert_eq!(
        notes["given"]["later"],
        json!(["edge 0", "edge 1", "edge 3"])
    );
    assert_eq!(notes["given"]["place"], "0 of 3 steps, in state 0");
    assert_eq!(
        notes["stepped"]["on"],
        json!(["edge 0", "state 0", "state 1"])
    );
    assert_eq!(notes["larger"], true);
    assert_eq!(notes["fits"], true);
}
