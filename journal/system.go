package journal

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/bucketmq/bucketmq/meta"
)

// Names of the topics that belong to a group are these and the group's name, as in
// RocketMQ (SEMANTICS 34, 108).
const (
	retryPrefix = "%RETRY%"
	deadPrefix  = "%DLQ%"

	systemMark = "%" // no user's topic begins with it
)

// RetryTopic is the name of the topic of the messages that a group is to get again.
func RetryTopic(group string) string { return retryPrefix + group }

// DeadLetterTopic is the name of the topic of the messages that a group gave up.
func DeadLetterTopic(group string) string { return deadPrefix + group }

// IsRetryTopic says whether a topic is the retry topic of a group.
func IsRetryTopic(name string) bool { return strings.HasPrefix(name, retryPrefix) }

// IsSystemTopic says whether a topic is kept by the installation itself: users may
// read it, and neither write to it nor change it.
func IsSystemTopic(name string) bool { return strings.HasPrefix(name, systemMark) }

// attributeOwner of a system topic is the id of what it belongs to.
const attributeOwner = "owner"

// OwnedBy says whether a system topic belongs to the owner, and not to an earlier
// one of the same name.
func OwnedBy(t meta.Topic, owner uuid.UUID) bool {
	return t.Attributes[attributeOwner] == owner.String()
}

// SystemTopic returns the owner's system topic of that name, of type delay and with
// one queue, and makes it when there is none. Two who make it at once get the same
// one; that of an earlier owner of the name is deleted. Errors are those of PutTopic.
func (j *Journal) SystemTopic(ctx context.Context, name string, owner uuid.UUID) (meta.Topic, error) {
	t, err := j.Topic(ctx, name)
	if err == nil && OwnedBy(t, owner) {
		return t, nil
	}
	if err == nil { // what is left of a group that was deleted
		_, err = j.DeleteTopic(ctx, name, t.Version)
	}
	if err != nil && !errors.Is(err, ErrTopicNotFound) {
		return meta.Topic{}, err
	}
	t = meta.Topic{
		Name: name, Type: meta.TopicDelay, Queues: 1, RetentionMS: DefaultRetention,
		Attributes: map[string]string{attributeOwner: owner.String()},
	}
	t, err = j.changeTopic(ctx, "create", name, func() (meta.Topic, error) { return j.meta.CreateTopic(ctx, t) })
	if there, ok := errors.AsType[*meta.ExistsError](err); ok && OwnedBy(there.Current, owner) {
		return there.Current, nil
	}
	return t, err
}

// NewSystemDraft begins a request whose messages were taken in before: they may
// have reserved properties, and more of them than a producer's may.
func (j *Journal) NewSystemDraft(t meta.Topic) (*Draft, error) {
	d, err := j.NewDraft(t)
	if err != nil {
		return nil, err
	}
	d.system = true
	return d, nil
}
