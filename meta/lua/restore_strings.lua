-- restore_strings sets expiring values (receipts, identities) of a topic that
-- is being restored.
-- uses: topicstate
-- KEYS: head, keys. ARGV: term, per key: value, ttl in ms. Returns {OK} | FENCED.
if fenced(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
for i = 2, #KEYS do
  redis.call("SET", KEYS[i], ARGV[2 * i - 2], "PX", ARGV[2 * i - 1])
end
return {"OK"}
