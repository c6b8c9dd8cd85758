//go:build e2e

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A Repository is one from which Flux and Argo CD pull the branch main.
type Repository struct {
	Name string
	URL  string

	folder string
}

var repositories atomic.Int64

// Repository makes an empty repository, which goes when the test is over.
func (l *Lab) Repository(t testing.TB) *Repository {
	t.Helper()
	name := fmt.Sprintf("tree-%d-%d", os.Getpid(), repositories.Add(1))
	r := &Repository{Name: name, URL: fmt.Sprintf("http://127.0.0.1:%d/%s.git", l.port(t, 6), name)}
	r.folder = filepath.Join(l.dir, "git", name+".git")
	t.Cleanup(func() { os.RemoveAll(r.folder) })
	r.git(t, "", "init", "--quiet", "--bare", "--initial-branch=main", r.folder)
	return r
}

// Commit makes the content of a folder the content of the branch main, and gives the
// commit's name.
func (r *Repository) Commit(t testing.TB, folder string) string {
	t.Helper()
	r.git(t, folder, "add", "--all", "--force", ".")
	tree := r.git(t, folder, "write-tree")
	args := []string{"commit-tree", tree, "-m", "render"}
	if parent := r.git(t, "", "for-each-ref", "--format=%(objectname)", "refs/heads/main"); parent != "" {
		args = append(args, "-p", parent)
	}
	commit := r.git(t, "", args...)
	r.git(t, "", "update-ref", "refs/heads/main", commit)
	return commit
}

// has reports whether the branch has a file.
func (r *Repository) has(t testing.TB, path string) bool {
	t.Helper()
	return r.git(t, "", "ls-tree", "--name-only", "main", filepath.Clean(path)) != ""
}

func (r *Repository) git(t testing.TB, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DIR="+r.folder,
		"GIT_AUTHOR_NAME=lab", "GIT_AUTHOR_EMAIL=lab@example.invalid",
		"GIT_COMMITTER_NAME=lab", "GIT_COMMITTER_EMAIL=lab@example.invalid")
	if folder != "" {
		cmd.Dir = folder
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+folder)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSpace(string(out))
}
