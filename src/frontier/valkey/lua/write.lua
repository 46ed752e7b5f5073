-- how many rows are expected, rows written, hosts queued; host, token, pause in milliseconds and
-- milliseconds until its next work, of a lease that is released, or nothing; the rows, each as the
-- number of its table's key, that of the order's or 0, its key, whether it has a value, its value;
-- the hosts, each with milliseconds from now.
-- Returns: 0 written, 1 a row is not as expected, 2 the lease has ended; the time.
local at = 7

local function row_of_table()
    local row = {
        table = KEYS[TABLES + tonumber(ARGV[at + 1])],
        order = ARGV[at + 2] ~= '0' and KEYS[TABLES + tonumber(ARGV[at + 2])],
        key = ARGV[at + 3],
        value = ARGV[at + 4] == '1' and ARGV[at + 5],
    }
    at = at + 5
    return row
end

for _ = 1, tonumber(ARGV[1]) do
    local row = row_of_table()
    if redis.call('HGET', row.table, row.key) ~= row.value then
        return { 1, now }
    end
end
if ARGV[4] ~= '' then
    local row = current(ARGV[4], ARGV[5])
    if not row then
        return { 2, now }
    end
    end_lease(row, ARGV[6], ARGV[7] ~= '' and after(ARGV[7]))
end
for _ = 1, tonumber(ARGV[2]) do
    local row = row_of_table()
    if row.value then
        redis.call('HSET', row.table, row.key, row.value)
        if row.order then
            redis.call('ZADD', row.order, 0, row.key)
        end
    else
        redis.call('HDEL', row.table, row.key)
        if row.order then
            redis.call('ZREM', row.order, row.key)
        end
    end
end
for _ = 1, tonumber(ARGV[3]) do
    local row = load(ARGV[at + 1])
    row.removed = false
    queue(row, after(ARGV[at + 2]))
    save(row)
    at = at + 2
end
return { 0, now }
