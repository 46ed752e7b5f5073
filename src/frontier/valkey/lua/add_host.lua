-- host, milliseconds from now
local row = load(ARGV[1])
row.removed = false
queue(row, after(ARGV[2]))
save(row)
