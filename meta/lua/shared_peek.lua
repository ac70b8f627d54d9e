-- shared_peek tells what a receive may have of one queue: messages whose time is
-- up, and from where to read new ones. It grants nothing; it mends what is in
-- flight when a key of it was lost, and starts anew what others have moved.
-- uses: pack clock group offset shared shared_progress shared_mend
-- KEYS: meta, offsets, leases, state, due, order. ARGV: queue, field, most
--   messages, 1 for an ordered group, attempt id.
-- Returns {OK, free | blocked | again | stopped, version, era, claim position,
--   epoch, in flight, ms to the next deadline or 0, {offset, attempts, nacked, …}} |
--   NO_GROUP |
--   RECOVERING | NO_RECORD. again: the messages were granted to this attempt id.
local queue, field, most, ordered, attempt = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == "1", ARGV[5]
local s, refusal = open(queue)
if refusal then
  return refusal
end
if s.stale then
  restart(s, field)
end
local time = now()
local held = whole(time)
local result = {"OK", "free", dec(s.v), dec(s.n), dec(s.c), dec(s.e), dec(held), "0", {}}
local hidden = redis.call("ZRANGEBYSCORE", DUE, "(" .. dec(time), "+inf", "WITHSCORES", "LIMIT", 0, 1)
if hidden[2] then
  result[8] = dec(tonumber(hidden[2]) - time)
end
if s.record.stopped then
  result[2] = "stopped"
  return result
end

local offsets
if not ordered then
  offsets = redis.call("ZRANGEBYSCORE", DUE, "-inf", dec(time), "LIMIT", 0, most)
elseif not hidden[1] then
  offsets = redis.call("ZRANGE", ORDER, 0, most - 1)
else
  result[2] = "blocked"
  offsets = s.a == attempt and attempt ~= "" and redis.call("ZRANGE", ORDER, 0, -1) or {}
end
local list = result[9]
for _, offset in ipairs(offsets) do
  local attempts, deadline, nacked = entry(offset)
  if result[2] == "free" or (deadline > time and nacked == "0") then
    list[#list + 1] = offset
    list[#list + 1] = dec(attempts)
    list[#list + 1] = nacked
  end
end
if result[2] == "blocked" and #list > 0 then
  result[2] = "again"
end
return result
