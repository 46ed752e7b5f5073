-- The time that a test has set, or how far it is ahead of the server's clock: `+` and milliseconds.
local function read_clock()
    local set = redis.call('GET', KEYS[13])
    if string.sub(set, 1, 1) ~= '+' then
        return tonumber(set), tonumber(set)
    end
    local time = redis.call('TIME')
    local millis = tonumber(time[2]) / 1000
    local second = tonumber(time[1]) * 1000 + tonumber(string.sub(set, 2))
    return second + math.floor(millis), second + math.ceil(millis)
end
