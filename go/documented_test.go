// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every exported name has documentation.
func TestEveryNameIsDocumented(t *testing.T) {
	count := 0
	for _, folder := range []string{".", "md5", "sha1", "sha1cd", "sha256", "sha512", "sha3", "ripemd160", "hmac",
		"bitcoin", "search", "slhdsa", "merkle", "compat/sha256simd", "compat/md5simd"} {
		paths, _ := filepath.Glob(filepath.Join(folder, "*.go"))
		declared := map[string]string{} // the documentation
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if !strings.HasSuffix(path, "_test.go") {
					declare(declared, decl)
				}
			}
		}
		for name, doc := range declared {
			count++
			if !strings.HasPrefix(doc, name+" ") {
				t.Errorf("%s: the documentation of %s does not begin with its name: %q", folder, name, doc)
			}
		}
	}
	if count < 50 {
		t.Errorf("%d exported names: some were not found", count)
	}
}

func declare(declared map[string]string, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Name.IsExported() {
			declared[decl.Name.Name] = decl.Doc.Text()
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					declared[spec.Name.Name] = decl.Doc.Text()
				}
			case *ast.ValueSpec:
				if spec.Names[0].IsExported() {
					declared[spec.Names[0].Name] = cmp.Or(spec.Doc.Text(), decl.Doc.Text())
				}
			}
		}
	}
}
