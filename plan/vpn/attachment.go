package vpn

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

// Attachment fills a template of the CNI configuration with the port's .MAC,
// .Address, .Subnet and .Gateway. A text that is no template, one that asks for
// anything else, and a result that is not JSON are errors.
func (p ExpectedPort) Attachment(text string) (string, error) {
	t, err := template.New("networkAttachmentTemplate").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("not a template: %w", err)
	}
	var b strings.Builder
	values := map[string]string{"MAC": p.MAC, "Address": p.Address, "Subnet": p.Subnet, "Gateway": p.Gateway}
	if err := t.Execute(&b, values); err != nil {
		return "", err
	}
	if !json.Valid([]byte(b.String())) {
		return "", errors.New("does not give JSON when it is filled in")
	}
	return b.String(), nil
}
