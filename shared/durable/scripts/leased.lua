#!lua flags=no-writes
-- ARGV: limit. The first to run out first: id, payload, attempts, runs out at, worker for each.
local answer = {'leased'}
local found = redis.call('ZRANGE', expiry, 0, tonumber(ARGV[1]) - 1, 'WITHSCORES')
for index = 1, #found, 2 do
  local id = found[index]
  local _, attempts = read_counters(id)
  answer[#answer + 1] = id
  answer[#answer + 1] = redis.call('HGET', jobs, id) or ''
  answer[#answer + 1] = whole(attempts)
  answer[#answer + 1] = found[index + 1]
  answer[#answer + 1] = string.match(redis.call('HGET', leases, id) or '', '^%S+ [01] (.*)$') or ''
end
return answer
