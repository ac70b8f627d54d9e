package filter_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/segment"
)

// vector is one row of testdata/sql92.tsv.
type vector struct {
	class, expression string
	properties        map[string]string
	rocketmq, ours    string
}

func vectors(t *testing.T) []vector {
	t.Helper()
	file, err := os.ReadFile("testdata/sql92.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	for line := range strings.Lines(string(file)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 5 {
			t.Fatalf("%q has %d fields", line, len(fields))
		}
		v := vector{class: fields[0], expression: strings.ReplaceAll(fields[1], `\n`, "\n"), rocketmq: fields[3], ours: fields[4]}
		if err := json.Unmarshal([]byte(fields[2]), &v.properties); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

// record is a message with these properties.
func record(properties map[string]string) *segment.Record {
	r := &segment.Record{}
	for name, value := range properties {
		switch name {
		case "TAGS":
			r.Tag = []byte(value)
		case "KEYS":
			r.Keys = []byte(value)
		default:
			r.Properties = segment.AppendProperty(r.Properties, name, value)
		}
	}
	return r
}

func verdict(expression string, r *segment.Record) string {
	f, err := filter.ParseSQL(expression)
	switch {
	case err != nil:
		return "REJECT"
	case f.Match(r):
		return "MATCH"
	}
	return "NO_MATCH"
}

func TestSQLDecidesEveryVector(t *testing.T) {
	rows, mainstream := vectors(t), 0
	for _, v := range rows {
		if v.class == "M" {
			mainstream++
			if want, _, _ := strings.Cut(v.rocketmq, "("); v.ours != want {
				t.Errorf("%s %v: the table says %s, RocketMQ %s, and it is no quirk", v.expression, v.properties, v.ours, v.rocketmq)
			}
		}
		if got := verdict(v.expression, record(v.properties)); got != v.ours {
			t.Errorf("%s: %s %v = %s, want %s", v.class, v.expression, v.properties, got, v.ours)
		}
	}
	if len(rows) < 190 || mainstream < 100 {
		t.Fatalf("only %d vectors, %d of them mainstream", len(rows), mainstream)
	}
}

func TestSQLTellsWhereAnExpressionIsWrong(t *testing.T) {
	for _, c := range []struct {
		expression string
		position   int
		detail     string
	}{
		{"", 0, "the end where a value belongs"},
		{"a = ", 4, "the end where a value belongs"},
		{"a = 1 garbage", 6, `"garbage" after the end of the expression`},
		{"a = 1 AND b = NULL", 12, "nothing equals NULL: write IS NULL"},
		{"a = 'x", 4, "the string does not end"},
		{"a = 1 /* b", 6, "the comment does not end"},
		{"a ? 1", 2, "unexpected character '?'"},
		{"a = 'ä' AND ä = 1", 13, "unexpected character 'ä'"},
		{"a in ('x', 1)", 11, `"1" in a list of strings`},
		{"a in ('x'", 9, `the end where ")" belongs`},
		{"1 in ('x')", 2, "IN stands after the name of a property"},
		{"a between 1", 11, `the end where "AND" belongs`},
		{"a between 5 and 1", 2, "the bounds of BETWEEN are the wrong way round"},
		{"a > 'x'", 2, "> compares numbers and properties"},
		{"a contains ''", 11, "an empty string decides nothing"},
		{"a not like 'x'", 6, `"like" after NOT`},
		{"01 = a", 0, "01 begins with a zero"},
		{"a = 99999999999999999999", 4, "99999999999999999999 is no integer of 64 bits"},
		{"a = 1 and 2", 10, "an operand of AND is no condition"},
		{"1 + 2", 2, `"+" after the end of the expression`},
		{"7", 0, "the expression is no condition"},
		{"not 7", 4, "the operand of NOT is no condition"},
	} {
		_, err := filter.ParseSQL(c.expression)
		var syntax *filter.SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, filter.ErrSyntax) {
			t.Errorf("%q: error %v, want a SyntaxError", c.expression, err)
			continue
		}
		if syntax.Position != c.position || syntax.Detail != c.detail {
			t.Errorf("%q: %d %q, want %d %q", c.expression, syntax.Position, syntax.Detail, c.position, c.detail)
		}
	}
}

func TestSQLIsBounded(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("(", n) + "a = 1" + strings.Repeat(")", n) }
	for name, expression := range map[string]string{
		"parentheses":     deep(65),
		"a million":       deep(1_000_000),
		"not":             strings.Repeat("NOT ", 65) + "a = 1",
		"signs":           "a = " + strings.Repeat("- ", 65) + "1",
		"is null":         "a" + strings.Repeat(" IS NULL", 65),
		"equals":          "a = b" + strings.Repeat(" = b", 65),
		"long":            "a = 1" + strings.Repeat(" OR a = 1", 1000),
		"64 KiB of space": strings.Repeat(" ", 65536) + "a = 1",
	} {
		if _, err := filter.ParseSQL(expression); !errors.Is(err, filter.ErrSyntax) {
			t.Errorf("%s: error %v, want ErrSyntax", name, err)
		}
	}
	for name, expression := range map[string]string{
		"parentheses": deep(63), // and a comparison
		"wide":        "a = 1" + strings.Repeat(" OR a = 1", (filter.MaxSQLBytes-5)/9),
	} {
		if got := verdict(expression, record(map[string]string{"a": "1"})); got != "MATCH" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestSQLKnowsTheTagsItNeeds(t *testing.T) {
	for expression, want := range map[string]string{
		"TAGS = 'a'":                           "a",
		"'a' = TAGS AND b > 1":                 "a",
		"TAGS IN ('b','a') AND x IS NULL":      "a,b",
		"TAGS = 'a' OR TAGS = 'b'":             "a,b",
		"TAGS = 'a' OR x = 1":                  "",
		"TAGS <> 'a'":                          "",
		"TAGS NOT IN ('a')":                    "",
		"NOT (TAGS = 'a')":                     "",
		"TAGS IS NOT NULL":                     "",
		"TAGS IN ('a','b','c') AND TAGS = 'b'": "b",
	} {
		f, err := filter.ParseSQL(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got := strings.Join(f.Tags(), ","); got != want || f.All() || !f.SQL() {
			t.Errorf("%s: tags %q all %v sql %v, want %q false true", expression, got, f.All(), f.SQL(), want)
		}
	}
}

// typical are conditions as users write them.
var typical = []string{
	"TAGS = 'paid'",
	"TAGS IN ('paid','shipped')",
	"region = 'eu'",
	"amount > 100",
	"amount BETWEEN 10 AND 99.5",
	"region = 'eu' AND amount >= 10",
	"region IN ('eu','us') AND NOT (vip = TRUE)",
	"sku STARTSWITH 'A-' OR sku CONTAINS '-X-'",
	"coupon IS NULL OR (amount > 10 AND region <> 'cn')",
	"a1 = 1 OR a2 = 2 OR a3 = 3 OR amount > 5.5E1",
}

func typicalRecord() *segment.Record {
	r := &segment.Record{Tag: []byte("paid")}
	for _, p := range [][2]string{{"trace", "0af7651916cd43dd8448eb211c80319c"}, {"region", "eu"}, {"amount", "64.5"}, {"vip", "true"}, {"sku", "B-X-1"}, {"a1", "x"}, {"a2", "99999999999999999999"}} {
		r.Properties = segment.AppendProperty(r.Properties, p[0], p[1])
	}
	return r
}

func TestSQLMatchNeverAllocates(t *testing.T) {
	r := typicalRecord()
	for _, expression := range typical {
		f, err := filter.ParseSQL(expression)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { f.Match(r) }); n != 0 {
			t.Errorf("%s: %v allocations per match, want 0", expression, n)
		}
	}
}

func FuzzParseSQL(f *testing.F) {
	for _, expression := range typical {
		f.Add(expression, "region", "eu")
	}
	f.Add("a is null is null = true", "a", "--3")
	f.Add("- - a > -9223372036854775808", "a", "1e400")
	f.Add("-- comment\n /* x */ a <= 5.", "a", "\xff")
	f.Fuzz(func(t *testing.T, expression, name, value string) {
		parsed, err := filter.ParseSQL(expression)
		if err != nil {
			if !errors.Is(err, filter.ErrSyntax) {
				t.Fatalf("error %v is not ErrSyntax", err)
			}
			return
		}
		if len(name) > 1000 || len(value) > 1000 {
			return
		}
		r := record(map[string]string{name: value})
		matched := parsed.Match(r)
		printed := parsed.String()
		again, err := filter.ParseSQL(printed)
		if err != nil {
			if strings.Contains(err.Error(), "levels deep") || len(printed) > filter.MaxSQLBytes {
				return // the normal form has more parentheses
			}
			t.Fatalf("%q prints as %q, which does not parse: %v", expression, printed, err)
		}
		if again.String() != printed || again.Match(r) != matched {
			t.Fatalf("%q prints as %q, which prints as %q", expression, printed, again)
		}
	})
}

func BenchmarkSQL(b *testing.B) {
	r := typicalRecord()
	for _, expression := range typical {
		b.Run(expression, func(b *testing.B) {
			f, err := filter.ParseSQL(expression)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				f.Match(r)
			}
		})
	}
}

func TestSQLComparesIntegersExactly(t *testing.T) {
	r := record(map[string]string{"a": "9007199254740993"}) // 2^53 + 1: no float64
	for expression, want := range map[string]string{
		"a = 9007199254740993": "MATCH", "a = 9007199254740992": "NO_MATCH", "a > 9007199254740992": "MATCH",
		"a > b": "NO_MATCH", "a < 9007199254740992.0": "NO_MATCH",
	} {
		if got := verdict(expression, r); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
}
