-- Checks that this server can be written to, and permits every command that the other scripts use.
-- KEYS: a key for that, which is gone afterwards.
local key = KEYS[1]
redis.call('TIME')
redis.call('SET', key, '1', 'PX', 60000)
redis.call('GET', key)
redis.call('DEL', key)
redis.call('HSET', key, 'a', '1')
redis.call('HGET', key, 'a')
redis.call('HMGET', key, 'a', 'b')
redis.call('HEXISTS', key, 'a')
redis.call('HDEL', key, 'a')
redis.call('ZADD', key, 1, 'a')
redis.call('ZCARD', key)
redis.call('PEXPIRE', key, 60000)
redis.call('ZREMRANGEBYSCORE', key, '-inf', 0)
return redis.call('ZREM', key, 'a')
