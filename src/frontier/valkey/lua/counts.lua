-- Returns: hosts, queued, busy, blocked, busy aliases.
return {
    redis.call('HLEN', HOSTS),
    tonumber(redis.call('HGET', META, 'queued') or 0),
    redis.call('ZCARD', LEASED),
    redis.call('ZCOUNT', BLOCKED, '(' .. string.format('%.0f', now), '+inf'),
    redis.call('HLEN', HELD),
}
