#!lua
-- KEYS: run, index. ARGV: run id, expected version or '' to create, bytes, keep ms, created ms.
-- The header is '{"schema":"...","run_id":"...","version":N,': written by our codec, never re-encoded here.
local key, index = KEYS[1], KEYS[2]
local start = redis.call('GETRANGE', key, 0, 511)
local current = nil
if start ~= '' then
  current = string.match(start, '^{"schema":"[^"\\]*","run_id":"[^"\\]*","version":(%d+),')
  if not current then
    local decoded, value = pcall(cjson.decode, redis.call('GET', key))
    if not decoded or type(value) ~= 'table' or type(value.version) ~= 'number' then
      return {'damaged'}
    end
    current = string.format('%.0f', value.version)
  end
end
if (current or '') ~= ARGV[2] then
  return {'conflict', current or ''}
end
if tonumber(ARGV[4]) > 0 then
  redis.call('SET', key, ARGV[3], 'PX', ARGV[4])
else
  redis.call('SET', key, ARGV[3])
end
redis.call('ZADD', index, 'NX', ARGV[5], ARGV[1])
return {'written'}
