#!lua
-- Exchanges the state of one writer and appends what follows from it to a numbered log, in one step: a writer
-- that was overtaken by its own successor appends nothing, so no item comes twice. The state is compared as text
-- and never read here. Items are JSON without their opening brace; the number is put in front.
-- KEYS: list, guard, state. ARGV: channel, milliseconds, cap, mode ("trim" or "refuse"), state that was seen (empty:
-- none), next state, items... Returns the outcome (1 done, 0 overtaken, -1 the guard is gone, 2 full), last number.
local milliseconds, cap = ARGV[2], tonumber(ARGV[3])

if redis.call('EXISTS', KEYS[2]) == 0 then
  return {-1, 0}
end
if (redis.call('GET', KEYS[3]) or '') ~= ARGV[5] then
  return {0, 0}
end

local last = redis.call('LINDEX', KEYS[1], -1)
local number = last and tonumber(string.match(last, '^{"s":(%d+)')) or 0
local items = #ARGV - 6
if ARGV[4] == 'refuse' and redis.call('LLEN', KEYS[1]) + items > cap then
  return {2, number}
end

redis.call('SET', KEYS[3], ARGV[6], 'PX', milliseconds)
if items == 0 then
  return {1, number}
end
redis.call('PEXPIRE', KEYS[1], milliseconds)
for index = 7, #ARGV do
  number = number + 1
  local item = '{"s":' .. string.format('%d', number) .. ARGV[index]
  redis.call('RPUSH', KEYS[1], item)
  if ARGV[1] ~= '' then
    redis.call('PUBLISH', ARGV[1], item)
  end
end
if ARGV[4] == 'trim' then
  redis.call('LTRIM', KEYS[1], -cap, -1)
end
redis.call('PEXPIRE', KEYS[1], milliseconds)
return {1, number}
