#!/bin/sh
# The Bailiwick agent for routers and small boards. It measures CPU, memory, swap, load, network, and file systems, and reports each minute
# to a hub. It opens no ports, and runs no commands of the hub. It needs awk, sha256sum, and curl; over HTTP, nc of BusyBox is enough.
#   sh agent.sh install --hub URL --key KEY
#   bailiwick-agent-shell run | uninstall
set -u
umask 077
LC_ALL=C
export LC_ALL

version=@version@
# Of the hub, if no certificate authority confirms it.
certificate='@certificate@'
name=bailiwick-agent-shell
# Another root folder is for tests.
root=${BAILIWICK_ROOT-}
state=$root/etc/$name
run=$root/var/run/$name
spool=$root/var/lib/$name
# Flash memory wears out, so routers with OpenWrt store minutes in memory. Not in /tmp itself, where any user could create the folder first.
[ ! -f "$root/etc/openwrt_release" ] || spool=$run/spool

# At most this many minutes wait: two days. The hub doesn't store older ones.
max_spooled=2880
max_lines=60
# The hub must respond within this time (s).
response_s=20
# Time of the hub minus time since the boot (ms); empty if unknown.
hub_base=''

log() { echo "bailiwick-agent: $*" >&2; }

fail() {
  log "$*"
  exit 1
}

# Sets up_ms (ms since the boot), offset_ms (time of the hub minus time of this clock, to the second), and now_ms: the time of this clock,
# unless it differs from the hub's by more than two seconds.
read_clock() {
  read -r up _ <"$root/proc/uptime"
  up_ms=$((${up%.*} * 1000 + 1${up#*.}0 - 1000))
  # The middle of the second.
  now_ms=$(($(date +%s) * 1000 + 500))
  offset_ms=null
  if [ "$hub_base" ]; then
    difference=$((up_ms + hub_base - now_ms))
    offset_ms=$(((difference + (difference < 0 ? -500 : 500)) / 1000 * 1000))
    if [ "$difference" -gt 2000 ] || [ "$difference" -lt -2000 ]; then now_ms=$((up_ms + hub_base)); fi
  fi
}

# Whether this shell can wait without the process of sleep, which needs as much memory as the rest.
waits=''

# Creates the folders, and finds out how to wait. $1: a file for the certificate of the hub, which is part of this script, so that it changes
# only with the script. An enrolment has one of its own: if it fails, the program that runs continues as before.
prepare() {
  mkdir -p "$state" "$run" "$spool" || exit 1
  trusted_file=$run/$1
  if [ "$certificate" ]; then printf '%s\n' "$certificate" >"$trusted_file"; else rm -f "$trusted_file"; fi
  # shellcheck disable=SC3045
  (read -r -t 1 _ </dev/null) 2>/dev/null
  if [ $? = 1 ] && { [ -p "$run/never" ] || mkfifo "$run/never"; }; then waits=yes; fi
}

# Waits, unless a signal arrives.
pause() {
  if [ "$waits" ]; then
    # shellcheck disable=SC3045
    read -r -t "$1" _ <>"$run/never"
  else
    sleep "$1" &
    sleeper=$!
    wait "$sleeper"
  fi
}

# A random number below $1.
random_below() {
  read -r word </proc/sys/kernel/random/uuid
  echo $((0x${word%%-*} % $1))
}


# Sends $run/request to the path $1 with the token $2, which is in no command line: other users can read those. Sets status (000 without a
# response), retry_after in seconds, and problem, a sentence; the body of the response is in $run/body.
call() {
  encoding=''
  if command -v gzip >/dev/null && gzip -c "$run/request" >"$run/sent"; then
    encoding='Content-Encoding: gzip'
  else
    cat "$run/request" >"$run/sent"
  fi
  : >"$run/body"
  : >"$run/head"
  if command -v curl >/dev/null; then
    call_with_curl "$@"
  elif case $hub in https:*) false ;; esac then
    call_with_nc "$@"
  else
    # An upgrade of OpenWrt removes packages.
    status=000
    echo 'curl is not installed, and HTTPS requires it' >"$run/errors"
  fi
  case $status in [1-5][0-9][0-9]) ;; *) status=000 ;; esac
  retry_after=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]\{1,6\}\).*/\1/p' "$run/head" | tail -n 1)
  # Each error of a problem has one too.
  detail=$(sed -n 's/"detail": *"\([^"\\]\{1,300\}\).*/\n: \1/p' "$run/body" | sed -n 2p)
  problem="The hub responded with status $status${detail:-.}"
  [ "$status" != 000 ] || problem="The hub can’t be reached: $(head -n 1 "$run/errors" | sed 's/^curl: ([0-9]*) //; s/ after [0-9]* m[a-z]*//')."
}

call_with_curl() {
  trusted=''
  if [ -f "$trusted_file" ]; then
    mkdir -p "$run/none"
    # No other certificate authorities.
    trusted="cacert = \"$trusted_file\"
capath = \"$run/none\""
  fi
  status=$(
    ulimit -f 200
    exec curl -q -sS -K - 2>"$run/errors" <<END
url = "$hub$1"
header = "Authorization: Bearer $2"
header = "Content-Type: application/json"
header = "$encoding"
user-agent = "$name/$version"
data-binary = "@$run/sent"
output = "$run/body"
dump-header = "$run/head"
write-out = "%{http_code}"
proto = "=http,https"
connect-timeout = 10
max-time = $response_s
$trusted
END
  )
}

# Over HTTP, without curl. BusyBox wget takes headers only from its command line, and hides the bodies of errors.
call_with_nc() {
  address=${hub#http://}
  host=${address%%/*}
  port=80
  case $host in *:*[0-9]) port=${host##*:} ;; esac
  target=${host%":$port"}
  target=${target#[}
  rm -f "$run/pipe" "$run/response"
  mkfifo "$run/pipe"
  (
    ulimit -f 200
    exec nc "${target%]}" "$port" <"$run/pipe" >"$run/response" 2>"$run/errors"
  ) &
  client=$!
  # Stays open until the hub has responded, which otherwise closes the connection.
  exec 4>"$run/pipe"
  stop_client_later 2>/dev/null &
  guard=$!
  # In a process of its own, which a closed connection ends.
  (
    printf 'POST %s HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\n' "${address#"$host"}$1" "$host" "$2"
    printf 'Content-Type: application/json\r\nUser-Agent: %s\r\n' "$name/$version"
    [ -z "$encoding" ] || printf '%s\r\n' "$encoding"
    printf 'Connection: close\r\nContent-Length: %d\r\n\r\n' "$(wc -c <"$run/sent")"
    cat "$run/sent"
  ) >&4 2>/dev/null
  wait "$client" 2>/dev/null
  exec 4>&-
  kill "$guard" 2>/dev/null
  wait "$guard" 2>/dev/null
  [ -s "$run/errors" ] || echo 'It doesn’t respond' >"$run/errors"
  tr -d '\r' <"$run/response" | sed '/^$/,$d' >"$run/head"
  tr -d '\r' <"$run/response" | sed '1,/^$/d' >"$run/body"
  status=$(sed -n '1s/^HTTP\/[0-9.]* \([0-9]*\).*/\1/p' "$run/head")
}

stop_client_later() {
  sleeper=''
  trap '[ -z "$sleeper" ] || kill "$sleeper"; exit' TERM
  pause "$response_s"
  kill "$client" 2>/dev/null
}

# The value of the field $1 in the response.
field() {
  sed -n 's/.*"'"$1"'": *"\{0,1\}\([A-Za-z0-9_:.-]*\).*/\1/p' "$run/body" | head -n 1
}

is_number() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  [ "${#1}" -le 15 ]
}
