package gateway

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	maxAttributes     = 64
	maxAttributeName  = 128
	maxAttributeValue = 4096
)

// topicTypes are the types that a topic may have.
var topicTypes = []string{
	string(meta.TopicNormal), string(meta.TopicFIFO), string(meta.TopicDelay), string(meta.TopicTransaction), string(meta.TopicMixed),
}

// topicSettings is the body of putTopic and updateTopic. A nil field is one
// that was left out; null is not a value of any.
type topicSettings struct {
	Type            *string           `json:"type"`
	Queues          *int64            `json:"queues"`
	RetentionMS     *int64            `json:"retention_ms"`
	RetentionBytes  *int64            `json:"retention_bytes"`
	MaxMessageBytes *int64            `json:"max_message_bytes"`
	Attributes      map[string]string `json:"attributes"`
}

// check refuses values outside the limits, all at once.
func (t *topicSettings) check() error {
	var faults []fault
	fail := func(pointer, detail string) {
		faults = append(faults, fault{Pointer: pointer, Code: "invalid_field", Detail: detail})
	}
	if t.Type != nil && !slices.Contains(topicTypes, *t.Type) {
		fail("/type", "one of "+strings.Join(topicTypes, ", "))
	}
	for _, number := range []struct {
		pointer   string
		value     *int64
		low, high int64
	}{
		{"/queues", t.Queues, 1, journal.MaxQueues},
		{"/retention_ms", t.RetentionMS, 0, maxInt53},
		{"/retention_bytes", t.RetentionBytes, 0, maxInt53},
		{"/max_message_bytes", t.MaxMessageBytes, 1, journal.MaxBodyBytes},
	} {
		if number.value != nil && (*number.value < number.low || *number.value > number.high) {
			fail(number.pointer, strconv.FormatInt(number.low, 10)+" to "+strconv.FormatInt(number.high, 10))
		}
	}
	if len(t.Attributes) > maxAttributes {
		fail("/attributes", fmt.Sprintf("at most %d attributes", maxAttributes))
	} else {
		for name, value := range t.Attributes {
			if name == "" || len(name) > maxAttributeName || len(value) > maxAttributeValue || !utf8.ValidString(name) {
				fail("/attributes/"+escapePointer(name), fmt.Sprintf("names of 1 to %d bytes, values of up to %d", maxAttributeName, maxAttributeValue))
			}
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return newProblem("invalid_field", strings.TrimPrefix(faults[0].Pointer, "/")+": "+faults[0].Detail, faults...)
}

// over returns base with the settings that are given.
func (t *topicSettings) over(base meta.Topic) meta.Topic {
	if t.Type != nil {
		base.Type = meta.TopicType(*t.Type)
	}
	if t.Queues != nil {
		base.Queues = uint32(*t.Queues)
	}
	if t.RetentionMS != nil {
		base.RetentionMS = *t.RetentionMS
	}
	if t.RetentionBytes != nil {
		base.RetentionBytes = *t.RetentionBytes
	}
	if t.MaxMessageBytes != nil {
		base.MaxMessageBytes = *t.MaxMessageBytes
	}
	if t.Attributes != nil {
		base.Attributes = t.Attributes
	}
	return base
}

// defaultTopic is a topic of which nothing was said.
func defaultTopic(name string) meta.Topic {
	return meta.Topic{
		Name:            name,
		Type:            meta.TopicNormal,
		Queues:          journal.DefaultQueues,
		RetentionMS:     journal.DefaultRetention,
		MaxMessageBytes: journal.MaxBodyBytes,
	}
}
