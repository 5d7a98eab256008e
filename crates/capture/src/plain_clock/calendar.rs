//! Points in time and how they are written, in the calendar of `datetime`.

/// A point in time, without a place on earth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    /// Since the beginning of 1970.
    pub(super) microseconds: i64,
}

const DAY: i64 = 86_400_000_000;

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

const WEEKDAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];

impl Moment {
    pub(super) fn of_seconds(seconds: f64) -> Moment {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates, which is as good"
        )]
        let microseconds = (seconds * 1e6).round() as i64;
        Moment { microseconds }
    }

    #[expect(clippy::cast_precision_loss, reason = "clocks have no more either")]
    pub(super) fn seconds(self) -> f64 {
        self.microseconds as f64 / 1e6
    }

    pub(super) fn later(self, seconds: f64) -> Moment {
        self.later_by(Moment::of_seconds(seconds).microseconds)
    }

    pub(super) fn later_by(self, microseconds: i64) -> Moment {
        Moment {
            microseconds: self.microseconds.saturating_add(microseconds),
        }
    }

    /// Its microseconds since the last whole second.
    pub(super) fn fraction(self) -> i64 {
        self.microseconds.rem_euclid(1_000_000)
    }

    /// The beginning of its day.
    pub(super) fn day(self) -> Moment {
        let days = self.microseconds.div_euclid(DAY);
        Moment {
            microseconds: days * DAY,
        }
    }

    /// Year, month and day, and perhaps hour, minute, second and microsecond.
    pub(super) fn of_parts(parts: &[i64]) -> Option<Moment> {
        let [year, month, day, rest @ ..] = parts else {
            return None;
        };
        let rest = |place: usize| rest.get(place).copied().unwrap_or(0);
        let seconds = (rest(0) * 60 + rest(1)) * 60 + rest(2);
        Some(Moment {
            microseconds: days(*year, *month, *day) * DAY + seconds * 1_000_000 + rest(3),
        })
    }

    /// Year, month, day, hour, minute, second, microsecond.
    pub(super) fn parts(self) -> [i64; 7] {
        let (year, month, day) = date(self.microseconds.div_euclid(DAY));
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

    /// How programs write it, always in the same order.
    pub(super) fn texts(self) -> Vec<String> {
        let [year, month, day, hour, minute, second, micro] = self.parts();
        let name = |names: &[&'static str], number: i64| {
            let place = usize::try_from(number).unwrap_or(0) % names.len();
            names.get(place).copied().unwrap_or_default()
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

/// How many days after the beginning of 1970 a date is. Years are counted from March, so that the day that some have more
/// is their last, and in groups of 400, which all have the same number of days.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let group = year.div_euclid(400);
    let year = year.rem_euclid(400);
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    group * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year - 719_468
}

/// The date that is so many days after the beginning of 1970.
fn date(days: i64) -> (i64, i64, i64) {
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
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(days(2000, 2, 29)), (2000, 2, 29));
        for number in (-200_000..200_000).step_by(97) {
            let (year, month, day) = date(number);
            assert_eq!(days(year, month, day), number);
        }
    }

    #[test]
    fn a_moment_is_written_in_the_usual_ways() {
        let moment = Moment::of_parts(&[2026, 11, 17, 2, 8, 33, 920_373]).expect("a moment");
        assert_eq!(moment.parts(), [2026, 11, 17, 2, 8, 33, 920_373]);
        let texts = moment.texts();
        assert_eq!(texts[0], "2026-11-17T02:08:33.920373");
        assert!(texts.contains(&"Tue Nov 17 02:08:33 2026".to_owned()));
        assert!(texts.contains(&"17/11/2026".to_owned()));
    }
}
