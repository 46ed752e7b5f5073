-- host, pause in milliseconds, note
local row = load(ARGV[1])
row.pause, row.note = math.min(tonumber(ARGV[2]), LATEST), ARGV[3]
save(row)
