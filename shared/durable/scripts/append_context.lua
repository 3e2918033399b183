#!lua
-- KEYS: context. ARGV: expected revision, bytes, keep ms.
-- One hash a run: `latest` and one immutable field a revision, so that they age together.
local latest = tonumber(redis.call('HGET', KEYS[1], 'latest') or 0)
if latest ~= tonumber(ARGV[1]) then
  return {'conflict', string.format('%.0f', latest)}
end
local revision = latest + 1
redis.call('HSET', KEYS[1], 'latest', revision, string.format('%.0f', revision), ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'appended', string.format('%.0f', revision)}
