#!lua flags=allow-oom
-- ARGV: limit, max attempts.
local now = now_ms()
local moved = reclaim(now, tonumber(ARGV[1]), tonumber(ARGV[2]))
promote(now, tonumber(ARGV[1]))
return {'reclaimed', whole(moved.waiting), whole(moved.dead), whole(moved.cancelled)}
