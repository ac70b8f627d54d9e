-- recall takes a delayed message away before it is due, and remembers that.
-- uses: pack clock topicstate
-- KEYS: head, due, timers, mark. ARGV: id, due, for how long to remember in ms.
-- Returns {OK, what it pointed to} also when repeated | DELIVERED | UNKNOWN |
--   NO_TOPIC | RECOVERING.
local state = redis.call("HGET", KEYS[1], "state")
if refuse(state) then
  return refuse(state)
end
local time, pointer = now(), redis.call("HGET", KEYS[3], ARGV[1])
if pointer then
  local left = math.max(nextof(pointer) - time, 0) + tonumber(ARGV[3])
  redis.call("SET", KEYS[4], pointer, "PX", dec(left))
  redis.call("ZREM", KEYS[2], ARGV[1])
  redis.call("HDEL", KEYS[3], ARGV[1])
  return {"OK", pointer}
end
pointer = redis.call("GET", KEYS[4])
if pointer then
  return {"OK", pointer}
end
if tonumber(ARGV[2]) > time then
  return {"UNKNOWN"}
end
return {"DELIVERED"}
