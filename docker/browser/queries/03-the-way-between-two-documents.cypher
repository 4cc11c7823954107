// The way between two documents. Set both first, :param {from: 'Edda Varnholt', to: 'Cornelius Pellam'}
MATCH (a:Passage {title: $from}), (b:Passage {title: $to})
MATCH path = SHORTEST 1 (a)-[:LEADS_TO]->{1,6}(b)
RETURN path
LIMIT 5;
