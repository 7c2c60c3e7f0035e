// Package jsonerror describes errors of encoding/json to people who know nothing of Go.
package jsonerror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Text returns an error of decoding JSON as text: "field num must be a whole number, not text".
func Text(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Sprintf("it must be %s, not %s", kindOf(wrong.Type), valueOf(wrong.Value))
	case errors.As(err, &wrong):
		return fmt.Sprintf("field %s must be %s, not %s", wrong.Field, kindOf(wrong.Type), valueOf(wrong.Value))
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it is cut off"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// kindOf names the JSON values that a type can have.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}

// valueOf names a value as json.UnmarshalTypeError describes it: "array", "number 1.5".
func valueOf(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "number":
		return "a number"
	}
	return strings.TrimPrefix(value, "number ")
}
