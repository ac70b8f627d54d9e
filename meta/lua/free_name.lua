-- free_name takes a name from an id; another id keeps it.
-- KEYS: topics, names. ARGV: name, id. Returns {OK}.
if redis.call("HGET", KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call("HDEL", KEYS[1], ARGV[1])
  redis.call("ZREM", KEYS[2], ARGV[1])
end
return {"OK"}
