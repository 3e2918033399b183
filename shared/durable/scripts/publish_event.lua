#!lua
-- KEYS: stream. ARGV: bytes, most entries, keep ms, id.
-- The append and its expiry are one step, so no cut leaves a stream that never goes.
local added = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], ARGV[4], 'event', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'published', added}
