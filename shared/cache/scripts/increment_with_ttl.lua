#!lua
-- Counts, and sets the time to live at the first count alone: later counts do not push the end away.
-- A key that has somehow lost its time to live gets one again, so no counter ever stays for good.
-- KEYS: counter. ARGV: amount, milliseconds. Returns the count and the milliseconds left.

-- The end is part of the first write and not a step after it: a server that forbids the step has stored nothing.
redis.call('SET', KEYS[1], 0, 'PX', ARGV[2], 'NX')
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {count, left}
