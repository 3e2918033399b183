#!lua
-- Raises a version that has no end. An evicted counter does not start over at 1, where old entries may still
-- live, but at what the caller knows to be reached. KEYS: version. ARGV: the least value. Returns the version.
local version = redis.call('INCR', KEYS[1])
if version < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
  version = tonumber(ARGV[1])
end
return version
