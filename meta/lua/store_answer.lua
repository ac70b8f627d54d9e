-- store_answer ends a claim: with an answer to repeat, or by dropping it. An
-- answer that is there already stays.
-- KEYS: answer. ARGV: body hash, "D" to store or "" to drop, answer, ttl in ms.
-- Returns {OK}.
local value = redis.call("GET", KEYS[1])
if value and value ~= ARGV[1] .. "P" then
  return {"OK"}
end
if ARGV[2] == "D" then
  redis.call("SET", KEYS[1], ARGV[1] .. "D" .. ARGV[3], "PX", ARGV[4])
elseif value then
  redis.call("DEL", KEYS[1])
end
return {"OK"}
