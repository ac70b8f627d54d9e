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
