package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Folder is source and sink without a cluster: Secrets are files, and status is one.
type Folder struct{ Dir string }

// Files keeps Secrets as DIR/<name>/<key> and status as DIR/status.json.
func Files(dir string) Folder { return Folder{dir} }

// Secret reads one file, and nothing outside the folder.
func (f Folder) Secret(_ context.Context, ref vpn.SecretRef) ([]byte, bool, error) {
	if ref.Name == "" || ref.Key == "" {
		return nil, false, nil
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	data, err := root.ReadFile(filepath.Join(ref.Name, ref.Key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading Secret %s: %w", ref.Name, err)
	}
	return data, true, nil
}

// Report replaces status.json.
func (f Folder) Report(_ context.Context, r Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing status.json: %w", err)
	}
	return volume.Replace(filepath.Join(f.Dir, "status.json"), append(data, '\n'), 0o644)
}
