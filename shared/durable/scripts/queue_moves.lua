-- Prepended to every queue script. A job's id is in exactly one of pending, delayed, leases, dead.
local pending, delayed, jobs, leases = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local expiry, dead, counters, errors = KEYS[5], KEYS[6], KEYS[7], KEYS[8]

-- The server's own clock: workers whose clocks are wrong change nothing.
local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Lua would write a large number as 1.8e+12.
local function whole(number)
  return string.format('%.0f', number)
end

-- deliveries never fall and fence; attempts fall when a delivery is not to count.
local function read_counters(id)
  local text = redis.call('HGET', counters, id) or ''
  local deliveries, attempts, enqueued = string.match(text, '^(%d+) (%d+) (%d+)$')
  return tonumber(deliveries or 0), tonumber(attempts or 0), tonumber(enqueued or 0)
end

local function write_counters(id, deliveries, attempts, enqueued)
  redis.call('HSET', counters, id, whole(deliveries) .. ' ' .. whole(attempts) .. ' ' .. whole(enqueued))
end

-- A lease is stored as "<lease id> <cancelled 0|1> <worker>".
local function read_lease(id)
  local text = redis.call('HGET', leases, id)
  if not text then
    return nil, nil
  end
  local lease_id, cancelled = string.match(text, '^(%S+) ([01]) ')
  return lease_id, cancelled == '1'
end

-- An expired lease is lost even before anybody takes the job over.
local function holds(id, lease_id, now)
  local current, cancelled = read_lease(id)
  local expires = tonumber(redis.call('ZSCORE', expiry, id) or 0)
  return current == lease_id and expires > now, cancelled
end

local function end_lease(id)
  redis.call('HDEL', leases, id)
  redis.call('ZREM', expiry, id)
end

local function forget(id)
  redis.call('HDEL', jobs, id)
  redis.call('HDEL', counters, id)
  redis.call('HDEL', errors, id)
end

-- Returns cancelled, dead or waiting: where a job went whose lease has ended.
local function put_back(id, cancelled, max_attempts, due, now)
  end_lease(id)
  if cancelled then
    forget(id)
    return 'cancelled'
  end
  local _, attempts = read_counters(id)
  if max_attempts > 0 and attempts >= max_attempts then
    redis.call('ZADD', dead, whole(now), id)
    return 'dead'
  end
  if due > now then
    redis.call('ZADD', delayed, whole(due), id)
  else
    redis.call('RPUSH', pending, id)
  end
  return 'waiting'
end

local function reclaim(now, limit, max_attempts)
  local moved = {waiting = 0, dead = 0, cancelled = 0}
  local expired = redis.call('ZRANGEBYSCORE', expiry, '-inf', whole(now), 'LIMIT', 0, limit)
  for _, id in ipairs(expired) do
    local _, cancelled = read_lease(id)
    local place = put_back(id, cancelled, max_attempts, 0, now)
    moved[place] = moved[place] + 1
  end
  return moved
end

-- Wakes one idle worker; a few rings may wait, and none stays for ever.
local function ring(doorbell)
  redis.call('LPUSH', doorbell, '1')
  redis.call('LTRIM', doorbell, 0, 63)
  redis.call('PEXPIRE', doorbell, 60000)
end

local function promote(now, limit)
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', whole(now), 'LIMIT', 0, limit)
  for _, id in ipairs(due) do
    redis.call('ZREM', delayed, id)
    redis.call('RPUSH', pending, id)
  end
end
