//! A store keeps what it is given, whatever happens to the process, the disk or the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use tempfile::TempDir;
use testwright_campaign::store::{
    CampaignEnding, CampaignId, CampaignState, FoundFailure, KeptTest, NewCampaign, PlaceReached,
    PruneOptions, Standing, Status, Store,
};

/// So many seconds after the beginning of these tests' time.
fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

fn folder_and_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".testwright/store.db");
    (folder, path)
}

fn campaign(harness: &str, seed: u64) -> NewCampaign {
    NewCampaign {
        harness: harness.to_owned(),
        digest: "1f0c".to_owned(),
        seed,
        words: vec!["run".to_owned(), harness.to_owned(), "--seed".to_owned()],
        version: "0.1.0".to_owned(),
        python: "3.12.1".to_owned(),
        jobs: 2,
        started: at(seed % 1000),
    }
}

fn standing(seconds: u64) -> Standing {
    Standing {
        at: at(seconds),
        seconds: seconds as f64,
        tests: seconds * 10,
        steps: seconds * 1000,
        deadlocks: seconds / 7,
        covered: 40 + seconds / 100,
        streams: 2,
    }
}

fn failure(signature: &str, seconds: u64) -> FoundFailure {
    FoundFailure {
        kind: "property".to_owned(),
        message: "`x == y` is false".to_owned(),
        signature: signature.to_owned(),
        details: "x = 1\ny = 2".to_owned(),
        full: "# testwright test 1\nx = 1\ny = 2\nz = 3\n".to_owned(),
        history: Some("x = 0\n".to_owned()),
        at: at(seconds),
    }
}

fn place(file: &str, from: i32, test: &str) -> PlaceReached {
    PlaceReached {
        file: file.to_owned(),
        from,
        to: from + 1,
        test: test.to_owned(),
    }
}

fn kept(text: &str) -> KeptTest {
    KeptTest {
        text: text.to_owned(),
        new: 3,
    }
}

/// A store with something of everything in it.
fn filled(path: &Path) -> (Store, CampaignId) {
    let mut store = Store::open(path).unwrap();
    let id = store.begin(&campaign("a.tstl", 7)).unwrap();
    for seconds in 1..9 {
        store.note(id, &standing(seconds)).unwrap();
    }
    let places = [place("a.py", -1, "one"), place("b.py", 4, "two")];
    store.reached(id, &places).unwrap();
    store
        .keep("a.tstl", id, &[kept("one"), kept("two")])
        .unwrap();
    let found = store.found(id, "a.tstl", &failure("s", 3)).unwrap();
    store.reduced(found, "x = 1\n", "shorter", "x = 1").unwrap();
    (store, id)
}

#[test]
fn what_is_stored_is_found_again_by_others() {
    let (_folder, path) = folder_and_path();
    let (mut store, id) = filled(&path);
    let big = store
        .begin(&campaign("ü \0 '; DROP TABLE campaign; --", u64::MAX))
        .unwrap();
    store
        .finish(id, &CampaignEnding::Failed("no more".to_owned()), at(9))
        .unwrap();

    let other = Store::open_existing(&path).unwrap().unwrap();
    let record = other.campaign(id).unwrap();
    assert_eq!(record.begun, campaign("a.tstl", 7));
    assert_eq!(record.standing, standing(8));
    assert_eq!(record.failures, 1);
    let ending = CampaignEnding::Failed("no more".to_owned());
    assert_eq!(record.state, CampaignState::Ended(ending, at(9)));
    assert_eq!(
        other.campaign(big).unwrap().begun,
        campaign("ü \0 '; DROP TABLE campaign; --", u64::MAX)
    );
    assert_eq!(other.campaigns().unwrap().len(), 2);
    assert_eq!(
        other.curve(id).unwrap(),
        (1..9).map(standing).collect::<Vec<_>>()
    );
    let places = [place("a.py", -1, "one"), place("b.py", 4, "two")];
    assert_eq!(other.places(id).unwrap(), places);
    assert_eq!(
        other.corpus("a.tstl", 9).unwrap(),
        [kept("one"), kept("two")]
    );
    assert_eq!(other.corpus("a.tstl", 1).unwrap(), [kept("two")]);
    let known = other.known("a.tstl").unwrap();
    assert_eq!(known, other.failures_of(id).unwrap());
    assert_eq!(known[0].reduced.as_deref(), Some("x = 1\n"));
    assert_eq!(known[0].found.message, "shorter");
    assert_eq!(known[0].found.full, failure("s", 3).full);
    assert_eq!((known[0].status, known[0].times), (Status::Open, 1));
    assert_eq!(other.known("b.tstl").unwrap(), []);
    let ignored = fs::read_to_string(path.with_file_name(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
}

#[test]
fn the_same_again_is_no_second_one() {
    let (_folder, path) = folder_and_path();
    let (mut store, id) = filled(&path);
    store
        .reached(id, &[place("a.py", -1, "later"), place("a.py", 0, "later")])
        .unwrap();
    let reached = store.places(id).unwrap();
    assert_eq!(
        reached
            .iter()
            .map(|place| place.test.as_str())
            .collect::<Vec<_>>(),
        ["one", "later", "two"]
    );
    store
        .keep("a.tstl", id, &[kept("two"), kept("three")])
        .unwrap();
    store.keep("b.tstl", id, &[kept("two")]).unwrap();
    assert_eq!(store.corpus("a.tstl", 9).unwrap().len(), 3);

    let next = store.begin(&campaign("a.tstl", 8)).unwrap();
    let first = store.known("a.tstl").unwrap()[0].id;
    store.again(first, next, 4, at(20)).unwrap();
    store
        .set_status(first, Status::Fixed, next, at(21))
        .unwrap();
    store
        .set_status(first, Status::Fixed, next, at(22))
        .unwrap();
    assert_eq!(
        store.found(next, "a.tstl", &failure("s", 30)).unwrap(),
        first
    );
    assert_ne!(
        store.found(next, "b.tstl", &failure("s", 30)).unwrap(),
        first
    );
    let known = store.known("a.tstl").unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!((known[0].times, known[0].seen), (6, at(30)));
    let changes: Vec<_> = known[0]
        .changes
        .iter()
        .map(|change| (change.status, change.at))
        .collect();
    assert_eq!(
        changes,
        [
            (Status::Open, at(3)),
            (Status::Fixed, at(21)),
            (Status::Returned, at(30))
        ]
    );
    assert_eq!(store.campaign(next).unwrap().failures, 2);
}

#[test]
fn what_is_not_there_is_an_error() {
    let (_folder, path) = folder_and_path();
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert!(!path.exists());
    let (mut store, id) = filled(&path);
    let nobody = CampaignId::of(77);
    let message = |result: Result<(), testwright_core::Error>| result.unwrap_err().message;
    let expected = "there is no campaign 77 in the store";
    assert_eq!(message(store.note(nobody, &standing(1))), expected);
    assert_eq!(message(store.reached(nobody, &[])), expected);
    assert_eq!(
        message(store.finish(nobody, &CampaignEnding::Complete, at(1))),
        expected
    );
    assert_eq!(
        message(store.found(nobody, "a.tstl", &failure("new", 1)).map(drop)),
        expected
    );
    // Nothing of it is left.
    assert_eq!(store.known("a.tstl").unwrap().len(), 1);
    let known = store.known("a.tstl").unwrap()[0].id;
    store
        .prune(&PruneOptions {
            keep: Some(0),
            ..PruneOptions::default()
        })
        .unwrap();
    assert_eq!(store.campaigns().unwrap().len(), 1, "it is running");
    store.set_status(known, Status::Fixed, id, at(2)).unwrap();
    store
        .prune(&PruneOptions {
            fixed: true,
            ..PruneOptions::default()
        })
        .unwrap();
    assert_eq!(
        message(store.reduced(known, "", "", "")),
        format!("there is no failure {known} in the store")
    );
}

#[test]
fn curves_of_long_campaigns_stay_even_and_short() {
    let (_folder, path) = folder_and_path();
    let mut store = Store::open(&path).unwrap();
    let id = store.begin(&campaign("a.tstl", 7)).unwrap();
    // As much as SQLite writes for a test of seconds; the rest of a week is skipped in strides.
    let moments: Vec<u64> = (1..1500).chain((1500..600_000).step_by(997)).collect();
    for seconds in &moments {
        store.note(id, &standing(*seconds)).unwrap();
    }
    let curve = store.curve(id).unwrap();
    assert!((150..=600).contains(&curve.len()), "{}", curve.len());
    assert_eq!(curve[0], standing(1));
    assert_eq!(
        curve.last(),
        moments.last().map(|last| standing(*last)).as_ref()
    );
    assert!(
        curve
            .windows(2)
            .all(|pair| pair[0].seconds < pair[1].seconds)
    );
    let widest = curve
        .windows(2)
        .map(|pair| pair[1].seconds - pair[0].seconds)
        .fold(0.0, f64::max);
    assert!(widest < 600_000.0 / 50.0, "{widest}");
}

#[test]
fn a_campaign_is_running_or_broken_off_or_taken_up_again() {
    let (_folder, path) = folder_and_path();
    let (store, id) = filled(&path);
    let mut other = Store::open(&path).unwrap();
    assert_eq!(other.campaign(id).unwrap().state, CampaignState::Running);
    assert_eq!(other.unfinished("a.tstl").unwrap(), None);
    let error = other.resume(id).unwrap_err();
    assert_eq!(
        error.message,
        format!("another process is running campaign {id}")
    );
    assert_eq!(other.campaign(id).unwrap().resumed, 0);

    drop(store);
    assert_eq!(other.campaign(id).unwrap().state, CampaignState::BrokenOff);
    let record = other.unfinished("a.tstl").unwrap().unwrap();
    assert_eq!((record.id, record.standing.streams), (id, 2));
    assert_eq!(other.unfinished("b.tstl").unwrap(), None);
    other.resume(id).unwrap();
    assert_eq!(other.campaign(id).unwrap().state, CampaignState::Running);
    assert_eq!(other.campaign(id).unwrap().resumed, 1);
    other
        .finish(id, &CampaignEnding::Interrupted, at(5))
        .unwrap();
    assert_eq!(other.unfinished("a.tstl").unwrap().unwrap().id, id);
    other.resume(id).unwrap();
    other.finish(id, &CampaignEnding::Complete, at(6)).unwrap();
    assert_eq!(other.unfinished("a.tstl").unwrap(), None);
    let left = fs::read_dir(path.parent().unwrap()).unwrap();
    let left = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("campaign")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn pruning_drops_what_was_asked_and_no_open_failure() {
    let (_folder, path) = folder_and_path();
    let (mut store, first) = filled(&path);
    store
        .finish(first, &CampaignEnding::Complete, at(9))
        .unwrap();
    let second = store.begin(&campaign("a.tstl", 50)).unwrap();
    let long = "x".repeat(300_000);
    store.reached(second, &[place("c.py", 1, &long)]).unwrap();
    let third = store.begin(&campaign("b.tstl", 60)).unwrap();
    let open = store.known("a.tstl").unwrap()[0].id;
    let fixed = store.found(third, "b.tstl", &failure("t", 61)).unwrap();
    store
        .set_status(fixed, Status::Fixed, third, at(62))
        .unwrap();
    for id in [second, third] {
        store.finish(id, &CampaignEnding::Complete, at(70)).unwrap();
    }
    let nothing = store.prune(&PruneOptions::default()).unwrap();
    assert_eq!(
        (nothing.campaigns, nothing.failures, nothing.tests),
        (vec![], vec![], 0)
    );

    let both = PruneOptions {
        keep: Some(2),
        before: Some(at(55)),
        ..PruneOptions::default()
    };
    let dry = store
        .prune(&PruneOptions {
            dry_run: true,
            ..both
        })
        .unwrap();
    assert_eq!(dry.campaigns, [first]);
    assert_eq!(store.campaigns().unwrap().len(), 3);
    assert_eq!(store.prune(&both).unwrap().campaigns, [first]);
    assert_eq!(
        store.corpus("a.tstl", 9).unwrap().len(),
        2,
        "a campaign of it is left"
    );
    assert_eq!(store.places(first).unwrap(), []);

    let old = PruneOptions {
        before: Some(at(55)),
        fixed: true,
        ..PruneOptions::default()
    };
    let pruned = store.prune(&old).unwrap();
    assert_eq!(pruned.campaigns, [second]);
    assert_eq!(pruned.failures, [fixed]);
    assert_eq!(pruned.tests, 2);
    assert_eq!(pruned.not_compacted, None);
    assert!(
        pruned.size_after + long.len() as u64 <= pruned.size_before,
        "{pruned:?}"
    );
    assert_eq!(store.known("a.tstl").unwrap()[0].id, open);

    let all = PruneOptions {
        keep: Some(0),
        open: true,
        ..PruneOptions::default()
    };
    assert_eq!(store.prune(&all).unwrap().failures, [open]);
    assert_eq!(store.campaigns().unwrap(), []);
    // Numbers are never given twice.
    assert!(store.begin(&campaign("a.tstl", 7)).unwrap() > third);
}

#[test]
fn a_store_of_an_earlier_version_becomes_a_new_one() {
    let (_folder, path) = folder_and_path();
    let (store, id) = filled(&path);
    drop(store);
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch("DROP TABLE status_change; PRAGMA user_version = 1")
        .unwrap();
    drop(database);
    let store = Store::open_existing(&path).unwrap().unwrap();
    let known = store.failures_of(id).unwrap();
    let changes: Vec<_> = known[0]
        .changes
        .iter()
        .map(|change| (change.status, change.at))
        .collect();
    assert_eq!(changes, [(Status::Open, at(3))]);
}

#[test]
fn a_newer_store_is_left_alone() {
    let (_folder, path) = folder_and_path();
    drop(filled(&path));
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch("CREATE TABLE better (id); PRAGMA user_version = 9")
        .unwrap();
    drop(database);
    let before = fs::read(&path).unwrap();
    for error in [Store::open(&path).err(), Store::open_existing(&path).err()] {
        let error = error.unwrap();
        assert!(
            error
                .message
                .contains("was written by a newer Testwright: it has version 9"),
            "{error}"
        );
        assert!(error.help.unwrap().contains("update Testwright"));
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let refusal = |reason: &str| {
        let error = Store::open(&path).err().expect("it is no store");
        let expected = format!(
            "`{}` is not a store of Testwright: {reason}",
            path.display()
        );
        assert_eq!(error.message, expected);
        assert!(error.help.is_some());
    };
    fs::write(&path, "just a text that somebody needs, and longer than a hundred bytes, which is what a header takes").unwrap();
    refusal("it is no SQLite file");
    fs::write(&path, "x").unwrap();
    refusal("it is no SQLite file");
    fs::remove_file(&path).unwrap();
    let database = Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE mine (id)").unwrap();
    drop(database);
    let before = fs::read(&path).unwrap();
    refusal("it has other data in it");
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refusal("it is a folder");
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "").unwrap();
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert_eq!(fs::read(&path).unwrap(), b"");
    assert_eq!(Store::open(&path).unwrap().campaigns().unwrap(), []);

    let in_the_way = path.join("store.db");
    let error = Store::open(&in_the_way).err().unwrap();
    assert!(
        error.message.ends_with("is a file where a folder belongs"),
        "{error}"
    );
}

/// A journal as a transaction over two files leaves it. SQLite deletes the file that it names.
fn journal_naming(file: &Path, pages: u32) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    const PAGE: u32 = 4096;
    let name = file.to_str().unwrap().as_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    let mut journal = MAGIC.to_vec();
    // Records, checksum, pages, size of a sector and of a page; then the page where no data can be.
    for number in [0, 0, pages, 512, PAGE] {
        journal.extend(u32::to_be_bytes(number));
    }
    journal.resize(512, 0);
    journal.extend((0x4000_0000 / PAGE + 1).to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend(MAGIC);
    journal
}

#[test]
fn a_journal_beside_the_store_deletes_no_file() {
    let (folder, path) = folder_and_path();
    drop(filled(&path));
    let victim = folder.path().join("precious-mj0123459AB");
    fs::write(&victim, "").unwrap();
    let pages = fs::metadata(&path).unwrap().len() / 4096;
    let journal = journal_naming(&victim, pages as u32);
    fs::write(path.with_file_name("store.db-journal"), journal).unwrap();
    for error in [Store::open(&path).err(), Store::open_existing(&path).err()] {
        assert!(victim.exists());
        assert!(error.unwrap().message.ends_with("names another file"));
    }
}

#[test]
fn long_words_are_cut_and_long_tests_refused() {
    let (_folder, path) = folder_and_path();
    let (mut store, id) = filled(&path);
    let wordy = FoundFailure {
        message: "ü".repeat(1 << 20),
        ..failure("wordy", 4)
    };
    store.found(id, "b.tstl", &wordy).unwrap();
    let message = store.known("b.tstl").unwrap().remove(0).found.message;
    assert!(message.len() < 1_100_000 && message.ends_with("ü (cut off)"));
    let endless = kept(&"x".repeat(65 << 20));
    assert!(store.keep("b.tstl", id, &[kept("short"), endless]).is_err());
    assert_eq!(store.corpus("b.tstl", 9).unwrap(), []);
}
