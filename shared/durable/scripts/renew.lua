#!lua flags=allow-oom
-- ARGV: job id, lease id, lease ms.
local id, now = ARGV[1], now_ms()
local held, cancelled = holds(id, ARGV[2], now)
if not held then
  return {'lost'}
end
local expires = whole(now + tonumber(ARGV[3]))
redis.call('ZADD', expiry, 'XX', expires, id)
return {'renewed', expires, cancelled and '1' or '0'}
