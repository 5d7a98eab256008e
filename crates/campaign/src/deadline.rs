//! The one deadline of everything that runs code under test.
//!
//! Something that exceeds its limit is not a hang yet: it gets much more time, once. If it ends
//! within that, it was slow, and whatever comes later gets as much. A [`Deadline`] has no clock: it
//! is told what has been exceeded, so that a test of it waits for nothing.

use std::time::Duration;

use crate::Activity;

/// The limit of Testwright's own work, which always ends unless the process was stopped from outside.
const OWN_WORK: Duration = Duration::from_secs(60);

/// Returns the time after which something that has exceeded its limit is called a hang. Loading and
/// resetting may import modules, which takes longer than steps do.
#[must_use]
pub fn confirmation_limit(limit: Duration, activity: Activity) -> Duration {
    let factor = if activity.runs_modules() { 12 } else { 3 };
    (factor * limit).max(limit + Duration::from_secs(3))
}

/// An activity that has ended after its limit, which is no failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowActivity {
    /// The activity.
    pub activity: Activity,
    /// The time that it took.
    pub took: Duration,
    /// The limit that it exceeded.
    pub limit: Duration,
}

/// An activity that has exceeded a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// It gets more time.
    Late {
        /// The limit that it has exceeded.
        limit: Duration,
        /// The time after which it is called a hang.
        confirmation: Duration,
    },
    /// It hangs: it has exceeded this limit, and the time that it got after that.
    Hang(Duration),
}

/// The deadline of one process.
#[derive(Clone, Debug)]
pub struct Deadline {
    /// The limit that the user has set.
    limit: Duration,
    /// False if whatever exceeds its limit is a hang at once.
    confirms: bool,
    /// The activity that has exceeded a limit and gets more time, and that limit.
    late: Option<(Activity, Duration)>,
    /// Twice the longest time of a late activity: of steps, and of what runs modules.
    slowest: [Duration; 2],
}

impl Deadline {
    /// Creates a deadline that gives more time to what exceeds the limit.
    #[must_use]
    pub fn new(limit: Duration) -> Deadline {
        Deadline {
            limit,
            confirms: true,
            late: None,
            slowest: [Duration::ZERO; 2],
        }
    }

    /// Calls whatever exceeds the limit a hang at once.
    #[must_use]
    pub(crate) fn without_confirmation(mut self) -> Deadline {
        self.confirms = false;
        self
    }

    /// Returns what there is to say about the current activity, if it has exceeded a limit.
    /// `has_exceeded` tells whether the time since the last progress is longer than a limit.
    pub fn observe(
        &mut self,
        activity: Activity,
        mut has_exceeded: impl FnMut(Duration) -> bool,
    ) -> Option<Exceeded> {
        if activity == Activity::OwnWork {
            let limit = OWN_WORK.max(self.limit);
            return has_exceeded(limit).then_some(Exceeded::Hang(limit));
        }
        let limit = self
            .limit
            .max(self.slowest[usize::from(activity.runs_modules())]);
        let confirmation = confirmation_limit(limit, activity);
        match self.late {
            None if !has_exceeded(limit) => None,
            None if self.confirms => {
                self.late = Some((activity, limit));
                Some(Exceeded::Late {
                    limit,
                    confirmation,
                })
            }
            Some(_) if !has_exceeded(confirmation) => None,
            _ => Some(Exceeded::Hang(self.limit)),
        }
    }

    /// Notes that the process has made progress after so much time. Returns the activity if it has
    /// ended after its limit.
    pub fn note_progress(&mut self, took: Duration) -> Option<SlowActivity> {
        let (activity, limit) = self.late.take()?;
        let slowest = &mut self.slowest[usize::from(activity.runs_modules())];
        *slowest = (*slowest).max(2 * took);
        Some(SlowActivity {
            activity,
            took,
            limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    fn after(deadline: &mut Deadline, activity: Activity, seconds: u64) -> Option<Exceeded> {
        deadline.observe(activity, |limit| Duration::from_secs(seconds) > limit)
    }

    #[test]
    fn a_hang_is_claimed_after_one_confirmation() {
        for (activity, confirmation) in [
            (Activity::Stepping, 15),
            (Activity::Choosing, 15),
            (Activity::Resetting, 60),
            (Activity::Loading, 60),
        ] {
            let mut deadline = Deadline::new(LIMIT);
            assert_eq!(after(&mut deadline, activity, 5), None);
            let late = Exceeded::Late {
                limit: LIMIT,
                confirmation: Duration::from_secs(confirmation),
            };
            assert_eq!(after(&mut deadline, activity, 6), Some(late));
            assert_eq!(after(&mut deadline, activity, confirmation), None);
            let end = after(&mut deadline, activity, confirmation + 1);
            assert_eq!(end, Some(Exceeded::Hang(LIMIT)));
        }
        let mut strict = Deadline::new(LIMIT).without_confirmation();
        let end = after(&mut strict, Activity::Stepping, 6);
        assert_eq!(end, Some(Exceeded::Hang(LIMIT)));
    }

    #[test]
    fn what_was_slow_gives_as_much_time_to_what_comes_later() {
        let mut deadline = Deadline::new(LIMIT);
        assert!(after(&mut deadline, Activity::Stepping, 6).is_some());
        let slow = SlowActivity {
            activity: Activity::Stepping,
            took: Duration::from_secs(8),
            limit: LIMIT,
        };
        assert_eq!(deadline.note_progress(slow.took), Some(slow));
        assert_eq!(deadline.note_progress(slow.took), None);
        assert_eq!(after(&mut deadline, Activity::Stepping, 16), None);
        assert!(after(&mut deadline, Activity::Stepping, 17).is_some());
        // An import says nothing about steps, and a step nothing about imports.
        assert!(after(&mut Deadline::new(LIMIT), Activity::Loading, 6).is_some());
        let mut deadline = Deadline::new(LIMIT);
        assert!(after(&mut deadline, Activity::Loading, 6).is_some());
        deadline.note_progress(Duration::from_secs(30));
        assert_eq!(after(&mut deadline, Activity::Resetting, 60), None);
        assert!(after(&mut deadline, Activity::Stepping, 6).is_some());
    }

    #[test]
    fn own_work_is_not_announced() {
        let mut deadline = Deadline::new(LIMIT);
        assert_eq!(after(&mut deadline, Activity::OwnWork, 60), None);
        let end = after(&mut deadline, Activity::OwnWork, 61);
        assert_eq!(end, Some(Exceeded::Hang(OWN_WORK)));
    }
}
