package filter

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/bucketmq/bucketmq/segment"
)

// truthValue is one of SQL's three. Only yes passes a filter.
type truthValue int8

const (
	unknown truthValue = iota
	no
	yes
)

func truthOf(b bool) truthValue {
	if b {
		return yes
	}
	return no
}

func (t truthValue) not() truthValue {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}

// valueKind says which field of a value holds.
type valueKind uint8

const (
	absent  valueKind = iota // NULL, a property that the message does not have, what cannot be converted
	boolean                  // truth
	numeric                  // number
	raw                      // text of a property or of a literal
)

// value is what a node evaluates to. It is passed by value: nothing is allocated.
type value struct {
	kind   valueKind
	truth  truthValue
	number number
	text   []byte // of raw
}

// node is a part of a compiled expression. It does not change and may be
// evaluated concurrently.
type node interface {
	eval(m *segment.Record) value
	print(dst []byte) []byte // in the language, such that it parses to the same
}

type (
	text   []byte
	truth  bool
	null   struct{}
	number struct {
		integer bool
		n       int64   // where integer
		f       float64 // always
	}
	// property is a property of the message; TAGS and KEYS are its tag and keys.
	property struct {
		name []byte
		of   func(m *segment.Record, name []byte) ([]byte, bool)
	}
	sign     struct{ of node } // minus
	negation struct{ of node }
	anyOf    []node
	allOf    []node
	nullTest struct {
		of   node
		want bool // IS NULL
	}
	equality struct {
		left, right node
		want        bool // =
	}
	order struct {
		left, right node
		op          comparison
	}
	between struct {
		of, low, high node
		want          bool // BETWEEN
	}
	membership struct {
		of   *property
		list [][]byte // sorted
		want bool     // IN
	}
	substring struct {
		of     node
		word   string
		wanted []byte
		want   bool // without NOT
	}
)

// comparison is an order of two numbers.
type comparison struct {
	symbol            string
	less, equal, more bool // it holds when the left one is less, equal, more
}

var (
	less    = comparison{symbol: "<", less: true}
	atMost  = comparison{symbol: "<=", less: true, equal: true}
	more    = comparison{symbol: ">", more: true}
	atLeast = comparison{symbol: ">=", more: true, equal: true}

	orders = map[string]comparison{"<": less, "<=": atMost, ">": more, ">=": atLeast}
)

func (c comparison) holds(sign int) bool {
	return sign < 0 && c.less || sign == 0 && c.equal || sign > 0 && c.more
}

func newProperty(name string) *property {
	switch name {
	case "TAGS":
		return &property{[]byte(name), func(m *segment.Record, _ []byte) ([]byte, bool) { return m.Tag, len(m.Tag) > 0 }}
	case "KEYS":
		return &property{[]byte(name), func(m *segment.Record, _ []byte) ([]byte, bool) { return m.Keys, len(m.Keys) > 0 }}
	}
	return &property{[]byte(name), lookUp}
}

// lookUp finds the property of that name.
func lookUp(m *segment.Record, name []byte) ([]byte, bool) {
	for n, v := range m.Properties.All() {
		if bytes.Equal(n, name) {
			return v, true
		}
	}
	return nil, false
}

func (t text) eval(*segment.Record) value   { return value{kind: raw, text: t} }
func (t truth) eval(*segment.Record) value  { return value{kind: boolean, truth: truthOf(bool(t))} }
func (null) eval(*segment.Record) value     { return value{} }
func (n number) eval(*segment.Record) value { return value{kind: numeric, number: n} }

func (p *property) eval(m *segment.Record) value {
	v, ok := p.of(m, p.name)
	if !ok {
		return value{}
	}
	return value{kind: raw, text: v}
}

func (s *sign) eval(m *segment.Record) value {
	n, ok := toNumber(s.of.eval(m))
	if !ok {
		return value{}
	}
	return value{kind: numeric, number: n.negated()}
}

func (n *negation) eval(m *segment.Record) value { return decided(toTruth(n.of.eval(m)).not()) }

func decided(t truthValue) value {
	if t == unknown {
		return value{}
	}
	return value{kind: boolean, truth: t}
}

func (l anyOf) eval(m *segment.Record) value {
	result := no
	for _, n := range l {
		switch toTruth(n.eval(m)) {
		case yes:
			return decided(yes)
		case unknown:
			result = unknown
		}
	}
	return decided(result)
}

func (l allOf) eval(m *segment.Record) value {
	result := yes
	for _, n := range l {
		switch toTruth(n.eval(m)) {
		case no:
			return decided(no)
		case unknown:
			result = unknown
		}
	}
	return decided(result)
}

func (t *nullTest) eval(m *segment.Record) value {
	return decided(truthOf((t.of.eval(m).kind == absent) == t.want))
}

func (e *equality) eval(m *segment.Record) value {
	result := equal(e.left.eval(m), e.right.eval(m))
	if !e.want {
		result = result.not()
	}
	return decided(result)
}

// equal compares two values as what the one that is no text is.
func equal(a, b value) truthValue {
	switch {
	case a.kind == absent || b.kind == absent:
		return unknown
	case a.kind == raw && b.kind == raw:
		return truthOf(bytes.Equal(a.text, b.text))
	case a.kind == boolean || b.kind == boolean:
		x, y := toTruth(a), toTruth(b)
		if x == unknown || y == unknown {
			return unknown
		}
		return truthOf(x == y)
	}
	sign, ok := compare(a, b)
	if !ok {
		return unknown
	}
	return truthOf(sign == 0)
}

func (o *order) eval(m *segment.Record) value {
	return decided(o.op.of(o.left.eval(m), o.right.eval(m)))
}

func (c comparison) of(a, b value) truthValue {
	sign, ok := compare(a, b)
	if !ok {
		return unknown
	}
	return truthOf(c.holds(sign))
}

func (b *between) eval(m *segment.Record) value {
	v := b.of.eval(m)
	above, below := atLeast.of(v, b.low.eval(m)), atMost.of(v, b.high.eval(m))
	result := unknown
	switch {
	case above == no || below == no:
		result = no
	case above == yes && below == yes:
		result = yes
	}
	if !b.want {
		result = result.not()
	}
	return decided(result)
}

func (i *membership) eval(m *segment.Record) value {
	v := i.of.eval(m)
	if v.kind == absent {
		return value{}
	}
	_, found := slices.BinarySearchFunc(i.list, v.text, bytes.Compare)
	return decided(truthOf(found == i.want))
}

func (s *substring) eval(m *segment.Record) value {
	v := s.of.eval(m)
	if v.kind != raw {
		return value{}
	}
	found := false
	switch s.word {
	case "CONTAINS":
		found = bytes.Contains(v.text, s.wanted)
	case "STARTSWITH":
		found = bytes.HasPrefix(v.text, s.wanted)
	case "ENDSWITH":
		found = bytes.HasSuffix(v.text, s.wanted)
	}
	return decided(truthOf(found == s.want))
}

// toTruth converts what stands where a condition belongs. Of a property only
// the texts true and false, in any case, are one.
func toTruth(v value) truthValue {
	switch {
	case v.kind == boolean:
		return v.truth
	case v.kind == raw && len(v.text) == 4 && equalFold(v.text, "true"):
		return yes
	case v.kind == raw && len(v.text) == 5 && equalFold(v.text, "false"):
		return no
	}
	return unknown
}

// equalFold compares with a word of lower-case letters of the same length.
func equalFold(b []byte, word string) bool {
	for i := range b {
		if b[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

// compare orders two values as numbers: exactly when both are integers.
func compare(a, b value) (sign int, ok bool) {
	x, ok := toNumber(a)
	if !ok {
		return 0, false
	}
	y, ok := toNumber(b)
	if !ok {
		return 0, false
	}
	if x.integer && y.integer {
		return cmp.Compare(x.n, y.n), true
	}
	return cmp.Compare(x.f, y.f), true
}

func (n number) negated() number {
	if n.integer && n.n != math.MinInt64 {
		return number{integer: true, n: -n.n, f: -n.f}
	}
	return number{f: -n.f}
}

// toNumber converts a decimal number: an integer of 64 bits stays exact,
// anything else, as 1.5, 1e3 or a longer integer, is a float64.
func toNumber(v value) (number, bool) {
	if v.kind == numeric {
		return v.number, true
	}
	if v.kind != raw {
		return number{}, false
	}
	if n, ok := parseInteger(v.text); ok {
		return number{integer: true, n: n, f: float64(n)}, true
	}
	if len(v.text) > maxNumberBytes || !looksDecimal(v.text) {
		return number{}, false
	}
	f, err := strconv.ParseFloat(string(v.text), 64)
	if err != nil {
		return number{}, false
	}
	return number{f: f}, true
}

// maxNumberBytes bounds the text of a number: a longer one is none. It is what
// Go converts on the stack.
const maxNumberBytes = 32

func parseInteger(b []byte) (int64, bool) {
	digits := b
	minus := len(b) > 0 && b[0] == '-'
	if minus || len(b) > 0 && b[0] == '+' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 { // 18 digits always fit
		return parseLong(b, len(digits))
	}
	var n int64
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if minus {
		n = -n
	}
	return n, true
}

// parseLong reads an integer that may not fit.
func parseLong(b []byte, digits int) (int64, bool) {
	if digits != 19 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

// looksDecimal keeps out what ParseFloat takes besides decimal numbers.
func looksDecimal(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return false
		}
	}
	return true
}
