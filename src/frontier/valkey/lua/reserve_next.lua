-- milliseconds that a lease lasts
-- Returns: leased or not, milliseconds to wait or -1, host, alias, token, milliseconds left, pause, note.
local first = redis.call('ZRANGE', READY, 0, 0, 'WITHSCORES')
if not first[1] or tonumber(first[2]) > now then
    local wait = first[1] and tonumber(first[2]) - now or LATEST
    local lease = redis.call('ZRANGE', LEASED, 0, 0, 'WITHSCORES')
    if lease[1] and tonumber(lease[2]) < now then
        -- It has expired, and only waits to be reaped.
        wait = math.min(wait, 1000)
        lease = redis.call('ZRANGEBYSCORE', LEASED, now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    end
    if lease[1] then
        wait = math.min(wait, tonumber(lease[2]) - now + 1)
    end
    return { 0, wait == LATEST and -1 or wait, '', false, 0, 0, 0, '' }
end

local group, host = string.sub(first[1], 2), nil
if string.sub(first[1], 1, 1) == 'h' then
    host = group
else
    local member = redis.call('ZRANGEBYLEX', QUEUE, '[' .. group .. '\0', '(' .. group .. '\1', 'LIMIT', 0, 1)[1]
    host = string.sub(member, #group + 18)
end
-- By the time, so that none is given twice even if the server loses its last writes.
local token = math.max(tonumber(redis.call('HGET', META, 'token') or 0) + 1, now * 1000)
redis.call('HSET', META, 'token', token)
local row = load(host)
row.next = false
row.lease = { token = token, ends = after(ARGV[1]), holds = {} }
if row.alias then
    row.lease.holds[1] = row.alias
    redis.call('HINCRBY', HELD, row.alias, 1)
end
save(row)
return { 1, 0, host, row.alias, token, math.min(row.lease.ends - now, tonumber(ARGV[1])), row.pause, row.note }
