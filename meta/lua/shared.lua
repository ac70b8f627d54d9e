-- shared: what a group has in flight in one queue. A library.
--
-- STATE holds the fields named in FIXED and, for each message in flight,
-- offset → "attempts deadline nacked": nacked is 1 if it was given back and comes
-- again here, when it is to come again elsewhere, else 0. DUE and ORDER are its indexes, by deadline and by
-- offset. Everything before the claim position c is finished, rejected by the
-- filter, or in flight.

local META, OFFSETS, LEASES, STATE, DUE, ORDER = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

-- v offset version, c claim position, e topic epoch (0: not known), p progress as
-- last written, n era, a attempt id of the last grant, r recovery it was made after.
local FIXED = {"v", "c", "e", "p", "n", "a", "r"}

-- entry gives attempts, deadline and nacked, a text; attempts is nil for a message
-- that is not in flight.
local function entry(offset)
  local text = redis.call("HGET", STATE, offset)
  local attempts, deadline, nacked = string.match(text or "", "^(%d+) (%d+) (%d+)$")
  return tonumber(attempts), tonumber(deadline), nacked
end

local function hide(offset, attempts, deadline, nacked)
  redis.call("HSET", STATE, offset, string.format("%.0f %.0f %s", attempts, deadline, nacked))
  redis.call("ZADD", DUE, dec(deadline), offset)
  redis.call("ZADD", ORDER, offset, offset)
end

local function finish(offset)
  redis.call("HDEL", STATE, offset)
  redis.call("ZREM", DUE, offset)
  redis.call("ZREM", ORDER, offset)
end

-- open reads the state of a queue without changing it, or gives the status to
-- return. stale says that it is missing, or that the group's progress was moved
-- by something else: a reset, members that own queues, a recovery.
local function open(queue)
  local g = redis.call("HMGET", META, "state", "queue_members", "restored", "shared_wait")
  if refusegroup(g[1]) then
    return nil, refusegroup(g[1])
  end
  local record = offsetof(redis.call("HGET", OFFSETS, queue))
  if not record then
    return nil, {"NO_RECORD"}
  end
  local h = redis.call("HMGET", STATE, unpack(FIXED))
  local s = {
    record = record, owned = tonumber(g[2] or "0") > 0, restored = g[3] or "", wait = tonumber(g[4] or "0"),
    v = tonumber(h[1] or "0"), c = tonumber(h[2] or "0"), e = tonumber(h[3] or "0"), n = tonumber(h[5] or "0"), a = h[6],
  }
  s.stale = not h[7] or s.v ~= record.version or tonumber(h[4]) ~= record.offset or h[7] ~= s.restored
  return s
end
