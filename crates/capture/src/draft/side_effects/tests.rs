//! Definitions with and without side effects.

use super::*;
use crate::inspect::{FileFilter, PythonProject};
use crate::recording::{ExternalReply, FileState};
use crate::toys::CallBuilder;

fn found(text: &str, name: &str) -> (Option<String>, Option<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("app.py"), text).expect("a file");
    let project = PythonProject::read(folder.path(), &FileFilter::default());
    let roots = ["app".to_owned()];
    let api = PublicApi::collect(&project, &roots, Default::default());
    let texts = SourceTexts::read(&api, |_| Some(text.to_owned()));
    let module = api.module("app").expect("it is there");
    let definition = module.definition(name).expect("it is defined");
    (
        texts.own_effect(module, definition),
        texts.reachable_effect(module, definition),
    )
}

fn own(body: &str) -> Option<String> {
    let head = "import os, shutil, subprocess, sys, time\nimport os.path\nimport urllib.parse, urllib.request\nfrom os import remove as gone\n\ndef f(path, mode='w', requests=()):\n";
    let (own, all) = found(&format!("{head}    {body}\n"), "f");
    assert_eq!(own, all);
    own
}

#[test]
fn side_effects_are_found() {
    for (body, word) in [
        ("shutil.rmtree(path)", "shutil.rmtree"),
        ("gone(path)", "os.remove"),
        ("os.kill(1, 9)", "os.kill"),
        ("subprocess.run([path])", "subprocess.run"),
        ("urllib.request.urlopen(path)", "urllib.request"),
        ("open(path, 'w')", "open"),
        ("open(path, mode='ab')", "open"),
        ("open(path, mode)", "open"),
        ("path.unlink()", "unlink"),
        ("time.sleep(3)", "time.sleep"),
        ("sys.exit(3)", "sys.exit"),
        ("input('?')", "input"),
        ("import socket; socket.create_connection(path)", "socket"),
        ("from shutil import move", "shutil"),
        ("import os as system", "nothing"),
        ("eval(path)", "eval"),
    ] {
        let reason = own(body).unwrap_or_else(|| "nothing".to_owned());
        assert!(reason.contains(word), "{body}: {reason}");
    }
}

#[test]
fn reading_is_no_side_effect() {
    for body in [
        "return os.path.join(path, 'x')",
        "return os.environ.get('HOME')",
        "return urllib.parse.quote(path)",
        "return open(path).read()",
        "return open(path, 'rb').read()",
        "return open(path, encoding='utf-8').read()",
        "return 'shutil.rmtree(path)'  # shutil.rmtree(path)",
        "return requests",
        "return path.open",
        "def eval(text): return text",
    ] {
        assert_eq!(own(body), None, "{body}");
    }
}

#[test]
fn callees_count_too() {
    let text = "import shutil\n\ndef wipe(path):\n    shutil.rmtree(path)\n\nclass A:\n    def tidy(self, path):\n        wipe(path)\n\ndef outer(a):\n    a.tidy('.')\n\ndef fine(a):\n    return a\n";
    let (own, all) = found(text, "outer");
    assert_eq!(own, None);
    assert_eq!(all.as_deref(), Some("may change files (`shutil.rmtree`)"));
    assert_eq!(found(text, "fine"), (None, None));
}

#[test]
fn a_method_of_the_modules_is_not_taken_for_one_of_paths() {
    let text = |body: &str| {
        format!(
            "class Item:\n    def unlink(self):\n        {body}\n\ndef drop(item):\n    item.unlink()\n"
        )
    };
    assert_eq!(found(&text("self.next = None"), "drop"), (None, None));
    let effect = Some("may change files (`unlink`)".to_owned());
    let (own, _) = found(&text("self.path.unlink()"), "drop");
    assert_eq!(own, effect);
}

#[test]
fn a_recorded_call_shows_its_effect() {
    let file = |after: FileState| Interaction::File {
        path: "/somewhere/data.txt".to_owned(),
        before: FileState::Absent,
        after,
    };
    let call = CallBuilder::new("f")
        .event(file(FileState::File(vec![1])))
        .call;
    assert_eq!(
        recorded_effect(&call).as_deref(),
        Some("changes the file `data.txt`")
    );
    let call = CallBuilder::new("f").event(file(FileState::Absent)).call;
    assert_eq!(recorded_effect(&call), None);
    assert!(reads_files(&call));
    let mut made = CallBuilder::new("f");
    let answer = ExternalReply::Returned(made.number(1));
    let call = made
        .event(Interaction::Called {
            source: ExternalSource::Process,
            function: "subprocess.run".to_owned(),
            arguments: Vec::new(),
            keywords: Vec::new(),
            answer,
        })
        .call;
    assert_eq!(
        recorded_effect(&call).as_deref(),
        Some("starts another program (`subprocess.run`)")
    );
    let mut made = CallBuilder::new("f");
    let answer = ExternalReply::Returned(made.number(1));
    let warning = Interaction::Called {
        source: ExternalSource::Interpreter,
        function: "warnings.warn".to_owned(),
        arguments: Vec::new(),
        keywords: Vec::new(),
        answer,
    };
    assert_eq!(recorded_effect(&made.event(warning).call), None);
    let mut call = CallBuilder::new("f").call;
    call.uncaptured.push("os.remove".to_owned());
    assert_eq!(
        recorded_effect(&call).as_deref(),
        Some("does something outside of the program (`os.remove`)")
    );
}
