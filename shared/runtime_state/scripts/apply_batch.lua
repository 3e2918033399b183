-- Carries out a batch whole or not at all.
--
-- MULTI would not do: an error inside it leaves what came before and after applied. So this first follows the type that
-- each key will have at each step, and writes only if no step would clash.
--
-- There is no shebang on purpose: with one, a server at its memory limit refuses the whole script, also a batch that only
-- deletes. Without, it refuses the first write that may grow, and once a script has written it never refuses again: a
-- batch is either refused before its first write or carried out.
--
-- KEYS: the keys in the order of use. ARGV, for each step:
--   set value seconds|'' 0|1(only if absent) · hset count name value ... · expire seconds · delete count

local key_at, argument_at = 0, 0

local function next_key()
  key_at = key_at + 1
  return KEYS[key_at]
end

local function next_argument()
  argument_at = argument_at + 1
  return ARGV[argument_at]
end

local kinds = {}

local function kind_of(key)
  if kinds[key] == nil then kinds[key] = redis.call('TYPE', key).ok end
  return kinds[key]
end

local foresee = {}

function foresee.set()
  local key = next_key()
  argument_at = argument_at + 2
  local only_if_absent = next_argument() == '1'
  if kind_of(key) == 'none' or not only_if_absent then kinds[key] = 'string' end
  return true
end

function foresee.hset()
  local key, count = next_key(), tonumber(next_argument())
  argument_at = argument_at + count
  if kind_of(key) ~= 'none' and kind_of(key) ~= 'hash' then return false end
  kinds[key] = 'hash'
  return true
end

function foresee.expire()
  local key = next_key()
  if tonumber(next_argument()) <= 0 then kinds[key] = 'none' end
  return true
end

function foresee.delete()
  for _ = 1, tonumber(next_argument()) do kinds[next_key()] = 'none' end
  return true
end

local perform = {}

function perform.set()
  local command = {'SET', next_key(), next_argument()}
  local seconds = next_argument()
  if seconds ~= '' then
    command[#command + 1] = 'EX'
    command[#command + 1] = seconds
  end
  if next_argument() == '1' then command[#command + 1] = 'NX' end
  return redis.call(unpack(command)) and 1 or 0
end

function perform.hset()
  local key, count = next_key(), tonumber(next_argument())
  local first = argument_at + 1
  argument_at = argument_at + count
  -- Lua's stack takes some 8000 arguments; a batch holds far fewer.
  return redis.call('HSET', key, unpack(ARGV, first, argument_at))
end

function perform.expire()
  return redis.call('EXPIRE', next_key(), next_argument())
end

function perform.delete()
  local removed = 0
  for _ = 1, tonumber(next_argument()) do removed = removed + redis.call('DEL', next_key()) end
  return removed
end

while argument_at < #ARGV do
  if not foresee[next_argument()]() then
    return redis.error_reply('WRONGTYPE a step of the batch meets a value of another type')
  end
end

key_at, argument_at = 0, 0
local answers = {}
while argument_at < #ARGV do
  answers[#answers + 1] = perform[next_argument()]()
end
return answers
