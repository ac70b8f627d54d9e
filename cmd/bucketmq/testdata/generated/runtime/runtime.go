// Package runtime stands in for the library of the same path that generated
// clients import: the little of it that they use, so that a test needs no
// network.
package runtime

import (
	"fmt"
	"net/url"
	"reflect"
	"time"
)

// Where a parameter is.
const (
	ParamLocationPath = iota
	ParamLocationQuery
	ParamLocationHeader
)

// StyleParamOptions describe a parameter.
type StyleParamOptions struct {
	ParamLocation int
	Type, Format  string
}

// BindStyledParameterOptions describe a header of an answer.
type BindStyledParameterOptions struct {
	ParamLocation     int
	Explode, Required bool
	Type, Format      string
}

// StyleParamWithOptions writes one value, or an exploded list, into a request.
func StyleParamWithOptions(_ string, _ bool, name string, value any, o StyleParamOptions) (string, error) {
	if at, ok := value.(time.Time); ok {
		value = at.Format(time.RFC3339Nano)
	}
	switch o.ParamLocation {
	case ParamLocationPath:
		return url.PathEscape(fmt.Sprint(value)), nil
	case ParamLocationHeader:
		return fmt.Sprint(value), nil
	}
	query := url.Values{}
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
		for i := range list.Len() {
			query.Add(name, fmt.Sprint(list.Index(i)))
		}
	} else {
		query.Set(name, fmt.Sprint(value))
	}
	return query.Encode(), nil
}

// BindStyledParameterWithOptions reads a header of an answer.
func BindStyledParameterWithOptions(_, name, text string, into any, _ BindStyledParameterOptions) error {
	var err error
	switch into := into.(type) {
	case *string:
		*into = text
	case *time.Time:
		*into, err = time.Parse(time.RFC3339, text)
	default:
		_, err = fmt.Sscan(text, into)
	}
	if err != nil {
		return fmt.Errorf("header %s %q: %w", name, text, err)
	}
	return nil
}
