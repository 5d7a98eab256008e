//! Appearance of special states.

use crate::graph::StateMarks;

/// A special property of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateMark {
    Start,
    Accepting,
    Unsafe,
    Frontier,
    Deadend,
    Finished,
    Dead,
}

impl StateMark {
    /// All marks, in the order of the legend.
    pub(super) const ALL: [StateMark; 7] = [
        StateMark::Start,
        StateMark::Accepting,
        StateMark::Unsafe,
        StateMark::Frontier,
        StateMark::Deadend,
        StateMark::Finished,
        StateMark::Dead,
    ];

    /// Returns true if a state has this mark.
    pub(super) fn applies(self, marks: StateMarks) -> bool {
        match self {
            StateMark::Start => marks.start,
            StateMark::Accepting => marks.accepting,
            StateMark::Unsafe => marks.is_unsafe,
            StateMark::Frontier => marks.frontier,
            StateMark::Deadend => marks.deadend,
            StateMark::Finished => marks.finished,
            StateMark::Dead => marks.dead,
        }
    }

    /// Iterates over the marks of a state.
    pub(super) fn applying(marks: StateMarks) -> impl Iterator<Item = StateMark> {
        (StateMark::ALL.into_iter()).filter(move |mark| mark.applies(marks))
    }

    /// Returns the CSS class of the mark.
    pub(super) fn class(self) -> &'static str {
        match self {
            StateMark::Start => "start",
            StateMark::Accepting => "accepting",
            StateMark::Unsafe => "unsafe",
            StateMark::Frontier => "frontier",
            StateMark::Deadend => "deadend",
            StateMark::Finished => "finished",
            StateMark::Dead => "dead",
        }
    }

    /// Returns the text of the legend.
    pub(super) fn text(self) -> &'static str {
        match self {
            StateMark::Start => "start",
            StateMark::Accepting => "accepting: a run may stop",
            StateMark::Unsafe => "unsafe: an invariant is false",
            StateMark::Frontier => "frontier: not fully explored",
            StateMark::Deadend => "dead end: stuck, not accepting",
            StateMark::Finished => "finished: nothing left to do",
            StateMark::Dead => "dead: never accepting again",
        }
    }

    /// Returns the symbol in the badge, as a path around its center. Marks without a badge are
    /// shown in other ways.
    pub(super) fn badge(self) -> Option<&'static str> {
        match self {
            StateMark::Start | StateMark::Accepting => None,
            StateMark::Unsafe => Some("M0 -3.6V.6M0 3.2v.2"),
            StateMark::Frontier => Some("M-3.2 0h.2M-.1 0h.2M3 0h.2"),
            StateMark::Deadend => Some("M-2.5 -2.5l5 5M2.5 -2.5l-5 5"),
            StateMark::Finished => Some("M-3 .2l2 2.3l4 -4.8"),
            StateMark::Dead => Some("M-3.2 0h6.4"),
        }
    }
}

/// Returns the CSS class for the color of a state, by its most important mark.
pub(super) fn colour(marks: StateMarks) -> &'static str {
    let by_weight = [
        StateMark::Unsafe,
        StateMark::Frontier,
        StateMark::Deadend,
        StateMark::Finished,
        StateMark::Dead,
        StateMark::Start,
    ];
    (by_weight.into_iter())
        .find(|mark| mark.applies(marks))
        .map_or("fill-plain", |mark| match mark {
            StateMark::Unsafe => "fill-unsafe",
            StateMark::Frontier => "fill-frontier",
            StateMark::Deadend => "fill-deadend",
            StateMark::Finished => "fill-finished",
            StateMark::Dead => "fill-dead",
            StateMark::Start | StateMark::Accepting => "fill-start",
        })
}

/// Returns the marks of a state that has only this one, for the legend.
pub(super) fn only(mark: StateMark) -> StateMarks {
    let mut marks = StateMarks::default();
    match mark {
        StateMark::Start => marks.start = true,
        StateMark::Accepting => marks.accepting = true,
        StateMark::Unsafe => marks.is_unsafe = true,
        StateMark::Frontier => marks.frontier = true,
        StateMark::Deadend => marks.deadend = true,
        StateMark::Finished => marks.finished = true,
        StateMark::Dead => marks.dead = true,
    }
    marks
}
