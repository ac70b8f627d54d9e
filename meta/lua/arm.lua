-- arm: puts deferred messages down: delayed ones for when they are due, half
-- messages until their transaction ends. A library.

-- arm reads timers from ARGV[at] on (count, channel, topic, then per timer: its
-- request or 0, id, due or 0 of half messages, what it points to) and writes those
-- of stored requests to the last three of KEYS: by time, by id, half messages by
-- id. The leader is told of the first.
local function arm(at, verdicts)
  local times, pointers, halves, first = {}, {}, {}, nil
  for i = at + 3, at + 4 * tonumber(ARGV[at] or "0"), 4 do
    local request, due = tonumber(ARGV[i]), tonumber(ARGV[i + 2])
    if request == 0 or verdicts[request] == "S" then
      if due == 0 then
        halves[#halves + 1], halves[#halves + 2] = ARGV[i + 1], ARGV[i + 3]
      else
        times[#times + 1], times[#times + 2] = ARGV[i + 2], ARGV[i + 1]
        pointers[#pointers + 1], pointers[#pointers + 2] = ARGV[i + 1], ARGV[i + 3]
        first = math.min(first or due, due)
      end
    end
  end
  many("HSET", KEYS[#KEYS], halves)
  if first then
    many("ZADD", KEYS[#KEYS - 2], times)
    many("HSET", KEYS[#KEYS - 1], pointers)
    redis.call("PUBLISH", ARGV[at + 1], ARGV[at + 2] .. " " .. dec(first))
  end
end
