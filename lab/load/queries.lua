-- Asks for real queries, a line of a file each; what follows a tab is passed over:
--
--   wrk -t2 -c64 -d10s --latency -s lab/load/queries.lua http://127.0.0.1:8080 -- FILE [PATH]
--
-- PATH is what a query is put behind, "/api/v1/search?q=" where nothing is said. Printed are answers, refusals (429)
-- and what failed, with the times of answers and refusals together.

local queries, path = {}, "/api/v1/search?q="
local threads = {}
local at = 0

local function escape(text)
  return (text:gsub("[^%w]", function(c) return string.format("%%%02X", c:byte()) end))
end

function setup(thread)
  table.insert(threads, thread)
  thread:set("first", #threads * 7919) -- each thread begins elsewhere in the file
end

function init(args)
  if args[1] == nil then
    error("a file of queries is missing: wrk … URL -- FILE")
  end
  path = args[2] or path
  for line in io.lines(args[1]) do
    table.insert(queries, path .. escape(line:match("^[^\t]*")))
  end
  at, answered, refused, failed = first % #queries, 0, 0, 0
end

function request()
  at = at % #queries + 1
  return wrk.format("GET", queries[at])
end

function response(status)
  if status == 200 then
    answered = answered + 1
  elseif status == 429 then
    refused = refused + 1
  else
    failed = failed + 1
  end
end

function done(summary, latency)
  local sum = { answered = 0, refused = 0, failed = 0 }
  for _, thread in ipairs(threads) do
    for name in pairs(sum) do
      sum[name] = sum[name] + thread:get(name)
    end
  end
  local seconds = summary.duration / 1e6
  io.write(string.format("%.0f answered, %.0f refused (429), %.0f failed a second; p50 %.1f ms, p90 %.1f, p99 %.1f\n",
    sum.answered / seconds, sum.refused / seconds, sum.failed / seconds,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3))
end
