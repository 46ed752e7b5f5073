-- the least pause in milliseconds, the most leases to end
-- Returns: how many leases were ended, whether there may be more to do.
local limit = tonumber(ARGV[2])
local expired = redis.call('ZRANGEBYSCORE', LEASED, '-inf', '(' .. string.format('%.0f', now), 'LIMIT', 0, limit)
for _, host in ipairs(expired) do
    local row = load(host)
    end_lease(row, math.max(row.pause, tonumber(ARGV[1])), now)
end
local removed = redis.call('ZRANGEBYSCORE', REMOVED, '-inf', now, 'LIMIT', 0, limit)
for _, host in ipairs(removed) do
    local row = load(host)
    index(row, NOWHERE)
    redis.call('HDEL', HOSTS, host)
    local name = without_port(host)
    if name ~= host then
        local left = {}
        for port in string.gmatch(redis.call('HGET', PORTS, name) or '', '%d+') do
            if name .. ':' .. port ~= host then
                left[#left + 1] = port
            end
        end
        if left[1] then
            redis.call('HSET', PORTS, name, table.concat(left, ' '))
        else
            redis.call('HDEL', PORTS, name)
        end
    end
end
return { #expired, (#expired == limit or #removed == limit) and 1 or 0 }
