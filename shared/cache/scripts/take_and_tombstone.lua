#!lua flags=allow-oom
-- Takes a value that may be taken once and leaves it under a second key as the sign that it was taken.
-- The value is moved as it is and never read here: decoding JSON and encoding it again would change it.
-- A full server still runs it: it frees as much as it stores.
-- KEYS: value, tombstone. ARGV: the tombstone's milliseconds.
-- Returns what happened (1 taken, 0 taken before, -1 never there) and the value.
local value = redis.call('GETDEL', KEYS[1])
if value then
  redis.call('SET', KEYS[2], value, 'PX', ARGV[1])
  return {1, value}
end
local taken = redis.call('GET', KEYS[2])
if taken then
  return {0, taken}
end
return {-1, false}
