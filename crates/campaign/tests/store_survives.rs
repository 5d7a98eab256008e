//! A store outlives its writers, however they end, and does no harm, whatever bytes it is made of.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::Connection;
use testwright_campaign::store::{
    CampaignEnding, CorpusTest, FailureStatus, PruneOptions, ReachedArc, Store,
};

use crate::toys;

use toys::{at, campaign, failure, progress};

/// Names the store to the process that a test starts to have it killed.
const STORE_PATH_VARIABLE: &str = "TESTWRIGHT_TEST_WRITES_TO";

/// Writes until it is killed, and says what has been written.
fn write_until_killed(path: &Path) -> Result<(), testwright_core::Error> {
    let announce = |words: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nwritten {words}").unwrap();
        out.flush().unwrap();
    };
    let mut store = Store::open(path)?;
    let process = std::process::id();
    loop {
        let id = store.begin(&campaign("a.tstl", 7))?;
        announce(format!("campaign {id}"));
        for number in 1..20 {
            store.record_progress(id, &progress(number))?;
            announce(format!("note {id} {number}"));
            let signature = format!("{process}-{id}-{number}");
            let found = store.record_failure(id, "a.tstl", &failure(&signature, 1))?;
            announce(format!("failure {found} {signature}"));
            store.record_reduction(found, "step\n", "reduced", "")?;
            announce(format!("reduced {found} reduced"));
            let test = CorpusTest {
                text: signature.clone(),
                new: 1,
            };
            store.keep_tests("a.tstl", id, &[test])?;
            announce(format!("kept {signature} {id}"));
        }
        store.finish(id, &CampaignEnding::Complete, at(30))?;
    }
}

/// No test by itself: the part of the one below that is killed.
#[test]
fn writer_process() {
    if let Some(path) = std::env::var_os(STORE_PATH_VARIABLE) {
        write_until_killed(Path::new(&path)).unwrap();
    }
}

fn start_writer(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "store_survives::writer_process",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(STORE_PATH_VARIABLE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a process says that it has written.
fn announced_lines(out: impl BufRead) -> impl Iterator<Item = String> {
    out.lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("written ").map(str::to_owned))
}

#[test]
fn announced_rows_survive_any_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".testwright/store.db");
    let mut announced = Vec::new();
    for round in 0..14_u64 {
        let writers = [start_writer(&path), start_writer(&path)];
        for (index, mut writer) in writers.into_iter().enumerate() {
            let mut lines = announced_lines(BufReader::new(writer.stdout.take().unwrap()));
            // Some do not even get to the end of making the store, or of opening it.
            let max_lines = if round < 6 {
                0
            } else {
                round as usize * 3 + index
            };
            thread::sleep(Duration::from_micros(round * 700));
            announced.extend(lines.by_ref().take(max_lines));
            writer.kill().unwrap();
            writer.wait().unwrap();
            announced.extend(lines);
        }
    }
    assert!(announced.len() > 200, "{}", announced.len());
    let database = Connection::open(&path).unwrap();
    let verdict: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    let store = Store::open(&path).unwrap();
    let campaigns = store.campaigns().unwrap();
    let known = store.failures_of_harness("a.tstl").unwrap();
    let corpus: BTreeSet<String> = store
        .corpus("a.tstl", usize::MAX)
        .unwrap()
        .into_iter()
        .map(|test| test.text)
        .collect();
    for line in announced {
        let words: Vec<&str> = line.split(' ').collect();
        let is_there = match words[..] {
            ["campaign", id] => campaigns
                .iter()
                .any(|campaign| campaign.id.to_string() == id),
            ["note", id, tests] => campaigns.iter().any(|campaign| {
                campaign.id.to_string() == id && campaign.progress.tests >= tests.parse().unwrap()
            }),
            ["failure", id, signature] => known
                .iter()
                .any(|known| known.id.to_string() == id && known.found.signature == signature),
            ["reduced", id, message] => known
                .iter()
                .any(|known| known.id.to_string() == id && known.found.message == message),
            ["kept", text, _] => corpus.contains(text),
            _ => panic!("{line}"),
        };
        assert!(is_there, "{line}");
    }
    // Nothing is half there either.
    assert!(
        known
            .iter()
            .all(|known| known.times == 1 && known.changes.len() == 1)
    );
}

#[test]
fn several_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".testwright/store.db");
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let path = path.clone();
            thread::spawn(move || {
                let mut store = Store::open(&path).unwrap();
                let id = store.begin(&campaign("a.tstl", 7)).unwrap();
                for number in 0..25 {
                    store.record_progress(id, &progress(number)).unwrap();
                    store
                        .record_failure(id, "a.tstl", &failure(&format!("{writer} {number}"), 1))
                        .unwrap();
                    store
                        .record_failure(id, "a.tstl", &failure("common", 1))
                        .unwrap();
                }
                store.finish(id, &CampaignEnding::Complete, at(9)).unwrap();
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let store = Store::open_existing(&path).unwrap().unwrap();
    let known = store.failures_of_harness("a.tstl").unwrap();
    assert_eq!(known.len(), 101);
    assert_eq!(known.iter().map(|known| known.times).max(), Some(100));
    let campaigns = store.campaigns().unwrap();
    assert!(campaigns.iter().all(|campaign| campaign.failures == 26));
}

/// The bytes of a store with something of everything in it.
fn bytes_of_a_store() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    for _ in 0..3 {
        let id = store.begin(&campaign("a.tstl", 7)).unwrap();
        for seconds in 0..20 {
            store.record_progress(id, &progress(seconds)).unwrap();
            let arc = ReachedArc {
                file: "a.py".to_owned(),
                from: seconds as i32,
                to: 1,
                test: "step\n".repeat(40),
            };
            store.record_arcs(id, &[arc]).unwrap();
        }
        let test = CorpusTest {
            text: "step\n".repeat(2000),
            new: 1,
        };
        store.keep_tests("a.tstl", id, &[test]).unwrap();
        let found = store
            .record_failure(id, "a.tstl", &failure("s", 1))
            .unwrap();
        store
            .set_status(found, FailureStatus::Fixed, id, at(3))
            .unwrap();
        store.finish(id, &CampaignEnding::Complete, at(4)).unwrap();
    }
    let keep_two = PruneOptions {
        keep: Some(2),
        ..PruneOptions::default()
    };
    store.prune(&keep_two).unwrap();
    drop(store);
    fs::read(&path).unwrap()
}

/// Does all that can be done with a store. Whatever comes of it, it comes to an end.
fn use_every_operation(path: &Path) -> Result<(), testwright_core::Error> {
    if let Some(store) = Store::open_existing(path)? {
        let campaigns = store.campaigns()?;
        for campaign in &campaigns {
            store.progress_curve(campaign.id)?;
            store.arcs(campaign.id)?;
            store.failures_of_campaign(campaign.id)?;
        }
        store.failures_of_harness("a.tstl")?;
        store.corpus("a.tstl", 100)?;
        store.unfinished("a.tstl")?;
    }
    let mut store = Store::open(path)?;
    let id = store.begin(&campaign("a.tstl", 7))?;
    store.record_progress(id, &progress(1))?;
    let found = store.record_failure(id, "a.tstl", &failure("s", 1))?;
    store.record_recurrence(found, id, u64::MAX, at(2))?;
    store.finish(id, &CampaignEnding::Interrupted, at(3))?;
    store.prune(&PruneOptions {
        keep: Some(1),
        fixed: true,
        ..PruneOptions::default()
    })?;
    Ok(())
}

#[test]
fn strange_bytes_are_an_error_at_worst() {
    let good = bytes_of_a_store();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    // Most of what SQLite believes stands at the beginning of a page.
    let offset = prop_oneof![
        0..200_usize,
        (0..good.len() / 4096, 0..64_usize).prop_map(|(page, offset)| page * 4096 + offset),
        0..good.len(),
    ];
    let strategy = prop_oneof![
        4 => (prop::collection::vec((offset, any::<u8>()), 1..12), Just(good.len())),
        1 => (Just(Vec::new()), 0..good.len()),
    ];
    runner
        .run(&strategy, |(changes, length)| {
            let mut bytes = good.clone();
            for (offset, value) in changes {
                bytes[offset] = value;
            }
            bytes.truncate(length);
            for ending in ["-wal", "-shm", "-journal"] {
                let _ = fs::remove_file(folder.path().join(format!("store.db{ending}")));
            }
            fs::write(&path, &bytes).unwrap();
            let _ = use_every_operation(&path);
            Ok(())
        })
        .unwrap();
    fs::write(&path, &good).unwrap();
    use_every_operation(&path).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_store(bytes in prop::collection::vec(any::<u8>(), 1..9000)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        fs::write(&path, &bytes).unwrap();
        let error = Store::open_existing(&path).err().expect("that would be quite a coincidence");
        prop_assert!(error.message.contains("is not a store of Testwright"), "{}", error);
        prop_assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}
