#!lua
-- Stores what was loaded, unless the key changed since the loader looked: a revocation or an invalidation that
-- came in between wins. What the loader saw is told by its digest, and by an empty text when there was nothing.
-- KEYS: entry. ARGV: value, milliseconds, digest of what was seen. Returns 1 when stored.
local current = redis.call('GET', KEYS[1])
local seen = current and redis.sha1hex(current) or ''
if seen ~= ARGV[3] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
