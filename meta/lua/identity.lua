-- identity: decides whether a request is new, and what to remember of it. A library.
-- Values (schema in keys.go): idempotency key = 16 bytes body hash .. answer;
-- producer = "epoch last" .. "\nseq=answer" for the last answers, oldest first.

-- producer reads a producer's value; a malformed one counts as unknown.
local function producer(value)
  local p = {seqs = {}, answers = {}}
  local epoch, last, rest = string.match(value, "^(%d+) (%d+)(.*)$")
  p.epoch, p.last = tonumber(epoch), tonumber(last)
  for seq, answer in string.gmatch(rest or "", "\n(%d+)=([^\n]*)") do
    p.seqs[#p.seqs + 1] = seq
    p.answers[seq] = answer
  end
  return p.epoch and p
end

-- decide gives "S" for a request to store, else its refusal: "D" + first answer,
-- "K" reused, "F" + current epoch, "G" + expected seq. A duplicate of request n
-- of the same commit gives "D" and n. It notes in known what was decided.
local function decide(known, r, n)
  local k = known[r.key]
  if r.kind == "k" then
    if not k then
      known[r.key] = {body = r.a, from = n}
      return "S"
    end
    if k.body ~= r.a then
      return "K"
    end
    return "D" .. (k.answer or ""), k.from
  end
  local epoch, seq = tonumber(r.a), tonumber(r.b)
  if not k or epoch > k.epoch then
    known[r.key] = {epoch = epoch, last = seq, seqs = {r.b}, answers = {[r.b] = n}}
    return "S"
  end
  if epoch < k.epoch then
    return "F" .. dec(k.epoch)
  end
  if seq > k.last + 1 then
    return "G" .. dec(k.last + 1)
  end
  if seq <= k.last then
    local answer = k.answers[dec(seq)]
    if type(answer) == "number" then
      return "D", answer
    end
    return "D" .. (answer or "")
  end
  k.last = seq
  k.seqs[#k.seqs + 1] = r.b
  k.answers[r.b] = n
  return "S"
end
