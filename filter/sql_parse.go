package filter

import (
	"math"
)

// Limits of an SQL92 expression. Within them a compiled expression needs little
// memory, and neither the parser nor an evaluation goes deep.
const (
	MaxSQLBytes = 8192 // length of the expression
	maxSQLDepth = 64   // nesting of parentheses, NOT, signs and chains of comparisons
)

// parser reads the grammar, loosest first:
//
//	or      := and { OR and }
//	and     := not { AND not }
//	not     := NOT not | equals
//	equals  := compare { ( "=" | "<>" ) compare | IS [NOT] NULL }
//	compare := sign { ( ">" | ">=" | "<" | "<=" ) sign
//	                | [NOT] BETWEEN sign AND sign
//	                | [NOT] IN "(" string { "," string } ")"
//	                | [NOT] ( CONTAINS | STARTSWITH | ENDSWITH ) string }
//	sign    := ( "+" | "-" ) sign | primary
//	primary := string | integer | decimal | TRUE | FALSE | NULL | name | "(" or ")"
type parser struct {
	lexer lexer
	token token // the next one
	depth int
}

// parseSQL compiles an expression to the tree that decides.
func parseSQL(expression string) (node, error) {
	if len(expression) > MaxSQLBytes {
		return nil, syntaxAt(MaxSQLBytes, "an expression has at most %d bytes", MaxSQLBytes)
	}
	p := &parser{lexer: lexer{text: expression}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.token.kind != tokenEnd {
		return nil, syntaxAt(p.token.at, "%s after the end of the expression", p.token)
	}
	if !condition(root) {
		return nil, syntaxAt(0, "the expression is no condition")
	}
	return root, nil
}

func (p *parser) advance() (err error) {
	p.token, err = p.lexer.next()
	return err
}

// take passes the next token if it is this one.
func (p *parser) take(kind tokenKind, text string) (bool, error) {
	if !p.token.is(kind, text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) keyword(word string) (bool, error) { return p.take(tokenKeyword, word) }

// expect passes a token that must be there.
func (p *parser) expect(kind tokenKind, text string) error {
	found, err := p.take(kind, text)
	if err == nil && !found {
		err = syntaxAt(p.token.at, "%s where %q belongs", p.token, text)
	}
	return err
}

// deeper counts one level of nesting; the caller takes it back.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxSQLDepth {
		return syntaxAt(p.token.at, "an expression is at most %d levels deep", maxSQLDepth)
	}
	return nil
}

func (p *parser) or() (node, error) {
	return p.list("OR", p.and, func(l []node) node { return anyOf(l) })
}
func (p *parser) and() (node, error) {
	return p.list("AND", p.not, func(l []node) node { return allOf(l) })
}

// list reads operands with one word between them; one operand alone is itself.
func (p *parser) list(word string, operand func() (node, error), join func([]node) node) (node, error) {
	var operands []node
	for {
		at := p.token.at
		n, err := operand()
		if err != nil {
			return nil, err
		}
		more, err := p.keyword(word)
		if err != nil {
			return nil, err
		}
		if !more && operands == nil {
			return n, nil
		}
		if !condition(n) {
			return nil, syntaxAt(at, "an operand of %s is no condition", word)
		}
		if operands = append(operands, n); !more {
			return join(operands), nil
		}
	}
}

func (p *parser) not() (node, error) {
	negated, err := p.keyword("NOT")
	if err != nil {
		return nil, err
	}
	if !negated {
		return p.equals()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	at := p.token.at
	n, err := p.not()
	if err != nil {
		return nil, err
	}
	if !condition(n) {
		return nil, syntaxAt(at, "the operand of NOT is no condition")
	}
	return &negation{n}, nil
}

func (p *parser) equals() (node, error) {
	left, err := p.compare()
	if err != nil {
		return nil, err
	}
	defer func(depth int) { p.depth = depth }(p.depth)
	for {
		at := p.token.at
		equal := p.token.is(tokenSymbol, "=")
		switch {
		case equal, p.token.is(tokenSymbol, "<>"):
			if err = p.advance(); err != nil {
				return nil, err
			}
			var right node
			if right, err = p.compare(); err == nil {
				left, err = newEquality(at, left, right, equal)
			}
		case p.token.is(tokenKeyword, "IS"):
			left, err = p.isNull(left)
		default:
			return left, nil
		}
		if err == nil {
			err = p.deeper()
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) isNull(of node) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	negated, err := p.keyword("NOT")
	if err == nil {
		err = p.expect(tokenKeyword, "NULL")
	}
	return &nullTest{of: of, want: !negated}, err
}

func (p *parser) compare() (node, error) {
	left, err := p.sign()
	if err != nil {
		return nil, err
	}
	defer func(depth int) { p.depth = depth }(p.depth)
	for {
		next, err := p.comparison(left)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return left, nil
		}
		left = next
		if err := p.deeper(); err != nil {
			return nil, err
		}
	}
}

// comparison reads what may follow an operand; nil when nothing does.
func (p *parser) comparison(left node) (node, error) {
	at := p.token.at
	if p.token.kind == tokenSymbol {
		op, ok := orders[p.token.text]
		if !ok {
			return nil, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.sign()
		if err != nil {
			return nil, err
		}
		return newOrder(at, left, right, op)
	}
	if p.token.kind != tokenKeyword {
		return nil, nil
	}
	negated, err := p.keyword("NOT")
	if err != nil {
		return nil, err
	}
	word := p.token
	switch word.text {
	case "BETWEEN", "IN", "CONTAINS", "STARTSWITH", "ENDSWITH":
	default:
		if negated {
			return nil, syntaxAt(p.token.at, "%s after NOT", p.token)
		}
		return nil, nil
	}
	if word.kind != tokenKeyword {
		return nil, syntaxAt(word.at, "%s after NOT", word)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch word.text {
	case "BETWEEN":
		return p.between(at, left, negated)
	case "IN":
		return p.in(at, left, negated)
	}
	return p.search(at, left, word.text, negated)
}

func (p *parser) between(at int, left node, negated bool) (node, error) {
	low, err := p.sign()
	if err != nil {
		return nil, err
	}
	if err := p.expect(tokenKeyword, "AND"); err != nil {
		return nil, err
	}
	high, err := p.sign()
	if err != nil {
		return nil, err
	}
	return newBetween(at, left, low, high, negated)
}

func (p *parser) in(at int, left node, negated bool) (node, error) {
	of, ok := left.(*property)
	if !ok {
		return nil, syntaxAt(at, "IN stands after the name of a property")
	}
	if err := p.expect(tokenSymbol, "("); err != nil {
		return nil, err
	}
	var list [][]byte
	for {
		if p.token.kind != tokenString {
			return nil, syntaxAt(p.token.at, "%s in a list of strings", p.token)
		}
		list = append(list, []byte(p.token.text))
		if err := p.advance(); err != nil {
			return nil, err
		}
		more, err := p.take(tokenSymbol, ",")
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return newMembership(of, list, negated), p.expect(tokenSymbol, ")")
}

func (p *parser) search(at int, left node, word string, negated bool) (node, error) {
	switch left.(type) {
	case *property, text:
	default:
		return nil, syntaxAt(at, "%s stands after a property or a string", word)
	}
	wanted := p.token
	if wanted.kind != tokenString {
		return nil, syntaxAt(wanted.at, "%s where a string belongs", wanted)
	}
	if wanted.text == "" {
		return nil, syntaxAt(wanted.at, "an empty string decides nothing")
	}
	return &substring{of: left, word: word, wanted: []byte(wanted.text), want: !negated}, p.advance()
}

func (p *parser) sign() (node, error) {
	minus := p.token.is(tokenSymbol, "-")
	if !minus && !p.token.is(tokenSymbol, "+") {
		return p.primary()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	if minus && p.token.kind == tokenInteger && p.token.n == math.MaxInt64+1 {
		return number{integer: true, n: math.MinInt64, f: math.MinInt64}, p.advance()
	}
	at := p.token.at
	n, err := p.sign()
	if err != nil {
		return nil, err
	}
	return signed(at, n, minus)
}

func (p *parser) primary() (node, error) {
	t := p.token
	if t.is(tokenSymbol, "(") {
		if err := p.deeper(); err != nil {
			return nil, err
		}
		defer func() { p.depth-- }()
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		return n, p.expect(tokenSymbol, ")")
	}
	var n node
	switch {
	case t.kind == tokenName:
		n = newProperty(t.text)
	case t.kind == tokenString:
		n = text([]byte(t.text))
	case t.kind == tokenInteger && t.n > math.MaxInt64:
		return nil, syntaxAt(t.at, "%s is no integer of 64 bits", t.text)
	case t.kind == tokenInteger:
		n = number{integer: true, n: int64(t.n), f: t.f}
	case t.kind == tokenDecimal:
		n = number{f: t.f}
	case t.is(tokenKeyword, "TRUE"), t.is(tokenKeyword, "FALSE"):
		n = truth(t.text == "TRUE")
	case t.is(tokenKeyword, "NULL"):
		n = null{}
	default:
		return nil, syntaxAt(t.at, "%s where a value belongs", t)
	}
	return n, p.advance()
}
