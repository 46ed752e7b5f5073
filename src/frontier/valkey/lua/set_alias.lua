-- member, alias or nothing
local member, alias = ARGV[1], ARGV[2] ~= '' and ARGV[2]
if redis.call('HGET', MEMBERS, member) == alias then
    return
end
local rows = { load(member) }
if without_port(member) == member then
    for port in string.gmatch(redis.call('HGET', PORTS, member) or '', '%d+') do
        rows[#rows + 1] = load(member .. ':' .. port)
    end
end
if alias then
    redis.call('HSET', MEMBERS, member, alias)
else
    redis.call('HDEL', MEMBERS, member)
end
for _, row in ipairs(rows) do
    local from, to = row.alias, alias_of(row.host)
    if not row.new and from ~= to then
        row.alias = to
        if to then
            -- What was asked of this host counts for the group that it now belongs to.
            rest(to, row.rested)
            local holds = row.lease and row.lease.holds or {}
            local held = not row.lease
            for _, other in ipairs(holds) do
                held = held or other == to
            end
            if not held then
                holds[#holds + 1] = to
                redis.call('HINCRBY', HELD, to, 1)
            end
        end
        save(row)
        if from then
            refresh(from)
        end
    end
end
