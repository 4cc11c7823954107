MATCH (l:_Cairn:Publisher {id: 'publisher'})
RETURN l.shown AS shown, l.expires - timestamp() AS left_ms
