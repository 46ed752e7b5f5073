-- milliseconds
-- Returns: how many hosts are leased, or queued for a time that has come and not blocked for longer.
local due = redis.call('ZCARD', LEASED) + redis.call('ZCOUNT', WANTED, '-inf', now)
local limit = '(' .. string.format('%.0f', after(ARGV[1]))
for _, host in ipairs(redis.call('ZRANGEBYSCORE', BLOCKED, limit, '+inf')) do
    local wanted = redis.call('ZSCORE', WANTED, host)
    if wanted and tonumber(wanted) <= now then
        due = due - 1
    end
end
return due
