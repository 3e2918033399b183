#!lua flags=allow-oom
-- ARGV: job id, lease id. The first write frees memory, so a full server can still finish its jobs.
local id = ARGV[1]
if not holds(id, ARGV[2], now_ms()) then
  return {'lost'}
end
forget(id)
end_lease(id)
return {'done'}
