package filter_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bucketmq/bucketmq/filter"
)

// The reference evaluates a condition in the slowest, plainest way: three-valued
// logic over texts and big rational numbers. It shares nothing with the package.

// logic is true, false or, when nil, unknown.
type logic *bool

func known(b bool) logic { return &b }

func negate(l logic) logic {
	if l == nil {
		return nil
	}
	return known(!*l)
}

// reference is a condition as text, and what it is for the properties.
type reference struct {
	text string
	eval func(p map[string]string) logic
}

// operand is a value as text, and the text it stands for; ok is false for NULL.
type operand struct {
	text   string
	number bool // a literal number
	value  func(p map[string]string) (string, bool)
}

func rational(text string) (*big.Rat, bool) {
	for _, c := range text {
		if !strings.ContainsRune("0123456789.eE+-", c) {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

var names = []string{"a", "b", "c", "TAGS"}

func drawNumber(t *rapid.T) operand {
	text := rapid.SampledFrom([]string{"0", "1", "2", "-1", "3", "2.5", "0.5", "10", "1E1", "-2.5", "9007199254740993"}).Draw(t, "number")
	return operand{text, true, func(map[string]string) (string, bool) { return text, true }}
}

func drawProperty(t *rapid.T) operand {
	name := rapid.SampledFrom(names).Draw(t, "name")
	return operand{name, false, func(p map[string]string) (string, bool) { v, ok := p[name]; return v, ok }}
}

func drawText(t *rapid.T) operand {
	text := rapid.SampledFrom([]string{"x", "xy", "it's", "1", "2.5", "true", "X"}).Draw(t, "string")
	return operand{"'" + strings.ReplaceAll(text, "'", "''") + "'", false, func(map[string]string) (string, bool) { return text, true }}
}

func drawOrdered(t *rapid.T) operand {
	if rapid.Bool().Draw(t, "literal") {
		return drawNumber(t)
	}
	return drawProperty(t)
}

// compared orders two operands as numbers.
func compared(p map[string]string, a, b operand, holds func(sign int) bool) logic {
	x, okX := a.value(p)
	y, okY := b.value(p)
	if !okX || !okY {
		return nil
	}
	m, okM := rational(x)
	n, okN := rational(y)
	if !okM || !okN {
		return nil
	}
	return known(holds(m.Cmp(n)))
}

func both(a, b logic) logic {
	switch {
	case a != nil && !*a, b != nil && !*b:
		return known(false)
	case a == nil || b == nil:
		return nil
	}
	return known(true)
}

func drawLeaf(t *rapid.T) reference {
	not, word := rapid.Bool().Draw(t, "not"), ""
	if not {
		word = " NOT"
	}
	turn := func(l logic) logic {
		if not {
			return negate(l)
		}
		return l
	}
	switch rapid.IntRange(0, 6).Draw(t, "leaf") {
	case 0: // text equality
		a, b := drawProperty(t), drawText(t)
		sign := map[bool]string{false: "=", true: "<>"}[not]
		return reference{a.text + " " + sign + " " + b.text, func(p map[string]string) logic {
			x, ok := a.value(p)
			if !ok {
				return nil
			}
			y, _ := b.value(p)
			return turn(known(x == y))
		}}
	case 1: // number equality
		a, b := drawProperty(t), drawNumber(t)
		sign := map[bool]string{false: "=", true: "<>"}[not]
		return reference{b.text + sign + a.text, func(p map[string]string) logic {
			return turn(compared(p, a, b, func(s int) bool { return s == 0 }))
		}}
	case 2:
		a, b := drawOrdered(t), drawOrdered(t)
		op := rapid.SampledFrom([]string{"<", "<=", ">", ">="}).Draw(t, "op")
		return reference{a.text + " " + op + " " + b.text, func(p map[string]string) logic {
			return compared(p, a, b, func(s int) bool {
				return s < 0 && op[0] == '<' || s > 0 && op[0] == '>' || s == 0 && len(op) == 2
			})
		}}
	case 3:
		a, low, high := drawProperty(t), drawProperty(t), drawOrdered(t)
		return reference{fmt.Sprintf("%s%s BETWEEN %s AND %s", a.text, word, low.text, high.text), func(p map[string]string) logic {
			return turn(both(compared(p, a, low, func(s int) bool { return s >= 0 }), compared(p, a, high, func(s int) bool { return s <= 0 })))
		}}
	case 4:
		a, x, y := drawProperty(t), drawText(t), drawText(t)
		return reference{fmt.Sprintf("%s%s IN (%s, %s)", a.text, word, x.text, y.text), func(p map[string]string) logic {
			v, ok := a.value(p)
			if !ok {
				return nil
			}
			m, _ := x.value(p)
			n, _ := y.value(p)
			return turn(known(v == m || v == n))
		}}
	case 5:
		a, b := drawProperty(t), drawText(t)
		op := rapid.SampledFrom([]string{"CONTAINS", "startswith", "EndsWith"}).Draw(t, "op")
		return reference{fmt.Sprintf("%s%s %s %s", a.text, word, op, b.text), func(p map[string]string) logic {
			v, ok := a.value(p)
			if !ok {
				return nil
			}
			w, _ := b.value(p)
			return turn(known(map[string]func(string, string) bool{
				"CONTAINS": strings.Contains, "startswith": strings.HasPrefix, "EndsWith": strings.HasSuffix,
			}[op](v, w)))
		}}
	}
	a := drawProperty(t)
	return reference{a.text + " IS" + word + " NULL", func(p map[string]string) logic {
		_, ok := a.value(p)
		return turn(known(!ok))
	}}
}

func drawCondition(t *rapid.T, depth int) reference {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		return drawLeaf(t)
	}
	a := drawCondition(t, depth-1)
	switch rapid.IntRange(0, 3).Draw(t, "join") {
	case 0:
		return reference{"NOT (" + a.text + ")", func(p map[string]string) logic { return negate(a.eval(p)) }}
	case 1:
		b := drawCondition(t, depth-1)
		return reference{"(" + a.text + ") AND (" + b.text + ")", func(p map[string]string) logic { return both(a.eval(p), b.eval(p)) }}
	case 2:
		b := drawCondition(t, depth-1)
		return reference{"(" + a.text + " OR " + b.text + ")", func(p map[string]string) logic {
			return negate(both(negate(a.eval(p)), negate(b.eval(p))))
		}}
	}
	return reference{"(" + a.text + ")", a.eval}
}

func TestSQLAgreesWithTheReference(t *testing.T) {
	values := []string{"", "x", "xy", "X", "it's", "true", "0", "1", "-1", "2", "2.50", "10", "1e1", "3.", "-2", "5", "20", "abc", "9007199254740993", "0x10"}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCondition(t, 4)
		f, err := filter.ParseSQL(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		for range 50 {
			p := map[string]string{}
			for _, name := range names {
				if v := rapid.SampledFrom(values).Draw(t, name); rapid.IntRange(0, 5).Draw(t, "absent") > 0 && (name != "TAGS" || v != "") {
					p[name] = v
				}
			}
			want := c.eval(p)
			if got := f.Match(record(p)); got != (want != nil && *want) {
				t.Fatalf("%s %v: %v, the reference says otherwise", c.text, p, got)
			}
		}
	})
}
