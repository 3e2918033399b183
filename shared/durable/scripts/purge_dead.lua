#!lua flags=allow-oom
-- ARGV: age ms, limit. Forgets jobs that have been dead for at least so long.
local before = whole(now_ms() - tonumber(ARGV[1]))
local old = redis.call('ZRANGEBYSCORE', dead, '-inf', before, 'LIMIT', 0, tonumber(ARGV[2]))
for _, id in ipairs(old) do
  redis.call('ZREM', dead, id)
  forget(id)
end
return {'purged', whole(#old)}
