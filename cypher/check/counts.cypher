// There is as much of each as was published.
MATCH (i:_Cairn:Index {id: 'cairn'})
WITH i, COUNT { MATCH (n:Document) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS documents, 
  COUNT { MATCH (n:Passage) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS passages, 
  COUNT { MATCH (n:Incoming) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS incoming, 
  COUNT { MATCH (n:Outgoing) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS outgoing, 
  COUNT { MATCH (n:Entity) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS entities, 
  COUNT { MATCH ()-[r:LEADS_TO|MAY_LEAD_TO]->() WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } AS edges
WITH [
  CASE WHEN documents <> i.documents THEN 'documents' END, CASE WHEN passages <> i.passages THEN 'passages' END,
  CASE WHEN incoming <> i.incoming THEN 'in-coming questions' END,
  CASE WHEN outgoing <> i.outgoing THEN 'out-coming questions' END,
  CASE WHEN entities <> i.entities THEN 'entities' END, CASE WHEN edges <> i.edges THEN 'question edges' END
] AS kinds
WITH [kind IN kinds WHERE kind IS NOT NULL] AS kinds
RETURN size(kinds) AS offenders, kinds AS examples
