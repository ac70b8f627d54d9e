package meta

import (
	"strings"

	"github.com/google/uuid"
)

// The schema of groups. Everything of one group shares the hash tag of its id.
// Shared consumption has keys of its own (shared_run.go).
//
//	key                       type    content                                         written by          expires
//	{g:<id>}:meta             HASH    json, version, state live|deleted|restoring;    group scripts       never
//	                                  revision, generation, reason, assigned_at,
//	                                  term, standby; subs, alike_members,
//	                                  queue_members; shared_until
//	{g:<id>}:members          HASH    member id → json                                join, leave, expiry with the member
//	{g:<id>}:beats            HASH    member id → "deadline heard_at"                 heartbeats          with the member
//	{g:<id>}:clients          HASH    client id → member id                           join, leave         with the member
//	{g:<id>}:fenced           HASH    id of a replaced member → until when            join                10 min
//	{g:<id>}:refused          LIST    json of the last ≤ 10 refused joins             join                with the group
//	{g:<id>}:assign           HASH    <topic id>:<q> → claim (lua/group.lua)          coordinator         with the group
//	{g:<id>}:deliveries       HASH    <topic id>:<q> → how far connections were given   mark                with the group
//	                                  its messages (lua/mark.lua)
//	{g:<id>}:topics           SET     ids of topics that the group has offsets in     join, reset         with the group
//	{g:<id>}:o:<topic>        HASH    <q> → offset record (lua/offset.lua)            offset scripts      with the group
//	{g:<id>}:settings         HASH    topic id → json                                 PutGroupSettings    with the group
//	{g:<id>}:b:<client>:<t>   HASH    <q> → offset record of a broadcasting client    offset scripts      24 h after the client
//	{g:<id>}:bclients         HASH    <client> → client id                            join                with its records
//	{bmq}:groups              HASH    name → id                                       create, delete      never
//	{bmq}:groupnames          ZSET    names, all at score 0, for ordered listing      create, delete      never
//	{bmq}:secret              STRING  hex of the secret that receipts are signed by   Secret              never
//	{bmq}:groups:changes      channel "<group id> <what>"                             group scripts       –
const (
	keyGroups     = "{bmq}:groups"
	keyGroupNames = "{bmq}:groupnames"
	keySecret     = "{bmq}:secret"
	channelGroups = "{bmq}:groups:changes"
)

// What of a group changed.
const (
	ChangedGroup      = "group"      // its definition
	ChangedMembers    = "members"    // who is a member, or will not be for long
	ChangedAssignment = "assignment" // whose the queues are
	ChangedSettings   = "settings"   // settings of a topic
	ChangedOffsets    = "offsets"    // a reset, or a queue was stopped or started
)

func groupKey(group uuid.UUID, rest string) string { return "{g:" + group.String() + "}:" + rest }

func keyGroupMeta(group uuid.UUID) string        { return groupKey(group, "meta") }
func keyMembers(group uuid.UUID) string          { return groupKey(group, "members") }
func keyBeats(group uuid.UUID) string            { return groupKey(group, "beats") }
func keyClients(group uuid.UUID) string          { return groupKey(group, "clients") }
func keyFenced(group uuid.UUID) string           { return groupKey(group, "fenced") }
func keyRefused(group uuid.UUID) string          { return groupKey(group, "refused") }
func keyAssignments(group uuid.UUID) string      { return groupKey(group, "assign") }
func keyGroupTopics(group uuid.UUID) string      { return groupKey(group, "topics") }
func keyDeliveries(group uuid.UUID) string       { return groupKey(group, "deliveries") }
func keySettings(group uuid.UUID) string         { return groupKey(group, "settings") }
func keyBroadcastClients(group uuid.UUID) string { return groupKey(group, "bclients") }
func keyOffsets(group, topic uuid.UUID) string   { return groupKey(group, "o:"+topic.String()) }
func keyBroadcast(group uuid.UUID, client string, topic uuid.UUID) string {
	return groupKey(group, "b:"+client+":"+topic.String())
}

// groupNotice is what the channel of group changes carries.
func groupNotice(group uuid.UUID, what string) string { return group.String() + " " + what }

// parseGroupNotice reads it; ok is false for anything else.
func parseGroupNotice(payload string) (group uuid.UUID, what string, ok bool) {
	id, what, ok := strings.Cut(payload, " ")
	if !ok {
		return uuid.Nil, "", false
	}
	group, err := uuid.Parse(id)
	return group, what, err == nil
}
