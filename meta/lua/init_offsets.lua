-- init_offsets gives start offsets to queues that have none.
-- uses: pack clock group offset
-- KEYS: meta, topics, then hashes of offsets. ARGV: term (0: not a coordinator),
--   by whom, ids of the topics separated by blanks, starts (see begin).
-- Returns {OK, how many were written} | NO_GROUP | RECOVERING | FENCED.
local state = redis.call("HGET", KEYS[1], "state")
if refusegroup(state) then
  return refusegroup(state)
end
if ARGV[1] ~= "0" and oldterm(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
for topic in string.gmatch(ARGV[3], "%S+") do
  redis.call("SADD", KEYS[2], topic)
end
return {"OK", begin(4, now(), ARGV[2])}
