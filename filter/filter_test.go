package filter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/filter"
	"github.com/bucketmq/bucketmq/segment"
)

func TestParseTagsAcceptsWhatRocketMQAccepts(t *testing.T) {
	cases := []struct {
		expression string
		want       string // String of the filter
		match      []string
		reject     []string
	}{
		{"", "*", []string{"", "a", "B"}, nil},
		{"*", "*", []string{"", "a"}, nil},
		{"  *\t", "*", []string{"", "a"}, nil},
		{"a", "a", []string{"a"}, []string{"", "A", "b", "aa"}},
		{"a||b", "a||b", []string{"a", "b"}, []string{"", "ab", "a||b"}},
		{" b || a ", "a||b", []string{"a", "b"}, []string{" a", "a "}},
		{"a||||b||", "a||b", []string{"a", "b"}, []string{""}},
		{"||a", "a", []string{"a"}, []string{""}},
		{"a || a", "a", []string{"a"}, []string{""}},
		{"a || *", "*||a", []string{"a", "*"}, []string{"b"}},
		// Equal Java hash codes: only the string decides.
		{"AaAa", "AaAa", []string{"AaAa"}, []string{"BBBB", "AaBB"}},
		{"Aa", "Aa", []string{"Aa"}, []string{"BB"}},
		{"ä || 标签", "ä||标签", []string{"ä", "标签"}, []string{"a"}},
	}
	for _, c := range cases {
		f, err := filter.ParseTags(c.expression)
		if err != nil {
			t.Errorf("ParseTags(%q): %v", c.expression, err)
			continue
		}
		if got := f.String(); got != c.want {
			t.Errorf("ParseTags(%q) = %q, want %q", c.expression, got, c.want)
		}
		if got, want := f.All(), c.want == "*"; got != want {
			t.Errorf("ParseTags(%q).All() = %v, want %v", c.expression, got, want)
		}
		for _, tag := range c.match {
			if !f.Match(&segment.Record{Tag: []byte(tag)}) {
				t.Errorf("%q does not match %q", c.expression, tag)
			}
		}
		for _, tag := range c.reject {
			if f.Match(&segment.Record{Tag: []byte(tag)}) {
				t.Errorf("%q matches %q", c.expression, tag)
			}
		}
	}
}

func TestParseTagsRefusesWhatNothingCanMatch(t *testing.T) {
	for _, expression := range []string{"||", " || ", "||||", "|", "a|b", "a b", "a || b c", "a\x00b", "a|||b", "a\x7fb"} {
		if f, err := filter.ParseTags(expression); !errors.Is(err, filter.ErrSyntax) {
			t.Errorf("ParseTags(%q) = %v, %v, want ErrSyntax", expression, f, err)
		}
	}
}

func TestManyTagsMatchLikeFew(t *testing.T) {
	var tags []string
	for i := range 100 {
		tags = append(tags, fmt.Sprintf("tag%03d", i))
	}
	f, err := filter.ParseTags(strings.Join(tags, "||"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range tags {
		if !f.Match(&segment.Record{Tag: []byte(tag)}) {
			t.Errorf("%s does not match", tag)
		}
	}
	for _, tag := range []string{"", "tag", "tag100", "tag0000"} {
		if f.Match(&segment.Record{Tag: []byte(tag)}) {
			t.Errorf("%q matches", tag)
		}
	}
}

func TestMatchNeverAllocates(t *testing.T) {
	many := make([]string, 50)
	for i := range many {
		many[i] = fmt.Sprint("t", i)
	}
	for _, expression := range []string{"*", "a||b||c", strings.Join(many, "||")} {
		f, err := filter.ParseTags(expression)
		if err != nil {
			t.Fatal(err)
		}
		tag := &segment.Record{Tag: []byte("t49")}
		if n := testing.AllocsPerRun(100, func() { f.Match(tag) }); n != 0 {
			t.Errorf("%.20s: %v allocations per match, want 0", expression, n)
		}
	}
}

func FuzzParseTags(f *testing.F) {
	for _, seed := range []string{"", "*", "a||b", "||", "a | b", " x ||*|| y", "\xff||é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		parsed, err := filter.ParseTags(expression)
		if err != nil {
			if !errors.Is(err, filter.ErrSyntax) {
				t.Fatalf("error %v is not ErrSyntax", err)
			}
			return
		}
		again, err := filter.ParseTags(parsed.String())
		if err != nil || again.String() != parsed.String() {
			t.Fatalf("%q prints as %q, which parses as %q, %v", expression, parsed, again, err)
		}
		for _, tag := range parsed.Tags() {
			if !parsed.Match(&segment.Record{Tag: []byte(tag)}) {
				t.Fatalf("%q does not match its own tag %q", expression, tag)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	many := make([]string, 50)
	for i := range many {
		many[i] = fmt.Sprint("t", i)
	}
	for name, expression := range map[string]string{"all": "*", "3-tags": "a||b||c", "50-tags": strings.Join(many, "||")} {
		b.Run(name, func(b *testing.B) {
			f, err := filter.ParseTags(expression)
			if err != nil {
				b.Fatal(err)
			}
			tag := &segment.Record{Tag: []byte("t49")}
			b.ReportAllocs()
			for b.Loop() {
				f.Match(tag)
			}
		})
	}
}
