#!lua flags=allow-oom
-- KEYS: stream.
return {'deleted', redis.call('DEL', KEYS[1])}
