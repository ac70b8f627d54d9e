-- restore_offsets writes offset records of a group that is held.
-- KEYS: meta, topics, then hashes of offsets. ARGV: term, ids of the topics
--   separated by blanks; per record: which of KEYS, field, text. Returns {OK} | FENCED.
local h = redis.call("HMGET", KEYS[1], "state", "restore_term")
if h[1] ~= "restoring" or h[2] ~= ARGV[1] then
  return {"FENCED"}
end
for topic in string.gmatch(ARGV[2], "%S+") do
  redis.call("SADD", KEYS[2], topic)
end
for i = 3, #ARGV, 3 do
  redis.call("HSET", KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2])
end
return {"OK"}
