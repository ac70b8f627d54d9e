package meta

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// loadScript reads lua/<name>.lua and puts the libraries in front of it that
// its line "-- uses: …" names, in that order.
func loadScript(name string) *redis.Script {
	body := readLua(name)
	var source strings.Builder
	for line := range strings.Lines(body) {
		if libraries, ok := strings.CutPrefix(line, "-- uses: "); ok {
			for _, library := range strings.Fields(libraries) {
				source.WriteString(readLua(library))
			}
		}
	}
	source.WriteString(body)
	return redis.NewScript(source.String())
}

func readLua(name string) string {
	b, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // a script the build did not embed
	}
	return string(b)
}

// Each script has one caller: the method it is named after.
var (
	scriptAcquire        = loadScript("acquire")
	scriptAssign         = loadScript("assign")
	scriptBeat           = loadScript("beat")
	scriptBeginRecovery  = loadScript("begin_recovery")
	scriptClaimAnswer    = loadScript("claim_answer")
	scriptClaimName      = loadScript("claim_name")
	scriptCommit         = loadScript("commit")
	scriptCommitOffsets  = loadScript("commit_offsets")
	scriptCreateGroup    = loadScript("create_group")
	scriptCreateTopic    = loadScript("create_topic")
	scriptPutReply       = loadScript("put_reply")
	scriptDueTimers      = loadScript("due_timers")
	scriptListTimers     = loadScript("list_timers")
	scriptExpireMembers  = loadScript("expire_members")
	scriptFinishRecovery = loadScript("finish_recovery")
	scriptFire           = loadScript("fire")
	scriptFreeName       = loadScript("free_name")
	scriptGroupState     = loadScript("group_state")
	scriptHeartbeat      = loadScript("heartbeat")
	scriptHoldGroup      = loadScript("hold_group")
	scriptHoldTopic      = loadScript("hold_topic")
	scriptInitOffsets    = loadScript("init_offsets")
	scriptJoin           = loadScript("join")
	scriptLeave          = loadScript("leave")
	scriptListWriters    = loadScript("list_writers")
	scriptLookup         = loadScript("lookup")
	scriptMark           = loadScript("mark")
	scriptMemberLost     = loadScript("member_lost")
	scriptPutSettings    = loadScript("put_settings")
	scriptRecall         = loadScript("recall")
	scriptRelease        = loadScript("release")
	scriptResetOffsets   = loadScript("reset_offsets")
	scriptRestoreClear   = loadScript("restore_clear")
	scriptRestoreDone    = loadScript("restore_done")
	scriptRestoreEntries = loadScript("restore_entries")
	scriptRestoreGroup   = loadScript("restore_group")
	scriptRestoreOffsets = loadScript("restore_offsets")
	scriptRestoreStrings = loadScript("restore_strings")
	scriptRestoreTimers  = loadScript("restore_timers")
	scriptRestoreWriters = loadScript("restore_writers")
	scriptSettleFired    = loadScript("settle_fired")
	scriptSetStopped     = loadScript("set_stopped")
	scriptSharedEnter    = loadScript("shared_enter")
	scriptSharedGrant    = loadScript("shared_grant")
	scriptSharedPeek     = loadScript("shared_peek")
	scriptSharedSettle   = loadScript("shared_settle")
	scriptStoreAnswer    = loadScript("store_answer")
	scriptTime           = loadScript("time")
	scriptUpdateGroup    = loadScript("update_group")
	scriptUpdateTopic    = loadScript("update_topic")
)

// hotScripts are loaded when a DB opens, so that their first use is one round trip.
var hotScripts = []*redis.Script{scriptCommit, scriptLookup, scriptBeat, scriptTime}

// reply is what every script returns: a status and its details.
type reply []any

// read runs a script that changes nothing; the client may repeat it.
func (db *DB) read(ctx context.Context, s *redis.Script, keys []string, args ...any) (reply, error) {
	return parseReply(s.Run(ctx, db.reads, keys, args...))
}

// change runs a script on the client that never repeats anything by itself,
// except after NOSCRIPT, which proves that it did not run.
func (db *DB) change(ctx context.Context, s *redis.Script, keys []string, args ...any) (reply, error) {
	return parseReply(s.Run(ctx, db.commits, keys, args...))
}

func parseReply(cmd *redis.Cmd) (reply, error) {
	fields, err := cmd.Slice()
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("%w: empty reply", ErrCorrupt)
	}
	r := reply(fields)
	switch r.status() {
	case "NO_TOPIC":
		if r.text(1) == "absent" {
			return nil, ErrTopicAbsent
		}
		return nil, ErrTopicNotFound
	case "RECOVERING":
		return nil, ErrRecovering
	case "EPOCH":
		return nil, &EpochError{Current: r.number(1)}
	case "ROLLED_BACK":
		return nil, ErrRolledBack
	case "APPLIED":
		return nil, ErrApplied
	case "FULL":
		return nil, ErrQueueFull
	case "CORRUPT":
		return nil, ErrCorrupt
	case "FENCED":
		return nil, ErrFenced
	case "MISMATCH":
		return nil, ErrStoreMismatch
	case "SHRINK":
		return nil, ErrQueueShrink
	case "REUSED":
		return nil, ErrKeyReused
	case "PENDING":
		return nil, ErrAnswerPending
	case "NO_GROUP":
		return nil, ErrGroupNotFound
	case "ACTIVE":
		return nil, ErrGroupActive
	case "CHANGED":
		return nil, ErrGroupChanged
	case "DELIVERED":
		return nil, ErrDelivered
	case "UNKNOWN":
		return nil, ErrTimerUnknown
	case "NO_MEMBER":
		return nil, ErrMemberUnknown
	case "TAKEN":
		return nil, ErrFencedMember
	}
	return r, nil
}

func (r reply) status() string { return r.text(0) }

func (r reply) text(i int) string {
	if i >= len(r) {
		return ""
	}
	s, _ := r[i].(string)
	return s
}

// number reads a decimal text; −1 stands for anything else: no field is negative.
func (r reply) number(i int) int64 {
	if n, ok := parseNumber(r.text(i)); ok {
		return n
	}
	return -1
}

// integer reads a whole number that the script gave as such, not as text.
func (r reply) integer(i int) int64 {
	if i >= len(r) {
		return 0
	}
	n, _ := r[i].(int64)
	return n
}

func (r reply) list(i int) []any {
	if i >= len(r) {
		return nil
	}
	l, _ := r[i].([]any)
	return l
}
