#!/bin/sh
# Installs the Bailiwick agent: downloads it from your hub, checks it, and runs "bailiwick-agent install".
#   sudo sh install-agent.sh --hub URL --key KEY --hub-key KEY [--pin FINGERPRINT] [--allow LIST]
# Run again, it upgrades the agent. With --uninstall, it removes everything but the log.
set -eu
umask 022

program=/usr/local/bin/bailiwick-agent
versions=/usr/local/lib/bailiwick-agent

fail() {
  echo "bailiwick-agent: $*" >&2
  exit 1
}

# Downloads $hub$1 to the file $2. A pinned certificate is not verified here: the signature of the manifest is.
get() {
  if command -v curl >/dev/null; then
    curl -fsSL ${pin:+--insecure} -o "$2" "$hub$1"
  elif command -v wget >/dev/null; then
    wget -q ${pin:+--no-check-certificate} -O "$2" "$hub$1"
  else
    fail 'curl or wget is required.'
  fi || fail "$hub$1 could not be downloaded."
}

# Called in the last line, so that nothing is run if the script is incomplete.
main() {
  hub='' hub_key='' pin='' uninstall='' previous=''
  for argument in "$@"; do
    case $previous in
      --hub) hub=${argument%/} ;;
      --hub-key) hub_key=$argument ;;
      --pin) pin=$argument ;;
    esac
    [ "$argument" != --uninstall ] || uninstall=yes
    previous=$argument
  done

  [ "$(id -u)" = 0 ] || fail 'Run this as root, with sudo.'
  if [ "$uninstall" ]; then
    [ -x "$program" ] || fail 'The agent is not installed.'
    exec "$program" uninstall
  fi
  case $hub in
    http://?* | https://?*) ;;
    *) fail 'Missing option: --hub URL, the address of the hub.' ;;
  esac

  case $(uname -m) in
    x86_64 | amd64) platform=linux-x64 ;;
    aarch64 | arm64) platform=linux-arm64 ;;
    *) fail "There is no agent for $(uname -m)." ;;
  esac
  # Systems with glibc can have musl too, but their shell doesn’t use it.
  ! ls /lib/ld-musl-* >/dev/null 2>&1 || grep -q /ld-linux /bin/sh || platform=$platform-musl
  [ "${platform#linux-x64}" = "$platform" ] || grep -q ' avx2 ' /proc/cpuinfo || platform=$platform-baseline

  # Only TLS with a certificate that is verified can replace the signature.
  tls=yes
  [ -z "$pin" ] && [ "${hub#https://}" != "$hub" ] || tls=''
  signed=''
  if [ -z "$hub_key" ]; then
    [ "$tls" ] || fail 'Missing option: --hub-key KEY, the public key of the hub. Without it, the download cannot be verified.'
    echo 'Warning: without --hub-key, the signature of the download is not checked.' >&2
  elif openssl pkeyutl -help 2>&1 | grep -q rawin; then
    signed=yes
  else
    [ "$tls" ] || fail 'OpenSSL 3 is required to verify the download. Install the package openssl, and run the command again.'
    echo 'Warning: OpenSSL 3 is missing, so the signature of the download is not checked.' >&2
  fi

  files=$(mktemp -d)
  trap 'rm -rf "$files"' EXIT
  trap 'exit 1' HUP INT TERM
  get /download/agent/manifest "$files/manifest"

  # The manifest is signed by the key of the hub, which is in the command that you ran.
  if [ "$signed" ]; then
    get /download/agent/manifest.sig "$files/manifest.sig"
    {
      echo '-----BEGIN PUBLIC KEY-----'
      # The start of every Ed25519 key (RFC 8410), and this one, from base64url.
      echo "MCowBQYDK2VwAyEA$(printf %s "${hub_key#ed25519:}" | tr _- /+)="
      echo '-----END PUBLIC KEY-----'
    } >"$files/key.pem"
    openssl pkeyutl -verify -pubin -inkey "$files/key.pem" -rawin -in "$files/manifest" -sigfile "$files/manifest.sig" \
      >/dev/null 2>&1 || fail 'The list of downloads is not signed by the key in --hub-key. Nothing was installed.'
  fi

  version=$(sed -n 's/^version \([0-9A-Za-z.+-]*\)$/\1/p' "$files/manifest")
  sha256=$(sed -n "s/^$platform \([0-9a-f]\{64\}\) .*/\1/p" "$files/manifest")
  [ "$version" ] && [ "$sha256" ] || fail "This hub has no agent for $platform."
  get "/download/agent/$platform" "$files/bailiwick-agent"
  echo "$sha256  $files/bailiwick-agent" | sha256sum -c >/dev/null 2>&1 ||
    fail 'The download is damaged: its SHA-256 differs from the list. Nothing was installed.'

  # Each step can be interrupted and repeated: a file or link has its final name only when it is complete.
  folder=$versions/$version
  mkdir -p "$folder" "${program%/*}"
  cp "$files/bailiwick-agent" "$folder/bailiwick-agent.new"
  chmod 755 "$folder/bailiwick-agent.new"
  # Such as without a library.
  if ! "$folder/bailiwick-agent.new" --version </dev/null >/dev/null 2>"$files/error"; then
    rm -f "$folder/bailiwick-agent.new"
    rmdir "$folder" "$versions" 2>/dev/null || :
    case $platform in *-musl*) advice=' On Alpine Linux, install the package libstdc++, and run the command again.' ;; *) advice='' ;; esac
    fail "The program does not run on this server: $(head -n 1 "$files/error").$advice"
  fi
  sync "$folder/bailiwick-agent.new"
  mv -f "$folder/bailiwick-agent.new" "$folder/bailiwick-agent"
  ln -sfn "$folder/bailiwick-agent" "$program.new"
  mv -f "$program.new" "$program"
  "$program" install "$@"
  for other in "$versions"/*; do
    [ "$other" = "$folder" ] || rm -rf "$other"
  done
}

main "$@"
