-- restore_timers puts delayed messages down again in a topic that is being restored.
-- uses: topicstate
-- The leader is told: it fires when the topic is open again.
-- KEYS: head, due, timers. ARGV: term, channel, topic, then per timer, by time:
--   id, due, what it points to (≤ 150 timers). Returns {OK} | FENCED.
if fenced(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
for i = 4, #ARGV, 3 do
  redis.call("ZADD", KEYS[2], ARGV[i + 1], ARGV[i])
  redis.call("HSET", KEYS[3], ARGV[i], ARGV[i + 2])
end
redis.call("PUBLISH", ARGV[2], ARGV[3] .. " " .. ARGV[5])
return {"OK"}
