-- restore_transactions is one step of putting held transactions back.
-- uses: txstate
-- KEYS: transactions, ids, agenda, kept. ARGV: term, step: "clear", "open", or
--   "add" and then per transaction: id, state, agenda, kept (≤ 100, put_transaction.lua).
-- Returns {OK} | FENCED.
local h = redis.call("HMGET", KEYS[1], "state", "term")
if h[2] ~= ARGV[1] or h[1] ~= "restoring" and ARGV[2] ~= "open" then
  return {"FENCED"}
end
if ARGV[2] == "clear" then
  redis.call("DEL", KEYS[1], KEYS[2], KEYS[3], KEYS[4])
  redis.call("HSET", KEYS[1], "state", "restoring", "term", ARGV[1])
elseif ARGV[2] == "open" then
  redis.call("HSET", KEYS[1], "state", "live")
end
for i = 3, #ARGV, 4 do
  place(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
end
return {"OK"}
