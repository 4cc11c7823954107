// Relationships that the program before this one wrote: by all that it gave each.
MATCH ()-[r:PART_OF|NEXT|ANSWERED_BY|ASKS|LEADS_TO|MENTIONED_IN|NAMES]->()
WHERE r.cairnSince IS NULL AND r.since IS NOT NULL AND r.digest IS NOT NULL AND r.id =~ '[0-9a-f]{32}'
RETURN elementId(r) AS element
LIMIT $limit
