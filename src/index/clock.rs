//! The time of a run, formatted.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Returns the time as `2026-01-31T12:00:00Z`.
pub(super) fn now() -> String {
    // A year of five digits alone cannot be written.
    OffsetDateTime::now_utc().truncate_to_second().format(&Rfc3339).unwrap_or_default()
}
