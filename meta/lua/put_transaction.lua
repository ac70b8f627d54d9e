-- put_transaction replaces the state of a transaction if nobody changed it in
-- between: every step of its life is one of these, so the first decision wins.
-- uses: txstate
-- KEYS: transactions, ids, agenda, kept. ARGV: id, what is expected ("": nothing),
--   the new state ("": none), when to look at it next or -, when to forget it or -,
--   the most there may be on the agenda (0: any number).
-- Returns {OK} | {LOST_RACE, what is there or ""} | MANY | RECOVERING.
local id, current = ARGV[1], redis.call("HGET", KEYS[1], ARGV[1]) or ""
if restoring(KEYS[1]) then
  return {"RECOVERING"}
end
if current ~= ARGV[2] then
  return {"LOST_RACE", current}
end
if ARGV[6] ~= "0" and redis.call("ZCARD", KEYS[3]) >= tonumber(ARGV[6]) then
  return {"MANY"}
end
place(id, ARGV[3], ARGV[4], ARGV[5])
return {"OK"}
