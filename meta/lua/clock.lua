-- clock: the time that all processes share. A library.

-- now is the server's clock in milliseconds.
local function now()
  local t = redis.call("TIME")
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end
