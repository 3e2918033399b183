#!lua flags=no-writes
-- ARGV: job id, or '' for the counts.
local id = ARGV[1]
if id ~= '' then
  if redis.call('HEXISTS', jobs, id) == 0 then
    return {'absent'}
  elseif redis.call('HEXISTS', leases, id) == 1 then
    return {'leased'}
  elseif redis.call('ZSCORE', delayed, id) then
    return {'delayed'}
  elseif redis.call('ZSCORE', dead, id) then
    return {'dead'}
  end
  return {'pending'}
end
local oldest = 0
local first = redis.call('LINDEX', pending, 0)
if first then
  local _, _, enqueued = read_counters(first)
  oldest = math.max(0, now_ms() - enqueued)
end
return {
  'counts',
  whole(redis.call('LLEN', pending)),
  whole(redis.call('ZCARD', delayed)),
  whole(redis.call('ZCARD', expiry)),
  whole(redis.call('ZCARD', dead)),
  whole(oldest),
}
