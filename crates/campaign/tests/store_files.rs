//! A file that is no store, or not one of ours, is told from one that is, and left as it was.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use testwright_campaign::store::{CampaignState, FailureStatus, NewFailure, Store};

use crate::toys;

use toys::{at, failure, filled, folder_and_path, kept, progress};

#[test]
fn a_store_of_an_earlier_version_becomes_a_new_one() {
    let (_folder, path) = folder_and_path();
    let (store, id) = filled(&path);
    drop(store);
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch("DROP TABLE same_bug; DROP TABLE status_change; PRAGMA user_version = 1")
        .unwrap();
    drop(database);
    let store = Store::open_existing(&path).unwrap().unwrap();
    let known = store.failures_of_campaign(id).unwrap();
    let changes: Vec<_> = known[0]
        .changes
        .iter()
        .map(|change| (change.status, change.at))
        .collect();
    assert_eq!(changes, [(FailureStatus::Open, at(3))]);
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
    refusal("it is not an SQLite file");
    fs::write(&path, "x").unwrap();
    refusal("it is not an SQLite file");
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

/// A journal as a transaction over two files leaves it. Earlier versions of SQLite delete whatever
/// file it names.
fn journal_that_deletes(file: &Path, pages: u32) -> Vec<u8> {
    const JOURNAL_HEADER: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    const PAGE_SIZE: u32 = 4096;
    let name = file.to_str().unwrap().as_bytes();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    let mut journal = JOURNAL_HEADER.to_vec();
    // Records, checksum, pages, size of a sector and of a page; then the page where no data can be.
    for number in [0, 0, pages, 512, PAGE_SIZE] {
        journal.extend(u32::to_be_bytes(number));
    }
    journal.resize(512, 0);
    journal.extend((0x4000_0000 / PAGE_SIZE + 1).to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend(JOURNAL_HEADER);
    journal
}

#[test]
fn a_journal_beside_the_store_deletes_no_file() {
    let (folder, path) = folder_and_path();
    drop(filled(&path));
    let victim = folder.path().join("precious.txt");
    fs::write(&victim, "").unwrap();
    let pages = fs::metadata(&path).unwrap().len() / 4096;
    let journal = journal_that_deletes(&victim, pages as u32);
    fs::write(path.with_file_name("store.db-journal"), journal).unwrap();
    assert!(Store::open_existing(&path).unwrap().is_some());
    assert!(victim.exists());
}

#[cfg(unix)]
#[test]
fn two_paths_to_one_store_agree() {
    let (folder, path) = folder_and_path();
    let (mut store, id) = filled(&path);
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let other = Store::open_existing(&link).unwrap().unwrap();
    assert_eq!(other.campaign(id).unwrap().state, CampaignState::Running);
    store.record_progress(id, &progress(20)).unwrap();
    assert_eq!(other.campaign(id).unwrap().progress, progress(20));
}

#[test]
fn long_words_are_cut_and_long_tests_refused() {
    let (_folder, path) = folder_and_path();
    let (mut store, id) = filled(&path);
    let wordy = NewFailure {
        message: "ü".repeat(1 << 20),
        ..failure("wordy", 4)
    };
    store.record_failure(id, "b.tstl", &wordy).unwrap();
    let message = store
        .failures_of_harness("b.tstl")
        .unwrap()
        .remove(0)
        .found
        .message;
    assert!(message.len() < 1_100_000 && message.ends_with("ü (cut off)"));
    let endless = kept(&"x".repeat(65 << 20));
    assert!(
        store
            .keep_tests("b.tstl", id, &[kept("short"), endless])
            .is_err()
    );
    assert_eq!(store.corpus("b.tstl", 9).unwrap(), []);
}
