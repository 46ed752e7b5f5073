-- host, token, milliseconds that the lease lasts at least
local row = current(ARGV[1], ARGV[2])
if not row then
    return 0
end
row.lease.ends = math.max(row.lease.ends, after(ARGV[3]))
save(row)
return 1
