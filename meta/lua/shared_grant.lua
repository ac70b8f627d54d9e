-- shared_grant hides messages of one queue for a receiver: due ones again, each
-- if it is still as it was peeked, and new ones, all or none, together with the
-- step of the claim position over what the filter rejected. A message's attempts
-- are counted here and nowhere else.
-- uses: pack clock group offset shared shared_progress shared_mend
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
elseif s.owned then
  return {"QUEUED"}
elseif s.stale or s.record.stopped or dec(s.v) ~= ARGV[4] or dec(s.n) ~= ARGV[5] or s.c ~= from or to < from then
  return {"MOVED"}
elseif s.e ~= epoch and s.e ~= 0 then
  if s.e < epoch then
    restart(s, field)
  end
  return {"MOVED"}
end
local again = tonumber(ARGV[13])
local gone = tonumber(ARGV[14 + 2 * again])
local first = 15 + 2 * (again + gone)
local fresh, time = tonumber(ARGV[first]), now()
local held, deadline, granted = whole(time), time + tonumber(ARGV[9]), {}
if fresh > 0 and (held + fresh > tonumber(ARGV[10]) or ordered and held > again + gone)
  or ordered and redis.call("ZCOUNT", DUE, "(" .. dec(time), "+inf") > 0 then
  return {"MOVED"}
end

-- due gives the attempts of a message that is still as it was peeked.
local function due(i)
  local attempts, hidden = entry(ARGV[i])
  return attempts and attempts == tonumber(ARGV[i + 1]) and hidden <= time and attempts
end
for i = 14, 13 + 2 * again, 2 do
  local attempts = due(i)
  granted[#granted + 1] = attempts and 1 or 0
  if attempts then
    hide(ARGV[i], attempts + 1, deadline, "0")
  end
end
for i = 15 + 2 * again, first - 1, 2 do
  if due(i) then
    finish(ARGV[i])
  end
end
for i = first + 1, first + fresh do
  hide(ARGV[i], 1, deadline, "0")
end
redis.call("HSET", STATE, "c", ARGV[8], "e", ARGV[6], "a", ARGV[12])
s.c = to
return {"OK", dec(deadline), dec(settle(s, queue, field, time, idle)), granted}
