-- shared_settle acknowledges messages of one queue, hides them for longer or
-- shorter, or takes their last grant back. Each is judged alone: only the attempt
-- that runs, and only before its deadline. move finishes messages that are stored
-- elsewhere: those given back, or whose deadline is over.
-- uses: pack clock group offset shared shared_progress shared_mend
-- KEYS: meta, offsets, leases, state, due, order. ARGV: queue, field, idle ms,
--   ack | nack | extend | undo | move, channel, notice, 1 for an ordered group, most in
--   flight; per message: offset, version, era, attempt, ms to hide, of nack ms until
--   it comes again elsewhere or 0.
-- Returns {OK, now, progress, {status, current attempts, deadline, …}} |
--   NO_GROUP | RECOVERING | NO_RECORD. A status is OK, EXPIRED or SUPERSEDED.
local queue, field, idle, verb = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local s, refusal = open(queue)
if refusal then
  return refusal
end
local time, result = now(), {}
local full = not s.stale and whole(time) >= tonumber(ARGV[8])

local function judge(offset, attempt, ms, again)
  local attempts, deadline, nacked = entry(offset)
  if not attempts then -- finished, by this attempt or a later one
    return verb == "ack" and tonumber(offset) < s.c and "OK" or "SUPERSEDED", 0, 0
  elseif attempts ~= attempt then
    return "SUPERSEDED", attempts, deadline
  elseif nacked ~= "0" and verb == "nack" then -- said before
    return "OK", attempts, nacked == "1" and deadline or tonumber(nacked)
  elseif verb == "move" then
    if nacked == "0" and deadline > time then
      return "SUPERSEDED", attempts, deadline
    end
    finish(offset)
  elseif deadline <= time then
    return "EXPIRED", attempts, deadline
  elseif verb == "ack" then
    finish(offset)
  elseif nacked ~= "0" then
    return "SUPERSEDED", attempts, deadline
  elseif verb == "undo" then
    deadline, attempts = time, attempts - 1
    hide(offset, attempts, deadline, "1")
  elseif verb == "nack" then
    deadline = time + (again > 0 and again or ms)
    hide(offset, attempts, time + ms, again > 0 and dec(deadline) or "1")
  else
    deadline = time + ms
    hide(offset, attempts, deadline, "0")
  end
  return "OK", attempts, deadline
end

for i = 9, #ARGV, 6 do
  local status, attempts, deadline = "SUPERSEDED", 0, 0
  if not s.stale and not s.owned and ARGV[i + 1] == dec(s.v) and ARGV[i + 2] == dec(s.n) then
    status, attempts, deadline = judge(ARGV[i], tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]))
  end
  result[#result + 1] = status
  result[#result + 1] = dec(attempts)
  result[#result + 1] = dec(deadline)
end
if s.stale or s.owned then
  return {"OK", dec(time), dec(s.record.offset), result}
end
local progress = settle(s, queue, field, time, idle)
if s.wait > time and verb ~= "extend" and (verb ~= "ack" or full or ARGV[7] == "1") then
  redis.call("PUBLISH", ARGV[5], ARGV[6])
end
return {"OK", dec(time), dec(progress), result}
