-- What every operation begins with: rows, and the indexes that are derived from them.
--
-- Each operation is one call of one script, so it is atomic and leaves nothing half done. Loops are
-- bounded by an argument of the caller, and no result is unpacked that a bound does not limit.

local META, HOSTS, ALIASES, HELD, MEMBERS, PORTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
-- Groups by when they are due: 'h' and a host, or 'a' and an alias.
local READY = KEYS[7]
-- Queued members of each alias, in lexical order: the alias, a zero byte, 16 digits of when, the host.
local QUEUE = KEYS[8]
-- Hosts by when their lease ends, by when their block ends, and by when they can be forgotten.
local LEASED, BLOCKED, REMOVED = KEYS[9], KEYS[10], KEYS[11]
-- Queued hosts by the time for which they were queued, however long they rest.
local WANTED = KEYS[12]
-- Before the keys of tables of the caller; the thirteenth is only read by tests.
local TABLES = 13

-- The latest time, which a double holds exactly.
local LATEST = 2 ^ 52

-- Returns the present, which goes on from where it was if the server's clock goes back: the last
-- millisecond that has come, and the next one.
local function read_time()
    local kept = redis.call('HMGET', META, 'time', 'ahead')
    local last, ahead = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0
    local time, next = read_clock()
    if time + ahead < last then
        ahead = last - time
        redis.call('HSET', META, 'ahead', ahead)
    elseif time + ahead > last then
        redis.call('HSET', META, 'time', time + ahead)
    end
    return time + ahead, next + ahead
end

-- A time has come once `now` has reached it. What lasts for a while lasts from `soon` on, so that
-- nobody is asked a part of a millisecond too soon.
local now, soon = read_time()

-- When milliseconds that begin now have certainly ended; none have at once.
local function after(millis)
    millis = tonumber(millis)
    return millis == 0 and now or math.min(soon + millis, LATEST)
end

local function without_port(host)
    return string.match(host, '^(.*):%d+$') or host
end

local function alias_of(host)
    local alias = redis.call('HGET', MEMBERS, host)
    local name = without_port(host)
    if not alias and name ~= host then
        alias = redis.call('HGET', MEMBERS, name)
    end
    return alias
end

-- When a host is due as far as it is concerned itself, or false.
local function due(row)
    return row.next and not row.lease and math.max(row.next, row.rested, row.blocked)
end

-- What the indexes have of a row.
local function places(row)
    local at = due(row)
    return {
        ready = not row.alias and at,
        queue = row.alias and at and row.alias .. '\0' .. string.format('%016.0f', at) .. row.host,
        leased = row.lease and row.lease.ends,
        removed = row.removed and not row.lease and math.max(row.rested, row.blocked),
        blocked = row.blocked > 0 and row.blocked,
        wanted = at and row.next,
    }
end

local NOWHERE = {}

-- The row of a host, or a new one that is kept once it is saved.
local function load(host)
    local packed = redis.call('HGET', HOSTS, host)
    local row
    if packed then
        local kept = cmsgpack.unpack(packed)
        row = { next = kept[1], rested = kept[2], blocked = kept[3], pause = kept[4], removed = kept[5], note = kept[6] }
        if kept[7] then
            row.lease = { token = kept[7], ends = kept[8], holds = kept[9] }
        end
    else
        row = { next = false, rested = 0, blocked = 0, pause = 0, removed = false, note = '', new = true }
    end
    row.host = host
    row.alias = alias_of(host)
    row.before = packed and places(row) or NOWHERE
    return row
end

local function place(key, member, before, now)
    if before == now then
        return
    end
    if now then
        redis.call('ZADD', key, now, member)
    else
        redis.call('ZREM', key, member)
    end
end

-- Puts an alias where it belongs among the groups that are ready.
local function refresh(alias)
    local first = redis.call('ZRANGEBYLEX', QUEUE, '[' .. alias .. '\0', '(' .. alias .. '\1', 'LIMIT', 0, 1)[1]
    if first and redis.call('HEXISTS', HELD, alias) == 0 then
        local at = tonumber(string.sub(first, #alias + 2, #alias + 17))
        local rested = tonumber(redis.call('HGET', ALIASES, alias) or 0)
        redis.call('ZADD', READY, math.max(at, rested), 'a' .. alias)
    else
        redis.call('ZREM', READY, 'a' .. alias)
    end
end

-- Makes the indexes agree with a row.
local function index(row, places_now)
    local before = row.before
    place(READY, 'h' .. row.host, before.ready, places_now.ready)
    place(LEASED, row.host, before.leased, places_now.leased)
    place(REMOVED, row.host, before.removed, places_now.removed)
    place(BLOCKED, row.host, before.blocked, places_now.blocked)
    place(WANTED, row.host, before.wanted, places_now.wanted)
    if before.queue ~= places_now.queue then
        if before.queue then
            redis.call('ZREM', QUEUE, before.queue)
        end
        if places_now.queue then
            redis.call('ZADD', QUEUE, 0, places_now.queue)
        end
    end
    row.before = places_now
end

-- Keeps a row, and what is derived from it.
local function save(row)
    local lease = row.lease or {}
    redis.call('HSET', HOSTS, row.host, cmsgpack.pack({
        row.next, row.rested, row.blocked, row.pause, row.removed, row.note,
        lease.token or false, lease.ends or false, lease.holds or false,
    }))
    local name = without_port(row.host)
    if row.new and name ~= row.host then
        local ports = redis.call('HGET', PORTS, name)
        redis.call('HSET', PORTS, name, (ports and ports .. ' ' or '') .. string.sub(row.host, #name + 2))
    end
    row.new = false
    index(row, places(row))
    if row.alias then
        refresh(row.alias)
    end
end

-- Queues a host for a time, unless it is queued for an earlier one.
local function queue(row, at)
    row.next = row.next and math.min(row.next, at) or at
end

-- Keeps an alias from being leased before a time.
local function rest(alias, at)
    if at > tonumber(redis.call('HGET', ALIASES, alias) or 0) then
        redis.call('HSET', ALIASES, alias, at)
    end
end

-- The row whose lease this is, or nothing if it has ended.
local function current(host, token)
    local row = load(host)
    if row.lease and string.format('%.0f', row.lease.token) == token and now <= row.lease.ends then
        return row
    end
end

-- Ends a lease: its group rests for `pause` milliseconds, and the host is queued for `next`, if any.
local function end_lease(row, pause, next)
    local rested, holds = after(pause), row.lease.holds
    row.lease = nil
    row.rested = math.max(row.rested, rested)
    -- A lease without a pause sent nothing, and so says nothing about the next one.
    if tonumber(pause) > 0 then
        row.pause = math.min(tonumber(pause), LATEST)
    end
    if next and not row.removed then
        queue(row, next)
    end
    for _, alias in ipairs(holds) do
        rest(alias, rested)
        if redis.call('HINCRBY', HELD, alias, -1) <= 0 then
            redis.call('HDEL', HELD, alias)
        end
    end
    save(row)
    for _, alias in ipairs(holds) do
        refresh(alias)
    end
end
