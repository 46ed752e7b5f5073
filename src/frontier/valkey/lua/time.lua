-- The milliseconds since 1970 on the server's clock: the last one that has come, and the next one.
local function read_clock()
    local time = redis.call('TIME')
    local millis = tonumber(time[2]) / 1000
    local second = tonumber(time[1]) * 1000
    return second + math.floor(millis), second + math.ceil(millis)
end
