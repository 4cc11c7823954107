// There are as many elements of each kind as were published.
MATCH (i:_Cairn:Index {id: 'cairn'})
UNWIND [
<counts>
] AS counted
WITH counted
WHERE counted.found <> counted.published
RETURN count(counted) AS offenders, collect(counted.name) AS examples
