#!lua flags=allow-oom
-- ARGV: job id, lease id, delay ms, max attempts, whether this delivery counts, error text.
local id, now = ARGV[1], now_ms()
local held, cancelled = holds(id, ARGV[2], now)
if not held then
  return {'lost'}
end
local max_attempts = tonumber(ARGV[4])
if ARGV[5] == '0' then
  local deliveries, attempts, enqueued = read_counters(id)
  write_counters(id, deliveries, math.max(0, attempts - 1), enqueued)
  max_attempts = 0
end
if ARGV[6] ~= '' then
  redis.call('HSET', errors, id, ARGV[6])
end
return {put_back(id, cancelled, max_attempts, now + tonumber(ARGV[3]), now)}
