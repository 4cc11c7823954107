// There are as many elements of each kind as were published.
MATCH (i:_Cairn:Index {id: 'cairn'})
WITH i, COUNT { MATCH (n:Document) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS documents,
  COUNT { MATCH (n:Passage) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS passages,
  COUNT { MATCH (n:Incoming) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS incoming,
  COUNT { MATCH (n:Outgoing) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS outgoing,
  COUNT { MATCH (n:Entity) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS entities,
  COUNT { MATCH (n:Community) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS communities,
  COUNT { MATCH (n:Summary) WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) } AS summaries,
  COUNT { MATCH ()-[r:LEADS_TO|MAY_LEAD_TO]->() WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } AS edges,
  COUNT { MATCH ()-[r:RELATES_TO]->() WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } AS relations,
  COUNT { MATCH ()-[r:IN_COMMUNITY]->() WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } AS members,
  COUNT { MATCH ()-[r:SUMMARIZED_BY]->() WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } AS memberships
WITH [
  CASE WHEN documents <> i.documents THEN 'documents' END, CASE WHEN passages <> i.passages THEN 'passages' END,
  CASE WHEN incoming <> i.incoming THEN 'in-coming questions' END,
  CASE WHEN outgoing <> i.outgoing THEN 'out-coming questions' END,
  CASE WHEN entities <> i.entities THEN 'entities' END, CASE WHEN edges <> i.edges THEN 'question edges' END,
  CASE WHEN relations <> coalesce(i.relations, 0) THEN 'relations' END,
  CASE WHEN communities <> coalesce(i.communities, 0) THEN 'communities' END,
  CASE WHEN members <> coalesce(i.members, 0) THEN 'entities in communities' END,
  CASE WHEN summaries <> coalesce(i.summaries, 0) THEN 'summaries' END,
  CASE WHEN memberships <> coalesce(i.memberships, 0) THEN 'what summaries summarize' END
] AS kinds
WITH [kind IN kinds WHERE kind IS NOT NULL] AS kinds
RETURN size(kinds) AS offenders, kinds AS examples
