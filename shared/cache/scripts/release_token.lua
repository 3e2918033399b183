#!lua flags=allow-oom
-- Gives a token back, if it is still ours. A full server still runs it: it only frees.
-- KEYS: token. ARGV: its value. Returns 1 when it was.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
