package filter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// tokenKind is what a token of the SQL92 language is.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenString
	tokenInteger
	tokenDecimal
	tokenSymbol  // = <> > >= < <= ( ) , + -
	tokenKeyword // upper case in text
)

// token is one word of an expression.
type token struct {
	kind tokenKind
	at   int    // byte offset in the expression
	text string // of a string without its quotes
	n    uint64 // of an integer, without its sign
	f    float64
}

func (t token) is(kind tokenKind, text string) bool { return t.kind == kind && t.text == text }

// String names the token in an error.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return "string " + strconv.Quote(t.text)
	}
	return strconv.Quote(t.text)
}

var keywords = map[string]bool{
	"NOT": true, "AND": true, "OR": true, "BETWEEN": true, "IN": true, "TRUE": true, "FALSE": true,
	"NULL": true, "IS": true, "CONTAINS": true, "STARTSWITH": true, "ENDSWITH": true,
}

// lexer cuts an expression into tokens.
type lexer struct {
	text string
	at   int
}

// next returns the next token; the end repeats.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	if l.at == len(l.text) {
		return token{kind: tokenEnd, at: l.at}, nil
	}
	switch c := l.text[l.at]; {
	case isNameStart(c):
		return l.name(), nil
	case isDigit(c), c == '.' && l.at+1 < len(l.text) && isDigit(l.text[l.at+1]):
		return l.number()
	case c == '\'':
		return l.quoted()
	}
	for _, symbol := range [...]string{"<>", "<=", ">=", "=", "<", ">", "(", ")", ",", "+", "-"} {
		if strings.HasPrefix(l.text[l.at:], symbol) {
			t := token{kind: tokenSymbol, at: l.at, text: symbol}
			l.at += len(symbol)
			return t, nil
		}
	}
	return token{}, syntaxAt(l.at, "unexpected character %q", []rune(l.text[l.at:])[0])
}

// skip passes blanks and comments. "--" begins a comment up to the end of the
// line, unless it is two signs in front of a value in the last line.
func (l *lexer) skip() error {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.IndexByte(" \t\n\r\f", rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				if len(rest) > 2 && rest[2] != ' ' && rest[2] != '\t' {
					return nil
				}
				end = len(rest) - 1
			}
			l.at += end + 1
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return syntaxAt(l.at, "the comment does not end")
			}
			l.at += 2 + end + 2
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) name() token {
	start := l.at
	for l.at < len(l.text) && (isNameStart(l.text[l.at]) || isDigit(l.text[l.at])) {
		l.at++
	}
	text := l.text[start:l.at]
	if upper := strings.ToUpper(text); keywords[upper] {
		return token{kind: tokenKeyword, at: start, text: upper}
	}
	return token{kind: tokenName, at: start, text: text}
}

func (l *lexer) digits() {
	for l.at < len(l.text) && isDigit(l.text[l.at]) {
		l.at++
	}
}

// number reads 0, 12, 12L, 1.5, 1., .5, 1e3, 1.5E-3.
func (l *lexer) number() (token, error) {
	start, decimal := l.at, false
	l.digits()
	if l.at < len(l.text) && l.text[l.at] == '.' {
		decimal = true
		l.at++
		l.digits()
	}
	if exponent := l.exponent(); exponent > 0 {
		decimal = true
		l.at += exponent
		l.digits()
	}
	t := token{kind: tokenInteger, at: start, text: l.text[start:l.at]}
	if decimal {
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return token{}, syntaxAt(start, "%s is no number of 64 bits", t.text)
		}
		t.kind, t.f = tokenDecimal, f
		return t, nil
	}
	if len(t.text) > 1 && t.text[0] == '0' {
		return token{}, syntaxAt(start, "%s begins with a zero", t.text)
	}
	n, err := strconv.ParseUint(t.text, 10, 64)
	if err != nil || n > math.MaxInt64+1 {
		return token{}, syntaxAt(start, "%s is no integer of 64 bits", t.text)
	}
	if l.at < len(l.text) && (l.text[l.at] == 'l' || l.text[l.at] == 'L') {
		l.at++
	}
	t.n, t.f = n, float64(n)
	return t, nil
}

// exponent returns how long the beginning of an exponent is, up to its digits.
func (l *lexer) exponent() int {
	rest := l.text[l.at:]
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return 0
	}
	n := 1
	if len(rest) > 1 && (rest[1] == '+' || rest[1] == '-') {
		n = 2
	}
	if len(rest) > n && isDigit(rest[n]) {
		return n
	}
	return 0
}

// quoted reads a string; two quotes in it are one.
func (l *lexer) quoted() (token, error) {
	start := l.at
	var text strings.Builder
	for l.at++; l.at < len(l.text); l.at++ {
		if l.text[l.at] != '\'' {
			text.WriteByte(l.text[l.at])
			continue
		}
		if l.at++; l.at == len(l.text) || l.text[l.at] != '\'' {
			return token{kind: tokenString, at: start, text: text.String()}, nil
		}
		text.WriteByte('\'')
	}
	return token{}, syntaxAt(start, "the string does not end")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

// SyntaxError says where an expression is wrong. It is an ErrSyntax.
type SyntaxError struct {
	Position int // byte offset in the expression
	Detail   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at position %d: %s", ErrSyntax, e.Position, e.Detail)
}

// Unwrap makes the error an ErrSyntax.
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

func syntaxAt(position int, format string, args ...any) error {
	return &SyntaxError{Position: position, Detail: fmt.Sprintf(format, args...)}
}
