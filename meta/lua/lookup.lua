-- lookup finds where an offset or a time lies in a queue's index. It reads a
-- number of entries that grows with the logarithm of the distance to the tail.
-- uses: pack topicstate
-- KEYS: head, hot list. ARGV: queue, wanted, most entries to return,
--   "offset" or "time".
-- Returns {OK, epoch, min, next, {entries}}: from the entry that holds the
--   offset, or from the first one stored at or after the time; none when there
--   is no such entry. NO_TOPIC | RECOVERING | CORRUPT.
local head, hot = KEYS[1], KEYS[2]
local queue, wanted, max, by = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local h = redis.call("HMGET", head, "epoch", "state", queue)
if refuse(h[2]) then
  return refuse(h[2])
end
local following, min = unhead(h[3])
if not min then
  return {"CORRUPT"}
end
local result = {"OK", h[1], dec(min), dec(following), {}}
if by == "offset" and (wanted < min or wanted >= following) then
  return result
end

-- past says that the wanted entry is this one or an earlier one.
local function past(index)
  local entry = redis.call("LINDEX", hot, index)
  if by == "time" then
    return storedof(entry) >= wanted
  end
  return nextof(entry) > wanted
end

local length = redis.call("LLEN", hot)
local low, high, step = 0, length, 1
while high - step > low do
  if not past(high - step) then
    low = high - step + 1
    break
  end
  high, step = high - step, step * 16
end
while low < high do
  local middle = math.floor((low + high) / 2)
  if past(middle) then
    high = middle
  else
    low = middle + 1
  end
end
if low < length and max > 0 then
  result[5] = redis.call("LRANGE", hot, low, low + max - 1)
end
return result
