-- host
local row = load(ARGV[1])
if not row.new then
    row.removed, row.next, row.note = true, false, ''
    save(row)
end
