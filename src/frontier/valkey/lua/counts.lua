-- Returns: hosts, queued, busy, blocked, busy aliases.
return {
    redis.call('HLEN', HOSTS),
    redis.call('ZCARD', WANTED),
    redis.call('ZCARD', LEASED),
    redis.call('ZCOUNT', BLOCKED, '(' .. string.format('%.0f', now), '+inf'),
    redis.call('HLEN', HELD),
}
