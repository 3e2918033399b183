#!lua
-- ARGV: job id, payload, delay ms, dedupe window ms, most jobs. KEYS[9]: dedupe key, KEYS[10]: doorbell, or ''.
local id, payload = ARGV[1], ARGV[2]
local delay, window, most = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local has_dedupe = window > 0
local doorbell = KEYS[has_dedupe and 10 or 9]
if has_dedupe then
  local before = redis.call('GET', KEYS[9])
  if before then
    return {'present', before}
  end
end
if redis.call('HEXISTS', jobs, id) == 1 then
  return {'present', id}
end
if most > 0 and redis.call('HLEN', jobs) >= most then
  return {'full', id}
end
local now = now_ms()
redis.call('HSET', jobs, id, payload)
write_counters(id, 0, 0, now)
if has_dedupe then
  redis.call('SET', KEYS[9], id, 'PX', whole(window))
end
if delay > 0 then
  redis.call('ZADD', delayed, whole(now + delay), id)
else
  redis.call('RPUSH', pending, id)
end
if doorbell then
  ring(doorbell)
end
return {'created', id}
