-- settle_fired takes news of firings off the list once they are in the log, as
-- long as they are the oldest there.
-- KEYS: fired. ARGV: the news (≤ 500). Returns {OK}.
for i = 1, #ARGV do
  if redis.call("LINDEX", KEYS[1], 0) == ARGV[i] then
    redis.call("LPOP", KEYS[1])
  end
end
return {"OK"}
