#!lua flags=no-writes
-- KEYS: stream. The last id that was ever given, or '' when there is no stream.
local known = redis.pcall('XINFO', 'STREAM', KEYS[1])
if known.err then
  return {'tail', ''}
end
for position = 1, #known, 2 do
  if known[position] == 'last-generated-id' then
    return {'tail', known[position + 1]}
  end
end
return {'tail', ''}
