-- offset: the record of a group's progress in one queue. A library.
-- Its text: offset, version, start, 0 or 1 when stopped, updated at, created at, by whom.

-- offsetof reads a record; nil when there is none.
local function offsetof(text)
  if not text then
    return nil
  end
  local o, v, s, stopped, updated, created, by = string.match(text, "^(%d+) (%d+) (%d+) (%d) (%d+) (%d+) (.*)$")
  return {
    offset = tonumber(o), version = tonumber(v), start = tonumber(s), stopped = stopped == "1",
    updated = tonumber(updated), created = tonumber(created), by = by,
  }
end

-- tooffset writes a record that was changed at a time by somebody.
local function tooffset(r, time, by)
  return string.format("%.0f %.0f %.0f %d %.0f %.0f %s", r.offset, r.version, r.start, r.stopped and 1 or 0,
    math.max(time, r.updated or 0), r.created or time, by)
end

-- begin gives start offsets to queues that have none: the first one in a topic
-- that the group is new to, else the queue's minimum. From ARGV[at] on: how many;
-- per queue: which of KEYS is the topic's hash, queue, first, min. It returns how
-- many it wrote.
local function begin(at, time, by)
  local known, written = {}, 0
  for i = at + 1, at + 4 * tonumber(ARGV[at]), 4 do
    local key, queue = KEYS[tonumber(ARGV[i])], ARGV[i + 1]
    if known[key] == nil then
      known[key] = redis.call("EXISTS", key) == 1
    end
    if redis.call("HEXISTS", key, queue) == 0 then
      local start = tonumber(known[key] and ARGV[i + 3] or ARGV[i + 2])
      redis.call("HSET", key, queue, tooffset({offset = start, version = 1, start = start}, time, by))
      written = written + 1
    end
  end
  return written
end
