package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// maxDepth is how deep JSON may be nested.
const maxDepth = 32

// allowInvalidUTF8 replaces bytes that are not UTF-8 where text is written.
var allowInvalidUTF8 = jsontext.AllowInvalidUTF8(true)

// decodeStrict reads one JSON document: no unknown or repeated member, valid
// UTF-8 without lone surrogates, nothing behind it, at most maxDepth levels.
// Its error is a *problem that points at the place.
func decodeStrict(text []byte, v any) error {
	if pointer, deep := tooDeep(text); deep {
		detail := fmt.Sprintf("nested deeper than %d levels", maxDepth)
		return newProblem("invalid_json", detail, fault{Pointer: pointer, Code: "invalid_json", Detail: detail})
	}
	if string(bytes.TrimSpace(text)) == "null" { // else it would pass for an object without members
		bad := fault{Code: "invalid_field", Detail: "the document is null"}
		return newProblem(bad.Code, bad.Detail, bad)
	}
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		bad := jsonFault(err)
		return newProblem(bad.Code, bad.Detail, bad)
	}
	return nil
}

// jsonFault says what a decoding error means: one of the codes invalid_json,
// duplicate_field, unknown_field and invalid_field.
func jsonFault(err error) fault {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		pointer := string(semantic.JSONPointer)
		if errors.Is(semantic.Err, json.ErrUnknownName) {
			return fault{Pointer: pointer, Code: "unknown_field", Detail: "there is no such field"}
		}
		return fault{Pointer: pointer, Code: "invalid_field", Detail: semanticDetail(semantic)}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer := string(syntactic.JSONPointer)
		if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
			return fault{Pointer: pointer, Code: "duplicate_field", Detail: "the field is there twice"}
		}
		detail := fmt.Sprintf("%v at byte %d", syntactic.Err, syntactic.ByteOffset)
		return fault{Pointer: pointer, Code: "invalid_json", Detail: detail}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault{Code: "invalid_json", Detail: "the document ends too early"}
	}
	return fault{Code: "invalid_json", Detail: "not a JSON document"}
}

// semanticDetail names the rule without naming Go types.
func semanticDetail(err *json.SemanticError) string {
	kinds := map[jsontext.Kind]string{'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array"}
	if kind, ok := kinds[err.JSONKind]; ok {
		return "the value does not fit: it is " + kind + " or out of range"
	}
	return "the value does not fit"
}

// tooDeep reports whether a document opens more than maxDepth levels, and where.
// It decides nothing else: a faulty document is for the decoder.
func tooDeep(text []byte) (pointer string, deep bool) {
	if bytes.Count(text, []byte{'['})+bytes.Count(text, []byte{'{'}) <= maxDepth {
		return "", false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), allowInvalidUTF8)
	for {
		if _, err := dec.ReadToken(); err != nil {
			return "", false
		}
		if dec.StackDepth() > maxDepth {
			return string(dec.StackPointer()), true
		}
	}
}

// escapePointer escapes a member's name for a JSON pointer.
func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// readJSON reads a control-plane body strictly into v.
func (s *Server) readJSON(c echo.Context, v any) error { return s.readJSONUpTo(c, v, maxControlBytes) }

// readJSONUpTo is readJSON with a limit of its own.
func (s *Server) readJSONUpTo(c echo.Context, v any, most int64) error {
	body, release, err := s.readBody(c, most)
	if err != nil {
		return err
	}
	defer release()
	return decodeStrict(body, v)
}

// writeJSON answers with a value of package api.
func writeJSON(c echo.Context, status int, v any) error {
	body, err := json.Marshal(v, json.Deterministic(true), allowInvalidUTF8)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	return c.Blob(status, jsonType, body)
}
