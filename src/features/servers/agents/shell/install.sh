# Enrolment and installation.

# Identifies the installation of the operating system, without revealing its machine ID: HMAC-SHA256 of a word with the ID as the key, as
# machine-id(5) asks for. Systems without one get one of the agent.
machine_id_hash() {
  id=''
  for path in "$root/etc/machine-id" "$root/var/lib/dbus/machine-id" "$state/machine-id"; do
    [ ! -r "$path" ] || read -r id <"$path" || true
    case $id in *[!0-9A-Za-z]*) id='' ;; esac
    [ "${#id}" != 32 ] || break
    id=''
  done
  if [ -z "$id" ]; then
    id=$(tr -d '-' </proc/sys/kernel/random/uuid)
    echo "$id" >"$state/machine-id"
  fi
  inner=$({
    key_xor "$id" 54
    printf bailiwick
  } | sha256sum)
  outer=$({
    key_xor "$id" 92
    octets "${inner%% *}"
  } | sha256sum)
  echo "${outer%% *}"
}

# A key of a block of 64 octets, XOR $2.
key_xor() {
  # shellcheck disable=SC2059
  printf "$(awk -v key="$1" -v with="$2" 'BEGIN {
    for (at = 48; at < 123; at++) code[sprintf("%c", at)] = at
    for (at = 1; at <= 64; at++) {
      octet = at <= length(key) ? code[substr(key, at, 1)] : 0
      result = 0
      for (bit = 1; bit < 256; bit *= 2) if (int(octet / bit) % 2 != int(with / bit) % 2) result += bit
      printf "\\%03o", result
    }
  }')"
}

# The octets of a hexadecimal number.
octets() {
  # shellcheck disable=SC2059
  printf "$(awk -v hex="$1" 'BEGIN {
    digits = "0123456789abcdef"
    for (at = 1; at < length(hex); at += 2)
      printf "\\%03o", (index(digits, substr(hex, at, 1)) - 1) * 16 + index(digits, substr(hex, at + 1, 1)) - 1
  }')"
}

read_options() {
  hub='' key=''
  while [ $# -gt 0 ]; do
    case $1 in
      --hub) hub=${2-} ;;
      --key) key=${2-} ;;
      *) fail "Unknown option: $1" ;;
    esac
    shift
    [ $# = 0 ] || shift
  done
  hub=${hub%/}
  case $hub in
    *[!A-Za-z0-9.:/_~%\[\]-]*) fail 'The option --hub must be an address.' ;;
    http://?* | https://?*) ;;
    *) fail 'Missing option: --hub URL, the address of the hub.' ;;
  esac
  case $key in *[!A-Za-z0-9_]*) fail 'The option --key must be an enrolment key.' ;; esac
}

require_tools() {
  for tool in awk sed grep sha256sum df; do
    command -v $tool >/dev/null || fail "$tool is required."
  done
  command -v curl >/dev/null && return
  case $hub in
    https:*) fail 'curl is required for HTTPS. On OpenWrt, install it with: opkg update && opkg install curl ca-bundle' ;;
  esac
  if ! command -v nc >/dev/null || ! command -v mkfifo >/dev/null; then fail 'curl is required.'; fi
}

# Registers this server, unless it is enrolled at the hub already.
enrol() {
  read_options "$@"
  require_tools
  wanted=$hub
  if [ ! -e "$state/revoked" ] && read_identity && [ "$hub" = "$wanted" ]; then return; fi
  hub=$wanted
  [ "$key" ] || fail 'Missing option: --key KEY, an enrolment key of the hub.'
  prepare enrolment.pem
  known=$(facts)
  printf '{"v":1,"machine_id_hash":"%s","version":"%s","allow":[],"facts":{%s}}\n' "$(machine_id_hash)" "$version" "${known#,}" >"$run/request"
  asked=''
  while :; do
    call /v1/ingest/agents/enrol "$key"
    [ "$status" = 202 ] || break
    [ "$asked" ] || log 'This server is known already. Waiting until its agent is approved in the dashboard…'
    asked=yes
    pause 10
  done
  [ "$status" = 201 ] || fail "$problem"
  agent_id=$(field agent_id) server_id=$(field server_id) token=$(field token)
  if [ -z "$agent_id" ] || [ -z "$server_id" ] || [ -z "$token" ]; then fail 'The hub’s response is invalid.'; fi
  rm -f "$run/body" "$trusted_file" "$state/revoked"
  printf '%s\n' "hub $hub" "agent_id $agent_id" "server_id $server_id" "token $token" >"$state/identity.new"
  mv -f "$state/identity.new" "$state/identity"
}

install_agent() {
  [ "$(id -u)" = 0 ] || fail 'Run this as root.'
  installed=$(ls -d "$state" 2>/dev/null)
  # Nothing is left behind if the server can't be enrolled.
  trap '[ "$installed" ] || [ -f "$state/identity" ] || rm -rf "$state" "$run" "$spool"' EXIT
  trap 'exit 1' INT TERM
  enrol "$@"
  folder=$root/usr/bin
  [ ! -d "$root/usr/local/bin" ] || folder=$root/usr/local/bin
  program=$folder/$name
  if ! { cp "$0" "$program.new" && chmod 755 "$program.new" && mv -f "$program.new" "$program"; }; then fail "$program can’t be written."; fi
  rm -f "$run/reported"
  if ! start_service; then
    echo "Enrolled as $agent_id. This system has no service manager that is known: run \"$program run\" when it boots."
    return
  fi
  waited=0
  while [ ! -e "$run/reported" ]; do
    [ $((waited += 1)) -le 30 ] || fail 'The hub has not received a report yet. See the log of the system.'
    pause 1
  done
  echo "The hub receives reports of this server: $hub/servers/$server_id"
}

# Writes the file $1 with the mode $2.
write() {
  cat >"$root$1"
  chmod "$2" "$root$1"
}

# Fails if no service manager is known.
start_service() {
  mkdir -p "$root/var/log"
  if [ -f "$root/etc/rc.common" ]; then
    write /etc/init.d/$name 755 <<END
#!/bin/sh /etc/rc.common
START=95
STOP=10
USE_PROCD=1
start_service() {
  procd_open_instance
  procd_set_param command $program run --respawn
  procd_set_param respawn 3600 30 0
  procd_set_param term_timeout 25
  procd_set_param stderr 1
  procd_close_instance
}
shutdown() {
  touch $run/shutdown
  stop
}
END
    # An update of OpenWrt keeps these files.
    mkdir -p "$root/lib/upgrade/keep.d"
    printf '%s\n' "$state/" "$program" /etc/init.d/$name /etc/rc.d/S95$name /etc/rc.d/K10$name /lib/upgrade/keep.d/$name |
      write /lib/upgrade/keep.d/$name 644
    "$root/etc/init.d/$name" enable
    "$root/etc/init.d/$name" restart
  elif [ -d "$root/run/systemd/system" ]; then
    write /etc/systemd/system/$name.service 644 <<END
[Unit]
Description=Bailiwick agent
Wants=network-online.target
After=network-online.target
[Service]
ExecStart=$program run
Restart=always
RestartSec=5
RestartPreventExitStatus=78
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
ReadWritePaths=$state
RuntimeDirectory=$name
StateDirectory=$name
[Install]
WantedBy=multi-user.target
END
    systemctl daemon-reload
    systemctl enable --quiet $name
    systemctl restart $name
  elif [ -x "$root/sbin/openrc-run" ]; then
    write /etc/init.d/$name 755 <<END
#!/sbin/openrc-run
description="Bailiwick agent"
supervisor=supervise-daemon
command=$program
command_args=run
error_log=/var/log/$name.log
respawn_delay=5
respawn_max=10
respawn_period=120
retry=TERM/25/KILL/5
depend() {
  use net
}
END
    rc-update --quiet add $name default
    rc-service --quiet $name restart
  elif [ -f "$root/etc/inittab" ] && grep -q '^[^#]*:respawn:' "$root/etc/inittab"; then
    remove_from_inittab
    echo "::respawn:$program run --respawn 2>>/var/log/$name.log" >>"$root/etc/inittab"
    stop_program
    kill -HUP 1
  else
    return 1
  fi
}

remove_from_inittab() {
  ! grep -q "/$name run" "$root/etc/inittab" || sed -i "/\/$name run/d" "$root/etc/inittab"
}

# Waits until the last report was sent.
stop_program() {
  [ -s "$run/pid" ] && read -r pid <"$run/pid" || return 0
  # After a crash, the number can belong to another process.
  grep -q "$name" "/proc/$pid/cmdline" 2>/dev/null && kill "$pid" || return 0
  waited=0
  while kill -0 "$pid" 2>/dev/null && [ $((waited += 1)) -le 25 ]; do pause 1; done
}

uninstall_agent() {
  [ "$(id -u)" = 0 ] || fail 'Run this as root.'
  if [ -f "$root/etc/rc.common" ]; then
    "$root/etc/init.d/$name" stop
    "$root/etc/init.d/$name" disable
  elif [ -d "$root/run/systemd/system" ]; then
    systemctl disable --quiet --now $name
  elif [ -x "$root/sbin/openrc-run" ]; then
    rc-service --quiet $name stop
    rc-update --quiet del $name default
  elif [ -f "$root/etc/inittab" ]; then
    remove_from_inittab
    kill -HUP 1
  fi
  stop_program
  rm -rf "$state" "$run" "$spool" "$root/etc/init.d/$name" "$root/etc/systemd/system/$name.service" "$root/lib/upgrade/keep.d/$name"
  rm -f "$root/usr/bin/$name" "$root/usr/local/bin/$name"
}
