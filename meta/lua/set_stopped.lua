-- set_stopped stops or starts a group's consumption of one queue.
-- uses: pack clock group offset
-- KEYS: meta, offsets. ARGV: queue, 1 or 0, by whom, channel of group changes, notice.
-- Returns {OK, record} | NO_GROUP | RECOVERING | NO_RECORD.
local state = redis.call("HGET", KEYS[1], "state")
if refusegroup(state) then
  return refusegroup(state)
end
local text = redis.call("HGET", KEYS[2], ARGV[1])
local r = offsetof(text)
if not r then
  return {"NO_RECORD"}
end
if r.stopped ~= (ARGV[2] == "1") then
  r.stopped = ARGV[2] == "1"
  text = tooffset(r, now(), ARGV[3])
  redis.call("HSET", KEYS[2], ARGV[1], text)
  redis.call("PUBLISH", ARGV[4], ARGV[5])
end
return {"OK", text}
