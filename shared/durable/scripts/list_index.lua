#!lua flags=no-writes
-- KEYS: index. ARGV: first and last position, from the highest score down. Member and score of each.
return {'listed', unpack(redis.call('ZREVRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES'))}
