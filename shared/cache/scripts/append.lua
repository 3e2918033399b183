#!lua
-- Adds items at the end and keeps the newest. KEYS: list. ARGV: milliseconds, cap, items... Returns the length.
local items = {}
for index = 3, #ARGV do
  items[#items + 1] = ARGV[index]
end
-- Asked for before there is anything to end, so that a server that forbids it has stored nothing.
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[1], unpack(items))
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[2]), -1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('LLEN', KEYS[1])
