package filter

import (
	"strconv"
	"strings"
)

func (t text) print(dst []byte) []byte {
	dst = append(dst, '\'')
	dst = append(dst, strings.ReplaceAll(string(t), "'", "''")...)
	return append(dst, '\'')
}

func (t truth) print(dst []byte) []byte {
	if t {
		return append(dst, "TRUE"...)
	}
	return append(dst, "FALSE"...)
}

func (null) print(dst []byte) []byte { return append(dst, "NULL"...) }

func (n number) print(dst []byte) []byte {
	if n.integer {
		return strconv.AppendInt(dst, n.n, 10)
	}
	at := len(dst)
	dst = strconv.AppendFloat(dst, n.f, 'g', -1, 64)
	if !strings.ContainsAny(string(dst[at:]), ".e") {
		dst = append(dst, '.') // stays a decimal
	}
	return dst
}

func (p *property) print(dst []byte) []byte { return append(dst, p.name...) }

func (s *sign) print(dst []byte) []byte { return append(s.of.print(append(dst, "- ("...)), ')') }

func (n *negation) print(dst []byte) []byte {
	return append(n.of.print(append(dst, "(NOT ("...)), "))"...)
}

func (l anyOf) print(dst []byte) []byte { return printList(dst, l, " OR ") }
func (l allOf) print(dst []byte) []byte { return printList(dst, l, " AND ") }

func printList(dst []byte, l []node, word string) []byte {
	dst = append(dst, '(')
	for i, n := range l {
		if i > 0 {
			dst = append(dst, word...)
		}
		dst = n.print(dst)
	}
	return append(dst, ')')
}

func (t *nullTest) print(dst []byte) []byte {
	dst = t.of.print(append(dst, '('))
	if t.want {
		return append(dst, " IS NULL)"...)
	}
	return append(dst, " IS NOT NULL)"...)
}

func (e *equality) print(dst []byte) []byte {
	word := " = "
	if !e.want {
		word = " <> "
	}
	return append(e.right.print(append(e.left.print(append(dst, '(')), word...)), ')')
}

func (o *order) print(dst []byte) []byte {
	dst = append(o.left.print(append(dst, '(')), ' ')
	dst = append(append(dst, o.op.symbol...), ' ')
	return append(o.right.print(dst), ')')
}

func (b *between) print(dst []byte) []byte {
	dst = printNot(b.of.print(append(dst, '(')), b.want)
	dst = b.low.print(append(dst, " BETWEEN "...))
	return append(b.high.print(append(dst, " AND "...)), ')')
}

func (i *membership) print(dst []byte) []byte {
	dst = append(printNot(i.of.print(append(dst, '(')), i.want), " IN ("...)
	for n, s := range i.list {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = text(s).print(dst)
	}
	return append(dst, "))"...)
}

func (s *substring) print(dst []byte) []byte {
	dst = append(printNot(s.of.print(append(dst, '(')), s.want), ' ')
	dst = append(append(dst, s.word...), ' ')
	return append(text(s.wanted).print(dst), ')')
}

func printNot(dst []byte, want bool) []byte {
	if want {
		return dst
	}
	return append(dst, " NOT"...)
}
