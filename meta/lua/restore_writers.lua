-- restore_writers sets the last seqs of writers of a topic that is being restored.
-- uses: topicstate
-- KEYS: head, writers. ARGV: term, writer, seq, … (≤ 250 pairs). Returns {OK} | FENCED.
if fenced(KEYS[1], ARGV[1]) then
  return {"FENCED"}
end
redis.call("HSET", KEYS[2], unpack(ARGV, 2))
return {"OK"}
