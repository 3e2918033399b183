#!lua flags=allow-oom
-- KEYS: value; index when listed. ARGV: member, expected number or '', 'revision' or 'version'.
local key, member, expected, name = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local start = redis.call('GETRANGE', key, 0, 511)

local function current()
  local found = string.match(start, '^{"schema":"[^"\\]*","revision":(%d+),')
    or string.match(start, '^{"schema":"[^"\\]*","run_id":"[^"\\]*","version":(%d+),')
  if found then
    return found
  end
  local decoded, value = pcall(cjson.decode, redis.call('GET', key))
  if decoded and type(value) == 'table' and type(value[name]) == 'number' then
    return string.format('%.0f', value[name])
  end
  return nil
end

if start ~= '' and expected ~= '' then
  local found = current()
  if not found then
    return {'damaged'}
  elseif found ~= expected then
    return {'conflict', found}
  end
end
local removed = redis.call('DEL', key)
if KEYS[2] then
  redis.call('ZREM', KEYS[2], member)
end
return {removed == 1 and 'deleted' or 'absent'}
