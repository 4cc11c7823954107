// How two documents are connected. Set both titles first, :param {from: 'Edda Varnholt', to: 'Cornelius Pellam'}
MATCH (a:Document {title: $from}), (b:Document {title: $to})
MATCH path = SHORTEST 3 (a)-[:PART_OF|LEADS_TO|MENTIONED_IN]-{1,8}(b)
RETURN path;
