package gateway

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads one JSON text in a single pass, without reflection and without
// allocating per value. It knows no errors: whatever is not exactly what it
// expects sets bad, and the caller asks the strict decoder what was wrong.
// It accepts nothing that the strict decoder refuses.
type scanner struct {
	text []byte // the JSON text; never changed
	at   int    // the next byte to read
	bad  bool   // sticky: something is wrong or unusual

	// scratch holds strings that had escapes, and bodies decoded from base64.
	// What was handed out stays valid until the next reset, also when scratch
	// has grown since: a view keeps the array that it was made from.
	scratch []byte
}

// reset points the scanner at a new text.
func (s *scanner) reset(text []byte) {
	s.text, s.at, s.bad = text, 0, false
	s.scratch = s.scratch[:0]
}

// fail marks the text as one for the strict decoder and moves to its end, so
// that every loop over members or elements ends.
func (s *scanner) fail() {
	s.bad = true
	s.at = len(s.text)
}

// peek skips white space and returns the next byte without taking it, or 0 at
// the end.
func (s *scanner) peek() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take skips white space and takes the byte c, or fails.
func (s *scanner) take(c byte) {
	if s.peek() != c {
		s.fail()
		return
	}
	s.at++
}

// end fails unless nothing but white space is left.
func (s *scanner) end() bool {
	s.peek()
	if s.at != len(s.text) {
		s.fail()
	}
	return !s.bad
}

// null takes the literal null if it comes next.
func (s *scanner) null() bool {
	if s.peek() != 'n' {
		return false
	}
	if len(s.text)-s.at < 4 || string(s.text[s.at:s.at+4]) != "null" {
		s.fail()
		return false
	}
	s.at += 4
	return true
}

// member moves to the next member of an open object and returns its name; the
// value comes next. more is false after the last one, or when the scan failed.
func (s *scanner) member(first bool) (name []byte, more bool) {
	if !s.element(first, '}') {
		return nil, false
	}
	name = s.str()
	s.take(':')
	return name, !s.bad
}

// element moves to the next value of an open array (or, for member, object)
// that ends with the byte last. It returns false after the last one, or when
// the scan failed.
func (s *scanner) element(first bool, last byte) bool {
	c := s.peek()
	switch {
	case s.bad:
		return false
	case c == last:
		s.at++
		return false
	case first:
		return true
	case c != ',':
		s.fail()
		return false
	}
	s.at++
	return true
}

// str reads a string. The result is a view of the text, or of scratch when the
// string had escapes.
func (s *scanner) str() []byte {
	s.take('"')
	if s.bad {
		return nil
	}
	start := s.at
	stop, wide := plainRun(s.text, start)
	if stop == len(s.text) {
		s.fail()
		return nil
	}
	run := s.text[start:stop]
	if s.text[stop] == '\\' {
		return s.escaped(run, stop, wide)
	}
	if s.text[stop] != '"' || wide && !utf8.Valid(run) {
		s.fail() // a control character, or not UTF-8
		return nil
	}
	s.at = stop + 1
	return run
}

// escaped reads the rest of a string from its first escape on, which is at;
// head is what came before it. Runs are short where there are escapes at all
// (JSON within JSON), so they are copied a word at a time while they are looked
// at.
func (s *scanner) escaped(head []byte, at int, wide bool) []byte {
	text, from := s.text, len(s.scratch)
	out := append(s.scratch, head...)
	var seen uint64
	for {
		if cap(out)-len(out) < 8 {
			out = slices.Grow(out, 8)
		}
		if len(text)-at >= 8 {
			n := len(out)
			x := binary.LittleEndian.Uint64(text[at:])
			binary.LittleEndian.PutUint64(out[n:n+8], x)
			hits := specials(x)
			plain := bits.TrailingZeros64(hits) &^ 7 // 64 without a hit
			seen |= x & (1<<plain - 1)
			out = out[:n+plain/8]
			at += plain / 8
			if hits == 0 {
				continue
			}
		} else {
			stop, more := plainRun(text, at)
			out, wide, at = append(out, text[at:stop]...), wide || more, stop
		}
		if at < len(text)-1 && text[at] == '\\' {
			if c := escapes[text[at+1]]; c != 0 {
				out = append(out, c)
				at += 2
				continue
			}
			var ok bool
			if out, at, ok = s.unescape(out, at); ok {
				continue
			}
		}
		s.scratch = out
		return s.endEscaped(from, at, wide || seen&topBits != 0)
	}
}

// endEscaped takes the quote that ends a string with escapes. An escape stands
// for whole characters, so the runs between them are UTF-8 exactly when all of
// it is.
func (s *scanner) endEscaped(from, at int, wide bool) []byte {
	v := s.scratch[from:len(s.scratch):len(s.scratch)]
	if at >= len(s.text) || s.text[at] != '"' || wide && !utf8.Valid(v) {
		s.fail()
		return nil
	}
	s.at = at + 1
	return v
}

// escapes maps the letter of a short escape to what it stands for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the character that the escapes \uXXXX at stand for and
// returns what follows them.
func (s *scanner) unescape(out []byte, at int) ([]byte, int, bool) {
	r, ok := s.codeUnit(at)
	if !ok {
		return out, at, false
	}
	at += 6
	if utf16.IsSurrogate(r) {
		low, ok := s.codeUnit(at)
		r = utf16.DecodeRune(r, low)
		if !ok || r == utf8.RuneError {
			return out, at - 6, false // a lone half names no character
		}
		at += 6
	}
	return utf8.AppendRune(out, r), at, true
}

// codeUnit reads the escape \uXXXX at.
func (s *scanner) codeUnit(at int) (rune, bool) {
	if len(s.text)-at < 6 || s.text[at] != '\\' || s.text[at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.text[at+2 : at+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// integer reads an integer: no fraction, no exponent, within int64.
func (s *scanner) integer() int64 {
	negative := s.peek() == '-'
	if negative {
		s.at++
	}
	start := s.at
	var n uint64
	for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
		n = n*10 + uint64(s.text[s.at]-'0')
		s.at++
	}
	digits := s.at - start
	// 18 digits cannot overflow; longer numbers are for the strict decoder's
	// error or, between 1e18 and 2^63, so unusual that it may read them.
	if digits == 0 || digits > 18 || digits > 1 && s.text[start] == '0' || !s.delimited() {
		s.fail()
		return 0
	}
	if negative {
		return -int64(n)
	}
	return int64(n)
}

// delimited reports whether the value that was just read ends here.
func (s *scanner) delimited() bool {
	switch s.peek() {
	case ',', '}', ']', 0:
		return true
	}
	return false
}

const (
	everyByte = math.MaxUint64 / 255 // 0x01 in every byte
	topBits   = everyByte << 7       // 0x80 in every byte
)

// specials finds, in eight bytes of a JSON string, those that may not stand
// there as they are: quotes, backslashes and control characters. The lowest bit
// set is the top bit of the first such byte; bits above it mean nothing.
func specials(x uint64) uint64 {
	quote, slash := x^everyByte*'"', x^everyByte*'\\'
	// A byte's top bit is set when the byte is zero (or below a space). A borrow
	// may set it falsely, but only above a true hit.
	return ((quote-everyByte)&^quote | (slash-everyByte)&^slash | (x-everyByte*' ')&^x) & topBits
}

// plainRun returns the end of the run of bytes from on that a JSON string may
// hold as they are: it stops at a quote, a backslash, a control character or
// the end of b. wide tells that some byte of the run is outside ASCII.
func plainRun(b []byte, from int) (stop int, wide bool) {
	var seen uint64
	i := from
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if hits := specials(x); hits != 0 {
			plain := bits.TrailingZeros64(hits) &^ 7
			seen |= x & (1<<plain - 1)
			return i + plain/8, seen&topBits != 0
		}
		seen |= x
	}
	for ; i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' '; i++ {
		seen |= uint64(b[i])
	}
	return i, seen&topBits != 0
}
