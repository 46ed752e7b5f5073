-- Ends the claim of an Idempotency-Key, if it is still this one.
-- KEYS: the key's record. ARGV: the holder, '1' if the request was answered, and the link that it was
-- given, or ''.
if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then
    return 0
end
if ARGV[2] == '1' then
    if ARGV[3] ~= '' then
        redis.call('HSET', KEYS[1], 'link', ARGV[3])
    end
elseif redis.call('HEXISTS', KEYS[1], 'link') == 0 then
    return redis.call('DEL', KEYS[1])
end
return redis.call('HDEL', KEYS[1], 'holder', 'until')
