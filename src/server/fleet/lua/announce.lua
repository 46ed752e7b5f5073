-- Sends a message to all replicas. ARGV: the channel and the message.
return redis.call('PUBLISH', ARGV[1], ARGV[2])
