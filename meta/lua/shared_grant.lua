-- shared_grant hides messages of one queue for a receiver: due ones again, each
-- if it is still as it was peeked, and new ones, all or none, together with the
-- step of the claim position over what the filter rejected. A message's attempts
-- are counted here and nowhere else.
-- uses: pack clock group offset shared
-- KEYS: meta, offsets, leases, state, due, order. ARGV: queue, field, idle ms,
--   version, era, epoch, claim position, its next, ms to hide, most in flight,
--   1 for an ordered group, attempt id, then three lists, each with its length
--   in front: due messages (offset, attempts), due ones that are gone for good
--   (offset, attempts), new ones (offset).
-- Returns {OK, deadline, progress, {1 or 0 per due message}} | MOVED |
--   NO_GROUP | RECOVERING | NO_RECORD | QUEUED.
local queue, field, idle, ordered = ARGV[1], ARGV[2], ARGV[3], ARGV[11] == "1"
local epoch, from, to = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local s, refusal = open(queue)
if refusal then
  return refusal
end
if s.owned then
  return {"QUEUED"}
end
if s.stale or s.record.stopped or dec(s.v) ~= ARGV[4] or dec(s.n) ~= ARGV[5] or s.c ~= from or to < from then
  return {"MOVED"}
end
local time = now()
if s.e ~= epoch and s.e ~= 0 then
  if s.e < epoch then
    restart(s, field)
  end
  return {"MOVED"}
end
if ordered and redis.call("ZCOUNT", DUE, "(" .. dec(time), "+inf") > 0 then
  return {"MOVED"}
end
local at = 13
local again, gone = tonumber(ARGV[at]), tonumber(ARGV[at + 1 + 2 * tonumber(ARGV[at])])
local fresh = at + 2 + 2 * (again + gone)
if redis.call("ZCARD", ORDER) + tonumber(ARGV[fresh]) > tonumber(ARGV[10]) and tonumber(ARGV[fresh]) > 0 then
  return {"MOVED"}
end

local deadline, granted = time + tonumber(ARGV[9]), {}
local function due(i)
  local attempts, until_ = entry(ARGV[i])
  return attempts and attempts == tonumber(ARGV[i + 1]) and until_ <= time and attempts
end
for i = at + 1, at + 2 * again, 2 do
  local attempts = due(i)
  granted[#granted + 1] = attempts and 1 or 0
  if attempts then
    hide(ARGV[i], attempts + 1, deadline, "0")
  end
end
for i = at + 2 + 2 * again, fresh - 1, 2 do
  if due(i) then
    finish(ARGV[i])
  end
end
for i = fresh + 1, fresh + tonumber(ARGV[fresh]) do
  hide(ARGV[i], 1, deadline, "0")
end
redis.call("HSET", STATE, "c", ARGV[8], "e", ARGV[6], "a", ARGV[12])
s.c = to
return {"OK", dec(deadline), dec(settle(s, queue, field, time, idle)), granted}
