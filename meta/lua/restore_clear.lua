-- restore_clear removes keys of a topic that is being restored.
-- uses: topicstate
-- KEYS: head, keys to remove (≤ 500). ARGV: term. Returns {OK} | FENCED.
if fenced(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
for i = 2, #KEYS do
  redis.call("UNLINK", KEYS[i])
end
return {"OK"}
