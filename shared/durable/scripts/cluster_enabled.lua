#!lua flags=no-writes
-- KEYS: any one key. Whether this server is part of a cluster.
return {'cluster', string.match(redis.call('INFO', 'cluster'), 'cluster_enabled:(%d)') or '0'}
