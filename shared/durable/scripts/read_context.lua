#!lua flags=no-writes
-- KEYS: context. ARGV: revision, or '' for the latest.
local revision = ARGV[1]
if revision == '' then
  revision = redis.call('HGET', KEYS[1], 'latest')
end
local found = revision and redis.call('HGET', KEYS[1], revision)
if not found then
  return {'absent'}
end
return {'found', found}
