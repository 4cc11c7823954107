// How two documents are connected. Set both titles first (or paths, of documents without), :param {from: 'Edda Varnholt', to: 'Cornelius Pellam'}
MATCH (a:Document) WHERE a.title = $from OR a.sourceId = $from
MATCH (b:Document) WHERE b.title = $to OR b.sourceId = $to
WITH a, b LIMIT 1
MATCH path = SHORTEST 3 (a)-[:PART_OF|LEADS_TO|MENTIONED_IN]-{1,8}(b)
RETURN path;
