#!lua flags=allow-oom
-- KEYS: context. ARGV: keep ms, or 0 to delete.
if ARGV[1] == '0' then
  return {'deleted', redis.call('DEL', KEYS[1])}
end
return {'aged', redis.call('PEXPIRE', KEYS[1], ARGV[1])}
