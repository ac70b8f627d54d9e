package meta

import (
	"errors"
	"fmt"
)

var (
	// ErrGroupNotFound says that no live group has this name or id.
	ErrGroupNotFound = errors.New("meta: group not found")
	// ErrGroupActive says that a group with members was not deleted.
	ErrGroupActive = errors.New("meta: group has members")
	// ErrGroupChanged says that a decision about a group was made on an older state.
	ErrGroupChanged = errors.New("meta: group changed in between")
	// ErrGroupQueued says that members which own queues consume for the group.
	ErrGroupQueued = errors.New("meta: members of the group own its queues")
	// ErrMemberUnknown says that the member left, expired or never was: join anew.
	ErrMemberUnknown = errors.New("meta: no such member")
	// ErrFencedMember says that a newer session of the same client replaced the member.
	ErrFencedMember = errors.New("meta: member replaced by a newer session of its client")
)

// GroupExistsError says that a group of this name exists already.
type GroupExistsError struct{ Current Group }

func (e *GroupExistsError) Error() string {
	return fmt.Sprintf("meta: group %s exists", e.Current.Name)
}

// GroupConflictError says that a group has another version than the one asked for.
type GroupConflictError struct{ Current Group }

func (e *GroupConflictError) Error() string {
	return fmt.Sprintf("meta: group %s is at version %d", e.Current.Name, e.Current.Version)
}

// SettingsConflictError says that settings have another version than the one
// asked for; Current is zero when there are none.
type SettingsConflictError struct{ Current Settings }

func (e *SettingsConflictError) Error() string {
	return fmt.Sprintf("meta: settings are at version %d", e.Current.Version)
}

// SubscriptionMismatchError says that the members of a group subscribe otherwise.
type SubscriptionMismatchError struct{ Current []Subscription }

func (e *SubscriptionMismatchError) Error() string {
	return "meta: members of the group have other subscriptions"
}
