-- finish_recovery declares a generation ready; repeating it changes nothing.
-- KEYS: state. ARGV: generation. Returns {OK} | FENCED.
if redis.call("HGET", KEYS[1], "generation") ~= ARGV[1] then
  return {"FENCED"}
end
redis.call("HSET", KEYS[1], "phase", "ready")
return {"OK"}
