package gateway

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bucketmq/bucketmq/filter"
)

// maxTagsBytes bounds a TAG expression.
const maxTagsBytes = 4096

// filterOf reads the filter of a read or stream: tags or sql.
func filterOf(p *params) filter.Filter {
	f, field, detail := parseFilter(p.text("tags", maxTagsBytes), p.values.Get("sql"))
	if detail != "" {
		p.fail(field, detail)
	}
	return f
}

// parseFilter compiles the one of two expressions that is given; neither wants
// every message. What cannot be compiled is named by its field, with a detail.
func parseFilter(tags, sql string) (f filter.Filter, field, detail string) {
	var err error
	switch {
	case tags != "" && sql != "":
		return f, "sql", "give tags or sql"
	case len(tags) > maxTagsBytes:
		return f, "tags", fmt.Sprintf("at most %d bytes", maxTagsBytes)
	case len(sql) > filter.MaxSQLBytes:
		return f, "sql", fmt.Sprintf("at most %d bytes", filter.MaxSQLBytes)
	case !utf8.ValidString(sql) || strings.ContainsRune(sql, 0):
		return f, "sql", "not UTF-8, or a NUL"
	case sql != "":
		if f, err = filter.ParseSQL(sql); err != nil {
			return f, "sql", sqlFault(err)
		}
	default:
		if f, err = filter.ParseTags(tags); err != nil {
			return f, "tags", "tags separated by ||, or *"
		}
	}
	return f, "", ""
}

func sqlFault(err error) string {
	var syntax *filter.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("at position %d: %s", syntax.Position, syntax.Detail)
	}
	return err.Error()
}
