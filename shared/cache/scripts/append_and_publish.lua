#!lua
-- Numbers, stores and publishes items in one step, so that no reader ever hears an item before an earlier one.
-- The number comes from the last item stored and not from the list's length, which stands still once a list is
-- trimmed. Items are JSON without their opening brace; the number is put in front and the rest stays untouched.
-- KEYS: list, guard. ARGV: channel, milliseconds, cap, limit, mode ("trim" or "refuse"), marker, items...
-- Returns for each item its outcome (1 stored, 2 stored as the marker, 0 refused, -1 the guard is gone), number.
local milliseconds, cap, limit = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local trims, marker = ARGV[5] == 'trim', ARGV[6]
local outcomes = {}

-- A late item must not bring back the list of a job that is over: it would have no end.
if redis.call('EXISTS', KEYS[2]) == 0 then
  for index = 7, #ARGV do
    outcomes[#outcomes + 1] = {-1, 0}
  end
  return outcomes
end

-- Asked for before there is anything to end, so that a server that forbids it has stored nothing.
redis.call('PEXPIRE', KEYS[1], milliseconds)

local length = redis.call('LLEN', KEYS[1])
local last = redis.call('LINDEX', KEYS[1], -1)
local number = last and tonumber(string.match(last, '^{"s":(%d+)')) or 0

local function store(rest)
  number = number + 1
  length = length + 1
  local item = '{"s":' .. string.format('%d', number) .. rest
  redis.call('RPUSH', KEYS[1], item)
  if ARGV[1] ~= '' then
    redis.call('PUBLISH', ARGV[1], item)
  end
end

local function marked()
  for _, item in ipairs(redis.call('LRANGE', KEYS[1], limit - 1, -1)) do
    if string.sub(item, -#marker) == marker then
      return true
    end
  end
  return false
end

for index = 7, #ARGV do
  if trims or length < limit - 1 or (marker == '' and length < limit) then
    store(ARGV[index])
    outcomes[#outcomes + 1] = {1, number}
  elseif marker ~= '' and length < cap and not marked() then
    store(marker)
    outcomes[#outcomes + 1] = {2, number}
  else
    outcomes[#outcomes + 1] = {0, number}
  end
end

if trims and length > cap then
  redis.call('LTRIM', KEYS[1], -cap, -1)
end
redis.call('PEXPIRE', KEYS[1], milliseconds)
return outcomes
