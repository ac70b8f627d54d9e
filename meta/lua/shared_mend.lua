-- shared_mend: makes the parts of what is in flight agree again. A library.

-- mend puts every message that one of the three keys knows of into all of them.
-- One whose deadline is lost is due at once, and its attempts count from 0. It
-- returns how many are in flight.
local function mend(time)
  local known, held = {}, 0
  for _, name in ipairs(FIXED) do
    known[name] = true
  end
  for _, list in ipairs({redis.call("HKEYS", STATE), redis.call("ZRANGE", DUE, 0, -1), redis.call("ZRANGE", ORDER, 0, -1)}) do
    for _, offset in ipairs(list) do
      if not known[offset] then
        known[offset], held = true, held + 1
        local attempts, deadline, nacked = entry(offset)
        hide(offset, attempts or 0, deadline or time, nacked or "0")
      end
    end
  end
  return held
end

-- whole mends what is in flight if a key of it was lost, and returns how many
-- messages it is. Every script calls it before it goes by an index.
local function whole(time)
  local held = redis.call("HLEN", STATE) - #FIXED
  if redis.call("ZCARD", DUE) ~= held or redis.call("ZCARD", ORDER) ~= held then
    held = mend(time)
  end
  return held
end
