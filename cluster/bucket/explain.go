package bucket

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/minio/minio-go/v7"
)

// errRange is the error of a range that is outside of the object or starts at its end.
var errRange = errors.New("the range is outside of the object")

// corrupted has the error codes for content that was damaged in transit.
var corrupted = map[string]bool{
	"BadDigest": true, "XAmzContentSHA256Mismatch": true, "IncompleteBody": true,
}

// isTransient reports whether a failure is transient.
func isTransient(err error) bool {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		switch status := answer.StatusCode; status {
		case http.StatusNotImplemented, http.StatusInsufficientStorage:
			return false
		default:
			return status >= 500 || status == http.StatusRequestTimeout ||
				status == http.StatusTooManyRequests || corrupted[answer.Code] ||
				answer.Code == "RequestTimeout"
		}
	}
	var foreign *foreignError
	var clock *clockError
	var name *net.DNSError
	return !errors.As(err, &foreign) && !errors.As(err, &clock) && !isXML(err) && !isTLS(err) &&
		!errors.Is(err, errPublic) && !errors.Is(err, errRange) &&
		!(errors.As(err, &name) && name.IsNotFound)
}

// isXML reports whether err means that a response is not the expected XML.
func isXML(err error) bool {
	var syntax *xml.SyntaxError
	var kind xml.UnmarshalError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// isTLS reports whether err means that the server's certificate is not accepted, or that it does
// not use TLS.
func isTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

// explain adds to the error of a request the reason and what the user can do.
func (a address) explain(err error) error {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		return a.explainAnswer(answer)
	}
	var invalid x509.CertificateInvalidError
	var certificate *tls.CertificateVerificationError
	var foreign *foreignError
	var clock *clockError
	switch {
	case errors.Is(err, errPublic):
		return errPublic
	case errors.Is(err, errRange):
		return errRange
	case errors.As(err, &foreign):
		return foreign
	case errors.As(err, &clock):
		return clock
	case isXML(err):
		return &foreignError{"its answer is not the XML of a list"}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("the server's certificate is not valid today: "+
			"check the clock of this machine: %w", err)
	case errors.As(err, &certificate):
		return fmt.Errorf("the server's certificate is not trusted: set SSL_CERT_FILE to the file of "+
			"its authority: %w", err)
	case isTLS(err):
		return fmt.Errorf("the server does not use https: write %s if its address is private: %w",
			plainScheme, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the server answers too slowly: check it and the network: %w", err)
	}
	return fmt.Errorf("the server cannot be reached: "+
		"check its name, its port and the network: %w", err)
}

// explainAnswer returns the error for an error response.
func (a address) explainAnswer(answer minio.ErrorResponse) error {
	why := ""
	switch answer.Code {
	case "NoSuchKey":
		return ErrNotExist
	case "InvalidRange":
		return errRange
	case "NoSuchBucket":
		why = fmt.Sprintf("the server has no bucket %q: create it, or correct the address", a.bucket)
	case "InvalidAccessKeyId", "XAdminUserNotFound":
		why = "the server does not know the key: check AWS_ACCESS_KEY_ID"
	case "SignatureDoesNotMatch":
		why = "the secret of the key is wrong: check AWS_SECRET_ACCESS_KEY"
	case "ExpiredToken", "InvalidToken", "InvalidTokenId", "TokenRefreshRequired":
		why = "the session of the key has ended: set AWS_SESSION_TOKEN to a new one"
	case "RequestTimeTooSkewed", "RequestExpired":
		why = "the clock of this machine differs from the server's: set it"
	case "AuthorizationHeaderMalformed", "InvalidRegion", "PermanentRedirect",
		"IllegalLocationConstraintException":
		why = "the region is wrong: set AWS_REGION to the bucket's"
	case "AccessDenied", "AllAccessDisabled":
		why = "no permission: allow the key to get, put, delete and list objects of the bucket"
	default:
		why = "the server refuses the request"
		if answer.StatusCode >= 500 {
			why = "the server failed"
		}
	}
	return fmt.Errorf("%s (%.40s: %.200s)", why, answer.Code, answer.Error())
}
