#!lua flags=allow-oom
-- KEYS: index. ARGV: members whose values are gone.
return {'pruned', redis.call('ZREM', KEYS[1], unpack(ARGV))}
