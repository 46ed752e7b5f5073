-- Claims an Idempotency-Key for a request, for a limited time.
-- KEYS: the key's record. ARGV: the hash of the body, the holder of the claim, how long the claim and
-- how long the record is kept, in milliseconds.
-- Returns what is known, and the link that the same request was given before, or ''.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local known = redis.call('HMGET', KEYS[1], 'body', 'until', 'link')
if known[1] and known[1] ~= ARGV[1] then
    return { 'differs', '' }
end
if known[2] and tonumber(known[2]) > now then
    return { 'in-progress', '' }
end
redis.call('HSET', KEYS[1], 'body', ARGV[1], 'holder', ARGV[2], 'until', now + tonumber(ARGV[3]))
if not known[1] then
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return { 'new', known[3] or '' }
