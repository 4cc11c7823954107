//! Reports about communities, as arrays.

use super::PackedDescriptions;
use crate::graph::ordinal::{CommunityOrdinal, SentenceOrdinal};
use crate::graph::packed::back_to_back;

/// A model's report about a community.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedReport {
    /// The community.
    pub community: CommunityOrdinal,
    /// Its title.
    pub title: String,
    /// Its summary.
    pub summary: String,
    /// How much it matters, from 0 to 10.
    pub rating: f32,
    /// Its findings, each with the sentences that support it.
    pub findings: Vec<(String, Vec<SentenceOrdinal>)>,
}

/// Gives descriptions these reports, one a community, in place of those that they have.
pub fn pack_reports(mut reports: Vec<PackedReport>, packed: &mut PackedDescriptions) {
    reports.sort_by_key(|it| it.community);
    reports.dedup_by_key(|it| it.community);
    let (mut titles, mut summaries, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    packed.report_community.clear();
    packed.report_rating.clear();
    packed.finding_sentence.clear();
    packed.report_findings = vec![0];
    packed.finding_sentences = vec![0];
    for report in reports {
        packed.report_community.push(report.community);
        packed.report_rating.push(report.rating);
        titles.push(report.title);
        summaries.push(report.summary);
        for (text, sentences) in report.findings {
            findings.push(text);
            packed.finding_sentence.extend(sentences);
            packed.finding_sentences.push(packed.finding_sentence.len() as u32);
        }
        packed.report_findings.push(findings.len() as u32);
    }
    (packed.report_title_ends, packed.report_titles) = back_to_back(&titles);
    (packed.report_summary_ends, packed.report_summaries) = back_to_back(&summaries);
    (packed.finding_ends, packed.findings) = back_to_back(&findings);
}
