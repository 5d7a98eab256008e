//! Points in time, and the formats in which programs write them, in the calendar of `datetime`.

/// A point in time, without a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimePoint {
    /// Microseconds since the beginning of 1970.
    pub(super) microseconds: i64,
}

/// The length of a day in microseconds.
const DAY: i64 = 86_400_000_000;

/// The names of the months.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The names of the weekdays, from that of 1 January 1970 on.
const WEEKDAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];

impl TimePoint {
    /// Creates a point in time from seconds since 1970.
    pub(super) fn from_seconds(seconds: f64) -> TimePoint {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates, which is as good"
        )]
        let microseconds = (seconds * 1e6).round() as i64;
        TimePoint { microseconds }
    }

    /// Returns the seconds since 1970.
    #[expect(clippy::cast_precision_loss, reason = "clocks have no more either")]
    pub(super) fn seconds(self) -> f64 {
        self.microseconds as f64 / 1e6
    }

    /// Adds seconds.
    pub(super) fn add_seconds(self, seconds: f64) -> TimePoint {
        self.add_microseconds(TimePoint::from_seconds(seconds).microseconds)
    }

    /// Adds microseconds.
    pub(super) fn add_microseconds(self, microseconds: i64) -> TimePoint {
        TimePoint {
            microseconds: self.microseconds.saturating_add(microseconds),
        }
    }

    /// Returns the microseconds since the last whole second.
    pub(super) fn fraction(self) -> i64 {
        self.microseconds.rem_euclid(1_000_000)
    }

    /// Returns the beginning of its day.
    pub(super) fn start_of_day(self) -> TimePoint {
        let days = self.microseconds.div_euclid(DAY);
        TimePoint {
            microseconds: days * DAY,
        }
    }

    /// Creates a point in time from year, month and day, and optionally hour, minute, second and
    /// microsecond.
    pub(super) fn from_parts(parts: &[i64]) -> Option<TimePoint> {
        let [year, month, day, rest @ ..] = parts else {
            return None;
        };
        let rest = |index: usize| rest.get(index).copied().unwrap_or(0);
        let seconds = (rest(0) * 60 + rest(1)) * 60 + rest(2);
        Some(TimePoint {
            microseconds: days_since_1970(*year, *month, *day) * DAY
                + seconds * 1_000_000
                + rest(3),
        })
    }

    /// Returns year, month, day, hour, minute, second and microsecond.
    pub(super) fn parts(self) -> [i64; 7] {
        let (year, month, day) = date_after_1970(self.microseconds.div_euclid(DAY));
        let rest = self.microseconds.rem_euclid(DAY);
        let seconds = rest / 1_000_000;
        [
            year,
            month,
            day,
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            rest % 1_000_000,
        ]
    }

    /// Renders it in all usual formats, always in the same order.
    pub(super) fn usual_formats(self) -> Vec<String> {
        let [year, month, day, hour, minute, second, micro] = self.parts();
        let name = |names: &[&'static str], number: i64| {
            let index = usize::try_from(number).unwrap_or(0) % names.len();
            names.get(index).copied().unwrap_or_default()
        };
        let month_name = name(&MONTHS, month - 1);
        let short_month = month_name.get(..3).unwrap_or(month_name);
        let weekday = name(&WEEKDAYS, self.microseconds.div_euclid(DAY).rem_euclid(7));
        let short_day = weekday.get(..3).unwrap_or(weekday);
        let date = format!("{year:04}-{month:02}-{day:02}");
        let time = format!("{hour:02}:{minute:02}:{second:02}");
        vec![
            format!("{date}T{time}.{micro:06}"),
            format!("{date} {time}.{micro:06}"),
            format!("{date}T{time}.{:03}", micro / 1_000),
            format!("{date}T{time}"),
            format!("{date} {time}"),
            format!("{date} {hour:02}:{minute:02}"),
            format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}"),
            format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}"),
            format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}"),
            format!("{short_day} {short_month} {day:2} {time} {year:04}"),
            format!("{short_day}, {day:02} {short_month} {year:04} {time}"),
            format!("{weekday}, {day:02} {month_name} {year:04}"),
            format!("{month_name} {day:02}, {year:04}"),
            format!("{day:02} {month_name} {year:04}"),
            format!("{day:02} {short_month} {year:04}"),
            format!("{day:02}/{month:02}/{year:04}"),
            format!("{month:02}/{day:02}/{year:04}"),
            format!("{day:02}.{month:02}.{year:04}"),
            date,
            format!("{year:04}{month:02}{day:02}"),
        ]
    }
}

/// Returns the number of days from the beginning of 1970 to a date. Years are counted from March,
/// so that the leap day is the last of its year, and in groups of 400, which all have the same
/// number of days.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let group = year.div_euclid(400);
    let year = year.rem_euclid(400);
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    group * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year - 719_468
}

/// Returns the date that is a number of days after the beginning of 1970.
fn date_after_1970(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let group = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + group * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_numbers_of_days_belong_together() {
        assert_eq!(date_after_1970(0), (1970, 1, 1));
        assert_eq!(date_after_1970(days_since_1970(2000, 2, 29)), (2000, 2, 29));
        for number in (-200_000..200_000).step_by(97) {
            let (year, month, day) = date_after_1970(number);
            assert_eq!(days_since_1970(year, month, day), number);
        }
    }

    #[test]
    fn a_time_point_has_the_usual_formats() {
        let moment = TimePoint::from_parts(&[2026, 11, 17, 2, 8, 33, 920_373]).expect("a moment");
        assert_eq!(moment.parts(), [2026, 11, 17, 2, 8, 33, 920_373]);
        let texts = moment.usual_formats();
        assert_eq!(texts[0], "2026-11-17T02:08:33.920373");
        assert!(texts.contains(&"Tue Nov 17 02:08:33 2026".to_owned()));
        assert!(texts.contains(&"17/11/2026".to_owned()));
    }
}
