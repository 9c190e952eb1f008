// SPDX-License-Identifier: BSL-1.0
//
// Names what else this module pins, for `go mod tidy`; it is built by its own name.

//go:build tools

package main

import _ "github.com/summerwind/h2spec/cmd/h2spec"
