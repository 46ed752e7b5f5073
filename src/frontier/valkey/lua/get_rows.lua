-- keys of rows; the table is the last key. No more are given than can be unpacked.
return redis.call('HMGET', KEYS[#KEYS], unpack(ARGV))
