-- plan: lays out what a commit appends to one queue, without writing. A library.

-- layout reads one queue's runs from ARGV[at] on (layout in commit_plan.go) and
-- fills q.entries (packed) and q.next, q.bytes; runs of stored requests go to
-- judged.parts. Conditions of requests are settled on the way. A run whose pieces
-- are all stored is one entry, else each stored piece is. It returns where the next queue's runs start.
local function layout(at, q, judged, stored)
  local verdicts, parts = judged.verdicts, judged.parts
  local function append(count, length, suffix)
    q.next = q.next + count
    q.bytes = q.bytes + length
    q.entries[#q.entries + 1] = be(q.next) .. stored .. suffix
  end
  local runs = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, runs do
    local count, length, suffix, pieces = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
    at = at + 4
    local whole, first, offset = true, q.next, q.next
    for i = 0, pieces - 1 do
      local request = tonumber(ARGV[at + 4 * i])
      if judged.wants and judged.wants[request] then
        meet(judged, request, offset)
      end
      local keep = request == 0 or verdicts[request] == "S"
      offset = keep and offset + tonumber(ARGV[at + 4 * i + 1]) or offset
      whole = whole and keep
    end
    if whole then
      append(tonumber(count), tonumber(length), suffix)
    end
    for _ = 1, pieces do
      local request, n = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
      if request == 0 or verdicts[request] == "S" then
        if request > 0 then
          local p = parts[request]
          p[#p + 1] = q.name .. "." .. dec(first) .. "." .. ARGV[at + 1]
        end
        first = first + n
        if not whole then
          append(n, tonumber(ARGV[at + 2]), ARGV[at + 3])
        end
      end
      at = at + 4
    end
  end
  return at
end
