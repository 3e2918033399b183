#!lua
-- KEYS: checkpoint; then, with a lease: leases, lease-expiry; then, when listed: index; then, when staged: where.
-- ARGV: schema, run id, expected revision, bytes, keep ms, job id or '', lease id, listed 0|1,
-- staged length or ''.
local key, schema, run_id = KEYS[1], ARGV[1], ARGV[2]
local expected, keep = tonumber(ARGV[3]), tonumber(ARGV[5])
local fenced, listed = ARGV[6] ~= '', ARGV[8] == '1'
local staged = ARGV[9] ~= ''
local staging = staged and KEYS[#KEYS]

local function refuse(...)
  if staged then
    redis.call('UNLINK', staging)
  end
  return {...}
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

if fenced then
  local lease_id = string.match(redis.call('HGET', KEYS[2], ARGV[6]) or '', '^%S+')
  local expires = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[6]) or 0)
  if lease_id ~= ARGV[7] or expires <= now_ms() then
    return refuse('lost')
  end
end

-- The header is enough: reading a large checkpoint into Lua and decoding it costs ten times the write.
local function stored()
  local size = redis.call('STRLEN', key)
  if size == 0 then
    return schema, run_id, 0
  end
  local start = redis.call('GETRANGE', key, 0, 511)
  local found_schema, revision, found_run, bytes, rest = string.match(
    start,
    '^{"schema":"([^"\\]*)","revision":(%d+),"run_id":"([^"\\]*)","bytes":(%d+),"crc":"%x%x%x%x%x%x%x%x",()'
  )
  if found_schema and rest - 1 + tonumber(bytes) == size then
    return found_schema, found_run, tonumber(revision)
  end
  local decoded, value = pcall(cjson.decode, redis.call('GET', key))
  if not decoded or type(value) ~= 'table' then
    return nil
  end
  return value.schema, value.run_id, value.revision
end

local found_schema, found_run, revision = stored()
if found_schema == nil then
  return refuse('damaged')
elseif found_schema ~= schema then
  return refuse('schema')
elseif found_run ~= run_id or type(revision) ~= 'number' then
  return refuse('damaged')
elseif revision ~= expected then
  return refuse('conflict', string.format('%.0f', revision))
end
if staged then
  -- What was staged may have aged or been lost; then nothing is written.
  if redis.call('STRLEN', staging) ~= tonumber(ARGV[9]) then
    return refuse('unstaged')
  end
  redis.call('RENAME', staging, key)
  if keep > 0 then
    redis.call('PEXPIRE', key, ARGV[5])
  else
    redis.call('PERSIST', key)
  end
elseif keep > 0 then
  redis.call('SET', key, ARGV[4], 'PX', ARGV[5])
else
  redis.call('SET', key, ARGV[4])
end
if listed then
  local index = KEYS[staged and #KEYS - 1 or #KEYS]
  local now = now_ms()
  redis.call('ZADD', index, string.format('%.0f', now), run_id)
  if keep > 0 then
    redis.call('ZREMRANGEBYSCORE', index, '-inf', string.format('%.0f', now - keep))
  end
end
return {'saved'}
