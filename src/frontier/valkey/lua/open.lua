-- Returns the format of what is kept under these keys, which is set if there is nothing yet.
if redis.call('HSETNX', META, 'format', ARGV[1]) == 1 then
    return ARGV[1]
end
return redis.call('HGET', META, 'format')
