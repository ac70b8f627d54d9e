-- arm: puts delayed messages down for when they are due. A library.

-- arm reads timers from ARGV[at] on (count, channel, topic, then per timer: its
-- request or 0, id, due, what it points to) and writes those of stored requests
-- to the last two of KEYS, by time and by id. The leader is told of the first.
local function arm(at, verdicts)
  local times, pointers, first = {}, {}, nil
  for i = at + 3, at + 4 * tonumber(ARGV[at] or "0"), 4 do
    local request, due = tonumber(ARGV[i]), tonumber(ARGV[i + 2])
    if request == 0 or verdicts[request] == "S" then
      times[#times + 1], times[#times + 2] = ARGV[i + 2], ARGV[i + 1]
      pointers[#pointers + 1], pointers[#pointers + 2] = ARGV[i + 1], ARGV[i + 3]
      first = math.min(first or due, due)
    end
  end
  if first then
    many("ZADD", KEYS[#KEYS - 1], times)
    many("HSET", KEYS[#KEYS], pointers)
    redis.call("PUBLISH", ARGV[at + 1], ARGV[at + 2] .. " " .. dec(first))
  end
end
