//! A store keeps what it is given.

use std::fs;

use testwright_campaign::store::{
    CampaignEnding, CampaignId, CampaignState, FailureStatus, PruneOptions, Store,
};

use crate::toys;

use toys::{arc, at, campaign, failure, filled, folder_and_path, kept, progress};

#[test]
fn another_process_reads_the_stored_campaign() {
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
    assert_eq!(record.settings, campaign("a.tstl", 7));
    assert_eq!(record.progress, progress(8));
    assert_eq!(record.failures, 1);
    let ending = CampaignEnding::Failed("no more".to_owned());
    assert_eq!(record.state, CampaignState::Ended(ending, at(9)));
    assert_eq!(
        other.campaign(big).unwrap().settings,
        campaign("ü \0 '; DROP TABLE campaign; --", u64::MAX)
    );
    assert_eq!(other.campaigns().unwrap().len(), 2);
    assert_eq!(
        other.progress_curve(id).unwrap(),
        (1..9).map(progress).collect::<Vec<_>>()
    );
    let arcs = [arc("a.py", -1, "one"), arc("b.py", 4, "two")];
    assert_eq!(other.arcs(id).unwrap(), arcs);
    assert_eq!(
        other.corpus("a.tstl", 9).unwrap(),
        [kept("one"), kept("two")]
    );
    assert_eq!(other.corpus("a.tstl", 1).unwrap(), [kept("two")]);
    let known = other.failures_of_harness("a.tstl").unwrap();
    assert_eq!(known, other.failures_of_campaign(id).unwrap());
    assert_eq!(known[0].reduced.as_deref(), Some("x = 1\n"));
    assert_eq!(known[0].found.message, "shorter");
    assert_eq!(known[0].found.full, failure("s", 3).full);
    assert_eq!((known[0].status, known[0].times), (FailureStatus::Open, 1));
    assert_eq!(other.failures_of_harness("b.tstl").unwrap(), []);
    let ignored = fs::read_to_string(path.with_file_name(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
}

#[test]
fn the_same_again_is_no_second_one() {
    let (_folder, path) = folder_and_path();
    let (mut store, id) = filled(&path);
    store
        .record_arcs(id, &[arc("a.py", -1, "later"), arc("a.py", 0, "later")])
        .unwrap();
    let reached = store.arcs(id).unwrap();
    assert_eq!(
        reached
            .iter()
            .map(|arc| arc.test.as_str())
            .collect::<Vec<_>>(),
        ["one", "later", "two"]
    );
    store
        .keep_tests("a.tstl", id, &[kept("two"), kept("three")])
        .unwrap();
    store.keep_tests("b.tstl", id, &[kept("two")]).unwrap();
    assert_eq!(store.corpus("a.tstl", 9).unwrap().len(), 3);

    let next = store.begin(&campaign("a.tstl", 8)).unwrap();
    let first = store.failures_of_harness("a.tstl").unwrap()[0].id;
    store.record_recurrence(first, next, 4, at(20)).unwrap();
    store
        .set_status(first, FailureStatus::Fixed, next, at(21))
        .unwrap();
    store
        .set_status(first, FailureStatus::Fixed, next, at(22))
        .unwrap();
    assert_eq!(
        store
            .record_failure(next, "a.tstl", &failure("s", 30))
            .unwrap(),
        first
    );
    assert_ne!(
        store
            .record_failure(next, "b.tstl", &failure("s", 30))
            .unwrap(),
        first
    );
    let known = store.failures_of_harness("a.tstl").unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!((known[0].times, known[0].last_seen), (6, at(30)));
    let changes: Vec<_> = known[0]
        .changes
        .iter()
        .map(|change| (change.status, change.at))
        .collect();
    assert_eq!(
        changes,
        [
            (FailureStatus::Open, at(3)),
            (FailureStatus::Fixed, at(21)),
            (FailureStatus::Returned, at(30))
        ]
    );
    assert_eq!(store.campaign(next).unwrap().failures, 2);
}

#[test]
fn missing_stores_and_campaigns_are_errors() {
    let (_folder, path) = folder_and_path();
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert!(!path.exists());
    let (mut store, id) = filled(&path);
    let missing = CampaignId::from_number(77);
    let message = |result: Result<(), testwright_core::Error>| result.unwrap_err().message;
    let expected = "there is no campaign 77 in the store";
    assert_eq!(
        message(store.record_progress(missing, &progress(1))),
        expected
    );
    assert_eq!(message(store.record_arcs(missing, &[])), expected);
    assert_eq!(
        message(store.finish(missing, &CampaignEnding::Complete, at(1))),
        expected
    );
    assert_eq!(
        message(
            store
                .record_failure(missing, "a.tstl", &failure("new", 1))
                .map(drop)
        ),
        expected
    );
    // Nothing of it is left.
    assert_eq!(store.failures_of_harness("a.tstl").unwrap().len(), 1);
    let known = store.failures_of_harness("a.tstl").unwrap()[0].id;
    store
        .prune(&PruneOptions {
            keep: Some(0),
            ..PruneOptions::default()
        })
        .unwrap();
    assert_eq!(store.campaigns().unwrap().len(), 1, "it is running");
    store
        .set_status(known, FailureStatus::Fixed, id, at(2))
        .unwrap();
    store
        .prune(&PruneOptions {
            fixed: true,
            ..PruneOptions::default()
        })
        .unwrap();
    assert_eq!(
        message(store.record_reduction(known, "", "", "")),
        format!("there is no failure {known} in the store")
    );
}

#[test]
fn curves_of_long_campaigns_stay_even_and_short() {
    let (_folder, path) = folder_and_path();
    let mut store = Store::open(&path).unwrap();
    let id = store.begin(&campaign("a.tstl", 7)).unwrap();
    // As much as SQLite writes for a test of seconds; the rest of a week is skipped in strides.
    let times: Vec<u64> = (1..1500).chain((1500..600_000).step_by(997)).collect();
    for seconds in &times {
        store.record_progress(id, &progress(*seconds)).unwrap();
    }
    let curve = store.progress_curve(id).unwrap();
    assert!((150..=600).contains(&curve.len()), "{}", curve.len());
    assert_eq!(curve[0], progress(1));
    assert_eq!(
        curve.last(),
        times.last().map(|last| progress(*last)).as_ref()
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
    assert_eq!((record.id, record.progress.streams), (id, 2));
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
    store.record_arcs(second, &[arc("c.py", 1, &long)]).unwrap();
    let third = store.begin(&campaign("b.tstl", 60)).unwrap();
    let open = store.failures_of_harness("a.tstl").unwrap()[0].id;
    let fixed = store
        .record_failure(third, "b.tstl", &failure("t", 61))
        .unwrap();
    store
        .set_status(fixed, FailureStatus::Fixed, third, at(62))
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
    assert_eq!(store.arcs(first).unwrap(), []);

    let old = PruneOptions {
        before: Some(at(55)),
        fixed: true,
        ..PruneOptions::default()
    };
    let pruned = store.prune(&old).unwrap();
    assert_eq!(pruned.campaigns, [second]);
    assert_eq!(pruned.failures, [fixed]);
    assert_eq!(pruned.tests, 2);
    assert_eq!(pruned.compact_error, None);
    assert!(
        pruned.size_after + long.len() as u64 <= pruned.size_before,
        "{pruned:?}"
    );
    assert_eq!(store.failures_of_harness("a.tstl").unwrap()[0].id, open);

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
