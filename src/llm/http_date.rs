//! Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT`. The two older forms are not read.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_S: u64 = 24 * 60 * 60;

/// Returns the time that a date of HTTP means.
pub(super) fn parsed(text: &str) -> Option<SystemTime> {
    let (_weekday, date) = text.trim().split_once(", ")?;
    let [day, month, year, time, "GMT"] = *date.split(' ').collect::<Vec<_>>() else { return None };
    let [hours, minutes, seconds] = *time.split(':').collect::<Vec<_>>() else { return None };
    let number = |text: &str, max: u64| text.parse::<u64>().ok().filter(|it| *it <= max && !text.starts_with('+'));
    let month = MONTHS.iter().position(|it| *it == month)? as u64 + 1;
    let days = days_since_1970(number(year, 9_999).filter(|it| *it >= 1970)?, month, number(day, 31)?.max(1));
    let seconds = number(hours, 23)? * 3_600 + number(minutes, 59)? * 60 + number(seconds, 60)?;
    Some(UNIX_EPOCH + Duration::from_secs(days * DAY_S + seconds))
}

/// Returns the days from 1970 to a date: years are taken to begin in March, so that a leap day ends one.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let in_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + in_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_the_time_that_it_means() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Wed, 21 Oct 2026 07:28:00 GMT", 1_792_567_680),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ] {
            assert_eq!(parsed(text), Some(UNIX_EPOCH + Duration::from_secs(seconds)), "{text}");
        }
        for text in
            ["", "soon", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 0:0:0 GMT"]
        {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
