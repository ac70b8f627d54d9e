-- put_reply keeps the first reply to a request; an empty one ends it.
-- uses: clock
-- KEYS: reply. ARGV: reply, when the request is over in Unix ms, how long to keep
--   it after that in ms, channel, request.
-- Returns {OK} | ANSWERED | OVER.
local left = tonumber(ARGV[2]) - now()
if left < 0 then
  return {"OVER"}
end
if not redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", left + tonumber(ARGV[3])) then
  return {redis.call("GET", KEYS[1]) == "" and "OVER" or "ANSWERED"}
end
redis.call("PUBLISH", ARGV[4], ARGV[5])
return {"OK"}
