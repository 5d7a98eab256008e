//! Small things to put into a store.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each program of tests uses some of them"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use testwright_campaign::store::{
    CampaignId, CampaignProgress, CorpusTest, NewCampaign, NewFailure, ReachedArc, Store,
};

/// So many seconds after the beginning of these tests' time.
pub fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

pub fn folder_and_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".testwright/store.db");
    (folder, path)
}

pub fn campaign(harness: &str, seed: u64) -> NewCampaign {
    NewCampaign {
        harness: harness.to_owned(),
        digest: "1f0c".to_owned(),
        seed,
        command_line: vec!["run".to_owned(), harness.to_owned(), "--seed".to_owned()],
        version: "0.1.0".to_owned(),
        python: "3.12.1".to_owned(),
        jobs: 2,
        started: at(seed % 1000),
    }
}

pub fn progress(seconds: u64) -> CampaignProgress {
    CampaignProgress {
        at: at(seconds),
        seconds: seconds as f64,
        tests: seconds * 10,
        steps: seconds * 1000,
        deadlocks: seconds / 7,
        covered: 40 + seconds / 100,
        streams: 2,
    }
}

pub fn failure(signature: &str, seconds: u64) -> NewFailure {
    NewFailure {
        kind: "property".to_owned(),
        message: "`x == y` is false".to_owned(),
        signature: signature.to_owned(),
        details: "x = 1\ny = 2".to_owned(),
        full: "# testwright test 1\nx = 1\ny = 2\nz = 3\n".to_owned(),
        history: Some("x = 0\n".to_owned()),
        at: at(seconds),
    }
}

pub fn arc(file: &str, from: i32, test: &str) -> ReachedArc {
    ReachedArc {
        file: file.to_owned(),
        from,
        to: from + 1,
        test: test.to_owned(),
    }
}

pub fn kept(text: &str) -> CorpusTest {
    CorpusTest {
        text: text.to_owned(),
        new: 3,
    }
}

/// A store with something of everything in it.
pub fn filled(path: &Path) -> (Store, CampaignId) {
    let mut store = Store::open(path).unwrap();
    let id = store.begin(&campaign("a.tstl", 7)).unwrap();
    for seconds in 1..9 {
        store.record_progress(id, &progress(seconds)).unwrap();
    }
    let arcs = [arc("a.py", -1, "one"), arc("b.py", 4, "two")];
    store.record_arcs(id, &arcs).unwrap();
    store
        .keep_tests("a.tstl", id, &[kept("one"), kept("two")])
        .unwrap();
    let found = store
        .record_failure(id, "a.tstl", &failure("s", 3))
        .unwrap();
    store
        .record_reduction(found, "x = 1\n", "shorter", "x = 1")
        .unwrap();
    (store, id)
}
