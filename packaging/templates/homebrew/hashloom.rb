# SPDX-License-Identifier: MIT OR Apache-2.0
class Hashloom < Formula
  desc "Checksums, torrents, manifests and hash trees of many files at once"
  homepage "https://github.com/hashloom/hashloom"
  url "https://github.com/hashloom/hashloom/releases/download/v@VERSION@/hashloom-@VERSION@.tar.gz"
  sha256 "@SHA256 hashloom-@VERSION@.tar.gz@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--profile=dist", *std_cargo_args(path: "rust/hashloom-cli")
    system bin/"hashloom", "generate", "man", man1
    generate_completions_from_executable(bin/"hashloom", "generate", "completions", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_equal "a9993e364706816aba3e25717850c26c9cd0d89d  -\n", pipe_output("#{bin}/hashloom sum -a sha1", "abc", 0)
  end
end
