// An index also finds other people's relationships of the type: they are counted, and have no ends.
CALL db.index.fulltext.queryRelationships('cairn_leads_to_text', $words, {limit: $limit}) YIELD relationship AS r, score
WITH r, score, r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) AS own
RETURN CASE WHEN own THEN startNode(r).id END AS from, CASE WHEN own THEN endNode(r).id END AS to, score
