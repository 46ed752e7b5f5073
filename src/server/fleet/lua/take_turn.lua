-- Takes a turn at the repository: some are at once, then one follows the other.
-- KEYS: the time of the next turn if none was at once. ARGV: milliseconds from one turn to the next,
-- and how many are at once. Returns how many milliseconds to wait.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local interval = tonumber(ARGV[1])
local turn = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
redis.call('SET', KEYS[1], turn + interval, 'PX', turn + 2 * interval - now)
return math.max(0, turn - (tonumber(ARGV[2]) - 1) * interval - now)
