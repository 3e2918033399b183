#!lua flags=allow-oom
-- KEYS[9]: doorbell, if any. ARGV: ids. Each dead one starts again with all its attempts.
local moved = 0
for _, id in ipairs(ARGV) do
  if redis.call('ZREM', dead, id) == 1 then
    local deliveries, _, enqueued = read_counters(id)
    redis.call('HDEL', errors, id)
    write_counters(id, deliveries, 0, enqueued)
    redis.call('RPUSH', pending, id)
    moved = moved + 1
    if KEYS[9] then
      ring(KEYS[9])
    end
  end
end
return {'requeued', whole(moved)}
