-- lease: one holder at a time, by the server's clock. A library.

-- take gives the term when holder has the lease or it is free, else nothing.
-- The term grows with every change of holder and is never below the clock, so
-- that it also grows when Redis lost everything in between.
local function take(key, holder, ttl)
  local time = now()
  local lease = redis.call("HMGET", key, "holder", "term", "until")
  local mine = lease[1] == holder
  if lease[1] and not mine and tonumber(lease[3]) > time then
    return nil
  end
  local term = tonumber(lease[2] or "0")
  if not mine then
    term = math.max(term + 1, time)
  end
  redis.call("HSET", key, "holder", holder, "term", dec(term), "until", dec(time + tonumber(ttl)))
  return dec(term)
end
