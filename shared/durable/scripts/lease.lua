#!lua flags=allow-oom
-- ARGV: lease id, worker, lease ms, max attempts, max leased, sweep limit.
-- At the memory limit workers must go on: only finishing jobs frees the queue.
local lease_id, worker, lease_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local max_attempts, max_leased, limit = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local now = now_ms()
reclaim(now, limit, max_attempts)
promote(now, limit)

-- How long until something changes by itself: a lease expires, a delayed job is due. A finished job
-- rings no bell, so where only the limit of leased jobs is in the way it is soon asked again.
local function idle(wait)
  for _, key in ipairs({expiry, delayed}) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] then
      local left = math.max(0, tonumber(first[2]) - now)
      if wait < 0 or left < wait then
        wait = left
      end
    end
  end
  return {'none', whole(wait)}
end

if max_leased > 0 and redis.call('ZCARD', expiry) >= max_leased then
  return idle(1000)
end
local id = redis.call('LPOP', pending)
if not id then
  return idle(-1)
end
local deliveries, attempts, enqueued = read_counters(id)
write_counters(id, deliveries + 1, attempts + 1, enqueued)
redis.call('HSET', leases, id, lease_id .. ' 0 ' .. worker)
redis.call('ZADD', expiry, whole(now + lease_ms), id)
return {'leased', id, redis.call('HGET', jobs, id), whole(now + lease_ms), whole(deliveries + 1), whole(attempts + 1)}
