-- from, to, how many, whether with values; the order of the table and the table are the last keys
-- Returns: the time; keys, each followed by its value.
local rows = {}
for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[#KEYS - 1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
    rows[#rows + 1] = key
    rows[#rows + 1] = ARGV[4] == '1' and redis.call('HGET', KEYS[#KEYS], key) or ''
end
return { now, rows }
