-- claim_answer lets one of several equal requests do the work.
-- KEYS: answer. ARGV: body hash, ttl in ms.
-- Returns CLAIMED | PENDING | REUSED | {ANSWER, answer}.
local value = redis.call("GET", KEYS[1])
if not value then
  redis.call("SET", KEYS[1], ARGV[1] .. "P", "PX", ARGV[2])
  return {"CLAIMED"}
end
if string.sub(value, 1, 16) ~= ARGV[1] then
  return {"REUSED"}
end
if string.sub(value, 17, 17) == "P" then
  return {"PENDING"}
end
return {"ANSWER", string.sub(value, 18)}
