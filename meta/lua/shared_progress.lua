-- shared_progress: where a group is in a queue, by what it has in flight. A library.

-- restart drops what is in flight and goes on at the group's progress.
local function restart(s, field)
  redis.call("DEL", STATE, DUE, ORDER)
  redis.call("ZREM", LEASES, field)
  s.v, s.c, s.e, s.a, s.stale = s.record.version, s.record.offset, 0, "", false
  s.n = math.max(s.n + 1, now())
  redis.call("HSET", STATE, "v", dec(s.v), "c", dec(s.c), "e", "0", "p", dec(s.c), "n", dec(s.n), "a", "", "r", s.restored)
end

-- settle moves the group's progress to its first unfinished message, and tells
-- until when members that own queues may not join: this long after the last call,
-- or the end of the last wait, and as long as a message is hidden.
local function settle(s, queue, field, time, idle)
  local first = redis.call("ZRANGE", ORDER, 0, 0)[1]
  local progress = math.max(s.record.offset, first and tonumber(first) or s.c)
  if progress > s.record.offset then
    s.record.offset = progress
    redis.call("HSET", OFFSETS, queue, tooffset(s.record, time, "shared"))
    redis.call("HSET", STATE, "p", dec(progress))
  end
  local last = redis.call("ZRANGE", DUE, -1, -1, "WITHSCORES")[2]
  if last then
    redis.call("ZADD", LEASES, last, field)
  else
    redis.call("ZREM", LEASES, field)
  end
  last = redis.call("ZRANGE", LEASES, -1, -1, "WITHSCORES")[2]
  redis.call("HSET", META, "shared_until", dec(math.max(time + tonumber(idle), s.wait + tonumber(idle), tonumber(last or "0"))))
  return progress
end
