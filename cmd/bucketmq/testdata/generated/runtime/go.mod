module github.com/oapi-codegen/runtime

go 1.24
