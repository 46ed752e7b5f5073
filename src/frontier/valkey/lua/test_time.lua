-- The time that a test has set.
local function read_clock()
    local time = tonumber(redis.call('GET', KEYS[13]))
    return time, time
end
