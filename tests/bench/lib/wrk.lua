-- Requests the paths of a file, one after the other, and prints the outcome as JSON.
-- All requests are built beforehand, so that sending them costs as little as possible.

local requests, count, at = {}, 0, 0

function init(args)
    for path in io.lines(args[1]) do
        count = count + 1
        requests[count] = wrk.format("GET", path)
    end
end

function request()
    at = at % count + 1
    return requests[at]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '\n{"requests": %d, "microseconds": %d, "refused": %d, "broken": %d, "p50": %d, "p99": %d, "p99.9": %d, "max": %d}\n',
        summary.requests, summary.duration, errors.status,
        errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max
    ))
end
