-- host, token, pause in milliseconds, milliseconds until its next work or nothing
local row = current(ARGV[1], ARGV[2])
if not row then
    return 0
end
end_lease(row, ARGV[3], ARGV[4] ~= '' and after(ARGV[4]))
return 1
