-- host, milliseconds
local row = load(ARGV[1])
row.blocked = math.max(row.blocked, after(ARGV[2]))
save(row)
