-- restore_halves puts half messages down again in a topic that is being restored.
-- uses: topicstate
-- KEYS: head, halves. ARGV: term, then per half: id, what is under it (≤ 150).
-- Returns {OK} | FENCED.
if fenced(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
for i = 2, #ARGV, 2 do
  redis.call("HSET", KEYS[2], ARGV[i], ARGV[i + 1])
end
return {"OK"}
