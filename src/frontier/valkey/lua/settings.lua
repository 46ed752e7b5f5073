-- host
-- Returns: whether it is known, pause, note.
local row = load(ARGV[1])
return { row.new and 0 or 1, row.pause, row.note }
