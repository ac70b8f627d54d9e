// Package types has the types that a generated client names.
package types

// File is a schema of bytes.
type File []byte
