package filter

import (
	"bytes"
	"slices"
)

// condition reports whether a node can stand where something is true or false.
// A property can: what it holds decides.
func condition(n node) bool {
	switch n.(type) {
	case text, number, *sign:
		return false
	}
	return true
}

// ordered reports whether a node can be compared by < and its kin.
func ordered(n node) bool {
	switch n.(type) {
	case number, *sign, *property:
		return true
	}
	return false
}

func newEquality(at int, left, right node, want bool) (node, error) {
	for _, n := range [...]node{left, right} {
		if _, ok := n.(null); ok {
			return nil, syntaxAt(at, "nothing equals NULL: write IS NULL")
		}
	}
	if _, ok := left.(truth); ok && !condition(right) {
		return nil, syntaxAt(at, "a truth value is compared with what is none")
	}
	for _, pair := range [...][2]node{{left, right}, {right, left}} {
		if numberLike(pair[0]) && !numberLike(pair[1]) {
			switch pair[1].(type) {
			case text, *property:
			default:
				return nil, syntaxAt(at, "a number is compared with a condition")
			}
		}
	}
	return &equality{left: left, right: right, want: want}, nil
}

func numberLike(n node) bool {
	switch n.(type) {
	case number, *sign:
		return true
	}
	return false
}

func newOrder(at int, left, right node, op comparison) (node, error) {
	if !ordered(left) || !ordered(right) {
		return nil, syntaxAt(at, "%s compares numbers and properties", op.symbol)
	}
	return &order{left: left, right: right, op: op}, nil
}

func newBetween(at int, of, low, high node, negated bool) (node, error) {
	if !ordered(of) || !ordered(low) || !ordered(high) {
		return nil, syntaxAt(at, "BETWEEN compares numbers and properties")
	}
	l, isLow := low.(number)
	h, isHigh := high.(number)
	if !negated && isLow && isHigh {
		if sign, _ := compare(l.eval(nil), h.eval(nil)); sign > 0 {
			return nil, syntaxAt(at, "the bounds of BETWEEN are the wrong way round")
		}
	}
	return &between{of: of, low: low, high: high, want: !negated}, nil
}

func newMembership(of *property, list [][]byte, negated bool) node {
	slices.SortFunc(list, bytes.Compare)
	return &membership{of: of, list: slices.CompactFunc(list, bytes.Equal), want: !negated}
}

// signed puts a sign before a number.
func signed(at int, n node, minus bool) (node, error) {
	if !ordered(n) {
		return nil, syntaxAt(at, "a sign stands before a number or a property")
	}
	literal, ok := n.(number)
	switch {
	case !minus && ok:
		return n, nil
	case !minus:
		return &sign{&sign{n}}, nil
	case ok:
		return literal.negated(), nil
	}
	return &sign{n}, nil
}

// requiredTags returns tags of which every message that passes has one; ok is
// false when nothing is known.
func requiredTags(n node) (tags [][]byte, ok bool) {
	switch n := n.(type) {
	case *equality:
		if n.want {
			return tagEquality(n.left, n.right)
		}
	case *membership:
		if n.want && isTag(n.of) {
			return n.list, true
		}
	case allOf:
		for _, operand := range n {
			if found, known := requiredTags(operand); known && (!ok || len(found) < len(tags)) {
				tags, ok = found, true
			}
		}
		return tags, ok
	case anyOf:
		for _, operand := range n {
			found, known := requiredTags(operand)
			if !known {
				return nil, false
			}
			tags = append(tags, found...)
		}
		return tags, true
	}
	return nil, false
}

func tagEquality(left, right node) ([][]byte, bool) {
	for _, pair := range [...][2]node{{left, right}, {right, left}} {
		p, isProperty := pair[0].(*property)
		t, isText := pair[1].(text)
		if isProperty && isText && isTag(p) {
			return [][]byte{t}, true
		}
	}
	return nil, false
}

func isTag(p *property) bool { return string(p.name) == "TAGS" }
