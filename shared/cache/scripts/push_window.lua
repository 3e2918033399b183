#!lua
-- Puts an item in front and drops what falls out of the window.
-- KEYS: list. ARGV: milliseconds, cap, item. Returns the length.
-- Asked for before there is anything to end, so that a server that forbids it has stored nothing.
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('LPUSH', KEYS[1], ARGV[3])
redis.call('LTRIM', KEYS[1], 0, tonumber(ARGV[2]) - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('LLEN', KEYS[1])
