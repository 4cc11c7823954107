// A question edge leads from one passage to another, by two questions.
MATCH (a:Passage)-[r:LEADS_TO|MAY_LEAD_TO]->(b:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) AND (a = b OR r.question IS NULL OR r.cairnIncoming IS NULL
  OR r.cairnOutgoing IS NULL)
RETURN count(r) AS offenders, collect(a.id + ' to ' + b.id)[..5] AS examples
