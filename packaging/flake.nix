# SPDX-License-Identifier: MIT OR Apache-2.0
# nix run 'github:hashloom/hashloom?dir=packaging' -- sum FILE...
{
  description = "Checksums, torrents, manifests and hash trees of many files at once";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      build = pkgs: pkgs.rustPlatform.buildRustPackage {
        pname = "hashloom";
        version = (builtins.fromTOML (builtins.readFile ../Cargo.toml)).workspace.package.version;
        src = ../.;
        cargoLock.lockFile = ../Cargo.lock;
        buildType = "dist";
        buildAndTestSubdir = "rust/hashloom-cli";
        # `make test` has the tests.
        doCheck = false;
        nativeBuildInputs = [ pkgs.installShellFiles ];
        postInstall = ''
          $out/bin/hashloom generate man man1
          for shell in bash zsh fish; do
            $out/bin/hashloom generate completions $shell >hashloom.$shell
          done
          installManPage man1/*
          installShellCompletion hashloom.{bash,zsh,fish}
        '';
        meta = {
          homepage = "https://github.com/hashloom/hashloom";
          license = with pkgs.lib.licenses; [ mit asl20 ];
          mainProgram = "hashloom";
        };
      };
    in {
      packages = nixpkgs.lib.genAttrs systems (system: { default = build nixpkgs.legacyPackages.${system}; });
    };
}
