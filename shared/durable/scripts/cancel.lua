#!lua flags=allow-oom
-- ARGV: job id. A waiting job is removed, a leased one is marked and leaves when its lease ends.
local id = ARGV[1]
if redis.call('ZREM', delayed, id) == 1 or redis.call('LREM', pending, 1, id) == 1 then
  forget(id)
  return {'stopped'}
end
local text = redis.call('HGET', leases, id)
if not text then
  return {'unknown'}
end
redis.call('HSET', leases, id, (string.gsub(text, '^(%S+) [01] ', '%1 1 ')))
return {'marked'}
