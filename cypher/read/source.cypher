// Which version of a workspace was published.
MATCH (i:Index {id: 'cairn'})
RETURN i.source AS source
