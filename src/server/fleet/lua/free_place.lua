-- Frees a place. KEYS: the owner's places. ARGV: the name of this one.
return redis.call('ZREM', KEYS[1], ARGV[1])
