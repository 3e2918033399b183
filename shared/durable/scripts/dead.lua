#!lua flags=no-writes
-- ARGV: limit. The latest deaths first: id, payload, attempts, died at, error for each.
local answer = {'dead'}
local found = redis.call('ZREVRANGE', dead, 0, tonumber(ARGV[1]) - 1, 'WITHSCORES')
for index = 1, #found, 2 do
  local id = found[index]
  local _, attempts = read_counters(id)
  answer[#answer + 1] = id
  answer[#answer + 1] = redis.call('HGET', jobs, id) or ''
  answer[#answer + 1] = whole(attempts)
  answer[#answer + 1] = found[index + 1]
  answer[#answer + 1] = redis.call('HGET', errors, id) or ''
end
return answer
