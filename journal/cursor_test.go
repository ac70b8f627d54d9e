package journal

import (
	"encoding/base64"
	"errors"
	"reflect"
	"testing"

	"github.com/google/uuid"
)

func TestCursorSurvivesItsTextForm(t *testing.T) {
	topic := uuid.New()
	for _, c := range []Cursor{
		{Topic: topic, Epoch: 1},
		{Topic: topic, Epoch: 1, Next: []QueueOffset{{0, 0}}},
		{Topic: topic, Epoch: 7, Next: []QueueOffset{{0, 5}, {1, 1 << 40}, {9, 3}, {1<<32 - 1, maxOffset}}},
		{Topic: topic, Epoch: maxOffset, Next: []QueueOffset{{3, 128}}},
	} {
		got, err := ParseCursor(c.String())
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v came back as %+v, %v", c, got, err)
		}
	}
}

func TestACursorWithOneBitChangedIsRefused(t *testing.T) {
	text := Cursor{Topic: uuid.New(), Epoch: 2, Next: []QueueOffset{{0, 1000}, {1, 2000}}}.String()
	for i := range len(text) {
		for bit := range 8 {
			changed := []byte(text)
			changed[i] ^= 1 << bit
			if c, err := ParseCursor(string(changed)); !errors.Is(err, ErrCursor) {
				t.Fatalf("bit %d of character %d changed: got %+v, %v, want ErrCursor", bit, i, c, err)
			}
		}
		if c, err := ParseCursor(text[:i]); !errors.Is(err, ErrCursor) {
			t.Fatalf("cut at %d: got %+v, %v, want ErrCursor", i, c, err)
		}
	}
	for _, s := range []string{"", "!", text + "A", text + "=", " " + text, base64.RawURLEncoding.EncodeToString(make([]byte, 64))} {
		if c, err := ParseCursor(s); !errors.Is(err, ErrCursor) {
			t.Errorf("%q: got %+v, %v, want ErrCursor", s, c, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	f.Add("")
	f.Add(Cursor{Topic: uuid.New(), Epoch: 1, Next: []QueueOffset{{0, 1}, {7, 300}}}.String())
	f.Add(Cursor{Topic: uuid.New(), Epoch: 1 << 40}.String())
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil {
			if !errors.Is(err, ErrCursor) {
				t.Fatalf("error %v is not ErrCursor", err)
			}
			return
		}
		if c.String() != s {
			t.Fatalf("%q means %+v, which is written %q", s, c, c)
		}
		for i, n := range c.Next {
			if n.Offset < 0 || n.Offset > maxOffset || (i > 0 && n.Queue <= c.Next[i-1].Queue) {
				t.Fatalf("%q has the positions %v", s, c.Next)
			}
		}
	})
}

// FuzzCursorNumbers fuzzes what lies behind the checksum.
func FuzzCursorNumbers(f *testing.F) {
	f.Add([]byte{1, 1, 0, 5})
	f.Add([]byte{1, 2, 0, 5, 0, 6})
	f.Add([]byte{1, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, numbers []byte) {
		body := append([]byte{cursorVersion}, make([]byte, 16)...)
		text := seal(append(body, numbers...))
		c, err := ParseCursor(text)
		if err == nil && c.String() != text {
			t.Fatalf("%v means %+v, which is written otherwise", numbers, c)
		}
	})
}
